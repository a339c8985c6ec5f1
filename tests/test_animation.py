"""The animation of a run: its numbers are those of the run, and its page works in a browser."""

import base64
import io
import re

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import rosenblatt as rb
from browser import needs_browser, visit
from rosenblatt.lab import animation, film
from rosenblatt.lab.figure import Picture
from rosenblatt.lab.frames import Frames, record
from rosenblatt.lab.style import BLUE, ORANGE, look, new_figure
from windows import accessibility, open_page

WORKED = [(-1, 2), (1, 0), (1, 1), (-1, 0), (-1, -2), (1, -1)], [-1, 1, 1, -1, -1, 1]
NOISE = np.random.default_rng(0).standard_normal((60, 2)), np.arange(60) % 2


@pytest.fixture(scope="module")
def frames():
    return record(*animation.planted())


def drawn(frames, k):
    """Give the figure of the k-th mistake."""
    figure = new_figure(layout="none")
    with look():
        film.draw(figure, frames, k)
    return figure


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


def test_the_lines_of_the_weights_before_and_after_a_mistake_are_drawn():
    frames = record(*shifted(), fit_intercept=True)
    axes = drawn(frames, 9).axes[0]
    lines = [line for line in axes.lines if line.get_linewidth() == 1.2]
    for line, w in zip(lines, frames.w[8:10], strict=True):
        np.testing.assert_allclose(w[:2] @ line.get_data() + w[2], 0, atol=1e-12 * np.abs(w).max())
    (side,) = axes.patches
    assert np.max(side.get_xy() @ w[:2]) + w[2] > 0


def test_columns_of_a_frame_name_the_axes(tmp_path):
    X, y, _ = animation.planted()
    frame = pd.DataFrame(X, columns=["height", "<b>$width$"])
    axes = drawn(record(frame, y), 1).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("height", "<b>$width$")
    assert record(frame, y, names=["a", "b"]).axes == ("a", "b")
    with pytest.raises(rb.InputError, match=r"choose two, such as X\[\['height', '<b>.*'\]\]"):
        rb.animate(frame.assign(depth=0.0), y, tmp_path / "other.html")
    with pytest.raises(rb.InputError, match="names are 1, but X has 2 columns"):
        rb.animate(frame, y, tmp_path / "other.html", names=["a"])


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
    frames = Frames(**{**vars(frames), "example": np.array([0, 1]), "w": tilted(frames)})
    assert "was not on the side of no (w·x = 0 up to rounding)" in frames.caption(2)


def tilted(frames):
    return np.array([(0, 0), frames.X[0], frames.X[0] - frames.X[1]])


def test_long_labels_are_shortened():
    frames = record(WORKED[0], ["a" * 100 if label > 0 else "b" for label in WORKED[1]])
    assert frames.names == ("a" * 19 + "…", "b")


def test_labels_are_text_and_no_formulas():
    names = ["_ $x$ \\frac{" if label > 0 else "\n" for label in WORKED[1]]
    assert set(record(WORKED[0], names).names) == {"_ $x$ \\frac{", r"'\n'"}
    drawn(record(WORKED[0], names), 3).canvas.draw()


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


# ---- what is written


def test_every_mistake_is_shown_or_the_last_one_of_many():
    assert film.moments(30) == list(range(31))
    assert len(film.moments(300)) == film.MOST_SHOWN + 1
    assert film.moments(300)[-1] == 300


def test_a_picture_shows_the_numbers_of_the_run(frames):
    plane, squares, products = drawn(frames, 5).axes
    assert squares.get_title(loc="left") == frames.squares(5)
    assert products.get_title(loc="left") == frames.products(5)
    assert squares.lines[-1].get_ydata().tolist() == frames.sqnorm[:6].tolist()
    assert products.lines[-1].get_ydata().tolist() == frames.projection[:6].tolist()
    (caption,) = plane.figure.texts
    assert " ".join(caption.get_text().split()) == frames.caption(5)


def test_a_picture_names_all_that_it_draws_and_its_classes_have_the_colours_of_others(frames):
    legend = drawn(frames, 1).axes[0].get_legend()
    keys = {
        text.get_text(): key
        for text, key in zip(legend.get_texts(), legend.legend_handles, strict=True)
    }
    assert list(keys)[:4] == [" -1", " 1", "line of w*", "w before"]
    assert list(keys)[5:] == ["the mistake", "what it adds to w"]
    assert [keys[name].get_color() for name in (" -1", " 1")] == [BLUE, ORANGE]
    assert [keys[name].get_marker() for name in (" -1", " 1", "the mistake")] == ["o", "s", "o"]
    assert keys["what it adds to w"].get_linestyle() == ":"


def test_many_points_are_pixels_so_that_pages_stay_small():
    X, y, w = rb.make_separable(3000, 2, margin=0.1)
    figure, room = drawn(record(X, y, w), 1), io.BytesIO()
    figure.savefig(room, format="svg")
    assert room.tell() < 200_000


def test_a_run_without_a_separator_has_no_chart_of_products():
    figure = drawn(record(*NOISE, limit=30), 30)
    assert not figure.axes[2].axison
    assert "is known to separate" in figure.axes[2].get_title(loc="left")


@pytest.mark.parametrize("name", ["run.html", "run.gif"])
def test_each_picture_is_drawn_once(name, tmp_path, monkeypatch):
    pictures = []
    render = Picture.draw
    monkeypatch.setattr(Picture, "draw", lambda *given: pictures.append(render(*given)))
    monkeypatch.setattr(animation, "HELD", 1)
    rb.animate(*WORKED, tmp_path / name)
    assert len(pictures) == 4  # the beginning and three mistakes


def test_the_gif_shows_every_mistake_and_holds_the_last(tmp_path):
    rb.animate(*WORKED, tmp_path / "run.gif")
    with Image.open(tmp_path / "run.gif") as gif:
        assert (gif.n_frames, gif.info["loop"]) == (4, 0)
        assert gif.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
        times = []
        for place in range(4):
            gif.seek(place)
            times.append(gif.info["duration"])
    assert times == [1000, 1000, 1000, animation.HELD * 1000]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("animation") / "run.html"
    labels = ["</script><b>" if label > 0 else "<i>&" for label in WORKED[1]]
    rb.animate(WORKED[0], labels, path)
    return path


def test_the_page_asks_for_nothing_from_outside_and_labels_stay_in_its_pictures(page):
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"https?://|href=|url\(|@import|fetch\(|XMLHttp", text)
    assert "<b>" not in text
    pictures = re.findall(r"data:image/svg\+xml;base64,([^\"]+)", text)
    assert len(pictures) == 4
    assert b"&lt;/script&gt;" in base64.b64decode(pictures[2].replace("\\\n", ""))


@needs_browser
def test_the_page_steps_and_plays(page):
    script = """
    await wait(100);
    const seen = [], note = () => seen.push(one('.animation img').src);
    note();
    click('button[title="Next frame"]'); note();
    click('button[title="Play"]'); await wait(9000); note();
    click('button[title="Last frame"]'); note();
    return [seen.map((image) => seen.indexOf(image)), document.documentElement.scrollWidth];"""
    seen = visit(page, script, width=400)
    assert (seen.errors, seen.requests) == ([], [])
    assert seen.value == [[0, 1, 2, 2], 400]


@needs_browser
def test_the_player_has_names_for_screen_readers(page):
    with open_page(page.as_uri()) as shown:
        assert accessibility(shown) == []


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
