"""The animation of a run: its numbers are those of the run, and its page works in a browser."""

import json
import re
import time
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from PIL import Image, ImageColor

import rosenblatt as rb
from browser import needs_browser, visit
from rosenblatt.lab import animation, film
from rosenblatt.lab.frames import record
from rosenblatt.lab.style import BLUE, ORANGE, new_figure

WORKED = [(-1, 2), (1, 0), (1, 1), (-1, 0), (-1, -2), (1, -1)], [-1, 1, 1, -1, -1, 1]
NOISE = np.random.default_rng(0).standard_normal((60, 2)), np.arange(60) % 2
HERE = "[text('.caption'), text('.squaresheading'), text('.productsheading')]"
MISTAKE = "Number(one('#run').dataset.mistake)"


@pytest.fixture(scope="module")
def frames():
    return record(*animation.planted())


@pytest.fixture(scope="module")
def page(frames, tmp_path_factory):
    path = tmp_path_factory.mktemp("animation") / "run.html"
    path.write_text(animation.page(frames), encoding="utf-8")
    return path


# ---- the frames


def test_the_worked_example_goes_as_the_theory_says():
    frames = record(*WORKED)
    assert frames.example.tolist() == [0, 2, 4]
    assert frames.w.tolist() == [[0, 0], [1, -2], [2, -1], [3, 1]]
    assert "“I don't know”, it is -1 (w·x = 0); w becomes w − x" in frames.caption(1)
    assert "answered -1, but is 1 (w·x = −1); w becomes w + x" in frames.caption(2)
    assert frames.caption(3).endswith("mistakes, (R/γ)².")


