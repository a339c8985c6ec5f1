"""Importance weights of Vowpal Wabbit files, from the text to the model, as the shell has them."""

import numpy as np
import pytest

import rosenblatt as rb

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

# Noisy, so that weights matter: the learner of the weighted file is not that of the plain one.
NUMBERS = np.random.default_rng(3)
ROWS = NUMBERS.integers(-3, 4, (40, 3))
LABELS = NUMBERS.choice([-1, 1], 40)
WEIGHTS = NUMBERS.choice([0.0, 0.5, 1.0, 4.0], 40)
CHANNELS = ("text", "rows", "cache", "stream", "stream of rows")


def vowpal(weights):
    opening = [f"{y} {c}" if weights else f"{y}" for y, c in zip(LABELS, WEIGHTS, strict=True)]
    pairs = [" ".join(f"{j}:{v}" for j, v in enumerate(row)) for row in ROWS.tolist()]
    return "".join(f"{first} | {rest}\n" for first, rest in zip(opening, pairs, strict=True))


FILES = {"heavy.vw": vowpal(weights=True), "plain.vw": vowpal(weights=False)}


def scores(model, X):
    return rb.load(model).decision_function(X)[:5].tolist()


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("order", ["cycle", "shuffle"])
def test_weights_reach_the_perceptron_by_every_way(shell, facts, channel, order):
    X, y = rb.read("heavy.vw")
    options = ["-m", "m", "--max-iter", "2", "--order", order, "--seed", "1", "--output", "last"]
    data, more = "heavy.vw", []
    if "rows" in channel:
        shell("convert", "heavy.vw", "heavy.rows")
        data = "heavy.rows"
        assert rb.read(data).weights.tolist() == WEIGHTS.tolist()
    if "stream" in channel:
        more = ["--stream"]
    if channel == "cache":
        more = ["--cache"]
    facts("fit", data, *options, *more)
    learner = rb.Perceptron(order=order, output="last", max_iter=2, random_state=1)
    if more == ["--stream"]:
        for number in range(2):
            places = np.arange(40)
            if order == "shuffle":
                places = np.random.default_rng([1, number, 0]).permutation(40)
            learner.partial_fit(X[places], y[places], sample_weight=WEIGHTS[places])
    else:
        learner.fit(X, y, WEIGHTS)
    assert scores("m", X) == learner.decision_function(X)[:5].tolist()
    plain = rb.Perceptron(order=order, max_iter=2, random_state=1).fit(X, y)
    assert scores("m", X) != plain.decision_function(X)[:5].tolist()


@pytest.mark.parametrize(
    ("words", "learner"),
    [
        (["--kernel", "polynomial:2:1"], rb.KernelPerceptron("polynomial:2:1", max_iter=2)),
        (["--learner", "svm", "--seed", "0"], rb.SoftMarginSVM(random_state=0)),
    ],
)
def test_weights_reach_the_other_learners(facts, words, learner):
    X, y = rb.read("heavy.vw")
    limit = ["--max-iter", "2"] if "--kernel" in words else []
    facts("fit", "heavy.vw", "-m", "m", *words, *limit)
    expected = learner.fit(X, y, WEIGHTS).decision_function(X)[:5]
    np.testing.assert_allclose(scores("m", X), expected, rtol=1e-9)


def test_a_hard_margin_leaves_out_lines_of_weight_0(facts, folder):
    (folder / "h.vw").write_text("1 | 0:1\n-1 | 0:-1\n1 0 | 0:-5\n")
    found = facts("fit", "h.vw", "-m", "m", "--learner", "hard-svm")
    assert found["margin_from"] == pytest.approx(1)


def test_evaluation_tells_the_share_of_the_weights(facts):
    facts("fit", "plain.vw", "-m", "m", "--max-iter", "2")
    X, y = rb.read("heavy.vw")
    right = rb.load("m").predict(X) == y
    found = facts("evaluate", "m", "heavy.vw")
    assert found["rows"] == 40
    assert found["accuracy"] == right.mean()
    assert found["weighted_accuracy"] == pytest.approx(WEIGHTS[right].sum() / WEIGHTS.sum())
    assert "weighted_accuracy" not in facts("evaluate", "m", "plain.vw")


def test_a_bound_is_that_of_the_weighted_run(facts):
    found = facts("bound", "heavy.vw", "--passes", "2")
    X, y = rb.read("heavy.vw")
    learner = rb.Perceptron(max_iter=2, output="last").fit(X, y, WEIGHTS)
    assert found["mistakes"] == learner.run_.mistakes
    expected = learner.bound(X, y, sample_weight=WEIGHTS).value
    assert found["bound"] == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("name", ["d.svm", "d.csv", "d.parquet"])
def test_formats_without_weights_refuse_them(shell, folder, name):
    if name != "d.svm":
        pytest.importorskip("polars")
    status, _, complaint = shell("convert", "heavy.vw", name)
    assert status == 2
    assert (
        "the examples have weights, for which svmlight, CSV and Parquet have no place"
        in " ".join(complaint.split())
    )
    assert not (folder / name).exists()


def test_weights_of_1_may_be_written_to_any_format(shell):
    shell("convert", "plain.vw", "d.svm")
    assert rb.read("d.svm").y.tolist() == LABELS.tolist()


@pytest.mark.parametrize("more", [[], ["--stream", "--max-iter", "1"], ["--learner", "svm"]])
def test_weights_that_are_all_0_are_refused_in_the_words_of_the_shell(shell, folder, more):
    (folder / "z.vw").write_text("1 0 | 0:1\n-1 0 | 0:-1\n")
    status, _, complaint = shell("fit", "z.vw", "-m", "m", *more)
    *progress, sentence = complaint.splitlines()
    assert status == 2
    assert not progress or "--stream" in more
    assert "weight of 0" in sentence
    assert "sample_weight" not in complaint


def test_a_block_of_weight_0_in_a_stream_counts_no_mistake(monkeypatch, facts, folder):
    monkeypatch.setattr("rosenblatt.cli.source.STREAM_BYTES", 16)
    (folder / "b.vw").write_text("1 | 0:1\n-1 | 0:-1\n1 0 | 0:-5\n1 0 | 0:-5\n1 | 0:2\n")
    found = facts("fit", "b.vw", "-m", "m", "--stream", "--max-iter", "1")
    assert found["rows"] == 5
    assert found["examples_scored"] == 3
