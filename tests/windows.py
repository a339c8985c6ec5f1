"""Pages of the service in a real browser, driven as people do: by mouse, finger and keys.

    with open_page(address, dark=True) as page:
        page.press("Tab", "Enter")
        assert page("return text('#verdict h2')") == "Separable"
        assert page.errors() == []

Time is real here, since pages wait for a server; a script is the body of an async function.
`served` gives the address of a folder, with the headers that the service sends.
"""

import base64
import json
import threading
import time
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path

from browser import browser, complaints

PAGES = Path(str(resources.files("rosenblatt"))) / "serve" / "pages"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'"
)
SECONDS = 20.0
SCRIPT = """(async () => {
  const one = (selector) => document.querySelector(selector);
  const text = (selector) => one(selector).textContent;
  const until = async (condition) => {
    const pause = () => new Promise((go) => setTimeout(go, 25));
    for (let left = 2000; left > 0 && !condition(); left--) await pause();
    if (!condition()) throw new Error(`never: ${condition}`);
  };
  %s
})()"""
CODES = {
    "Enter": 13,
    "Tab": 9,
    " ": 32,
    "Delete": 46,
    "ArrowUp": 38,
    "ArrowDown": 40,
    "ArrowRight": 39,
    "ArrowLeft": 37,
}
TEXTS = {"Enter": "\r", "Tab": ""}


class Handler(SimpleHTTPRequestHandler):
    def end_headers(self):
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, *_):
        pass


@contextmanager
def served(folder):
    """Serve a folder on a free port of this machine; give its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class Page:
    """A window with a page: call it with a script."""

    def __init__(self, window):
        self.window = window

    def __call__(self, script, **values):
        """Run a script in the page, in which the values have their names; give what it returns."""
        given = "".join(f"const {name} = {json.dumps(value)};" for name, value in values.items())
        answer = self.window(
            "Runtime.evaluate",
            expression=SCRIPT.replace("%s", given + script),
            awaitPromise=True,
            returnByValue=True,
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, *keys, shift=False):
        """Press keys, one after the other."""
        for key in keys:
            text = TEXTS.get(key, key if len(key) == 1 else "")
            shared = {
                "key": key,
                "modifiers": 8 * shift,
                "windowsVirtualKeyCode": CODES.get(key, 0),
            }
            down = "keyDown" if text else "rawKeyDown"
            self.window("Input.dispatchKeyEvent", type=down, text=text, **shared)
            self.window("Input.dispatchKeyEvent", type="keyUp", **shared)

    def drag(self, *places):
        """Press the mouse at the first place, and move it to the others; one place is a click."""
        (x, y), *rest = places
        self.mouse("mousePressed", x, y)
        for x, y in rest:
            self.mouse("mouseMoved", x, y)
        self.mouse("mouseReleased", x, y)

    def mouse(self, type, x, y):
        self.window(
            "Input.dispatchMouseEvent", type=type, x=x, y=y, button="left", buttons=1, clickCount=1
        )

    def swipe(self, *places):
        """Put a finger down at the first place and draw it to the others."""
        for k, (x, y) in enumerate(places):
            kind = "touchMove" if k else "touchStart"
            self.window("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y}])
        self.window("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def screenshot(self, path, whole=True):
        """Write a picture of the page."""
        answer = self.window("Page.captureScreenshot", captureBeyondViewport=whole)
        Path(path).write_bytes(base64.b64decode(answer["data"]))

    def errors(self):
        """Give what went wrong so far, in scripts, on the console, or in loading."""
        self("")  # lets what was said before arrive
        mine = [e for e in self.window.browser.events if e.get("sessionId") == self.window.session]
        return [message for event in mine if "method" in event for message in complaints(**event)]


@contextmanager
def open_page(address, *, width=1400, height=900, dark=False, calm=False):
    """Open a page in a window of its own."""
    window = browser().window()
    for domain in ("Page", "Runtime", "Log"):
        window(f"{domain}.enable")
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    window("Emulation.setDeviceMetricsOverride", **size)
    window("Emulation.setTouchEmulationEnabled", enabled=width < 600)
    window("Emulation.setFocusEmulationEnabled", enabled=True)
    media = {"prefers-color-scheme": "dark" if dark else "light"}
    media["prefers-reduced-motion"] = "reduce" if calm else "no-preference"
    features = [{"name": name, "value": value} for name, value in media.items()]
    window("Emulation.setEmulatedMedia", features=features)
    window("Page.navigate", url=address)
    page, until = Page(window), time.monotonic() + SECONDS
    while page("return document.readyState") != "complete":
        assert time.monotonic() < until, f"{address} was not loaded in {SECONDS} s"
    yield page
    window.close()


def accessibility(page):
    """Give the serious findings of axe-core on a page, each with its places."""
    axe = resources.files("axe_core_python").joinpath("axe.min.js").read_text("utf-8")
    page.window("Runtime.evaluate", expression=axe)
    found = page("return (await axe.run()).violations")
    return [
        (each["id"], [node["html"] for node in each["nodes"]])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
