"""Pictures of one's own data: what is drawn is what the model says."""

import io
import subprocess
import sys
from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import rosenblatt as rb
from rosenblatt.data.streams import fit_stream
from rosenblatt.lab.pictures import look_of
from rosenblatt.lab.pictures_planes import main_directions
from rosenblatt.lab.pictures_regions import NO_ANSWER, _tint
from rosenblatt.lab.pictures_runs import _tick
from rosenblatt.lab.style import BLACK, BLUE, ORANGE

SEPARABLE = rb.make_separable(120, 2, margin=0.05, seed=1)
IRIS = load_iris()
SPECIES = IRIS.target_names[IRIS.target]


def noisy(n=150, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, :2].sum(axis=1) + rng.normal(size=n) > 0, "spam", "ham")


def learned(learner, *examples, **more):
    learner.train(*examples, **more)  # as fit does, without a warning about convergence
    return learner


def drawn(axes, label):
    """Give the points of the scatter with this label."""
    (found,) = [item for item in axes.collections if item.get_label() == label]
    return np.asarray(found.get_offsets())


def lines(axes):
    return {line.get_label(): np.column_stack(line.get_data()) for line in axes.get_lines()}


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def in_order(points):
    return points[np.lexsort(points.T)]


def colours(figure):
    """Give the image of the regions, and the points that its cells stand for."""
    (image,) = figure.axes[0].images
    cells = np.asarray(image.get_array())[..., :3]
    left, right, bottom, top = image.get_extent()
    rows, columns = cells.shape[:2]
    across = left + (np.arange(columns) + 0.5) / columns * (right - left)
    up = bottom + (np.arange(rows) + 0.5) / rows * (top - bottom)
    return cells, np.stack(np.meshgrid(across, up), axis=-1)


def agreement(figure, answers, classes):
    """Give the share of cells whose colour is that of the class answered there."""
    cells, _ = colours(figure)
    tints = np.array([_tint(to_rgb(look_of(k)["color"]), k) for k in range(len(classes))])
    expected = tints[np.searchsorted(classes, answers)].reshape(cells.shape)
    return float(np.mean(np.abs(cells - expected).max(axis=-1) < 1e-9))


X2, Y2 = noisy(30)


@cache
def trained():
    return learned(rb.Perceptron(max_iter=3), X2, Y2, comparator=[1.0, 1.0])


def learner_of_three():
    return learned(rb.Perceptron(max_iter=3), IRIS.data, SPECIES, comparator=np.ones((3, 4)))


def learner_at_zero():
    rows, labels = np.ones((2, 3)), np.array([0, 1])
    return learned(rb.Perceptron(max_updates=2), rows, labels, comparator=np.ones(3))


def learner_of_a_stream():
    stream = rb.Perceptron()
    stream.learn_one({0: 1.0}, "a")
    stream.learn_one({0: -1.0}, "b")
    return stream


def shuffled_learner():
    learner = rb.Perceptron(order="shuffle", max_iter=1)
    return fit_stream(learner, lambda: iter([rb.Examples(X2, Y2)]))


# ---- regions


@pytest.mark.parametrize(
    "learner",
    [
        rb.Perceptron(max_iter=5),
        rb.Perceptron(max_iter=5, output="averaged"),
        rb.SoftMarginSVM(),
        rb.KernelPerceptron(rb.Gaussian(1.0), max_iter=5),
        KNeighborsClassifier(),
        make_pipeline(StandardScaler(), SVC(gamma=1.0)),
    ],
    ids=["last", "averaged", "svm", "kernel", "neighbours", "pipeline"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_regions_have_the_colours_of_the_answers(learner):
    X, y = noisy()
    model = learner.fit(X, y)
    figure = rb.plot_regions(model, X, y)
    points = colours(figure)[1].reshape(-1, 2)
    # Scores are interpolated between the rows asked about: cells at the boundary may differ.
    assert agreement(figure, model.predict(points), model.classes_) > 0.99
    wrong = model.predict(X) != y
    assert figure.get_label() == f"{wrong.sum()} of 150 misclassified"
    assert np.array_equal(in_order(drawn(figure.axes[0], "misclassified")), in_order(X[wrong]))


def test_regions_of_two_columns_are_those_where_all_others_are_at_their_mean():
    model = learned(rb.Perceptron(max_iter=20), IRIS.data, SPECIES)
    figure = rb.plot_regions(model, IRIS.data, SPECIES, (3, 1), names=IRIS.feature_names)
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("petal width (cm)", "sepal width (cm)")
    assert "all other columns are at their mean" in figure.get_supxlabel()
    off = "the examples lie off this plane:\ntheir side of a line need not be their answer"
    assert off in figure.get_supxlabel()
    assert figure._supxlabel.get_fontsize() == 10
    assert to_rgb(figure._supxlabel.get_color()) == to_rgb(BLACK)
    rows = np.tile(IRIS.data.mean(axis=0), (480 * 480, 1))
    rows[:, [3, 1]] = colours(figure)[1].reshape(-1, 2)
    assert agreement(figure, model.predict(rows), model.classes_) > 0.99
    by_name = ("petal width (cm)", "sepal width (cm)")
    frame = pd.DataFrame(IRIS.data, columns=IRIS.feature_names)
    named = learned(rb.Perceptron(max_iter=20), frame, SPECIES)
    again = rb.plot_regions(named, frame, SPECIES, by_name)
    assert np.array_equal(colours(again)[0], colours(figure)[0])


def test_regions_of_more_columns_lie_in_the_plane_of_the_principal_directions():
    model = learned(rb.Perceptron(max_iter=20), IRIS.data, SPECIES)
    figure = rb.plot_regions(model, IRIS.data, SPECIES)
    principal = PCA(2).fit(IRIS.data)
    shares = principal.explained_variance_ratio_
    axes = figure.axes[0]
    assert axes.get_xlabel() == f"principal direction 1 ({shares[0]:.0%} of the variance)"
    assert axes.get_ylabel() == f"principal direction 2 ({shares[1]:.1%} of the variance)"
    turned = np.sign([row[np.abs(row).argmax()] for row in principal.components_])
    points = colours(figure)[1].reshape(-1, 2) * turned
    answers = model.predict(principal.inverse_transform(points))
    assert agreement(figure, answers, model.classes_) > 0.99
    assert "the examples lie off this plane" in figure.get_supxlabel()
    shown = np.concatenate([np.asarray(item.get_offsets()) for item in axes.collections[:3]])
    expected = principal.transform(IRIS.data) * turned
    assert np.allclose(in_order(shown.round(9)), in_order(expected.round(9)), atol=1e-8)


@pytest.mark.parametrize("width", [6, 700])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_principal_directions_are_those_of_scikit_learn(width, layout):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, width)) * (rng.random((300, width)) < 0.3)
    X[:, :2] += rng.normal(size=(300, 2)) * [9, 6] + 3
    directions, shares = main_directions(layout(X))
    expected = PCA(2, svd_solver="full").fit(X)
    assert np.allclose(np.abs(directions @ expected.components_.T), np.eye(2), atol=1e-6)
    assert shares == pytest.approx(expected.explained_variance_ratio_)
    assert all(row[np.abs(row).argmax()] > 0 for row in directions)