def test_frames_are_the_run_of_the_learner(frames):
    X, y, w = animation.planted()
    learner = rb.Perceptron(fit_intercept=False, max_iter=None).fit(X, y, comparator=w)
    history = learner.run_.history
    np.testing.assert_allclose(frames.w[-1], learner.coef_[0], rtol=1e-12)
    assert frames.example.tolist() == history.example.tolist()
    assert frames.passes[-1] == learner.run_.passes - 1  # the last one made no mistake
    assert np.bincount(frames.passes)[1:].tolist() == list(learner.run_.mistakes_per_pass[:-1])
    np.testing.assert_allclose(frames.sqnorm, (frames.w**2).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(frames.projection, frames.w @ w, rtol=1e-9)
    assert frames.converged


def shifted():
    X, y, _ = animation.planted()
    return X + np.array([0.6, 0.3]), y


def test_frames_with_an_intercept_are_the_run_of_the_default_perceptron():
    X, y = shifted()
    assert not record(X, y).converged
    frames = record(X, y, fit_intercept=True)
    learner = rb.Perceptron().fit(X, y, comparator=frames.comparator)
    assert frames.converged
    assert frames.example.tolist() == learner.run_.history.example.tolist()
    expected = [*learner.coef_[0], learner.intercept_[0]]
    np.testing.assert_allclose(frames.w[-1], expected, rtol=1e-12)
    np.testing.assert_allclose(frames.sqnorm[1:], learner.run_.history.sqnorm, rtol=1e-12)
    np.testing.assert_allclose(frames.projection[1:], learner.run_.history.projection, rtol=1e-9)
    assert frames.radius == pytest.approx(np.sqrt(1 + (X**2).sum(axis=1).max()))
    assert "begins with w = 0 and b = 0" in frames.caption(0)
    assert re.search(
        r"\(w·x \+ b = 0\); w becomes w [−+] x, b becomes b [−+] 1\.$", frames.caption(1)
    )
    assert frames.squares(1).startswith("‖w‖² + b² = ")
    assert "w·w* + b·b* = " in frames.products(1)
    assert record(*NOISE, fit_intercept=True).ending.startswith("No line separates the classes")


@pytest.mark.parametrize("turned", [0.0, 0.5, 1.0])
def test_the_film_draws_the_line_of_the_weights_and_the_intercept(turned):
    frames = record(*shifted(), fit_intercept=True)
    figure = new_figure()
    moved = film._plane(figure.add_subplot(), frames)(film.Image(9, turned, False, 0))
    side, line = moved[:2]
    w = frames.w[8] + turned * (frames.w[9] - frames.w[8])
    np.testing.assert_allclose(w[:2] @ line.get_data() + w[2], 0, atol=1e-12 * np.abs(w).max())
    assert np.max(side.get_xy() @ w[:2]) + w[2] > 0


def test_columns_of_a_frame_name_the_axes(tmp_path):
    X, y, _ = animation.planted()
    frame = pd.DataFrame(X, columns=["height", "<b>$width$"])
    frames = record(frame, y)
    figure = new_figure()
    film._plane(axes := figure.add_subplot(), frames)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("height", "<b>$width$")
    rb.animate(frame, y, tmp_path / "run.html", names=["a", "b"])
    assert '"axes": ["a", "b"]' in (tmp_path / "run.html").read_text()
    rb.animate(frame, y, tmp_path / "run.gif", fit_intercept=True)
    with pytest.raises(rb.InputError, match=r"choose two, such as X\[\['height', '<b>.*'\]\]"):
        rb.animate(frame.assign(depth=0.0), y, tmp_path / "other.html")
    with pytest.raises(rb.InputError, match="names are 1, but X has 2 columns"):
        rb.animate(frame, y, tmp_path / "other.html", names=["a"])


@needs_browser
def test_the_page_draws_the_line_of_the_weights_and_the_intercept(tmp_path):
    X, y = shifted()
    rb.animate(X, y, tmp_path / "run.html", fit_intercept=True, names=["height", "width"])
    frames = record(X, y, fit_intercept=True)
    drawn = "one('.hyperplane').getAttribute('d')"
    names = "[...document.querySelectorAll('.plane .axis')].map((each) => each.textContent)"
    seen = visit(tmp_path / "run.html", f"press('End'); return [{drawn}, {names}]")
    assert seen.errors == []
    assert seen.value[1] == ["height", "width"]
    ends = np.array(re.findall(r"-?[\d.]+", seen.value[0]), float).reshape(2, 2)
    points = (2 * ends / 394 - 1) * frames.reach * [1, -1]
    a, b, c = frames.w[-1]
    np.testing.assert_allclose(points @ [a, b] + c, 0, atol=1e-9 * np.abs(frames.w).max())


def test_without_a_comparator_the_widest_separator_is_taken(frames):
    X, y, w = animation.planted()
    found = record(X, y)
    np.testing.assert_allclose(found.comparator, w, atol=1e-9)
    assert found.margin == pytest.approx(frames.margin)


def test_a_comparator_that_does_not_separate_gives_no_lower_bound():
    X, y, w = animation.planted()
    frames = record(X, y, -w)
    assert frames.margin is None
    assert frames.projection[-1] < 0
    assert "k·γ" not in frames.products(1)
    assert "Theorem 1" not in frames.caption(frames.mistakes)
    note = "This w* does not separate the classes, so there is no lower line k·γ."
    assert all(frames.caption(k).endswith(note) for k in range(frames.mistakes + 1))
    assert note in animation.page(frames)
    for other in (record(X, y, w), record(*NOISE, limit=4)):
        assert other.note == ""
        assert "lower line" not in other.caption(0) + other.caption(other.mistakes)


def test_a_run_that_never_ends_is_cut_and_says_so():
    frames = record(*NOISE, limit=40)
    assert (frames.mistakes, frames.margin, frames.projection) == (40, None, None)
    assert "No line through the origin separates the classes" in frames.caption(40)
    assert "No line" not in frames.caption(39)


def test_a_separable_run_that_is_cut_does_not_claim_to_be_endless():
    X, y, _ = animation.planted()
    assert record(X, y, limit=5).caption(5).endswith("More mistakes follow, which are not shown.")


def test_a_score_that_is_zero_up_to_rounding_is_not_given_a_sign():
    # 0.1·0.3 and 0.3·0.1 are rounded: whether they cancel depends on how they are added up.
    frames = record([(0.1, 0.3), (-0.3, 0.1)], ["yes", "no"], limit=1)
    frames = animation.Frames(**{**vars(frames), "example": np.array([0, 1]), "w": tilted(frames)})
    assert "was not on the side of no (w·x = 0 up to rounding)" in frames.caption(2)


def tilted(frames):
    return np.array([(0, 0), frames.X[0], frames.X[0] - frames.X[1]])


def test_long_labels_are_shortened():
    frames = record(WORKED[0], ["a" * 100 if label > 0 else "b" for label in WORKED[1]])
    assert frames.names == ("a" * 19 + "…", "b")


def test_labels_are_text_and_no_formulas(tmp_path):
    names = ["_ $x$ \\frac{" if label > 0 else "\n" for label in WORKED[1]]
    assert set(record(WORKED[0], names).names) == {"_ $x$ \\frac{", r"'\n'"}
    rb.animate(WORKED[0], names, tmp_path / "run.gif")
    assert (tmp_path / "run.gif").stat().st_size > 0


# ---- what is refused


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.ones((4, 3)), [0, 1, 0, 1], "points of the plane, but X has 3 columns; choose two"),
        (np.ones((4, 1)), [0, 1, 0, 1], "X has 1 column; choose two"),
        (np.eye(2), [1, 1], "two classes, got 1 class"),
        (np.ones((3, 2)), [1, 2, 3], "two classes, got 3"),
        ([[1, np.nan], [0, 1]], [0, 1], r"X contains NaN \(row 0, column 1\)"),
        (np.eye(2), [1], "X has 2 rows but y has 1"),
        (np.eye(2) * 1e-200, [0, 1], "cannot be drawn; multiply X by a constant"),
        (np.zeros((2, 2)), [0, 1], "the largest number of X is 0, which cannot be drawn"),
        (np.ones((5001, 2)), np.arange(5001) % 2, "at most 5,000 points, but X has 5,001 rows"),
    ],
)
def test_data_that_cannot_be_shown_are_refused_in_a_sentence(X, y, message, tmp_path):
    with pytest.raises(rb.InputError, match=message):
        rb.animate(X, y, tmp_path / "run.html")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("comparator", "message"),
    [([1, 2, 3], "has an intercept"), ([0, 0], "other than zero"), ([1, np.nan], "contains NaN")],
)
def test_a_comparator_that_is_none_is_refused(comparator, message, tmp_path):
    with pytest.raises(rb.InputError, match=message):
        rb.animate(*WORKED, tmp_path / "run.html", comparator=comparator)


