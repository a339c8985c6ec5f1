"""The pages of docs/: their code does what they show, and they build, with every link."""

import re
import shutil
import subprocess
import sys
import warnings
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import matplotlib.pyplot as plt
import pytest
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from amount import LONG, sampled
from bench import verdicts
from browser import needs_browser, visit
from pages import DOCS, FENCE, ROOT, RUNNERS, blocks, cells, links, prose
from rosenblatt.lab import catalogue
from windows import accessibility, open_page

LAB = DOCS / "lab"
WRITTEN = {LAB, DOCS / "api"}  # by `make docs`: no part of the source
PAGES = {
    path.relative_to(DOCS).as_posix(): path
    for path in sorted(DOCS.rglob("*.md"))
    if not WRITTEN.intersection(path.parents)
}
WITH_CODE = [name for name, page in PAGES.items() if RUNNERS.keys() & dict(blocks(page)).keys()]
NOT_CODE = "text"
FIGURE = "figure.svg"
SHADES = ("light", "dark")
WITHOUT_PICTURES = ("gallery/index.md", "gallery/exercises.md")
BLANK = '<svg xmlns="http://www.w3.org/2000/svg" width="72" height="42"></svg>'


# ---- code


@pytest.mark.skipif(sys.platform == "win32", reason="the commands are those of a POSIX shell")
@pytest.mark.parametrize("page", WITH_CODE)
def test_every_block_of_a_page_gives_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file in (Path(rb.__file__).parent / "checker.py", DOCS / "own_experiment.py"):
        shutil.copy(file, tmp_path)
    names = {"__name__": "page"}
    with warnings.catch_warnings():
        # Pages tell beforehand that a limit will stop a run, and a reader sees the sentence.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for kind, text in blocks(DOCS / page):
            assert kind not in RUNNERS or RUNNERS[kind](text, names)


@pytest.mark.parametrize("page", [name for name, page in PAGES.items() if cells(page)])
def test_the_notebooks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    names = {"__name__": "page"}
    for cell in cells(DOCS / page):
        exec(compile(cell, page, "exec"), names)
    plt.close("all")


@pytest.mark.parametrize("page", PAGES)
def test_every_block_says_what_it_is(page):
    assert {kind for kind, _ in blocks(PAGES[page])} <= {*RUNNERS, NOT_CODE}


def test_the_front_page_runs_all_code_of_the_readme_which_fits_on_a_screen_or_two():
    assert set(blocks(ROOT / "README.md")) <= set(blocks(PAGES["index.md"]))
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 100


def test_every_link_of_the_readme_leads_somewhere():
    for target, anchor in links(ROOT / "README.md"):
        assert (ROOT / target).is_file()
        assert not anchor


def test_a_block_that_shows_something_else_is_found():
    names = {}
    assert RUNNERS["python"](">>> 1 + 1\n2\n", names)
    assert RUNNERS["python"]("x = 3\nx + 1     # 4, as it should be\n", names)
    assert RUNNERS["console"]("$ printf '1\\n'\n1\n", names)
    for kind, wrong in (
        ("python", ">>> 1 + 1\n3\n"),
        ("python", "x + 1     # 5, which it is not\n"),
        ("console", "$ rosenblatt --version\nrosenblatt 0.0\n"),
        ("console", "$ printf '1\\n'\n2\n"),
    ):
        with pytest.raises(AssertionError):
            RUNNERS[kind](wrong, names)


def test_the_table_of_verdicts_is_that_of_the_data():
    page = PAGES["certificates.md"].read_text(encoding="utf-8")
    lines = [tuple(map(str.strip, line.split("|")[1:-1])) for line in page.splitlines()]
    begin = lines.index(verdicts.HEADER) + 2
    shown = lines[begin : lines.index((), begin)]
    # How wide a margin is found may depend on the machine.
    assert [line[:4] for line in shown] == [line[:4] for line in verdicts.lines()]


MEASURED = re.compile(
    r"\d[\d.,]*\s(ms|µs|ns|s|seconds|minutes) of processor time|\d[\d.,]*\s(ms|µs|ns|s)\b"
    r"|\d\s(×|times)\s(faster|slower|as fast|as long|its time)|\d\s(faster|slower)"
)


def test_times_stand_on_pages_that_make_bench_writes_and_nowhere_else():
    pages = {name: page for name, page in PAGES.items() if not name.startswith("measured/")}
    for page in (ROOT / "README.md", ROOT / "CHANGELOG.md", *pages.values()):
        written = FENCE.sub("", page.read_text(encoding="utf-8"))
        assert not (found := MEASURED.search(written)), f"{page.name}: {found}"
    assert "\n|" not in FENCE.sub("", pages["speed.md"].read_text(encoding="utf-8"))
    assert all(map(MEASURED.search, ("It takes 3.5 s.", "41 ms", "It is 2 times as fast.")))


# ---- links and pictures


def test_a_link_into_the_laboratory_is_to_what_the_laboratory_writes():
    report = ("report.html",)
    for name, page in PAGES.items():
        for target, _ in links(page):
            aim = (page.parent / target).resolve()
            if LAB in aim.parents:
                found = aim.relative_to(LAB).parts
                assert found == report or (
                    found[0] in catalogue.NAMES and found[1:] == (FIGURE,)
                ), f"{name} links to {target}"


def test_every_experiment_has_its_figure_on_a_page_and_its_name_in_the_list():
    shown = {
        Path(target).parts[-2]
        for page in PAGES.values()
        for target, _ in links(page)
        if target.endswith(FIGURE)
    }
    assert shown == set(catalogue.NAMES)
    listed = re.findall(r"`([a-z-]+)`", PAGES["laboratory.md"].read_text(encoding="utf-8"))
    assert set(catalogue.NAMES) <= set(listed)


