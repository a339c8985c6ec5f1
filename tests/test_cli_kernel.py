"""`rosenblatt fit --kernel`, as a person types it."""

import json
import sys

import pytest

import rosenblatt as rb
from rosenblatt.cli.main import run

XOR = "no 1:-1 2:-1\nyes 1:-1 2:1\nyes 1:1 2:-1\nno 1:1 2:1\n"
THREE = "a 1:1\nb 2:1\nc 1:-1 2:-1\na 1:2\nb 2:2\nc 1:-2 2:-1\n"


@pytest.fixture
def shell(tmp_path, monkeypatch, capsys):
    """Run a command in a folder with data; give its exit status, output and complaints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rosenblatt.cli.main._listen", lambda: None)
    (tmp_path / "xor.svm").write_text(XOR)
    (tmp_path / "three.svm").write_text(THREE)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["rosenblatt", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            run()
        shown = capsys.readouterr()
        return ended.value.code or 0, shown.out, shown.err

    return call


@pytest.mark.parametrize("data", ["xor.svm", "three.svm"])
@pytest.mark.parametrize("kernel", ["polynomial:2:1", "gaussian:0.5"])
def test_a_kernel_learns_what_no_hyperplane_can(shell, data, kernel):
    status, shown, _ = shell("fit", data, "--kernel", kernel, "-m", "m", "--json")
    facts = json.loads(shown)
    assert (status, facts["converged"]) == (0, True)
    assert 0 < facts["stored_examples"] <= facts["mistakes"]
    status, shown, _ = shell("evaluate", "m", data, "--json")
    assert (status, json.loads(shown)["accuracy"]) == (0, 1.0)
    _, shown, _ = shell("predict", "m", data)
    assert shown.split() == [str(label) for label in rb.read(data).y]
    _, shown, _ = shell("info", "m", "--json")
    known = json.loads(shown)
    assert known["learner"] == "KernelPerceptron"
    assert known["stored_examples"] == facts["stored_examples"]


def test_a_budget_is_kept(shell):
    words = ("--kernel", "gaussian:1", "--budget", 2, "--forget", "random", "--max-iter", 3)
    status, shown, _ = shell("fit", "xor.svm", *words, "--seed", 1, "-m", "m", "--json")
    assert status == 0
    assert json.loads(shown)["stored_examples"] <= 2


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--kernel", "gaussian:x"], "kernel must be one of"),
        (["--kernel", "gaussian:-1"], "gamma"),
        (["--kernel", "polynomial:0"], "degree"),
        (["--kernel", "polynomial:1.5"], "polynomial"),
        (["--kernel", "gaussian:1", "--budget", "0"], "budget"),
        (["--kernel", "gaussian:1", "--eta0", "2"], "--eta0 goes with --learner perceptron"),
        (["--kernel", "gaussian:1", "--stream"], "--stream goes with"),
        (["--budget", "3"], "--budget goes with --learner kernel"),
        (["--learner", "svm", "--kernel", "linear"], "--kernel goes with --learner kernel"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_sentence(shell, tmp_path, words, complaint):
    status, _, error = shell("fit", "xor.svm", *words, "-m", "m")
    assert status == 2
    assert complaint in error
    assert "Traceback" not in error
    assert not (tmp_path / "m").exists()


def test_a_kernel_model_is_no_hyperplane_to_export(shell):
    shell("fit", "xor.svm", "--kernel", "gaussian:1", "-m", "m")
    status, _, error = shell("export", "m", "m.onnx")
    assert status == 2
    assert "no hyperplane" in error