@pytest.mark.parametrize("shape", [(1, 4), (5, 4), (6, 800)])
def test_rows_that_do_not_vary_are_drawn_too(shape):
    directions, shares = main_directions(np.full(shape, 0.1))
    assert np.allclose(directions @ directions.T, np.eye(2))
    assert not shares.any()


def test_margin_lines_of_an_svm_are_where_its_scores_are_one():
    X, y, _ = SEPARABLE
    model = rb.HardMarginSVM().fit(X, y)
    axes = rb.plot_regions(model, X, y).axes[0]
    assert "scores ±1: margin" in legend(axes)
    scores = [
        model.decision_function(
            np.concatenate(levels.get_paths()[0].to_polygons(closed_only=False))
        )
        for levels in axes.collections
        if type(levels).__name__ == "QuadContourSet"
    ]
    assert sorted(round(float(np.mean(found)), 6) for found in scores) == [-1.0, 0.0, 1.0]
    assert all(np.ptp(found) < 1e-6 for found in scores)
    assert np.array_equal(in_order(drawn(axes, "support")), in_order(X[model.support_]))
    perceptron = rb.plot_regions(rb.Perceptron().fit(X, y), X, y).axes[0]
    assert "scores ±1: margin" not in legend(perceptron)


@pytest.mark.parametrize(
    "model",
    [
        rb.SoftMarginSVM(lam=0.1),
        rb.KernelPerceptron("gaussian:2", max_iter=None),
        SVC(),
        make_pipeline(StandardScaler(), rb.SoftMarginSVM()),
    ],
    ids=["soft", "kernel", "libsvm", "pipeline"],
)
def test_support_examples_are_marked_on_the_rows_of_the_fit_only(model):
    X, y, _ = SEPARABLE
    model.fit(X, y)
    last = model[-1] if hasattr(model, "steps") else model
    axes = rb.plot_regions(model, X, y).axes[0]
    assert np.array_equal(in_order(drawn(axes, "support")), in_order(X[last.support_]))
    assert "support" not in legend(rb.plot_regions(model, X[:-1], y[:-1]).axes[0])


def test_a_region_without_an_answer_is_blank_and_its_examples_are_misclassified():
    X, y = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 3.0]]), np.array([0, 1, 0])
    model = learned(rb.Perceptron(max_updates=2, output="last"), X, y)
    assert not model.coef_.any()
    figure = rb.plot_regions(model, X, y)
    assert figure.get_label() == "3 of 3 misclassified; I don't know on 3"
    assert np.allclose(colours(figure)[0], to_rgb(NO_ANSWER))
    assert "region: I don't know" in legend(figure.axes[0])
    assert rb.plot_regions(model, X).get_label() == "3 examples; I don't know on 3"
    textbook = learned(rb.Perceptron(max_updates=2, output="last", tie="positive"), X, y)
    assert not textbook.coef_.any()
    figure = rb.plot_regions(textbook, X, y)
    assert figure.get_label() == "2 of 3 misclassified"
    assert agreement(figure, np.ones(480 * 480), textbook.classes_) == 1.0
    assert legend(figure.axes[0])[-1] == "boundary"


def test_a_single_column_is_drawn_against_the_number_of_the_row():
    X, y = noisy(40)
    figure = rb.plot_regions(learned(rb.Perceptron(max_iter=3), X[:, :1], y), X[:, :1], y)
    axes = figure.axes[0]
    assert axes.get_ylabel() == "number of the row (from 0)"
    shown = np.concatenate([np.asarray(item.get_offsets()) for item in axes.collections[:2]])
    assert np.array_equal(in_order(shown), in_order(np.column_stack([X[:, 0], np.arange(40)])))


def test_of_many_examples_some_are_shown_and_the_caption_says_so():
    X, y = noisy(3500)
    figure = rb.plot_regions(learned(rb.Perceptron(max_iter=2), X, y), X, y)
    assert figure.get_supxlabel() == "3,000 of 3,500 examples shown"
    assert figure.get_label().endswith("of 3,500 misclassified")
    scatters = [c for c in figure.axes[0].collections if type(c).__name__ == "PathCollection"]
    shown = [len(c.get_offsets()) for c in scatters if c.get_label() != "misclassified"]
    assert sum(shown) == 3000


