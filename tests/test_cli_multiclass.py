"""The commands with more than two classes."""

import json
import sys

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.cli.main import run
from rosenblatt.data.streams import Checkpoint, fit_stream
from rosenblatt.learners.perceptron import Perceptron
from test_multiclass import planted_classes

X, y, _ = planted_classes(300, 6, 4, seed=5)
NAMES = [f"n{code}" for code in y]


@pytest.fixture
def shell(tmp_path, monkeypatch, capsys):
    """Run a command in a folder with data; give its exit status, output and complaints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rosenblatt.cli.main._listen", lambda: None)
    lines = [
        " ".join([str(code), *(f"{j + 1}:{v}" for j, v in enumerate(x) if v)])
        for x, code in zip(X, y, strict=True)
    ]
    (tmp_path / "data.svm").write_text("\n".join(lines) + "\n")
    rows = [",".join(map(str, [*x, name])) for x, name in zip(X, NAMES, strict=True)]
    (tmp_path / "data.csv").write_text("a,b,c,d,e,f,label\n" + "\n".join(rows) + "\n")

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["rosenblatt", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            run()
        shown = capsys.readouterr()
        assert not ended.value.code or len(shown.err.strip().splitlines()) == 1
        return ended.value.code or 0, shown.out

    return call


@pytest.mark.parametrize("output", ["last", "averaged", "voted"])
@pytest.mark.parametrize("data", ["data.svm", "data.csv"])
def test_fit_predict_and_evaluate_work_together(shell, output, data):
    status, shown = shell("fit", data, "-m", "m", "--output", output, "--json")
    facts = json.loads(shown)
    assert status == 0
    assert len(facts["classes"]) == 4
    assert facts["converged"]
    status, shown = shell("predict", "m", data)
    labels = list(map(str, y)) if data == "data.svm" else NAMES
    learner = rb.load("m")
    assert shown.split() == [str(label) for label in learner.predict(X.astype(np.float32))]
    status, shown = shell("evaluate", "m", data, "--json")
    right = sum(a == b for a, b in zip(labels, shown_answers(shell, data), strict=True))
    assert json.loads(shown)["right"] == right >= 280


def shown_answers(shell, data):
    return shell("predict", "m", data)[1].split()


def test_scores_have_a_column_for_each_class(shell):
    shell("fit", "data.csv", "-m", "m")
    lines = shell("predict", "m", "data.csv", "--scores")[1].splitlines()
    assert {len(line.split("\t")) for line in lines} == {5}


def test_a_stream_of_growing_classes_is_learned(shell, monkeypatch):
    monkeypatch.setattr("rosenblatt.cli.source.STREAM_BYTES", 512)
    assert shell("fit", "data.svm", "-m", "m", "--stream", "--max-iter", "20")[0] == 0
    assert rb.load("m").score(X, y) > 0.9


def test_one_pass_over_a_file_is_one_pass_over_its_rows(shell, monkeypatch):
    monkeypatch.setattr("rosenblatt.cli.source.STREAM_BYTES", 512)
    order = np.argsort(y, kind="stable")  # so that the third class appears in a later block
    with open("sorted.svm", "w") as file:
        for x, code in zip(X[order], y[order], strict=True):
            file.write(" ".join([str(code), *(f"{j + 1}:{v}" for j, v in enumerate(x) if v)]))
            file.write("\n")
    for name, rows in (("sorted.svm", order), ("data.svm", slice(None))):
        shown = shell("fit", name, "-m", "m", "--max-iter", "1", "--json")[1]
        averaged = rb.Perceptron(output="averaged")  # as one pass over noise is answered
        whole = averaged.partial_fit(X[rows], y[rows], classes=range(4))
        assert json.loads(shown)["mistakes"] == whole.run_.mistakes
        np.testing.assert_allclose(rb.load("m").coef_, whole.coef_, atol=1e-12)


def test_a_killed_stream_goes_on_from_its_checkpoint(tmp_path):
    def blocks(killed_at=None):
        for number, begin in enumerate(range(0, len(X), 40)):
            if number == killed_at:
                raise RuntimeError("killed")
            yield rb.Examples(X[begin : begin + 40], y[begin : begin + 40])

    note = Checkpoint(tmp_path / "c", "data", seconds=0.0)
    with pytest.raises(RuntimeError, match="killed"):
        fit_stream(Perceptron(max_iter=3), lambda: blocks(4), checkpoint=note)
    again = fit_stream(Perceptron(max_iter=3), blocks, checkpoint=note)
    whole = fit_stream(Perceptron(max_iter=3), blocks)
    assert again.run_.mistakes_per_pass == whole.run_.mistakes_per_pass
    assert again.coef_.tolist() == whole.coef_.tolist()


def test_info_and_export_know_all_classes(shell):
    shell("fit", "data.csv", "-m", "m", "--output", "averaged")
    facts = json.loads(shell("info", "m", "--json")[1])
    assert facts["classes"] == ["n0", "n1", "n2", "n3"]
    assert shell("export", "m", "m.json")[0] == 0
    with open("m.json") as file:
        assert len(json.load(file)["coef"]) == 4


def test_what_is_about_two_classes_says_so(shell):
    assert shell("bound", "data.svm")[0] == 2
    shell("fit", "data.svm", "-m", "m", "--output", "voted", "--max-iter", "2")
    assert shell("export", "m", "m.json")[0] == 2
