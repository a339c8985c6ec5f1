"""The command plot, as a person types it."""

import json
import os
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris

import rosenblatt as rb

PNG = b"\x89PNG"
FILES = {
    "apart.svm": "+1 1:0.5 2:1\n-1 1:-1 2:-0.5\n+1 1:2\n-1 2:-1\n",
    "thin.svm": "+1 1:1 2:1.01\n-1 1:1 2:0.99\n+1 1:3 2:3.01\n-1 1:2 2:1.99\n",
    "xor.svm": "0 1:0\n1 2:1\n1 1:1\n0 1:1 2:1\n",
    "clash.svm": "0 1:1\n1 1:1\n",
    "one.svm": "1 1:1\n1 1:2\n",
    "bare.svm": "1:1 2:2\n",
    "empty.svm": "",
    "wide.svm": "+1 1:0.5 2:1 3:2\n-1 1:-1 2:-0.5 3:1\n+1 1:2\n-1 2:-1\n",
    "holes.csv": "a,b,label\n1,,yes\n2,1,no\n",
    "prices.csv": "width,cost in $,label\n1,2,dear\n2,1,cheap\n3,3,dear\n0,1,cheap\n1,0,cheap\n",
}


@pytest.fixture
def folder(folder):
    iris = load_iris()
    np.savez(folder / "iris.npz", X=iris.data, y=iris.target)
    return folder


@pytest.fixture
def facts(shell):
    def call(*words):
        status, shown, complaint = shell("plot", *words, "--json")
        assert (status, complaint) == (0, "")
        return json.loads(shown)

    return call


def test_all_pictures_of_two_classes_are_drawn_and_told(shell, facts, folder):
    found = facts("apart.svm")
    assert list(found["pictures"]) == ["regions", "margins", "curve", "hardest", "path"]
    assert found["left_out"] == {}
    for name, picture in found["pictures"].items():
        assert picture["file"] == os.path.join("rosenblatt-plots", f"{name}.png")
        assert (folder / picture["file"]).read_bytes().startswith(PNG)
    learner = rb.Perceptron().fit(*rb.read("apart.svm"))
    distances = learner.decision_function(rb.read("apart.svm").X) * rb.read("apart.svm").y
    assert found["smallest_distance"] == pytest.approx(
        distances.min() / np.linalg.norm(learner.coef_)
    )
    assert found["misclassified"] == 0
    assert learner.run_.mistakes <= found["bound"]
    told = found["pictures"]["curve"]["seen"]
    assert told == (
        f"{learner.run_.mistakes} mistakes in {learner.run_.passes} passes; Theorem 1 allows "
        f"{found['bound'] // 1:.0f}"
    )
    status, shown, _ = shell("plot", "apart.svm")
    words = " ".join(shown.split())
    assert status == 0
    assert "a perceptron, from zero and in stored order; it converged in 2 passes" in words
    assert "regions rosenblatt-plots/regions.png: none of 4 misclassified" in words


def test_a_bound_that_is_not_found_in_time_is_left_out(facts, monkeypatch):
    monkeypatch.setattr("rosenblatt.cli.pictures.BOUND_SECONDS", 0.0)
    found = facts("thin.svm")
    assert found["bound"] is None
    assert found["pictures"]["curve"]["seen"].endswith("passes")


def test_classes_that_nothing_separates_are_drawn_beside_theorem_2(facts):
    found = facts("xor.svm", "--out", "there")
    assert found["misclassified"] > 0
    assert "was still making mistakes after 10 passes" in found["fitted"]
    assert "Theorem 2 allows" in found["pictures"]["curve"]["seen"]
    assert not found["left_out"]


def test_pictures_of_many_classes_leave_out_the_path(facts, folder):
    found = facts("iris.npz", "--out", "a/b")
    assert found["left_out"] == {"path": "a path is drawn of two classes, not of 3"}
    assert sorted(os.listdir(folder / "a/b")) == [
        "curve.png",
        "hardest.png",
        "margins.png",
        "regions.png",
    ]


def test_two_rows_that_contradict_each_other_are_drawn(facts):
    found = facts("clash.svm")
    assert found["misclassified"] == 1
    assert "1 of 2 misclassified" in found["pictures"]["regions"]["seen"]


@pytest.mark.parametrize(
    ("name", "begin"), [("a.svg", b"<?xml"), ("a.PNG", PNG), ("a.pdf", b"%PDF")]
)
def test_one_picture_goes_to_the_file_named(name, begin, facts, folder):
    found = facts("apart.svm", "--what", "hardest", "--out", name)
    assert list(found["pictures"]) == ["hardest"]
    assert (folder / name).read_bytes().startswith(begin)
    assert not (folder / "rosenblatt-plots").exists()