def test_other_endings_and_missing_folders_are_refused(tmp_path):
    with pytest.raises(rb.InputError, match=r"as \.html or \.gif, and 'run\.mp4' ends in neither"):
        rb.animate(*WORKED, "run.mp4")
    with pytest.raises(rb.InputError, match="cannot write"):
        rb.animate(*WORKED, tmp_path / "missing" / "run.html")


def test_an_id_that_would_break_the_page_is_refused(frames):
    with pytest.raises(rb.InputError, match="is not a letter followed by"):
        animation.fragment(frames, "a b")


# ---- the GIF


@pytest.fixture(scope="module")
def attached(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attached")
    began = time.process_time()
    text = animation.attach(folder)
    return folder, text, time.process_time() - began


def test_attach_writes_page_and_gif_and_gives_a_fragment(attached, frames):
    folder, text, seconds = attached
    assert sorted(path.name for path in folder.iterdir()) == ["animation.gif", "animation.html"]
    assert (folder / "animation.html").read_text(encoding="utf-8") == animation.page(frames)
    assert text == animation.fragment(frames, "animation")
    assert seconds < 10


def test_the_gif_shows_every_mistake_and_is_small(attached, frames):
    path = attached[0] / "animation.gif"
    assert path.stat().st_size < 3e6
    images = film.plan(frames.mistakes)
    with Image.open(path) as gif:
        assert gif.n_frames == len(images)
        assert gif.info["loop"] == 0
        shown = [np.asarray(seek(gif, i).convert("RGB")) for i in range(len(images))]
        assert seek(gif, len(images) - 1).info["duration"] == film.HOLD
    assert {image.k for image in images} == set(range(frames.mistakes + 1))
    assert all((a != b).any() for a, b in pairwise(shown))
    assert all((image[-film.CAPTION :] < 100).any() for image in shown)  # under a caption each
    assert (shown[0][0, 0] == 255).all()  # paper stays white


def test_the_gif_names_all_that_it_draws_and_its_classes_have_the_colours_of_other_pictures(frames):
    figure = new_figure()
    axes = figure.add_subplot()
    film._plane(axes, frames)
    legend = axes.get_legend()
    keys = {
        text.get_text(): key
        for text, key in zip(legend.get_texts(), legend.legend_handles, strict=True)
    }
    assert list(keys)[:3] == [" -1", " 1", "line of w*"]
    assert list(keys)[4:] == ["the mistake", "what it adds to w"]
    assert [keys[name].get_color() for name in (" -1", " 1")] == [BLUE, ORANGE]
    assert [keys[name].get_marker() for name in (" -1", " 1", "the mistake")] == ["o", "s", "o"]
    assert keys["what it adds to w"].get_linestyle() == ":"


def seek(gif, i):
    gif.seek(i)
    return gif


def test_a_gif_of_many_mistakes_leaves_some_out_but_not_the_last(tmp_path, monkeypatch):
    assert len(film.plan(300)) == film.MOST_SHOWN + 1
    assert film.plan(300)[-1].k == 300
    monkeypatch.setattr(film, "MOST_SHOWN", 4)
    rb.animate(*NOISE, tmp_path / "run.gif")
    with Image.open(tmp_path / "run.gif") as gif:
        assert gif.n_frames == 5
    monkeypatch.undo()
    assert [image.k for image in film.plan(30)] == list(range(31))


# ---- the page


def test_the_page_asks_for_nothing_from_outside(page):
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"https?://[^\"'\s]+", text) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"(src|href)=|url\(|@import|fetch\(|XMLHttp", text)


