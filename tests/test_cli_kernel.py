"""`rosenblatt fit --kernel`, as a person types it."""

import pytest

import rosenblatt as rb

FILES = {
    "xor.svm": "no 1:-1 2:-1\nyes 1:-1 2:1\nyes 1:1 2:-1\nno 1:1 2:1\n",
    "three.svm": "a 1:1\nb 2:1\nc 1:-1 2:-1\na 1:2\nb 2:2\nc 1:-2 2:-1\n",
}


@pytest.mark.parametrize("data", ["xor.svm", "three.svm"])
@pytest.mark.parametrize("kernel", ["polynomial:2:1", "gaussian:0.5"])
def test_a_kernel_learns_what_no_hyperplane_can(shell, facts, data, kernel):
    found = facts("fit", data, "--kernel", kernel, "-m", "m")
    assert found["converged"]
    assert 0 < found["stored_examples"] <= found["mistakes"]
    assert facts("evaluate", "m", data)["accuracy"] == 1.0
    assert shell("predict", "m", data)[1].split() == [str(label) for label in rb.read(data).y]
    known = facts("info", "m")
    assert known["learner"] == "KernelPerceptron"
    assert known["stored_examples"] == found["stored_examples"]


def test_a_budget_is_kept(facts):
    words = ("--kernel", "gaussian:1", "--budget", 2, "--forget", "random", "--max-iter", 3)
    assert facts("fit", "xor.svm", *words, "--seed", 1, "-m", "m")["stored_examples"] <= 2


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
def test_what_cannot_be_done_is_refused_in_a_sentence(refused, folder, words, complaint):
    assert complaint in refused("fit", "xor.svm", *words, "-m", "m")
    assert not (folder / "m").exists()


def test_a_kernel_model_is_no_hyperplane_to_export(shell, refused):
    shell("fit", "xor.svm", "--kernel", "gaussian:1", "-m", "m")
    assert "no hyperplane" in refused("export", "m", "m.onnx")