@pytest.mark.parametrize("columns", ["cost in $,width", "1,0", " 1 , width"])
def test_columns_are_named_or_numbered(columns, facts, axes_of):
    axes = axes_of("plot_regions")
    facts("prices.csv", "--what", "regions", "--columns", columns, "--out", "p.svg")
    assert (axes[0].get_xlabel(), axes[0].get_ylabel()) == (r"cost in \$", "width")


@pytest.fixture
def axes_of(monkeypatch):
    """Give a list that the axes of what a function draws are put into."""

    def watch(name):
        seen, draw = [], getattr(rb, name)

        def drawn(*given, **more):
            figure = draw(*given, **more)
            seen.extend(figure.axes)
            return figure

        monkeypatch.setattr(rb, name, drawn)
        return seen

    return watch


@pytest.mark.parametrize(
    ("words", "places"),
    [
        (["wide.svm", "--columns", "1,3"], (0, 2)),
        (["wide.svm", "--format", "svmlight", "--columns", "1,3"], (0, 2)),
        (["wide.svm", "--zero-based", "--columns", "1,3"], (1, 3)),
        (["iris.npz", "--columns", "1,3"], (1, 3)),
        (["-", "--columns", "1,3"], (0, 2)),
    ],
    ids=["svmlight", "told", "zero-based", "array", "piped"],
)
def test_columns_are_counted_as_the_file_does(words, places, facts, axes_of, folder, monkeypatch):
    axes = axes_of("plot_regions")
    with open(folder / "wide.svm") as file:
        monkeypatch.setattr(sys, "stdin", file)
        facts(*words, "--what", "regions", "--out", "p.svg")
    assert (axes[0].get_xlabel(), axes[0].get_ylabel()) == ("column 1", "column 3")
    X = rb.read(
        "iris.npz" if words[0] == "iris.npz" else "wide.svm", zero_based="--zero-based" in words
    ).X
    X = X.toarray() if hasattr(X, "toarray") else X
    shown = np.concatenate([np.asarray(c.get_offsets()) for c in axes[0].collections[:3]])
    assert set(np.unique(X[:, places[0]].round(5))) >= set(np.unique(shown[:, 0].round(5)))
    assert set(np.unique(X[:, places[1]].round(5))) >= set(np.unique(shown[:, 1].round(5)))


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        (["apart.svm"], ("weight of column 1", "weight of column 2")),
        (["prices.csv"], ("weight of width", r"weight of cost in \$")),
    ],
)
def test_weights_of_a_path_are_called_as_the_file_calls_them(words, labels, facts, axes_of):
    axes = axes_of("plot_path")
    facts(*words, "--what", "path", "--out", "p.svg")
    assert (axes[0].get_xlabel(), axes[0].get_ylabel()) == labels


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        (["--learner", "svm", "--lam", "0.1"], "a SoftMarginSVM has no run"),
        (["--learner", "hard-svm"], "a HardMarginSVM has no run"),
        (["--kernel", "gaussian:1"], "a path is drawn of a Perceptron"),
        (["--output", "averaged"], "leave out --model to have a run watched"),
    ],
    ids=["svm", "hard", "kernel", "averaged"],
)
def test_models_of_every_kind_are_drawn(how, reason, shell, facts, folder):
    assert shell("fit", "apart.svm", "-m", "m", *how)[0] == 0
    found = facts("apart.svm", "--model", "m")
    model = rb.load("m")
    assert found["model"] == "m"
    assert found["fitted"] is None
    assert {"regions", "margins"} <= set(found["pictures"])
    of_runs = {"path"} if hasattr(model, "run_") else {"curve", "hardest", "path"}
    assert set(found["left_out"]) == of_runs
    status, _, complaint = shell("plot", "apart.svm", "-m", "m", "--what", "path", "--out", "p")
    assert status == 2
    assert reason in complaint
    assert not (folder / "p").exists()


def test_a_model_is_asked_about_columns_by_name(shell, facts, folder):
    shell("fit", "prices.csv", "-m", "m", "--max-iter", "3")
    (folder / "turned.csv").write_text(
        "cost in $,width,label\n2,1,dear\n1,2,cheap\n3,3,dear\n1,0,cheap\n0,1,cheap\n"
    )
    straight, turned = (facts(f"{name}.csv", "-m", "m") for name in ("prices", "turned"))
    assert straight["smallest_distance"] == turned["smallest_distance"]


def test_large_data_are_sampled_and_the_bound_is_left_out(facts, monkeypatch, folder):
    X, y, _ = rb.make_separable(4000, 3, margin=0.1)
    np.savez("large.npz", X=X, y=y)
    monkeypatch.setattr("rosenblatt.cli.pictures.SMALL", 1000)
    found = facts("large.npz")
    assert found["bound"] is None
    assert "Theorem" not in found["pictures"]["curve"]["seen"]
    assert "updates" in found["pictures"]["path"]["seen"]
    assert found["pictures"]["regions"]["seen"] == "none of 4,000 misclassified"


