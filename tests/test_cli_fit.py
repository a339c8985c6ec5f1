"""What `fit` can do: go on from a model, weigh classes, learn from pipes, tell how it goes."""

import io
import sys

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.data.write import write_svmlight

RANDOM = np.random.default_rng(3)
X = RANDOM.standard_normal((200, 3)).round(3)
Y = np.where(X[:, 0] + 0.3 * RANDOM.standard_normal(200) > 0.5, 1, -1)


KINDS = np.where(Y < 0, "no", "yes")
TABLE = [f"{u},{v},{kind}\n" for (u, v, _), kind in zip(X, KINDS, strict=True)]
FILES = {"t.csv": "a,b,kind\n" + "".join(TABLE)}


@pytest.fixture
def folder(folder):
    parts = {"all": slice(None), "first": slice(120), "rest": slice(120, None)}
    for name, rows in parts.items():
        write_svmlight(f"{name}.svm", rb.Examples(X[rows], Y[rows]))
    return folder


@pytest.mark.parametrize("more", [(), ("--stream",)])
def test_to_go_on_from_a_model_gives_the_weights_of_one_run(facts, more):
    once = ("--max-iter", "1", "--output", "last")
    facts("fit", "all.svm", "-m", "whole", *once)
    facts("fit", "first.svm", "-m", "m", *once)
    facts("fit", "rest.svm", "--from", "m", "-m", "m", *more)
    found, whole = rb.load("m"), rb.load("whole")
    np.testing.assert_array_equal(found.coef_, whole.coef_)
    assert found.get_params()["max_iter"] == 1
    facts("fit", "rest.svm", "--from", "m", "-m", "m", "--max-iter", "3", *more)
    assert rb.load("m").get_params()["max_iter"] == 3


def test_to_go_on_keeps_names_and_finds_columns_by_them(shell, folder):
    shell("fit", "t.csv", "-m", "m", "--max-iter", "2")
    (folder / "new.csv").write_text("b,kind,a\n1,no,-5\n2,yes,5\n")
    assert shell("fit", "new.csv", "--from", "m", "-m", "n", "--label", "kind")[0] == 0
    assert rb.load("n").feature_names_in_.tolist() == ["a", "b"]


def test_only_perceptrons_go_on(shell):
    shell("fit", "all.svm", "-m", "m", "--learner", "svm")
    assert "m is a SoftMarginSVM" in shell("fit", "all.svm", "--from", "m", "-m", "n")[2]


FACTORS = {1: 5.0, -1: 0.5}


@pytest.mark.parametrize("more", [(), ("--stream",), ("--learner", "svm")])
@pytest.mark.filterwarnings("ignore")
def test_class_weights_are_those_of_the_labels_in_the_file(facts, more):
    kind, own = (rb.SoftMarginSVM, {}) if "svm" in more else (rb.Perceptron, {"output": "last"})
    more = (*more, *(("--output", "last") if own else ()), "--max-iter", "1")
    facts("fit", "all.svm", "-m", "m", "--class-weight", "1=5,-1=0.5", *more)
    learner = kind(class_weight=FACTORS, max_iter=1, **own)
    learn = learner.partial_fit if "--stream" in more else learner.fit
    np.testing.assert_array_equal(rb.load("m").coef_, learn(*rb.read("all.svm")).coef_)
    unweighted = kind(max_iter=1, **own).fit(*rb.read("all.svm"))
    assert (rb.load("m").coef_ != unweighted.coef_).any()


def test_labels_that_are_words_have_weights_and_strange_ones_are_refused(facts, shell):
    facts("fit", "t.csv", "-m", "m", "--class-weight", "no=2,yes=1")
    assert rb.load("m").get_params()["class_weight"] == {"no": 2.0, "yes": 1.0}
    refused = shell("fit", "t.csv", "-m", "n", "--class-weight", "maybe=2")
    assert refused[0] == 2
    assert "--class-weight has the label 'maybe'" in refused[2]
    assert "not one of the classes ('no', 'yes')" in refused[2]
    assert "label=factor" in shell("fit", "t.csv", "-m", "n", "--class-weight", "no")[2]


class Pipe(io.TextIOWrapper):
    """Standard input that can be read but once."""

    def __init__(self, content):
        super().__init__(io.BytesIO(content))


def test_one_pass_over_standard_input_is_a_stream(shell, folder, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Pipe((folder / "all.svm").read_bytes()))
    monkeypatch.setattr("rosenblatt.cli.source.Source.examples", None)  # nothing is held whole
    status, shown, told = shell("fit", "-", "-m", "m", "--max-iter", "1")
    assert status == 0
    assert "200" in shown
    assert "error so far" in told


