"""The playground: its algorithms are held to the package's, and its page works for everybody."""

import html
import json
import re
import runpy
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from browser import needs_browser, visit
from rosenblatt.online.driver import ORDERS
from windows import PAGES, accessibility, open_page, served

pytestmark = needs_browser
LINK = re.compile(r"play/index\.html(#[^\s\"]+)")
LIMIT = 60  # mistakes
RUN = """
const [{ decide }, { Run }] = [await import("./geometry.js"), await import("./run.js")];
return cases.map(({ points, ...settings }) => {
  const { witness, ...decision } = decide(points, settings.affine);
  const run = new Run(points, settings, null);
  while (run.mistakes.length < limit && run.look());
  const terms = witness?.terms.map(({ i, weight, total }) => [i, String(weight), String(total)]);
  return { ...decision, terms, mistakes: run.mistakes.map(({ i }) => i), ended: run.ended };
});
"""


@pytest.fixture(scope="module")
def address():
    with served(PAGES) as address:
        yield f"{address}/play/"


@pytest.fixture
def page(address):
    with open_page(address, calm=True) as page:
        yield page
        assert page.errors() == []


# ---- the algorithms


def point_sets(count, seed=7):
    """Give random points with labels of both classes: general, collinear, repeated, touching, …"""
    rng = np.random.default_rng(seed)
    for k in range(count):
        n, kind = int(rng.integers(2, 18)), k % 8
        X, y = rng.integers(-128, 129, (n, 2)) / 64, rng.choice([-1, 1], n)
        if kind == 0:
            X = rng.standard_normal((n, 2))
        if kind in (0, 1, 2):
            y = np.where(X @ rng.standard_normal(2) + 0.3 * rng.standard_normal() > 0, 1, -1)
        if kind == 3:
            X[:, 1] = 0.5 * X[:, 0]
        if kind == 4:
            X = X[rng.integers(0, 1 + n // 3, n)]
        if kind == 5:
            X = np.trunc(X)
        if kind == 6:  # on both sides of a line, and on it
            X[:, 1] = y * np.abs(X[:, 1]) * rng.integers(0, 2, n)
        y[[0, -1]] = 1, -1
        yield X, y


def quietly(learner, X, y, **options):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Stopped at")
        return learner.fit(X, y, **options)


def as_points(X, y):
    return [
        {"x": x, "y": z, "label": int(label)} for (x, z), label in zip(X.tolist(), y, strict=True)
    ]


def test_500_point_sets_get_the_verdicts_margins_and_mistakes_of_the_package(page):
    cases, expected = [], []
    for k, (X, y) in enumerate(point_sets(500)):
        affine, order = k % 3 > 0, ORDERS[k % 5]
        options = {"max_iter": None, "max_updates": LIMIT, "patience": None, "output": "last"}
        learner = rb.Perceptron(order=order, fit_intercept=affine, random_state=k, **options)
        comparator = [1.0, 0.0, 0.0] if affine else [1.0, 0.0]  # so that a history is kept
        run = quietly(learner, X, y, comparator=comparator).run_
        settings = {"affine": affine, "order": order, "seed": learner.draw_seed(), "kernel": "none"}
        cases.append({"points": as_points(X, y), **settings})
        expected.append((X, y, affine, run, rb.separate(X, y, fit_intercept=affine).verdict))
    found = page(RUN, cases=cases, limit=LIMIT)
    assert {verdict for *_, verdict in expected} == {"separable", "weakly separable", "inseparable"}
    for (X, y, affine, run, verdict), seen in zip(expected, found, strict=True):
        assert seen["verdict"] == verdict
        assert seen["mistakes"] == run.history.example.tolist()
        assert seen["ended"] == run.converged
        if verdict == "separable":
            margin = rb.max_margin(X, y, fit_intercept=affine)
            assert margin.lower - 1e-9 <= seen["margin"] <= margin.upper + 1e-9
        else:
            check_witness(X, y, affine, seen["terms"])


def check_witness(X, y, affine, terms):
    """Positive weights, of sum 1 in each class (in all), that bring both classes to one point."""
    total = [Fraction(0)] * 4
    for i, weight, whole in terms:
        share = Fraction(int(weight), int(whole))
        assert share > 0
        signed = [int(y[i]) * share * Fraction(x) for x in X[i].tolist()]
        total = [sum(pair) for pair in zip(total, [*signed, int(y[i]) * share, share], strict=True)]
    assert total[:2] == [0, 0]
    assert total[2:] == [0, 2] if affine else total[3] == 1
    assert len(terms) <= (4 if affine else 3)


def test_numbers_far_apart_get_exact_verdicts(page):
    tiny = 2.0**-1060
    cases = [
        [(0.0, 0.0, -1), (1.0, tiny, 1), (-1.0, 0.0, 1)],
        [(0.0, 0.0, -1), (1.0, 0.0, 1), (-1.0, 0.0, 1)],
        [(0.1, 0.3, -1), (0.2, 0.6, 1), (0.3, 0.9, -1)],  # 0.9 is not three times 0.3 in floats
        [(1e300, 1e-300, 1), (1e300, -1e-300, -1), (-1e300, 0.0, 1)],
    ]
    given = [as_points(np.array(c)[:, :2], np.array(c)[:, 2]) for c in cases]
    usual = {"affine": True, "order": "cycle", "seed": 1, "kernel": "none"}
    found = page(RUN, cases=[{"points": points, **usual} for points in given], limit=0)
    for case, seen in zip(cases, found, strict=True):
        array = np.array(case)
        assert seen["verdict"] == rb.separate(array[:, :2], array[:, 2]).verdict


@pytest.mark.parametrize("kernel", ["polynomial", "gaussian"])
def test_kernels_make_the_mistakes_of_the_package(page, kernel):
    function = {"polynomial": rb.Polynomial(3, c=0), "gaussian": rb.Gaussian(0.5)}[kernel]
    cases, expected = [], []
    for k, (X, y) in enumerate(point_sets(40, seed=3)):
        X = X + np.random.default_rng(k).uniform(
            -0.2, 0.2, X.shape
        )  # no scores that tie by symmetry
        learner = rb.KernelPerceptron(function, max_updates=LIMIT, fit_intercept=k % 2 > 0)
        expected.append(quietly(learner, X, y))
        settings = {"affine": k % 2 > 0, "order": "cycle", "seed": 1, "kernel": kernel}
        cases.append({"points": as_points(X, y), "degree": 3, "gamma": 0.5, **settings})
    for learner, seen in zip(expected, page(RUN, cases=cases, limit=LIMIT), strict=True):
        counts = np.bincount(seen["mistakes"], minlength=int(learner.support_.max()) + 1)
        assert list(dict.fromkeys(seen["mistakes"])) == learner.support_.tolist()
        assert counts[learner.support_].tolist() == learner.counts_.tolist()


# ---- the page

AT = """const spot = (x, y) => {
  const box = one("#plane").getBoundingClientRect();
  const unit = box.width / 4.4; // the picture reaches from -2.2 to 2.2
  return [box.left + box.width / 2 + unit * x, box.top + box.height / 2 - unit * y];
};"""
POINTS = "return location.hash"


def test_points_are_added_dragged_flipped_and_removed(page):
    page("one('#clear').click()")
    assert page("return text('#verdict h2')") == "Two colours are needed"
    first, second, away = page(AT + "return [spot(1, 1), spot(-1, -1), spot(-1, 0.5)]")
    page.drag(first)
    page("one('[value=\"-1\"]').click()")
    page.drag(second)
    assert page(POINTS) == "#points=p1,1~n-1,-1"
    assert page("return text('#verdict h2') + text('#count')") == "Separable2 points"
    assert "2.83 wide" in page("return text('#verdict p')")
    page.drag(second, first, away)
    assert page(POINTS) == "#points=p1,1~n-1,0.5"
    page("one('#flip').click()")
    assert page(POINTS) == "#points=p1,1~p-1,0.5"
    page("one('#remove').click()")
    page("one('#undo').click(); one('#undo').click()")
    assert page(POINTS) == "#points=p1,1~n-1,0.5"


def test_the_worked_example_is_stepped_through(page):
    page("one('#lessons button').click()")
    seen = page("""const seen = [];
        for (let k = 0; k < 3; k++) { one("#step").click(); seen.push(text("#weights")); }
        one("#step").click();
        return [...seen, text("#progress"), one("#step").disabled];""")
    assert seen[:3] == ["w = (1, −2)", "w = (2, −1)", "w = (3, 1)"]
    assert seen[3].endswith("3 mistakes in all, and Theorem 1 allowed 5.")
    assert seen[4] is True
    assert page("one('#back').click(); return text('#weights')") == "w = (2, −1)"
    assert page("return text('#square')") == "‖w‖² = 5 ≤ k·R² = 10"
    assert page("return text('#product')") == "k·γ = 2 ≤ w·w* = 2 ≤ R·√k = 3.16"


def test_each_preset_has_its_verdict_and_its_run(page):
    seen = page("""const seen = {};
        for (const { value } of [...one("#preset").options].slice(1, -1)) {
          one("#preset").value = value;
          one("#preset").dispatchEvent(new Event("change"));
          one("#play").click();
          const [, mistakes] = /([\\d,]+) mistakes/.exec(text("#progress"));
          seen[value] = [text("#verdict h2"), Number(mistakes.replace(",", ""))];
        }
        return seen;""")
    assert seen == {
        "clouds": ["Separable", 15],
        "worked": ["Separable", 3],
        "thin": ["Separable", 26],
        "worst8": ["Separable", 103],
        "worst32": ["Separable", 1927],
        "touching": ["Weakly separable", 5000],
        "overlap": ["Inseparable", 5000],
        "xor": ["Inseparable", 5000],
        "rings": ["Inseparable", 5000],
    }


def test_the_answer_can_be_hidden_while_people_guess(page):
    for _ in range(2):
        page("one('#answer').click()")
        seen = page("return one('main').innerText.split('A lesson plan')[0]")
        assert ("street" in seen) == ("w·w*" in seen) == page("return one('#answer').checked")
    assert page("return document.querySelectorAll('#plane .street').length") == 1


def test_a_kernel_separates_xor_and_paints_its_regions(page):
    seen = page("""
        one("#preset").value = "xor";
        one("#preset").dispatchEvent(new Event("change"));
        one("#kernel").value = "polynomial:2";
        one("#kernel").dispatchEvent(new Event("change"));
        one("#play").click();
        const { data } = one("#regions").getContext("2d").getImageData(30, 30, 1, 1);
        return [text("#progress"), data[0] > data[2], location.hash];""")
    assert "separable in the space of features" in seen[0]
    assert seen[1] is True  # (-1, 1) is orange
    assert seen[2].endswith("&kernel=polynomial")


def test_a_link_brings_everything_back(address):
    link = (
        "#points=p1,1~p1,0~p0.03125,1~n0,1&affine=0&order=random&seed=9&kernel=gaussian&gamma=0.5"
    )
    with open_page(address + link) as page:
        seen = page("""one('#flip').click(); one('#share').click();
            const values = ['#order', '#seed', '#kernel', '#gamma'].map((name) => one(name).value);
            return [location.hash, one('#affine').checked, ...values];""")
        assert seen == [link, False, "random", "9", "gaussian", "0.5"]
        page(
            "location.hash = '#points=p1,1~n1,1'; await until(() => text('#count') === '2 points')"
        )
        assert page("return text('#verdict h2')") == "Inseparable"
        assert page.errors() == []


def test_links_of_the_docs_hold_what_the_pages_speak_of(page):
    pages = (Path(__file__).parents[1] / "docs").rglob("*.md")
    texts = [path.read_text("utf-8") for path in pages]
    found = {html.unescape(link) for text in texts for link in LINK.findall(text)}
    assert len(found) >= 4
    read = "const { fromLink } = await import('./link.js'); return links.map(fromLink)"
    for each in page(read, links=sorted(found)):
        assert len(each["points"]) >= 4


BAD_LINKS = [
    "points=p1",
    "points=p1,x",
    "seed=-1",
    "points=pe,1",
    "points=p1e9,1",
    "degree=9",
    "a=b",
    "%ff",
]


def test_a_link_that_cannot_be_read_is_said_so(page):
    for link in [*BAD_LINKS, "points=" + "~".join(["p1,1"] * 201)]:
        page("one('#shared').textContent = ''; location.hash = link", link=f"#{link}")
        page("await until(() => text('#shared').startsWith('This link cannot be read: '))")
        assert page("return text('#count')") == "24 points"


def test_the_keyboard_is_enough(page):
    page("one('#clear').focus()")
    page.press("Enter")
    page("one('#plane').focus()")
    page.press("ArrowRight", "o", "ArrowUp", "ArrowUp", "b", "[", "Enter", "ArrowLeft", "Enter")
    page.press("ArrowLeft", shift=True)
    assert page(POINTS) == "#points=p0,0~n0.125,0.25"
    said = "await until(() => text('#said') === '−0.0156, 0'); return text('#verdict h2')"
    assert page(said) == "Separable"
    page.press("]", "]", "f")
    assert page(POINTS) == "#points=p0,0~p0.125,0.25"
    page.press("Delete", "Tab", "Tab", "Tab")
    assert page("return document.activeElement.id") == "answer"


def test_a_finger_drags_on_a_small_screen(address):
    with open_page(f"{address}#points=p1,1~n-1,-1", width=360, height=740) as page:
        start, end = page(AT + "return [spot(1, 1), spot(0.5, 1.5)]")
        page.swipe([start[0] + 9, start[1] - 9], end)
        moved = page(POINTS)
        assert moved.startswith("#points=p0.")
        assert moved.endswith("~n-1,-1")
        assert page("return document.documentElement.scrollWidth") == 360
        assert page.errors() == []


def test_a_run_moves_unless_motion_is_reduced(address, page):
    page("one('#play').click()")
    assert page("return one('#play').disabled") is True
    with open_page(address) as moving:
        moving("one('#speed').value = 'fast'; one('#play').click()")
        assert moving("return text('#play')") == "Pause"
        moving("await until(() => one('#play').disabled)")
        done = "return text('#progress')"
        assert moving(done) == page(done)


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_stands_in_the_way_of_anybody(address, dark):
    for link in ("", "#points=p1,1~n-1,-1~p-1,-1"):
        with open_page(address + link, dark=dark) as page:
            page("for (const each of document.querySelectorAll('details')) each.open = true")
            page("one('#step').click()")
            assert accessibility(page) == []


def test_the_static_page_needs_no_server(tmp_path):
    files = runpy.run_path(str(Path(__file__).parents[1] / "docs" / "playground.py"))["static"]()
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    seen = visit(tmp_path / "index.html", "click('#step'); return text('#progress');")
    assert seen.errors == []
    assert seen.value.startswith("Mistake 1:")


# ---- the widget

MODEL = """
class Model { // what anywidget gives a view
  constructor(state) { this.state = state; this.heard = new Set(); this.saved = null; }
  get(name) { return this.state[name]; }
  set(name, value) {
    this.state[name] = value;
    for (const [event, handle] of this.heard) if (event === `change:${name}`) handle();
  }
  save_changes() { this.saved = JSON.parse(JSON.stringify(this.state)); }
  on(event, handle) { this.heard.add([event, handle]); }
  off(event, handle) { this.heard = new Set([...this.heard].filter((pair) => pair[1] !== handle)); }
}
const address = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }));
const { default: widget } = await import(address);
const open = () => {
  const model = new Model(structuredClone(state)), el = document.createElement("div");
  document.body.append(el);
  const close = widget.render({ model, el });
  const one = (selector) => el.firstChild.shadowRoot.querySelector(selector);
  return { model, close, one, text: (selector) => one(selector).textContent };
};
"""


@pytest.fixture(scope="module")
def worked_widget():
    """Show the worked example, in which the line passes through the origin."""
    X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    return rb.playground(X, list("nppnnp"), fit_intercept=False)


def in_a_notebook(widget, tmp_path, script, **size):
    """Run a script on an empty page with the module and the state that a notebook would get."""
    state = {"points": widget.points, "settings": widget.settings}
    given = f"const esm = {json.dumps(widget._esm)}, state = {json.dumps(state)};"
    (tmp_path / "notebook.html").write_text("<!doctype html><body style='margin: 0'>")
    seen = visit(tmp_path / "notebook.html", given + MODEL + script, calm=True, **size)
    assert seen.errors == []
    return seen.value


def test_the_widget_steps_a_run_and_each_view_is_its_own(worked_widget, tmp_path):
    stepped, other, hidden = in_a_notebook(
        worked_widget,
        tmp_path,
        """const [a, b] = [open(), open()];
        for (let k = 0; k < 2; k++) a.one("#step").click();
        return [a.text("#weights"), b.text("#weights"), a.one("aside").hidden];""",
    )
    assert (stepped, other, hidden) == ("w = (2, −1)", "w = (0, 0)", True)


def test_the_widget_and_python_follow_each_other_until_the_view_is_closed(worked_widget, tmp_path):
    removed, followed, steps, closed = in_a_notebook(
        worked_widget,
        tmp_path,
        """const { model, one, text, close } = open();
        const press = (key) => one("#plane").dispatchEvent(new KeyboardEvent("keydown", { key }));
        ["]", "Delete"].forEach(press);
        one("#step").click();
        const removed = model.saved.points, steps = text("#weights");
        model.set("points", [[1, 1, 1], [1, 1, -1]]);
        const followed = text("#verdict h2");
        close();
        model.set("points", []);
        return [removed, followed, steps, text("#count")];""",
    )
    assert removed == worked_widget.points[1:]
    assert (followed, steps, closed) == ("Inseparable", "w = (1, 0)", "2 points")


def test_the_widget_fits_into_a_narrow_cell(worked_widget, tmp_path):
    script = "open(); const { scrollWidth, clientWidth } = document.documentElement;"
    script += "return scrollWidth - clientWidth"
    assert in_a_notebook(worked_widget, tmp_path, script, width=360) == 0


def test_what_the_widget_cannot_show_is_said():
    with pytest.raises(rb.InputError, match="the playground shows at most 200 points, but X has"):
        rb.playground(np.ones((201, 2)), np.arange(201) % 2)
    with pytest.raises(rb.InputError, match="shows points of the plane, but X has 3"):
        rb.playground(np.eye(3), [0, 1, 1])
    with pytest.raises(rb.InputError, match="order"):
        rb.playground(np.eye(2), [0, 1], order="sorted")