def test_labels_cannot_break_out_of_the_page():
    wild = ["</script><b>" if label > 0 else "<i>&" for label in WORKED[1]]
    text = animation.page(record(WORKED[0], wild), title="<u>")
    assert not re.search("<b>|<i>|<u>", text)
    assert text.count("</script>") == 2
    data = json.loads(re.search(r'<script type="application/json">(.*)</script>', text)[1])
    assert "is </script><b>" in data["captions"][2]


@needs_browser
def test_the_page_shows_the_numbers_of_the_run(page, frames):
    script = f"""
    const seen = [], last = Number(one('.mistake').max);
    for (let k = 0; k <= last; k++) {{
      choose('.mistake', k);
      const line = one('.hyperplane');
      seen.push([...{HERE}, line.getAttribute('d'), line.style.display]);
    }}
    return seen;"""
    seen = visit(page, script)
    assert seen.errors == []
    assert seen.requests == []
    assert len(seen.value) == frames.mistakes + 1
    assert seen.value[0][4] == "none"
    for k, (caption, squares, products, *_) in enumerate(seen.value):
        assert (caption, squares) == (frames.caption(k), frames.squares(k))
        assert products == frames.products(k)
    for w, (*_, line, display) in zip(frames.w[1:], seen.value[1:], strict=True):
        a, b, c, d = map(float, re.findall(r"-?[\d.]+", line))
        along = np.array([c - a, b - d]) / np.hypot(c - a, d - b)  # the ordinate points downwards
        assert display == ""
        assert along @ w / np.hypot(*w) == pytest.approx(0, abs=1e-6)


@needs_browser
def test_classes_have_the_colours_of_other_pictures(page):
    script = """
    const style = (selector) => getComputedStyle(one(selector));
    const [negative, positive] = ['.plane .negative', '.plane .positive'].map(style);
    return [negative.fill, positive.stroke, style('.side').fill];"""
    colours = [rgb.removeprefix("rgb(").rstrip(")") for rgb in visit(page, script).value]
    assert [tuple(map(int, rgb.split(", "))) for rgb in colours] == [
        ImageColor.getrgb(colour) for colour in (BLUE, ORANGE, ORANGE)
    ]


@needs_browser
def test_the_page_plays_by_itself_and_ends(page, frames):
    script = f"""
    const seen = [[{MISTAKE}, text('.play')]];
    for (const seconds of [1, 3, 60]) {{
      await wait(seconds * 1000);
      seen.push([{MISTAKE}, text('.play')]);
    }}
    click('.play');
    await wait(100);
    return [...seen, [{MISTAKE}, text('.play')]];"""
    seen = visit(page, script, milliseconds=90_000)
    assert seen.errors == []
    begin, early, later, end, again = seen.value
    assert begin == [0, "Pause"]
    assert 0 < early[0] < later[0] < frames.mistakes
    assert end == [frames.mistakes, "Play"]
    assert again == [1, "Pause"]


@needs_browser
def test_steps_go_forward_and_back(page, frames):
    script = f"""
    click('.reset');
    click('.step');
    await wait(200);
    const looking = [{MISTAKE}, text('.squaresheading')];
    await wait(2000);
    const turned = [{MISTAKE}, text('.squaresheading'), text('.play')];
    click('.step'); click('.step'); click('.back');
    const back = [{MISTAKE}, text('.squaresheading')];
    await wait(5000);
    click('.step'); click('.reset');
    return [looking, turned, back, {MISTAKE}];"""
    seen = visit(page, script)
    assert seen.errors == []
    looking, turned, back, reset = seen.value
    assert looking == [1, frames.squares(0)]
    assert turned == [1, frames.squares(1), "Play"]
    assert back == [2, frames.squares(2)]
    assert reset == 0


@needs_browser
def test_speed_changes_how_many_mistakes_are_seen(page):
    script = f"""
    const seen = [];
    for (const speed of ['1', '4']) {{
      click('.reset');
      choose('.speed', speed);
      click('.play');
      await wait(3000);
      seen.push({MISTAKE});
      click('.play');
    }}
    return seen;"""
    slow, fast = visit(page, script).value
    assert 2 <= slow <= 4
    assert 7 <= fast <= 11


