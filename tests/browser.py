"""Pages in a real browser: headless Chromium, without a network, with a limit of time.

    @needs_browser
    def test_a_page(tmp_path):
        seen = visit(page, "click('.play'); await wait(2000); return text('.caption')")
        assert seen.errors == [] and seen.requests == [] and "…" in seen.value

The script is the body of an async function. It runs in a copy of the page beside the page itself,
so that relative links still work. Time is virtual: waiting takes no time.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import uuid
from pathlib import Path
from typing import Any, NamedTuple

import pytest

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
SECONDS = 60.0
MESSAGE = re.compile(r":CONSOLE[^\]]*\] \"(.*)\", source: ")


def find() -> str | None:
    """Give the browser: that of the variable CHROMIUM, or the first one on the path."""
    chosen = os.environ.get("CHROMIUM")
    names = [chosen] if chosen else NAMES
    return next(filter(None, map(shutil.which, names)), None)


needs_browser = pytest.mark.skipif(
    find() is None, reason="no Chromium on the path; install one, or name it in CHROMIUM"
)


class Visit(NamedTuple):
    """What was seen: the document in the end, errors, requests, and what the script returned.

    Errors are those of scripts, what was printed by `console.error` and `console.warn`, and what
    could not be loaded. Requests are those to the network, which are all refused.
    """

    dom: str
    errors: list[str]
    requests: list[str]
    value: Any


# Runs before anything of the page: what went wrong while loading would be missed otherwise.
WATCH = """<script>
{
window.__errors = [];
const missing = (element) => "cannot load " + (element.src || element.href);
addEventListener("error", (e) => __errors.push(e.message || missing(e.target)), true);
addEventListener("unhandledrejection", (e) => __errors.push(String(e.reason)));
addEventListener("securitypolicyviolation", (e) => __errors.push("refused " + e.blockedURI));
for (const kind of ["error", "warn"]) {
  const print = console[kind];
  console[kind] = (...words) => { __errors.push(words.join(" ")); print(...words); };
}
// Frames come with real time, so that hardly any come while virtual time flies.
window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 16);
window.cancelAnimationFrame = clearTimeout;
}
</script>
"""

RUN = """<script>
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
  let value = null;
  try {
    value = await (async () => { %s })();
  } catch (error) { __errors.push("the script: " + error); }
  const seen = document.createElement("script");
  seen.type = "application/json";
  seen.id = "__seen";
  const requests = performance.getEntriesByType("resource").map((entry) => entry.name);
  seen.textContent = JSON.stringify({ value: value ?? null, errors: __errors, requests: requests })
    .replaceAll("<", "\\\\u003c");
  document.body.append(seen);
});
</script>
"""


def visit(
    path: Path,
    script: str = "",
    *,
    milliseconds: int = 20_000,
    width: int = 1000,
    height: int = 800,
    calm: bool = False,
) -> Visit:
    """Open a page, run a script in it, and give what was seen.

    `milliseconds` is the virtual time that the page gets, the script's waiting included; `calm`
    is for people who prefer reduced motion.
    """
    options = [f"--virtual-time-budget={milliseconds}", f"--window-size={width},{height}"]
    options += ["--force-prefers-reduced-motion"] * calm
    with _copied(Path(path), script) as copy:
        done = _browse([*options, "--dump-dom", copy.as_uri()])
    found = re.search(r'<script type="application/json" id="__seen">(.*?)</script>', done.stdout)
    if found is None:
        raise AssertionError(f"the script did not end in {milliseconds} ms:\n{done.stderr[-2000:]}")
    seen = json.loads(found[1])
    errors = seen["errors"] + [m for m in MESSAGE.findall(done.stderr) if _is_error(m)]
    return Visit(done.stdout, list(dict.fromkeys(errors)), seen["requests"], seen["value"])


def screenshot(
    path: Path, png: Path, width: int = 1000, height: int = 800, script: str = ""
) -> None:
    """Write a picture of a page, after a script has run in it."""
    with _copied(Path(path), script) as copy:
        size = f"--window-size={width},{height}"
        time = "--virtual-time-budget=10000"
        _browse([size, time, "--hide-scrollbars", f"--screenshot={png}", copy.as_uri()])
    assert png.exists()


def _is_error(message: str) -> bool:
    return bool(re.match(r"Uncaught|Failed to|Refused|Not allowed|Access to|Error", message))


class _copied:
    """A copy of a page, beside it, that watches itself and runs a script."""

    def __init__(self, path: Path, script: str) -> None:
        page = path.read_text(encoding="utf-8")
        head = re.search(r"<head[^>]*>", page)
        assert head, f"{path} has no head"
        page = page[: head.end()] + WATCH + page[head.end() :]
        before, end, after = page.rpartition("</body>")
        assert end, f"{path} has no end of its body"
        self.text = before + RUN.replace("%s", script) + end + after
        self.copy = path.resolve().with_name(f".{uuid.uuid4().hex}.html")

    def __enter__(self) -> Path:
        self.copy.write_text(self.text, encoding="utf-8")
        return self.copy

    def __exit__(self, *_: object) -> None:
        self.copy.unlink()


def _browse(options: list[str]) -> subprocess.CompletedProcess:
    """Run the browser with a profile of its own; once more if it hangs, as a busy machine may."""
    for attempt in (1, 2):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            command = [
                find(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-extensions",
                "--no-first-run",
                "--host-resolver-rules=MAP * ~NOTFOUND",
                "--enable-logging=stderr",
                f"--user-data-dir={profile}",
                *options,
            ]
            try:
                done = subprocess.run(
                    command, capture_output=True, text=True, encoding="utf-8", timeout=SECONDS
                )
            except subprocess.TimeoutExpired:
                if attempt == 2:
                    raise
                continue
        assert done.returncode == 0, done.stderr[-2000:]
        return done
    raise AssertionError("unreachable")
