"""The commands with more than two classes."""

import json

import numpy as np
import pytest

import rosenblatt as rb
from test_multiclass import planted_classes

X, y, _ = planted_classes(300, 6, 4, seed=5)
NAMES = [f"n{code}" for code in y]


def svmlight(X, codes):
    """Write rows as text, without their zeros."""
    rows = (" ".join(f"{j + 1}:{v}" for j, v in enumerate(x) if v) for x in X)
    return "".join(f"{code} {row}\n" for row, code in zip(rows, codes, strict=True))


FILES = {
    "data.svm": svmlight(X, y),
    "data.csv": "a,b,c,d,e,f,label\n"
    + "".join(",".join(map(str, [*x, name])) + "\n" for x, name in zip(X, NAMES, strict=True)),
}


@pytest.mark.parametrize("output", ["last", "averaged", "voted"])
@pytest.mark.parametrize("data", ["data.svm", "data.csv"])
def test_fit_predict_and_evaluate_work_together(shell, facts, output, data):
    found = facts("fit", data, "-m", "m", "--output", output)
    assert len(found["classes"]) == 4
    assert found["converged"]
    answers = shell("predict", "m", data)[1].split()
    assert answers == [str(label) for label in rb.load("m").predict(X.astype(np.float32))]
    labels = list(map(str, y)) if data == "data.svm" else NAMES
    right = sum(a == b for a, b in zip(labels, answers, strict=True))
    assert facts("evaluate", "m", data)["right"] == right >= 280


def test_scores_have_a_column_for_each_class(shell):
    shell("fit", "data.csv", "-m", "m")
    lines = shell("predict", "m", "data.csv", "--scores")[1].splitlines()
    assert {len(line.split("\t")) for line in lines} == {5}


def test_a_stream_of_growing_classes_is_learned(shell, monkeypatch):
    monkeypatch.setattr("rosenblatt.cli.source.STREAM_BYTES", 512)
    assert shell("fit", "data.svm", "-m", "m", "--stream", "--max-iter", "20")[0] == 0
    assert rb.load("m").score(X, y) > 0.9


def test_one_pass_over_a_file_is_one_pass_over_its_rows(facts, folder, monkeypatch):
    monkeypatch.setattr("rosenblatt.cli.source.STREAM_BYTES", 512)
    order = np.argsort(y, kind="stable")  # so that the third class appears in a later block
    (folder / "sorted.svm").write_text(svmlight(X[order], y[order]))
    for name, rows in (("sorted.svm", order), ("data.svm", slice(None))):
        found = facts("fit", name, "-m", "m", "--max-iter", "1")
        averaged = rb.Perceptron(output="averaged")  # as one pass over noise is answered
        whole = averaged.partial_fit(X[rows], y[rows], classes=range(4))
        assert found["mistakes"] == whole.run_.mistakes
        np.testing.assert_allclose(rb.load("m").coef_, whole.coef_, atol=1e-12)


def test_info_and_export_know_all_classes(shell, facts):
    shell("fit", "data.csv", "-m", "m", "--output", "averaged")
    assert facts("info", "m")["classes"] == ["n0", "n1", "n2", "n3"]
    assert shell("export", "m", "m.json")[0] == 0
    with open("m.json") as file:
        assert len(json.load(file)["coef"]) == 4


def test_what_is_about_two_classes_says_so(shell, refused):
    refused("bound", "data.svm")
    shell("fit", "data.svm", "-m", "m", "--output", "voted", "--max-iter", "2")
    refused("export", "m", "m.json")
