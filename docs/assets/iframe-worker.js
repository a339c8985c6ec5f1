// Browsers refuse workers in pages opened from disk. There, a hidden frame does the worker's job,
// so that the search works without a server. The theme looks for this class by its name.
window.IFrameWorker = class extends EventTarget {
  constructor(url) {
    super();
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    document.body.append(this.frame);
    const inside = this.frame.contentWindow;
    inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    inside.importScripts = (...urls) =>
      urls.reduce((before, each) => before.then(() => load(inside.document, each)), Promise.resolve());
    this.ready = load(inside.document, url);
  }

  postMessage(data) {
    const inside = this.frame.contentWindow;
    this.ready.then(() => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
  }

  terminate() {
    this.frame.remove();
  }
};

function load(page, url) {
  return new Promise((done, failed) => {
    const script = page.createElement("script");
    script.onload = done;
    script.onerror = () => failed(new Error(`cannot load ${url}`));
    script.src = url;
    page.body.append(script);
  });
}

if (location.protocol === "file:") window.Worker = window.IFrameWorker;