def test_points_of_one_unit_are_drawn_to_scale():
    X, y, _ = SEPARABLE
    figure = rb.plot_regions(rb.Perceptron().fit(X, y), X, y)
    axes = figure.axes[0]
    figure.draw_without_rendering()
    box, (width, height) = axes.get_window_extent(), np.ptp([axes.get_xlim(), axes.get_ylim()], 1)
    assert box.width / width == pytest.approx(box.height / height, rel=0.02)
    assert axes.get_xlim()[0] < X[:, 0].min()
    assert axes.get_xlim()[1] > X[:, 0].max()


def test_sparse_rows_give_the_picture_of_dense_ones():
    X, y = noisy(100, 5)
    X[np.abs(X) < 0.5] = 0
    model = learned(rb.Perceptron(max_iter=5), X, y)
    dense, thin = (rb.plot_regions(model, rows, y) for rows in (X, sparse.csr_matrix(X)))
    assert dense.get_label() == thin.get_label()
    assert np.mean(colours(dense)[0] == colours(thin)[0]) > 0.9999  # up to roundings
    for ours, theirs in zip(dense.axes[0].collections, thin.axes[0].collections, strict=True):
        assert np.allclose(ours.get_offsets(), theirs.get_offsets())


def test_wide_sparse_rows_are_drawn_too():
    rng = np.random.default_rng(0)
    X = sparse.random(400, 20_000, density=1e-3, format="csr", random_state=0)
    y = np.sign(X @ rng.standard_normal(20_000))
    model = learned(rb.Perceptron(max_iter=3), X, y)
    figure = rb.plot_regions(model, X, y)
    origin, directions = np.asarray(X.mean(axis=0)).ravel(), main_directions(X)[0]
    chosen = np.random.default_rng(0).integers(480 * 480, size=200)
    rows = origin + colours(figure)[1].reshape(-1, 2)[chosen] @ directions
    cells = colours(figure)[0].reshape(-1, 3)[chosen]
    tints = np.array([_tint(to_rgb(look_of(k)["color"]), k) for k in range(2)])
    assert np.allclose(cells, tints[(model.predict(rows) > 0).astype(int)])


@pytest.mark.parametrize(
    "frame",
    [
        lambda X, names: pd.DataFrame(X, columns=names),
        lambda X, names: pl.DataFrame(X, schema=names),
        lambda X, names: pa.table(dict(zip(names, X.T, strict=True))),
    ],
    ids=["pandas", "polars", "arrow"],
)
def test_frames_keep_their_names(frame):
    X, y = noisy(60, 3)
    table = frame(X, ["height", "width", "cost in $"])
    model = make_pipeline(StandardScaler(), rb.SoftMarginSVM()).fit(table, y)
    figure = rb.plot_regions(model, table, y, ("height", "cost in $"))
    assert figure.axes[0].get_xlabel() == "height"
    figure.savefig(io.BytesIO(), format="svg")
    assert rb.plot_margins(model, table, y).get_label().split(";")[0] == figure.get_label()


def test_models_whose_scores_are_not_their_answers_are_drawn_by_their_answers():
    model = SVC(decision_function_shape="ovo", gamma=1.0).fit(IRIS.data[:, :2], SPECIES)
    figure = rb.plot_regions(model, IRIS.data[:, :2], SPECIES)
    cells, points = colours(figure)
    answers = model.predict(points.reshape(-1, 2))
    assert agreement(figure, answers, model.classes_) == 1.0
    assert cells.shape[0] < 480  # as many as were asked about, with nothing between them
    assert legend(figure.axes[0])[-1] == "boundary"


def test_searches_are_drawn_like_what_they_found():
    X, y = noisy(80)
    search = GridSearchCV(rb.SoftMarginSVM(), {"lam": [0.1, 1.0]}, cv=2).fit(X, y)
    figure = rb.plot_regions(search, X, y)
    assert {"support", "scores ±1: margin"} <= set(legend(figure.axes[0]))
    assert rb.plot_margins(search, X, y).axes[0].get_xlabel().endswith("y(w·x + b)/‖w‖")


def test_labels_are_shown_as_they_are_whatever_they_hold():
    X, _ = noisy(40)
    labels = np.array(["$x_1$ and $y", "_hidden", "line\nbreak", "very " * 20], object)
    y = labels[np.arange(40) % 4]
    model = learned(rb.Perceptron(max_iter=3), X, y)
    figure = rb.plot_regions(model, X, y)
    figure.savefig(io.BytesIO(), format="svg")
    words = legend(figure.axes[0])
    assert {r"class \$x_1\$ and \$y", "class  _hidden", "class line break"} <= set(words)
    assert max(map(len, words)) < 40


def test_long_names_stay_inside_the_regions():
    X, y = noisy(200)
    y = np.array(["a" * 80, "b" * 80, "c" * 80])[np.digitize(X[:, 0], [-0.5, 0.5])]
    figure = rb.plot_regions(KNeighborsClassifier().fit(X, y), X, y)
    axes = figure.axes[0]
    figure.draw_without_rendering()
    frame, names = axes.get_window_extent(), [text for text in axes.texts if text.get_text()]
    assert len(names) >= 2
    for name in names:
        assert len(name.get_text()) <= 12
        box = name.get_window_extent()
        assert frame.x0 < box.x0 < box.x1 < frame.x1


# ---- margins