def test_the_progressive_error_is_told_at_each_doubling(shell, monkeypatch):
    monkeypatch.setattr("rosenblatt.cli.source.STREAM_BYTES", 700)  # many blocks
    told = shell("fit", "all.svm", "-m", "m", "--stream", "--max-iter", "1")[2]
    rows = [line.split() for line in told.splitlines()[1:]]
    assert [int(row[0]) for row in rows] == [1, 2, 4, 8, 16, 32, 64, 128]
    data, learner = rb.read("all.svm"), rb.Perceptron()
    wrong = [learner.learn_one(x.toarray()[0], y) for x, y in zip(data.X, data.y, strict=True)]
    assert [int(row[1]) for row in rows] == [sum(wrong[: 2**k]) for k in range(8)]
    assert float(rows[-1][2]) == pytest.approx(sum(wrong[:128]) / 128, abs=1e-4)
    assert float(rows[-1][3]) == pytest.approx(sum(wrong[64:128]) / 64, abs=1e-4)
    assert shell("fit", "all.svm", "-m", "m", "--stream", "--json")[2] == ""


def test_a_file_sorted_by_class_is_told_from_one_that_is_not(shell, folder):
    big = 300 * np.abs(RANDOM.standard_normal((400, 1)))
    sides = np.repeat([-1, 1], 200)
    rows = np.hstack([big, RANDOM.standard_normal((400, 2)) + 0.3 * sides[:, None]])
    for name, order in (("sorted", np.arange(400)), ("mixed", RANDOM.permutation(400))):
        write_svmlight(f"{name}.svm", rb.Examples(rows[order], sides[order]))
    hint = "rows are misclassified: they seem to be sorted by class; give --order shuffle\n"
    status, _, said = shell("fit", "sorted.svm", "-m", "m")
    assert status == 0
    assert said.endswith(hint)
    assert hint not in shell("fit", "sorted.svm", "-m", "m", "--order", "shuffle")[2]
    assert hint not in shell("fit", "mixed.svm", "-m", "m")[2]


def test_many_classes_are_sent_to_separate_by_pairs(facts):
    rng = np.random.default_rng(0)
    write_svmlight("three.svm", rb.Examples(rng.normal(size=(60, 2)), np.arange(60) % 3))
    stopped = facts("fit", "three.svm", "-m", "m")["stop"]
    assert stopped.endswith("with `rosenblatt separate --pairs`.")
    assert facts("fit", "all.svm", "-m", "m")["stop"].endswith("with `rosenblatt separate`.")


def test_one_pass_over_a_large_file_goes_on_from_the_model(facts, folder, monkeypatch):
    facts("fit", "first.svm", "-m", "m", "--max-iter", "1")
    expected = facts("fit", "rest.svm", "--from", "m", "-m", "small", "--max-iter", "1")
    monkeypatch.setattr("rosenblatt.cli.source.STREAM_BYTES", 64)
    found = facts("fit", "rest.svm", "--from", "m", "-m", "large", "--max-iter", "1")
    assert found["mistakes"] == expected["mistakes"]
    np.testing.assert_array_equal(rb.load("large").coef_, rb.load("small").coef_)


def test_a_weight_for_a_class_that_a_stream_lacks_is_told(shell, folder):
    words = ("fit", "all.svm", "-m", "m", "--stream", "--max-iter", "1")
    assert (
        "--class-weight has the label '5', which no row has"
        in (shell(*words, "--class-weight", "5=2,1=3")[2])
    )
    assert "which no row has" not in shell(*words, "--class-weight", "1=2")[2]


def test_true_and_false_are_weighed_as_the_file_spells_them(shell, facts, folder):
    (folder / "t.csv").write_text("x,label\n1,TRUE\n2,FALSE\n3,TRUE\n")
    facts("fit", "t.csv", "-m", "m", "--class-weight", "TRUE=3,false=1")
    assert rb.load("m").class_weight == {True: 3.0, False: 1.0}
    (folder / "t.csv").write_text("x,label\n1,yes\n2,no\n")
    assert (
        "'YES', which is not one" in shell("fit", "t.csv", "-m", "n", "--class-weight", "YES=2")[2]
    )


def test_classes_that_a_model_did_not_know_are_named(shell, folder):
    (folder / "a.csv").write_text("x,label\n1,yes\n-2,no\n")
    (folder / "b.csv").write_text("x,label\n1,yes\n-2,on\n")
    shell("fit", "a.csv", "-m", "m")
    assert "new classes" not in shell("fit", "a.csv", "--from", "m", "-m", "n")[2]
    told = shell("fit", "b.csv", "--from", "m", "-m", "n")[2]
    assert "new classes, which the model did not know: on" in told
