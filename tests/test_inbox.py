"""The inbox page of `rosenblatt serve`: marks, corrections and the curve, as people see them."""

import json
import subprocess
import sys
import time
import urllib.request

import pytest

from browser import needs_browser
from windows import accessibility, open_page

pytest.importorskip("fastapi", reason="the service needs the extra `serve`")
pytestmark = needs_browser
IMPORTANT = "minutes of the meeting", "budget for the quarter", "draft of the report"
ORDINARY = "free offer, click here", "cheap watches, click here", "free cruise, act now"
LISTED = "[...document.querySelectorAll('#list .title')].map((each) => each.textContent)"
COUNTS = "return [text('#corrections'), text('#mistakes')].join()"


def message(subject):
    text = f"From: a@b.example\r\nSubject: {subject}\r\n\r\nThis is about {subject}.\r\n"
    return text.encode()


def post(address, path, body, kind="application/json"):
    request = urllib.request.Request(f"{address}/{path}", body, {"content-type": kind})
    with urllib.request.urlopen(request, timeout=300) as answer:
        return json.load(answer)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A server with one correction of each kind, which also loads all loops."""
    with serving(tmp_path_factory.mktemp("learners")) as address:
        for label, subject in (("important", "the weekly meeting"), ("ordinary", "click here")):
            post(address, f"teach?label={label}", message(subject), "message/rfc822")
        for subject in (*IMPORTANT, *ORDINARY):
            post(address, "predict", message(subject), "message/rfc822")
        yield address


class serving:
    """A server of its own process."""

    def __init__(self, folder, *options):
        command = [sys.executable, "-m", "rosenblatt", "serve", folder, "--port", "0", *options]
        quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        self.process = subprocess.Popen([*map(str, command)], **quiet)

    def __enter__(self):
        return self.process.stdout.readline().split()[1]

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate(timeout=60)


@pytest.fixture
def page(address):
    with open_page(address) as page:
        page("await until(() => document.querySelectorAll('#list li').length >= 8)")
        yield page
        assert page.errors() == []


def test_three_corrections_change_marks_counts_and_curve(page):
    before = page("return one('#curve').innerHTML")
    corrections = int(page("return text('#corrections')"))
    for k in range(3):
        page("one('#list li .teach [aria-pressed=false]').click()")
        page(f"await until(() => Number(text('#corrections')) === {corrections + 1 + k})")
    assert page("return one('#curve').innerHTML") != before
    page("await until(() => text('#curvename').includes('in any order at most'))")
    assert int(page("return text('#mistakes')")) <= int(page("return text('#bound')"))
    assert page("return document.querySelectorAll('.corrected').length") >= 3
    assert "mark" in page(
        "await until(() => text('#said').includes('changed')); return text('#said')"
    )


def test_what_it_is_unsure_about_comes_first(page):
    doubts = page("""return [...document.querySelectorAll("#list li")].map((each) =>
        each.querySelector(".doubt") !== null)""")
    assert doubts == sorted(doubts, reverse=True)


def test_the_keyboard_is_enough(page, address):
    fresh = [f"keyboard {k}, free report" for k in range(2)]
    for subject in fresh:
        post(address, "predict", message(subject), "message/rfc822")
    page(f"await until(() => {LISTED}.includes({json.dumps(fresh[1])}))")
    before = page(COUNTS)
    place = page(f"return {LISTED}.indexOf({json.dumps(fresh[1])})")
    page.press(*["k"] * 20, *["j"] * place)
    current = "return one('[aria-current] .title').textContent"
    assert page(current) == fresh[1]
    page.press("Enter")
    assert "score" in page("return text('[aria-current] .reasons')")
    page.press("s")
    page(f"await until(() => (() => {{ {COUNTS} }})() !== {json.dumps(before)})")
    taught = f"""return [...document.querySelectorAll("#list li")].find((each) =>
        each.querySelector(".title").textContent === {json.dumps(fresh[1])})
        .querySelector("[aria-pressed=true]")?.textContent"""
    assert page(taught) == "ordinary"
    page.press("u")
    page(f"await until(() => (() => {{ {COUNTS} }})() === {json.dumps(before)})")
    assert page(taught) is None
    page.press("?")
    assert page("return one('#keys').open && text('#labelkeys')") == "h importants ordinary"
    page.press("Enter")
    assert page("return one('#keys').open") is False


def test_what_others_teach_is_seen_at_once(page, address):
    corrections = int(page("return text('#corrections')"))
    subject = "<img src=x onerror=alert(1)> somebody else"
    post(address, "teach?label=important", message(subject), "message/rfc822")
    page(f"await until(() => Number(text('#corrections')) === {corrections + 1})")
    assert subject in page(f"return {LISTED}")  # as it is written


def test_the_list_has_all_that_the_counts_count_however_late_they_come(page, address):
    page("""const before = window.fetch;
        window.fetch = async (path, ...rest) => {
            if (path.startsWith("stats")) {
                window.asked = true;
                await new Promise((go) => setTimeout(go, 500));
            }
            return before(path, ...rest);
        }""")
    corrections = int(page("return text('#corrections')"))
    post(address, "predict", message("draft that is late"), "message/rfc822")
    page("await until(() => window.asked)")
    post(address, "teach?label=important", message("taught meanwhile"), "message/rfc822")
    page(f"await until(() => Number(text('#corrections')) === {corrections + 1})")
    assert "taught meanwhile" in page(f"return {LISTED}")


def test_features_are_shown_and_corrected_with_numbers_as_keys(address):
    for name, label in (("wet", "stay"), ("warm", "go")):
        lesson = {"learner": "walks", "features": {name: 1.0}, "label": label}
        post(address, "teach", json.dumps(lesson).encode())
    with open_page(address) as page:
        page("await until(() => one('#learner').options.length === 2)")
        page("one('#learner').value = 'walks'; one('#learner').dispatchEvent(new Event('change'))")
        page("await until(() => document.querySelectorAll('#list li').length === 2)")
        assert page(f"return {LISTED}") == ["warm 1", "wet 1"]
        pressed = "[...document.querySelectorAll('[aria-pressed=true]')].map((b) => b.textContent)"
        page("window.prompt = () => 'swim'; one('#list [data-label=\"-1\"]').click()")
        page(f"await until(() => {pressed}.join() === 'swim,stay')")
        page.press("1")
        page(f"await until(() => {pressed}.join() === 'swim,swim')")
        assert page.errors() == []


def is_new(page):
    """Tell whether another page has come; in between there is none to be asked."""
    try:
        return page("return !window.before && document.readyState === 'complete'")
    except AssertionError as error:
        if "navigated" not in str(error):
            raise
        return False


def enter(page, text):
    """Type a text into the input and send it, once more if nothing comes of it: keys get lost."""
    for _ in range(10):
        page("one('input').value = ''; one('input').focus(); window.before = true")
        page.press(*text, "Enter")
        until = time.monotonic() + 6
        while time.monotonic() < until:
            if is_new(page):
                return
            time.sleep(0.02)
    raise AssertionError("no other page has come")


def test_who_has_no_token_is_asked_for_it_and_an_empty_inbox_takes_files(tmp_path):
    token = "abcdefghijklmnopqrstuvwxyz"
    (tmp_path / "token").write_text(token)
    options = "--token-file", tmp_path / "token"
    with serving(tmp_path / "learners", *options) as address, open_page(address) as page:
        assert page("return text('h1')") == "Who is there?"
        assert accessibility(page) == []
        for given, title in (("wrong", "Who is there?"), (token, "Inbox")):
            enter(page, given)
            assert page("return document.title") == title
            if given == "wrong":
                assert page("return one('#wrong').offsetHeight") > 0
        page("await until(() => !one('#empty').hidden)")
        page("""const given = new DataTransfer();
            given.items.add(new File(["Subject: from a file\\r\\n\\r\\nhello"], "one.eml"));
            one("#files").files = given.files;
            one("#files").dispatchEvent(new Event("change"));
            await until(() => one("#list li"))""")
        assert page(f"return {LISTED}") == ["from a file"]
        assert page.errors() == []


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_stands_in_the_way_of_anybody(address, dark):
    with open_page(address, dark=dark, width=360, height=740) as page:
        page("await until(() => one('#list li'))")
        assert page("return document.documentElement.scrollWidth") == 360
        assert accessibility(page) == []
        page.press("?")
        assert accessibility(page) == []
        assert page.errors() == []