@pytest.mark.parametrize("page", PAGES)
def test_every_picture_has_a_text_for_those_who_cannot_see_it(page):
    for text in re.findall(r"!\[(.*?)\]\(", prose(PAGES[page])):
        assert len(text) > 20


# ---- the site


class Sources(HTMLParser):
    """What a page fetches when it is opened, its pictures, its links, and where links may lead."""

    def __init__(self, path):
        super().__init__()
        self.fetched, self.pictures, self.links, self.places = [], [], [], {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places.add(found.get("id"))
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag == "img":
            self.pictures.append((found["src"], found.get("alt")))
        if tag == "link" and found.get("rel") not in ("next", "prev", "canonical"):
            self.fetched.append(found["href"])
        self.fetched += [found["src"]] if found.get("src") else []


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site from the pages as they are, with empty pictures."""
    pytest.importorskip("sphinx")
    folder = tmp_path_factory.mktemp("site")
    left = shutil.ignore_patterns(*(path.name for path in WRITTEN))
    shutil.copytree(DOCS, folder / "docs", ignore=left)
    for name in ("CHANGELOG.md", "CONTRIBUTING.md", "README.md"):
        shutil.copy(ROOT / name, folder)
    for name in catalogue.NAMES:
        (folder / "docs" / "lab" / name).mkdir(parents=True)
        (folder / "docs" / "lab" / name / FIGURE).write_text(BLANK)
    (folder / "docs" / "lab" / "report.html").write_text("<!doctype html><title>Report</title>")
    # Cells of notebooks that are not run here do not say in which language they are.
    settings = () if LONG else ("-Dnb_execution_mode=off", "-Dsuppress_warnings=myst-nb.lexer")
    options = ["--fail-on-warning", *settings]
    command = [sys.executable, "-m", "sphinx", *options, "docs", "site"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def sources(site):
    """Give what each page of the site refers to."""
    written_by_others = set((site / "_static").rglob("*.html"))
    return {path: Sources(path) for path in set(site.rglob("*.html")) - written_by_others}


def test_the_site_has_every_page_and_fetches_nothing_from_elsewhere(site, sources):
    built = {path.relative_to(site).with_suffix(".md").as_posix() for path in sources}
    assert set(PAGES) <= built
    for path, page in sources.items():
        assert path.name == "report.html" or page.fetched
        for source in page.fetched:
            local = source.split("?")[0].split("#")[0]
            assert (path.parent / local).exists(), (path, source)
        assert not [each for each in page.fetched if re.match("(https?:)?//", each)]
        assert all(alt for _, alt in page.pictures)
    for path in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*[\"']?(https?:)?//", path.read_text("utf-8"))


def test_every_link_of_the_site_leads_to_a_place_that_is_there(sources):
    for path, page in sources.items():
        for link in page.links:
            if link.startswith("https:"):
                continue
            target, _, place = unquote(link).partition("#")
            aim = (path.parent / target).resolve() if target else path
            assert aim.exists(), (path, link)
            known = aim in sources and aim.parent.name != "play"  # where it means points
            assert not known or place in sources[aim].places, (path, link)


def test_included_text_is_there_and_no_directive_is_left(site):
    assert "logistic regression" in (site / "index.html").read_text(encoding="utf-8")
    assert "Where each idea lives" in (site / "layout.html").read_text(encoding="utf-8")
    assert "rb.read" in (site / "api" / "rosenblatt.read.html").read_text(encoding="utf-8")
    assert "make_separable" in (site / "laboratory.html").read_text(encoding="utf-8")


@needs_browser
def test_the_site_opened_from_disk_has_no_errors_and_can_be_searched(site):
    script = """
        const found = [];
        for (const word of ["Novikoff", "separate"]) {
          Search.performSearch(word);
          await wait(5000);
          found.push(text("#search-results"));
        }
        return found;
    """
    seen = visit(site / "search.html", script)
    assert seen.errors == []
    assert all(request.startswith("file:") for request in seen.requests)
    assert "Theorem 1" in seen.value[0]
    assert "rb.separate" in seen.value[1]


KINDS = sampled(
    ["index", "commands", "api/rosenblatt.separate", "gallery/separation", "coming/scikit-learn"], 2
)
SCREENS = [(360, True)] + [(360, False), (1400, False), (1400, True)] * LONG


@needs_browser
@pytest.mark.parametrize("name", KINDS)
def test_pages_are_readable_on_small_screens_and_in_the_dark(site, name):
    for width, dark in SCREENS:
        address = (site / f"{name}.html").as_uri()
        with open_page(address, width=width, dark=dark, calm=True) as page:
            assert page("return document.documentElement.scrollWidth") <= width
            assert page("return document.documentElement.dataset.theme") == SHADES[dark]
            assert accessibility(page) == []
            assert page.errors() == []


@needs_browser
@pytest.mark.skipif(not LONG, reason="the notebooks of the gallery are run in long mode")
@pytest.mark.parametrize("name", [page for page in PAGES if page.startswith("gallery/")])
def test_the_gallery_shows_its_pictures(site, name):
    shown = (
        "[...document.querySelectorAll('main img')].map((each) => [each.naturalWidth, each.alt])"
    )
    with open_page((site / name).with_suffix(".html").as_uri()) as page:
        pictures = page(f"return {shown}")
        assert pictures or name in WITHOUT_PICTURES
        assert all(width and len(alt) > 20 and not alt.endswith(".png") for width, alt in pictures)
        assert page.errors() == []