@needs_browser
def test_the_keyboard_does_what_the_buttons_do(page, frames):
    script = f"""
    const seen = [];
    const note = () => seen.push([{MISTAKE}, text('.play')]);
    press('End'); note();
    press('ArrowLeft'); note();
    press('Home'); note();
    press('ArrowRight'); await wait(3000); note();
    press(' '); note();
    press(' '); note();
    press(' ', '.step'); press('ArrowRight', '.mistake'); press('x'); note();
    return seen;"""
    seen = visit(page, script)
    assert seen.errors == []
    last = frames.mistakes
    ends = [[last, "Play"], [last - 1, "Play"], [0, "Play"]]
    assert seen.value == [*ends, [1, "Play"], [1, "Pause"], [1, "Play"], [1, "Play"]]


@needs_browser
def test_nothing_moves_by_itself_for_those_who_prefer_that(page, frames):
    script = f"""
    await wait(3000);
    const waited = {MISTAKE};
    click('.step');
    return [waited, text('.play'), text('.squaresheading')];"""
    seen = visit(page, script, calm=True)
    assert seen.value == [0, "Play", frames.squares(1)]


@needs_browser
def test_a_page_holds_several_and_no_global_name(frames, tmp_path):
    two = animation.fragment(frames, "one") + animation.fragment(record(*WORKED), "two-2")
    path = tmp_path / "report.html"
    path.write_text(f"<!DOCTYPE html><html><head></head><body>{two}</body></html>", "utf-8")
    script = """
    await wait(3000);
    const waited = one('#one .caption').textContent;
    press('End', '#two-2');
    press('End');
    click('#one .step');
    await wait(3000);
    const frame = document.createElement('iframe');
    document.body.append(frame);
    const usual = new Set(Object.getOwnPropertyNames(frame.contentWindow));
    const names = Object.getOwnPropertyNames(window).filter((name) => !usual.has(name));
    return [waited, one('#one').dataset.mistake, one('#two-2').dataset.mistake, names];"""
    seen = visit(path, script)
    assert seen.errors == []
    waited, first, second, names = seen.value
    assert waited == frames.caption(0)
    assert (first, second) == ("1", "3")
    assert [name for name in names if name not in ("__errors", "0")] == []


@needs_browser
def test_on_paper_a_run_that_was_not_looked_at_is_shown_as_a_whole(page, frames):
    script = f"""
    click('.reset');
    dispatchEvent(new Event('beforeprint'));
    const whole = {MISTAKE};
    choose('.mistake', 2);
    dispatchEvent(new Event('beforeprint'));
    return [whole, {MISTAKE}];"""
    assert visit(page, script).value == [frames.mistakes, 2]


@needs_browser
@pytest.mark.parametrize(("width", "scale"), [(1000, 1), (400, 1), (400, 1e-6), (400, 1e6)])
def test_nothing_is_wider_than_the_window(width, scale, tmp_path):
    X, y, w = animation.planted()
    page = tmp_path / "run.html"
    rb.animate(scale * X, y, page, w)
    script = """
    press('End');
    const cut = [...document.querySelectorAll('text')].filter((e) => {
      const box = e.getBoundingClientRect(), outer = e.ownerSVGElement.getBoundingClientRect();
      return box.left < outer.left - 1 || box.right > outer.right + 1;
    }).map((e) => e.textContent);
    const written = [...document.querySelectorAll('text')].filter((e) => e.textContent);
    const small = Math.min(...written.map((e) => e.getBoundingClientRect().height));
    return [innerWidth, document.documentElement.scrollWidth, cut, small];"""
    inner, wanted, cut, small = visit(page, script, width=width).value
    assert (inner, cut) == (width, [])
    assert wanted <= width
    assert small > 10  # pixels


@needs_browser
def test_a_run_without_a_separator_works_too(tmp_path):
    rb.animate(*NOISE, tmp_path / "run.html")
    seen = visit(tmp_path / "run.html", "press('End'); return [text('.caption'), text('.charts')]")
    assert seen.errors == []
    caption, charts = seen.value
    assert caption.startswith("Mistake 300 of 300")
    assert "no line through the origin is known to separate" in charts
    assert "k·γ" not in charts


@needs_browser
def test_the_harness_sees_errors_and_requests(tmp_path):
    path = tmp_path / "bad.html"
    body = "<script>missing();</script><img src='http://example.invalid/none.png'><script>console.error('oh')</script>"
    path.write_text(f"<html><head></head><body>{body}</body></html>", "utf-8")
    seen = visit(path, "await wait(100); throw new Error('mine')")
    assert any("missing is not defined" in error for error in seen.errors)
    assert "oh" in seen.errors
    assert any("none.png" in error for error in seen.errors)
    assert any("mine" in error for error in seen.errors)
    assert any(url.endswith("none.png") for url in seen.requests)