@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_distances_are_those_of_geometry(scale):
    X, y = noisy()
    X = X * scale
    model = learned(rb.Perceptron(max_iter=4), X, y)
    w, b = model.coef_[0], model.intercept_[0]
    distances = np.where(y == "spam", 1, -1) * (X @ w + b) / np.linalg.norm(w)
    figure = rb.plot_margins(model, X, y)
    wrong, worst = np.count_nonzero(distances <= 0), int(distances.argmin())
    assert figure.get_label() == (
        f"{wrong} of 150 misclassified; the smallest distance is {distances.min():.4g}, of row "
        f"{worst} (from 0)"
    )
    axes = figure.axes[0]
    boxes = [bar for group in axes.containers for bar in group]
    found = np.array([(bar.get_x() + bar.get_width() / 2, bar.get_height()) for bar in boxes])
    up, down = found[found[:, 1] > 0], found[found[:, 1] < 0]
    assert up[:, 1].sum() == np.count_nonzero(y == "spam")
    assert -down[:, 1].sum() == np.count_nonzero(y == "ham")
    assert np.abs(found[found[:, 0] < 0, 1]).sum() == wrong
    assert axes.get_xlabel() == "signed distance from the hyperplane, y(w·x + b)/‖w‖"
    assert legend(axes) == ["class spam", "class ham", "smallest distance", "misclassified"]


def test_a_score_of_zero_is_drawn_among_the_mistakes():
    X, y = np.array([[0.0], [1.0], [2.0], [-3.0]]), np.array([1, 1, 1, -1])
    model = rb.Perceptron(fit_intercept=False).fit(X[1:], y[1:])
    figure = rb.plot_margins(model, X, y)
    assert (
        figure.get_label() == "1 of 4 misclassified; the smallest distance is 0, of row 0 (from 0)"
    )
    assert left_of_zero(figure) == 1
    assert legend(figure.axes[0])[-1] == "misclassified (0: I don't know)"
    model.tie = "positive"
    figure = rb.plot_margins(model, X, y)
    assert figure.get_label().startswith("none of 4 misclassified")
    assert left_of_zero(figure) == 0


def left_of_zero(figure):
    boxes = [bar for group in figure.axes[0].containers for bar in group]
    return sum(abs(bar.get_height()) for bar in boxes if bar.get_x() < 0)


def test_scores_that_are_all_zero_have_a_narrow_bar_around_zero():
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
    model = learned(rb.Perceptron(max_iter=4, output="last"), X, y)
    assert not model.coef_.any()
    axes = rb.plot_margins(model, X, y).axes[0]
    bars = [bar for group in axes.containers for bar in group if bar.get_height()]
    assert sorted(bar.get_height() for bar in bars) == [-2, 2]
    for bar in bars:
        assert bar.get_x() + bar.get_width() / 2 == pytest.approx(0, abs=1e-12)
        assert bar.get_width() < 0.05 * np.ptp(axes.get_xlim())
    assert legend(axes)[-1] == "misclassified (0: I don't know)"


def test_classes_have_the_same_colours_in_every_picture():
    X, y = noisy(40)
    model = learned(rb.Perceptron(max_iter=3), X, y)
    assert model.classes_.tolist() == ["ham", "spam"]
    regions = rb.plot_regions(model, X, y).axes[0].get_legend()
    keys = zip(regions.get_texts(), regions.legend_handles, strict=True)
    points = {text.get_text(): key.get_color() for text, key in keys if hasattr(key, "get_color")}
    bars = rb.plot_margins(model, X, y).axes[0].containers
    for group in bars:
        colour = to_rgb(group.patches[0].get_facecolor())
        assert colour == to_rgb(points[group.get_label()])
    assert [points[f"class {name}"] for name in model.classes_] == [BLUE, ORANGE]


