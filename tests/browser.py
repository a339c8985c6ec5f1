"""Pages in a real browser: headless Chromium, without a network, with a limit of time.

    @needs_browser
    def test_a_page(tmp_path):
        seen = visit(page, "click('.play'); await wait(2000); return text('.caption')")
        assert seen.errors == [] and seen.requests == [] and "…" in seen.value

The script is the body of an async function, run when the page has loaded. Time is virtual: waiting
takes no time. One browser serves all visits, each in a window of its own. It is told what to do
over the DevTools protocol, by pipes: an option `--window-size` is taken as a wish, and a full
Chromium has no window narrower than 500.
"""

import atexit
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
SECONDS = 60.0
TOLD = "Runtime.bindingCalled"  # the script has ended
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--remote-debugging-pipe",
)
PIPES = 'exec "$@" 3<&0 4>&1 </dev/null >/dev/null'  # the browser listens at 3 and speaks at 4


def find():
    """Give the browser: that of the variable CHROMIUM, or the first one on the path."""
    chosen = os.environ.get("CHROMIUM")
    names = [chosen] if chosen else NAMES
    return next(filter(None, map(shutil.which, names)), None)


needs_browser = pytest.mark.skipif(
    find() is None, reason="no Chromium on the path; install one, or name it in CHROMIUM"
)


class Visit(NamedTuple):
    """What was seen: errors, requests, and what the script returned.

    Errors are those of scripts, what was printed by `console.error` and `console.warn`, and what
    could not be loaded. Requests are those to the network, which are all refused.
    """

    errors: list[str]
    requests: list[str]
    value: Any


# Before anything of the page. Frames come with real time: hardly any while virtual time flies.
RUN = """if (window === top) {
window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 16);
window.cancelAnimationFrame = clearTimeout;
addEventListener("load", async () => {
  const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  const one = (selector) => document.querySelector(selector);
  const text = (selector) => one(selector).textContent;
  const click = (selector) => one(selector).click();
  const press = (key, selector) => (selector ? one(selector) : document.body).dispatchEvent(
    new KeyboardEvent("keydown", { key: key, bubbles: true, cancelable: true }));
  const choose = (selector, value) => {
    one(selector).value = value;
    for (const kind of ["input", "change"]) {
      one(selector).dispatchEvent(new Event(kind, { bubbles: true }));
    }
  };
  let value = null, errors = [];
  try {
    value = await (async () => { %s })();
  } catch (error) { errors.push("the script: " + error); }
  const requests = performance.getEntriesByType("resource").map((entry) => entry.name);
  __tell(JSON.stringify({ value: value ?? null, errors: errors, requests: requests }));
});
}"""


def visit(path, script="", *, milliseconds=20_000, width=1000, height=800, calm=False):
    """Open a page, run a script in it, and give what was seen.

    `milliseconds` is the virtual time that the page gets, the script's waiting included; `calm`
    is for people who prefer reduced motion.
    """
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    motion = {"name": "prefers-reduced-motion", "value": "reduce" if calm else "no-preference"}
    for attempt in (1, 2):  # a browser may hang on a busy machine
        try:
            return _visit(Path(path), script, milliseconds, size, motion)
        except TimeoutError:
            browser.cache_clear()
            if attempt == 2:
                raise
    raise AssertionError("unreachable")


def _visit(path, script, milliseconds, size, motion):
    window = browser().window()
    for domain in ("Page", "Runtime", "Log"):
        window(f"{domain}.enable")
    window("Emulation.setDeviceMetricsOverride", **size)
    window("Emulation.setEmulatedMedia", features=[motion])
    window("Runtime.addBinding", name="__tell")
    window("Page.addScriptToEvaluateOnNewDocument", source=RUN.replace("%s", script))
    window("Page.navigate", url=path.resolve().as_uri())
    events = window.until(TOLD, "Page.loadEventFired")
    if events[-1]["method"] != TOLD:  # it waits; sooner, the time would fly over an empty page
        policy = {"policy": "pauseIfNetworkFetchesPending", "budget": milliseconds}
        window("Emulation.setVirtualTimePolicy", **policy, maxVirtualTimeTaskStarvationCount=9999)
        events += window.until(TOLD, "Emulation.virtualTimeBudgetExpired")
    window.close()
    errors = [message for event in events for message in complaints(**event)]
    if events[-1]["method"] != TOLD:
        raise AssertionError(f"the script did not end in {milliseconds} ms: {errors}")
    seen = json.loads(events[-1]["params"]["payload"])
    return Visit(list(dict.fromkeys(errors + seen["errors"])), seen["requests"], seen["value"])


def complaints(method, params, **_):
    """Give what an event says of things that went wrong."""
    if method == "Runtime.exceptionThrown":
        details = params["exceptionDetails"]
        return [details.get("exception", {}).get("description", details["text"])]
    if method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
        return [" ".join(str(word.get("value", word)) for word in params["args"])]
    if method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
        return [f"{params['entry']['text']} {params['entry'].get('url', '')}"]
    return []


@cache
def browser():
    """Start the browser, for all visits."""
    return _Browser()


class _Browser:
    """A running browser with a profile of its own, that ends with the tests."""

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.complaints = open(Path(self.profile.name) / "stderr", "w+")  # noqa: SIM115
        command = [
            "sh",
            "-c",
            PIPES,
            "sh",
            find(),
            *OPTIONS,
            f"--user-data-dir={self.profile.name}",
        ]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self.complaints}
        self.process = subprocess.Popen(command, bufsize=0, **pipes)
        atexit.register(self.close)
        self.said, self.sent, self.events = b"", 0, []
        self.call("Browser.getVersion")
        self.context = self.call("Target.createBrowserContext")["browserContextId"]

    def close(self):
        """End the browser, as it does when nobody speaks to it, and remove its profile."""
        self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.complaints.close()
        self.profile.cleanup()

    def window(self):
        """Open an empty window."""
        options = {"url": "about:blank", "browserContextId": self.context}
        target = self.call("Target.createTarget", **options)["targetId"]
        found = self.call("Target.attachToTarget", targetId=target, flatten=True)
        return _Window(self, target, found["sessionId"])

    def call(self, method, session=None, **params):
        """Give the answer to a message; events that come meanwhile are kept."""
        self.sent += 1
        message = {"id": self.sent, "method": method, "params": params}
        message |= {"sessionId": session} if session else {}
        self.process.stdin.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self.listen()
            if answer.get("id") == self.sent:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)

    def listen(self):
        """Give the next message of the browser."""
        until = time.monotonic() + SECONDS
        while b"\0" not in self.said:
            left = max(0.0, until - time.monotonic())
            if not select.select([self.process.stdout], [], [], left)[0]:
                self.close()
                raise TimeoutError(f"the browser said nothing for {SECONDS} seconds")
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            assert more, f"the browser has ended: {self.last_words()}"
            self.said += more
        message, _, self.said = self.said.partition(b"\0")
        return json.loads(message)

    def last_words(self):
        self.complaints.seek(0)
        return self.complaints.read()[-2000:]


class _Window(NamedTuple):
    """A window of the browser, called with a method of the protocol and its parameters."""

    browser: _Browser
    target: str
    session: str

    def __call__(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def until(self, *methods):
        """Give this window's events up to one of some kinds."""
        found: list[dict[str, Any]] = []
        while not found or found[-1]["method"] not in methods:
            event = self.browser.events.pop(0) if self.browser.events else self.browser.listen()
            found += [event] if event.get("sessionId") == self.session else []
        return found

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