def test_standard_input_can_be_drawn(shell, folder, monkeypatch):
    with open(folder / "apart.svm") as file:
        monkeypatch.setattr(sys, "stdin", file)
        status, _, complaint = shell("plot", "-", "--what", "margins", "--out", "m.png")
    assert (status, complaint) == (0, "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.svm"], "nowhere.svm"),
        (["empty.svm"], "empty.svm"),
        (["bare.svm"], "bare.svm"),
        (["one.svm"], "at least two classes, got 1 class (1)"),
        (["holes.csv"], "with --missing"),
        (["apart.svm", "--what", "everything"], "'everything' is not one of"),
        (
            ["apart.svm", "--columns", "1,3"],
            "apart.svm has no column 3; its 2 columns count from 1",
        ),
        (["apart.svm", "--columns", "0,1"], "no column 0; its 2 columns count from 1"),
        (["prices.csv", "--columns", "0,2"], "no column 2; its 2 columns count from 0"),
        (["apart.svm", "--columns", "1"], "two columns, got 1"),
        (["apart.svm", "--columns", "a,b"], "no column 'a'"),
        (["prices.csv", "--columns", "a,b"], "no column 'a' ('width', 'cost in $')"),
        (["apart.svm", "--columns", "0,1", "--what", "path"], "--columns goes with --what regions"),
        (["apart.svm", "--model", "none"], "there is no model file none"),
        (["apart.svm", "--model", "xor.svm"], "xor.svm is not a model"),
        (["apart.svm", "--out", "one.png"], "one file, but there are several pictures"),
        (["apart.svm", "--what", "path", "--out", "a.jpg"], "end its name in .svg, .png or .pdf"),
        (["apart.svm", "--out", "a.d"], "end its name in .svg, .png or .pdf"),
        (["apart.svm", "--what", "path", "--out", "none/a.png"], "there is no folder none"),
        (["apart.svm", "--what", "path", "--out", "occupied/a.png"], "occupied is a file, not"),
        (["apart.svm", "--what", "path", "--out", "occupied/b/a.png"], "occupied is a file, not"),
        (["apart.svm", "--out", "occupied"], "occupied is a file"),
        (["apart.svm", "--out", "occupied/there"], "occupied is a file"),
        (["iris.npz", "--what", "path"], "of two classes, not of 3"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(words, message, shell, folder):
    (folder / "occupied").write_text("")
    before = sorted(os.listdir(folder))
    status, _, complaint = shell("plot", *words)
    assert status == 2
    assert message in " ".join(complaint.split())
    assert sorted(os.listdir(folder)) == before


def test_data_of_other_columns_than_the_model_s_are_refused(shell, folder):
    shell("fit", "apart.svm", "-m", "m")
    np.savez("other.npz", X=np.eye(5), y=np.arange(5))
    status, _, complaint = shell("plot", "other.npz", "-m", "m")
    assert status == 2
    assert "other.npz has 5 columns, but the model has" in complaint
    assert not (folder / "rosenblatt-plots").exists()


def test_data_are_not_overwritten_by_a_picture(shell, folder):
    (folder / "data.png").write_text(FILES["apart.svm"])
    words = ["data.png", "--format", "svmlight", "--what", "margins", "--out", "data.png"]
    status, _, complaint = shell("plot", *words)
    assert status == 2
    assert "is what the command reads" in complaint
    assert (folder / "data.png").read_text() == FILES["apart.svm"]


@pytest.mark.skipif(os.name != "posix", reason="folders have no such permission elsewhere")
def test_a_folder_that_cannot_be_written_to_is_found_before_the_work(shell, folder, monkeypatch):
    (folder / "locked").mkdir()
    monkeypatch.setattr("os.access", lambda path, mode: "locked" not in str(path))
    status, _, complaint = shell("plot", "nowhere.svm", "--out", "locked/there")
    assert status == 2
    assert "locked: permission denied" in complaint


def test_without_matplotlib_one_is_told_what_to_install(shell, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    status, _, complaint = shell("plot", "apart.svm")
    assert status == 2
    assert "pip install 'rosenblatt[lab]'" in complaint
    assert not (folder / "rosenblatt-plots").exists()


def test_an_interrupt_while_learning_writes_nothing(shell, folder, monkeypatch):
    learn = rb.Perceptron.train

    def interrupted(self, *given, **more):
        self.max_updates = 1
        learn(self, *given, **more)
        object.__setattr__(self._journal.first, "stop", rb.Stop.INTERRUPTED)
        return self

    monkeypatch.setattr("rosenblatt.learners.perceptron.Perceptron.train", interrupted)
    status, _, complaint = shell("plot", "apart.svm")
    assert status == 130
    assert "interrupted; nothing was written" in complaint
    assert not (folder / "rosenblatt-plots").exists()