@pytest.mark.parametrize(
    ("model", "word"),
    [
        (rb.KernelPerceptron("gaussian:1"), "lead"),
        (rb.Perceptron(output="voted", max_iter=3), "lead"),
        (SVC(kernel="linear"), "lead"),
        (rb.SoftMarginSVM(), "lead"),
    ],
    ids=["kernel", "voted", "libsvm", "svm"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_of_many_classes_the_lead_is_drawn(model, word):
    model.fit(IRIS.data, SPECIES)
    scores = model.decision_function(IRIS.data)
    places, rows = IRIS.target, np.arange(150)
    leads = scores[rows, places] - np.where(np.eye(3, dtype=bool)[places], -np.inf, scores).max(1)
    linear = isinstance(model, rb.SoftMarginSVM)
    if linear:
        leads = leads / np.linalg.norm(model.coef_)
    figure = rb.plot_margins(model, IRIS.data, SPECIES)
    assert f"the smallest {word} is {leads.min():.4g}" in figure.get_label()
    assert ("divided by ‖W‖" in figure.axes[0].get_xlabel()) == linear


def test_scores_of_a_pipeline_are_distances_after_its_steps():
    X, y = noisy()
    model = make_pipeline(StandardScaler(), rb.SoftMarginSVM()).fit(X, y)
    figure = rb.plot_margins(model, X, y)
    signed = np.where(y == "spam", 1, -1) * model.decision_function(X)
    expected = (signed / np.linalg.norm(model[-1].coef_)).min()
    assert f"the smallest distance is {expected:.4g}" in figure.get_label()
    assert figure.axes[0].get_xlabel().endswith("after the steps before it")


def test_margins_of_text_need_no_table():
    documents = ["good and cheap", "bad and dear", "good", "bad"] * 5
    model = make_pipeline(rb.TextHasher(columns=64), rb.Perceptron()).fit(documents, [1, 0] * 10)
    assert rb.plot_margins(model, documents, [1, 0] * 10).get_label().startswith("none of 20")


# ---- learning curves


def test_the_learning_curve_counts_mistakes_below_their_bound():
    X, y, w = SEPARABLE
    learner = rb.Perceptron(fit_intercept=False).fit(X, y, comparator=w)
    bound = learner.bound(X, y, w)
    figure = rb.plot_learning_curve(learner, bound)
    left, right = figure.axes
    curve = lines(left)["mistakes so far"]
    assert curve[:, 0].tolist() == list(range(learner.run_.passes + 1))
    assert curve[:, 1].tolist() == np.cumsum([0, *learner.run_.mistakes_per_pass]).tolist()
    assert np.all(lines(left)["bound of Theorem 1"][:, 1] == bound.value)
    proof = lines(right)
    chain = ["k·γ, never above w·w*", "w·w*", "‖w‖", "R·√k, never below ‖w‖"]
    for low, high in pairwise(chain):
        assert np.all(proof[low][:, 1] <= proof[high][:, 1] * (1 + 1e-9))
    assert figure.get_label() == (
        f"{learner.run_.mistakes} mistakes in {learner.run_.passes} passes; Theorem 1 allows 400"
    )
    assert len(rb.plot_learning_curve(rb.Perceptron().fit(X, y)).axes) == 1
    assert rb.plot_learning_curve(learner.run_, bound).get_label() == figure.get_label()


def test_lines_of_a_proof_about_another_run_are_left_out():
    X, y, w = SEPARABLE
    learner = rb.Perceptron(fit_intercept=False).fit(X, y, comparator=-w)
    figure = rb.plot_learning_curve(learner, learner.bound(X, y, w))
    assert set(lines(figure.axes[1])) == {"‖w‖", "w·w*"}


def legends_cover_nothing(figure):
    figure.draw_without_rendering()
    return all(
        not axes.get_window_extent().overlaps(axes.get_legend().get_window_extent())
        for axes in figure.axes
    )


def ticks(axis, limits):
    return [value for value in axis.get_majorticklocs() if limits[0] <= value <= limits[1]]


def test_a_long_run_is_thinned_evenly_and_says_so():
    X, y = noisy()
    learner = rb.Perceptron(max_iter=100, output="last", patience=None)
    learned(learner, X, y, comparator=[1.0, 1.0])
    history = learner.run_.history
    assert history.k.size > 1000
    figure = rb.plot_learning_curve(learner)
    for label, values in (("‖w‖", np.sqrt(history.sqnorm)), ("w·w*", history.projection)):
        curve = lines(figure.axes[1])[label]
        assert len(curve) == 400
        assert curve[[0, -1], 0].tolist() == [1, history.k.size]
        assert np.ptp(np.diff(curve[:, 0])) <= 1
        assert np.array_equal(curve[:, 1], values[curve[:, 0].astype(int) - 1])
    assert figure.get_supxlabel() == f"w at 400 of {history.k.size:,} mistakes, evenly chosen"
    assert legends_cover_nothing(figure)
    path = rb.plot_path(learner, X, y)
    some = lines(path.axes[0])["w after some updates"]
    assert len(some) == 400
    assert some[0].tolist() == [0, 0]
    assert np.allclose(some[-1], learner.coef_[0])
    said = f"the line goes through w after 399 of {history.k.size:,} updates, evenly chosen"
    assert path.get_supxlabel() == said
    assert not rb.plot_path(trained(), X2, Y2).get_supxlabel()


@pytest.mark.parametrize(("margin", "scale"), [(0.1, "linear"), (0.01, "symlog")])
def test_mistakes_are_drawn_on_an_axis_that_shows_them(margin, scale):
    X, y, w = rb.make_separable(100, 2, margin=margin, seed=0)
    learner = rb.Perceptron(fit_intercept=False).fit(X, y, comparator=w)
    bound = learner.bound(X, y, w)
    assert (bound.value > 50 * learner.run_.mistakes) == (scale == "symlog")
    figure = rb.plot_learning_curve(learner, bound)
    left, right = figure.axes
    assert left.get_yscale() == scale
    assert legends_cover_nothing(figure)
    assert len(ticks(left.yaxis, left.get_ylim())) >= 4
    for axis, limits in (
        (left.xaxis, left.get_xlim()),
        (left.yaxis, left.get_ylim()),
        (right.xaxis, right.get_xlim()),
    ):
        assert all(value == round(value) for value in ticks(axis, limits))


@pytest.mark.parametrize(
    ("value", "word"), [(0, "0"), (20_000, "20,000"), (1e9, "$10^{9}$"), (-0.5, "−0.5")]
)
def test_numbers_at_axes_can_be_read(value, word):
    assert _tick(value) == word


def test_the_proof_of_many_classes_has_its_own_line():
    X, y = IRIS.data[50:] * [1, 1, 1, 1], IRIS.target[50:]
    X = np.concatenate([X[:20], X[60:80], IRIS.data[:20]])
    y = np.repeat(["a", "b", "c"], 20)
    W = rb.SoftMarginSVM(lam=1e-6, intercept="none").fit(X, y).coef_
    learner = rb.Perceptron(fit_intercept=False, max_iter=None).fit(X, y, comparator=W)
    proof = lines(rb.plot_learning_curve(learner, learner.bound(X, y, W)).axes[1])
    assert np.all(proof["‖w‖"][:, 1] <= proof["R·√(2k), never below ‖w‖"][:, 1])


# ---- hardest examples


def test_the_hardest_examples_have_bars_as_long_as_their_counts():
    X, y = noisy()
    learner = learned(rb.Perceptron(max_iter=10), X, y)
    axes = rb.plot_hardest(learner, X, y, k=7).axes[0]
    rows = learner.run_.hardest(7)
    assert [bar.get_width() for bar in axes.containers[0]] == learner.run_.counts[rows].tolist()
    ticks = [tick.get_text() for tick in axes.get_yticklabels()]
    assert ticks == [f"row {row}: {label}" for row, label in zip(rows, y[rows], strict=True)]
    ever = np.count_nonzero(learner.run_.counts)
    assert axes.get_xlabel() == f"times misclassified while learning: the 7 hardest of {ever}"
    every = rb.plot_hardest(learner, k=150)
    assert every.axes[0].get_xlabel() == "times misclassified while learning"
    assert f"; row {rows[0]} (from 0) most often" in every.get_label()
    plain = rb.plot_hardest(learner.run_, k=2).axes[0]
    assert [tick.get_text() for tick in plain.get_yticklabels()] == [f"row {r}" for r in rows[:2]]


def test_the_hardest_examples_of_a_stream_of_single_rows_are_drawn_too():
    stream = learner_of_a_stream()
    axes = rb.plot_hardest(stream, y=["a", "b"]).axes[0]
    assert [bar.get_width() for bar in axes.containers[0]] == stream.run_.counts.tolist() == [1, 1]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["row 0: a", "row 1: b"]


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_rows_that_are_square_images_are_shown(layout):
    digits = load_digits()
    X, y = digits.data[:200], digits.target[:200]
    model = learned(rb.KernelPerceptron("polynomial:2", max_iter=2), layout(X), y)
    axes = rb.plot_hardest(model, layout(X), y, k=5).axes[0]
    images = [box.offsetbox.get_data() for box in axes.artists]
    assert np.array_equal(images, X[model.run_.hardest(5)].reshape(-1, 8, 8))
    assert not rb.plot_hardest(model, layout(X[:, :49]), y).axes[0].artists  # 7 × 7 is too small


# ---- paths


def path_of(figure):
    return lines(figure.axes[0])["w after each update"]


def weights_along(learner, X, y, factors=(1.0, 1.0)):
    """Add the rows up, one mistake after the other; X is lifted already."""
    w, signs = np.zeros(X.shape[1]), np.where(y == learner.classes_[1], 1, -1)
    path = [w]
    for i in learner.run_.history.example:
        w = w + learner.eta0 * factors[int(signs[i] > 0)] * signs[i] * X[i]
        path.append(w)
    return np.array(path)


def test_the_path_of_two_weights_ends_at_those_of_the_learner():
    X, y, w = SEPARABLE
    learner = rb.Perceptron(fit_intercept=False, eta0=0.5).fit(X, y, comparator=w)
    path = path_of(rb.plot_path(learner, X, y))
    assert np.allclose(path, weights_along(learner, X, y))
    assert np.allclose(path[-1], learner.coef_[0])
    labels = rb.plot_path(learner, X, y).axes[0]
    assert (labels.get_xlabel(), labels.get_ylabel()) == (
        "weight of column 0",
        "weight of column 1",
    )
    named = rb.plot_path(learner, X, y, names=["a", "b"]).axes[0]
    assert (named.get_xlabel(), named.get_ylabel()) == ("weight of a", "weight of b")


@pytest.mark.parametrize(
    ("options", "factors"),
    [
        ({}, (1.0, 1.0)),
        ({"output": "averaged"}, (1.0, 1.0)),
        ({"output": "voted", "order": "shuffle", "random_state": 0}, (1.0, 1.0)),
        ({"lift": 3.0, "class_weight": {"ham": 2.0}}, (2.0, 1.0)),
        ({"lift": "radius", "order": "worst"}, (1.0, 1.0)),
    ],
    ids=["plain", "averaged", "voted", "weighted", "radius"],
)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_the_path_of_more_weights_is_seen_along_the_last_ones(options, factors, layout):
    X, y = noisy(60, 4)
    learner = rb.Perceptron(max_iter=4, **options)
    learned(learner, layout(X), y, comparator=np.ones(4))
    lift = {"radius": np.linalg.norm(X, axis=1).max()}.get(options.get("lift"))
    lifted = np.column_stack([X, np.full(60, lift or options.get("lift", 1.0))])
    weights = weights_along(learner, lifted, y, factors)
    direction = weights[-1] / np.linalg.norm(weights[-1])
    along = weights @ direction
    off = np.linalg.norm(weights - along[:, np.newaxis] * direction, axis=1)
    path = path_of(rb.plot_path(learner, layout(X), y))
    assert np.allclose(path, np.column_stack([along, off]), atol=1e-6)


@pytest.mark.parametrize("initial", ["unit", "random", [1.0, -2.0, 0.5, 3.0]])
def test_a_path_begins_where_the_run_did(initial):
    X, y = noisy(60, 4)
    options = {"initial": initial, "fit_intercept": False, "output": "last"}
    learner = rb.Perceptron(max_iter=4, random_state=1, **options)
    learned(learner, X, y, comparator=np.ones(4))
    path = path_of(rb.plot_path(learner, X, y))
    start = np.linalg.norm(initial) if isinstance(initial, list) else 1.0
    assert np.hypot(*path[0]) == pytest.approx(start)
    assert path[-1] == pytest.approx([np.linalg.norm(learner.coef_), 0], abs=1e-6)


def test_a_path_is_refused_with_other_examples_than_those_of_the_run():
    X, y = noisy(60, 4)
    learner = learned(rb.Perceptron(max_iter=4), X, y, comparator=np.ones(4))
    flipped = np.where(y == "ham", "spam", "ham")
    averaged = learned(rb.Perceptron(max_iter=4, output="averaged"), X, y, comparator=np.ones(4))
    for model in (learner, averaged):
        for others in [(X[::-1], y), (X, flipped), (X + 0.01, y), (X[:, :3], y), (X[1:], y[1:])]:
            with pytest.raises(rb.InputError, match="X and y are not those of the run"):
                rb.plot_path(model, *others)


# ---- what they share


def every_picture(learner, X, y, path=None):
    yield rb.plot_regions(learner, X, y, path=path)
    yield rb.plot_margins(learner, X, y, path)
    yield rb.plot_learning_curve(learner, path=path)
    yield rb.plot_hardest(learner, X, y, path=path)
    yield rb.plot_path(learner, X, y, path)


def test_every_picture_is_written_and_the_same_one_is_the_same_file(tmp_path):
    X, y, w = SEPARABLE
    learner = rb.Perceptron(fit_intercept=False).fit(X, y, comparator=w)
    target = tmp_path / "a.svg"
    seen = set()
    for figure in every_picture(learner, X, y, target):
        assert isinstance(figure, Figure)
        assert figure.get_suptitle() == figure.get_label()
        seen.add(target.read_bytes())
    assert len(seen) == 5
    rb.plot_path(learner, X, y, target)
    assert target.read_bytes() in seen
    assert [file.name for file in tmp_path.iterdir()] == ["a.svg"]


def test_a_picture_shows_itself_in_a_notebook_that_has_not_met_pyplot():
    assert rb.plot_hardest(trained())._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize("shape", [(2, 3), (1, 5)], ids=["broad", "narrow"])
def test_every_picture_is_drawn_into_the_axes_given(shape):
    X, y, w = SEPARABLE
    learner = rb.Perceptron(fit_intercept=False).fit(X, y, comparator=w)
    figure = Figure((12, 6))
    axes = figure.subplots(*shape).ravel()
    draws = [
        lambda ax: rb.plot_regions(learner, X, y, ax=ax),
        lambda ax: rb.plot_margins(learner, X, y, ax=ax),
        lambda ax: rb.plot_learning_curve(learner, ax=ax),
        lambda ax: rb.plot_hardest(learner, X, y, ax=ax),
        lambda ax: rb.plot_path(learner, X, y, ax=ax),
    ]
    for draw, alone, ax in zip(draws, every_picture(learner, X, y), axes, strict=False):
        assert draw(ax) is ax
        assert " ".join(ax.get_title(loc="left").split()) == alone.get_label()
        assert ax.get_xlabel().startswith(alone.axes[0].get_xlabel())
        assert len(ax.lines) == len(alone.axes[0].lines)
    assert len(figure.axes) == axes.size
    assert figure.get_suptitle() == figure.get_supxlabel() == ""
    figure.draw_without_rendering()
    for ax in axes[:5]:
        assert ax._left_title.get_window_extent().width < 1.1 * ax.get_window_extent().width


def test_the_caption_of_a_picture_in_axes_is_below_them():
    X, y = noisy(d=4)
    model = learned(rb.Perceptron(max_iter=10), X, y)
    ax = Figure().subplots()
    rb.plot_regions(model, X, y, columns=[0, 1], ax=ax)
    assert "all other columns are at their mean" in " ".join(ax.get_xlabel().split())
    assert ax.get_legend().get_frame_on()


def test_axes_that_are_none_are_refused():
    with pytest.raises(rb.InputError, match=r"ax must be the axes to draw into, .* got a Figure"):
        rb.plot_hardest(trained(), ax=Figure())


@pytest.mark.parametrize(
    ("ending", "beginning"), [("svg", b"<?xml"), ("PNG", b"\x89PNG"), ("pdf", b"%PDF")]
)
def test_a_picture_has_the_format_of_its_name(ending, beginning, tmp_path):
    rb.plot_hardest(trained(), k=2, path=tmp_path / f"a.{ending}")
    assert (tmp_path / f"a.{ending}").read_bytes().startswith(beginning)


def test_drawing_leaves_no_window_and_no_setting_behind():
    code = """if True:
        import sys, matplotlib, rosenblatt as rb
        before = str(matplotlib.rcParams.copy())
        X, y, w = rb.make_separable(30, 3, margin=0.1)
        rb.plot_margins(rb.Perceptron().fit(X, y), X, y)
        rb.plot_regions(rb.Perceptron().fit(X, y), X, y)
        assert str(matplotlib.rcParams.copy()) == before
        assert "matplotlib.pyplot" not in sys.modules
    """
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_vector_pictures_of_many_examples_stay_small(tmp_path):
    X, y = noisy(20_000, 3)
    model = learned(rb.Perceptron(max_iter=2), X, y)
    rb.plot_regions(model, X, y, path=tmp_path / "a.svg")
    assert (tmp_path / "a.svg").stat().st_size < 600_000


def test_without_matplotlib_one_is_told_what_to_install(monkeypatch):
    X, y, w = SEPARABLE
    learner = rb.Perceptron(fit_intercept=False).fit(X, y, comparator=w)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(rb.MissingExtraError, match=r"pip install 'rosenblatt\[lab\]'"):
        next(every_picture(learner, X, y))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rb.plot_regions(rb.Perceptron(), X2, Y2), "call fit first"),
        (lambda: rb.plot_regions(SVC(), X2, Y2), "not fitted yet"),
        (lambda: rb.plot_regions(rb.Perceptron, X2, Y2), "fitted model with the method predict"),
        (lambda: rb.plot_regions(None, X2, Y2), "method predict, got NoneType"),
        (lambda: rb.plot_regions(trained(), X2[:0], Y2[:0]), "0 sample"),
        (lambda: rb.plot_regions(trained(), X2 * np.nan, Y2), r"NaN \(row 0, column 0\)"),
        (lambda: rb.plot_regions(trained(), IRIS.data, SPECIES), "4 features"),
        (lambda: rb.plot_regions(trained(), X2, Y2[1:]), "30 rows but y has 29"),
        (lambda: rb.plot_regions(trained(), X2, Y2 == "ham"), "label True is not one of"),
        (lambda: rb.plot_regions(trained(), X2, Y2, (0, 2)), "no column 2; its 2 columns"),
        (lambda: rb.plot_regions(trained(), X2, Y2, (0, -1)), "no column -1"),
        (lambda: rb.plot_regions(trained(), X2, Y2, (1, 1)), "two different ones, got 1 twice"),
        (lambda: rb.plot_regions(trained(), X2, Y2, (0,)), "two columns, got 1"),
        (lambda: rb.plot_regions(trained(), X2, Y2, 3), "two columns, such as"),
        (lambda: rb.plot_regions(trained(), X2, Y2, "ab"), "two columns, such as"),
        (lambda: rb.plot_regions(trained(), X2, Y2, ("a", 1)), "they have no names"),
        (lambda: rb.plot_regions(trained(), X2, Y2, ("a", 1), names="bc"), "'a' .'b', 'c'."),
        (lambda: rb.plot_regions(trained(), X2, Y2, (0.5, 1)), "name or a whole number"),
        (lambda: rb.plot_regions(trained(), X2, Y2, (True, 1)), "name or a whole number"),
        (lambda: rb.plot_regions(trained(), X2, Y2, names=["a"]), "names are 1, but X has 2"),
        (lambda: rb.plot_regions(trained(), X2, Y2, path="a.jpg"), "end its name in .svg"),
        (lambda: rb.plot_regions(trained(), X2, Y2, path="."), "end its name in .svg"),
        (lambda: rb.plot_regions(trained(), X2, Y2, path="none/a.svg"), "cannot write none"),
        (
            lambda: rb.plot_regions(rb.KernelPerceptron("precomputed"), X2, Y2),
            "a precomputed kernel has no plane",
        ),
        (lambda: rb.plot_margins(rb.Perceptron(), X2, Y2), "call fit first"),
        (lambda: rb.plot_margins(KNeighborsClassifier(), X2, Y2), "method decision_function"),
        (lambda: rb.plot_margins(trained(), X2, None), "labels are missing"),
        (lambda: rb.plot_margins(trained(), X2 * np.inf, Y2), "X contains"),
        (lambda: rb.plot_learning_curve(rb.Perceptron()), "learned nothing yet; call fit first"),
        (lambda: rb.plot_learning_curve(rb.SoftMarginSVM()), "SoftMarginSVM has no run"),
        (lambda: rb.plot_learning_curve(7), "int has no run"),
        (lambda: rb.plot_learning_curve(rb.Perceptron), "Perceptron has no run"),
        (lambda: rb.plot_learning_curve(trained(), 7.5), "must be a MistakeBound, got a float"),
        (
            lambda: rb.plot_hardest(shuffled_learner()),
            "shuffled or resumed counts no mistakes of single",
        ),
        (lambda: rb.plot_hardest(trained(), k=0), "nothing to draw"),
        (lambda: rb.plot_hardest(trained(), k=-1), "k must be a whole number"),
        (lambda: rb.plot_hardest(trained(), X2[1:]), "29 rows, but the latest fit saw 30"),
        (
            lambda: rb.plot_hardest(trained(), X2[:9], Y2[:9]),
            "X has 9 rows, but the latest fit saw 30",
        ),
        (
            lambda: rb.plot_hardest(trained(), X2, Y2[1:]),
            "29 labels, but the latest fit saw 30 rows",
        ),
        (lambda: rb.plot_path(trained(), X2, Y2, names=["a"]), "names are 1, but X has 2"),
        (lambda: rb.plot_path(learner_of_a_stream(), X2, Y2), "fit with a comparator"),
        (lambda: rb.plot_path(learner_of_three(), IRIS.data, SPECIES), "of two classes, not of 3"),
        (lambda: rb.plot_path(rb.KernelPerceptron().fit(X2[:2], [0, 1]), X2, Y2), "Perceptron"),
        (
            lambda: rb.plot_path(learner_at_zero(), np.ones((2, 3)), [0, 1]),
            "ended at weights of zero",
        ),
        (
            lambda: rb.plot_path(
                learned(rb.Perceptron(renormalize=True), X2, Y2, comparator=[1, 1]), X2, Y2
            ),
            "renormalises",
        ),
    ],
)
def test_what_cannot_be_drawn_is_said_in_a_sentence(call, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(rb.InputError, match=message):
        call()
    assert not list(tmp_path.iterdir())


def test_a_class_alone_has_no_boundary():
    model = rb.Perceptron()
    model.partial_fit(X2, ["a"] * 30)
    for draw in (rb.plot_regions, rb.plot_margins):
        with pytest.raises(rb.InputError, match="one class only, 'a'"):
            draw(model, X2, ["a"] * 30)


def test_too_many_answers_are_refused():
    X = np.random.default_rng(0).normal(size=(150, 2))
    model = KNeighborsClassifier(1).fit(X, np.arange(150) % 30)
    assert len(legend(rb.plot_regions(model, X, np.arange(150) % 30).axes[0])) == 31
    more = KNeighborsClassifier(1).fit(X, np.arange(150) % 50)
    with pytest.raises(rb.InputError, match="50 different answers; a plot has colours for 40"):
        rb.plot_regions(more, X)
