"""The command line, as a person types it."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.cli.main import app

NO_LIMIT = ("--max-iter", "0")
GOOD = "+1 1:0.5 2:1\n-1 1:-1 2:-0.5\n+1 1:2\n"
FILES = {"good.svm": GOOD}


def test_fit_predict_and_evaluate_work_together(shell, facts):
    status, shown, _ = shell("fit", "good.svm", "--model", "m.safetensors")
    assert status == 0
    assert "Converged" in shown
    assert shell("predict", "m.safetensors", "good.svm")[:2] == (0, "1\n-1\n1\n")
    found = facts("evaluate", "m.safetensors", "good.svm")
    assert (found["right"], found["wrong"], found["accuracy"]) == (3, 0, 1.0)


def test_json_of_fit_says_what_the_run_did(facts):
    found = facts("fit", "good.svm", "--model", "m")
    assert (found["classes"], found["converged"]) == ([-1, 1], True)
    assert found["mistakes"] == rb.load("m").run_.mistakes


def test_every_option_of_fit_reaches_the_learner(shell):
    options = "--order shuffle --initial random --eta0 0.5 --renormalize --lift radius"
    limits = "--output averaged --max-iter 7 --max-updates 9 --max-seconds 60 --seed 3 --balanced"
    assert shell("fit", "good.svm", "-m", "m", *options.split(), *limits.split())[0] == 0
    assert (
        rb.load("m").get_params().items()
        >= {
            **{"order": "shuffle", "initial": "random", "eta0": 0.5, "renormalize": True},
            **{"lift": "radius", "output": "averaged", "max_iter": 7, "max_updates": 9},
            **{"max_seconds": 60.0, "random_state": 3, "class_weight": "balanced"},
        }.items()
    )


def test_a_limit_that_stops_the_run_is_named(shell, folder):
    (folder / "mixed.svm").write_text("1 1:1\n-1 1:1\n")
    status, shown, _ = shell("fit", "mixed.svm", "-m", "m", "--max-iter", "3")
    assert status == 0
    assert "--max-iter" in shown


def test_predictions_can_carry_scores_and_go_to_a_file(shell, folder):
    shell("fit", "good.svm", "-m", "m")
    status, shown, _ = shell("predict", "m", "good.svm", "--scores", "--out", "answers.txt")
    assert (status, shown) == (0, "")
    label, score = (folder / "answers.txt").read_text().splitlines()[1].split("\t")
    assert label == "-1"
    assert float(score) < 0
    line = shell("predict", "m", "good.svm", "--json")[1].splitlines()[0]
    assert json.loads(line)["label"] == 1


def test_models_that_cannot_be_used_get_one_sentence_and_status_2(shell, folder):
    shell("fit", "good.svm", "-m", "m")
    shell("separate", "good.svm", "--certificate", "proof.json")
    content = (folder / "m").read_bytes()
    (folder / "noise").write_bytes(np.random.default_rng(1).bytes(3000))
    (folder / "cut").write_bytes(content[:-20])
    (folder / "turned").write_bytes(content[:-8] + bytes(8))
    np.savez(folder / "wide.npz", X=np.eye(3), y=[1, -1, 1])
    for model, data, words in [
        ("noise", "good.svm", "not a model file: it is cut off, or holds something else\n"),
        ("cut", "good.svm", "not a model file: it is cut off, or holds something else\n"),
        ("proof.json", "good.svm", "not a model file: it looks like a certificate\n"),
        ("turned", "good.svm", "damaged"),
        ("good.svm", "good.svm", "not a model file"),
        ("missing", "good.svm", "no model file missing"),
        (".", "good.svm", "folder"),
        ("m", "wide.npz", "has 3 columns, but the model has 2"),
    ]:
        for command in ("predict", "evaluate"):
            status, shown, complaint = shell(command, model, data)
            assert (status, shown) == (2, ""), (command, model, data)
            assert words in complaint
    said = "rosenblatt: m is not a certificate: it looks like a model\n"
    assert shell("verify", "m", "good.svm") == (2, "", said)
    said = "rosenblatt: noise is not a certificate: it is not JSON, or is cut off\n"
    assert shell("verify", "noise", "good.svm") == (2, "", said)


def test_wrong_usage_is_status_2(shell, folder):
    (folder / "inside").mkdir()
    assert shell("fit", "good.svm", "-m", "m", "--order", "sideways")[0] == 2
    assert shell("fit", "good.svm", "-m", "m", "--lift", "high")[0] == 2
    assert "eta0" in shell("fit", "good.svm", "-m", "m", "--eta0", "0")[2]
    assert "no folder" in shell("fit", "good.svm", "-m", "nowhere/m")[2]
    assert "is a folder" in shell("fit", "good.svm", "-m", "inside")[2]
    assert not (folder / "m").exists()


def test_the_demo_learns_below_its_bound_proves_a_verdict_and_names_a_conflict(
    shell, facts, folder
):
    found = facts("demo", "--out", "tour")
    assert found["planted"]["errors"] == 0
    assert 0 < found["planted"]["mistakes"] <= found["planted"]["bound"]
    assert found["verdict"] == {"verdict": "weakly separable", "columns": 7, "ok": True}
    assert found["conflict"] == {"verdict": "infeasible", "rows": 1, "bounds": 2}
    assert (folder / "tour/learning-curve.png").read_bytes()[:4] == b"\x89PNG"
    status, shown, _ = shell("demo", "--out", "tour")
    assert status == 0
    for part in ("I don't know", "it holds", "orders: north + south ≥ 90", "How to go on"):
        assert part in shown
    for command in re.findall(r"^rosenblatt ((?:verify|solve) .*?) +#", shown, re.MULTILINE):
        status, _, complaint = shell(*command.split())
        assert status < 2, complaint


def test_info_finds_contradictions(shell, facts, folder):
    (folder / "clash.svm").write_text("1 1:2\n-1 2:1\n-1 1:2\n")
    found = facts("info", "clash.svm")
    assert found["contradiction"] == [1, 3]
    assert found["classes"] == [{"label": -1, "rows": 2}, {"label": 1, "rows": 1}]
    assert "nothing separates" in " ".join(shell("info", "clash.svm")[1].split())
    assert "none" in shell("info", "good.svm")[1]


def test_export_writes_a_hyperplane_or_says_why_not(shell, folder):
    shell("fit", "good.svm", "-m", "m")
    assert shell("export", "m", "m.json")[0] == 0
    assert json.loads((folder / "m.json").read_text())["classes"] == [-1, 1]
    status, _, complaint = shell("export", "m", "m.exe")
    assert status == 2
    assert ".onnx" in complaint


def test_what_is_read_is_never_overwritten(shell, folder):
    shell("fit", "good.svm", "-m", "m")
    shell("convert", "good.svm", "good.rows")
    (folder / "link.svm").symlink_to("good.svm")
    (folder / "m.json").hardlink_to("m")
    before = (folder / "good.svm").read_text(), (folder / "m").read_bytes()
    for words in (
        ("fit", "good.svm", "-m", "good.svm"),
        ("predict", "m", "good.svm", "--out", "m"),
        ("predict", "m", "good.svm", "--out", "good.svm"),
        ("convert", "good.svm", "good.svm"),
        ("convert", "good.svm", "link.svm"),
        ("convert", "goo*.svm", "good.svm"),
        ("convert", "good.rows", "good.rows"),
        ("separate", "good.svm", "--certificate", "link.svm"),
        ("export", "m.json", "m.json"),
    ):
        status, _, complaint = shell(*words)
        assert status == 2
        assert "what the command reads" in complaint
    assert ((folder / "good.svm").read_text(), (folder / "m").read_bytes()) == before


def test_links_are_followed_and_pipes_are_written_to(shell, folder):
    shell("fit", "good.svm", "-m", "m")
    (folder / "answers").write_text("old")
    (folder / "link").symlink_to(folder / "answers")
    assert shell("predict", "m", "good.svm", "--out", "link")[0] == 0
    assert (folder / "link").is_symlink()
    assert (folder / "answers").read_text() == "1\n-1\n1\n"
    os.mkfifo(folder / "pipe")
    reader = subprocess.Popen(["cat", str(folder / "pipe")], stdout=subprocess.PIPE)
    assert shell("predict", "m", "good.svm", "--out", "pipe")[0] == 0
    assert reader.communicate()[0] == b"1\n-1\n1\n"
    assert (folder / "pipe").is_fifo()


def test_labels_and_names_are_shown_as_they_are(shell, folder):
    (folder / "[bold].svm").write_text("[red] 1:1\n[/a] 1:-1\n")
    status, shown, _ = shell("fit", "[bold].svm", "-m", "m")
    assert status == 0
    assert "[bold].svm" in shown
    status, shown, _ = shell("evaluate", "m", "[bold].svm")
    assert status == 0
    assert "[red]" in shown


def test_labels_that_the_model_does_not_know_are_refused_and_bad_ones_too(shell, folder):
    shell("fit", "good.svm", "-m", "m")
    X = rb.read("good.svm").X.toarray()
    for y, words in [
        (["1", "-1", "1"], "is a class of the model"),
        ([1, -1], "X has 3 rows but y has 2"),
        ([1.0, np.nan, -1.0], "NaN"),
    ]:
        np.savez("other.npz", X=X, y=y)
        status, _, complaint = shell("evaluate", "m", "other.npz")
        assert status == 2
        assert words in complaint


def test_a_model_is_applied_with_the_precision_it_was_fitted_with(shell, folder):
    wide = "1.0000000298023223876953125"
    (folder / "close.svm").write_text(f"+1 1:1 2:{wide}\n-1 1:{wide} 2:1\n")
    assert shell("fit", "close.svm", "-m", "m", "--float64", "--no-intercept")[0] == 0
    assert json.loads(shell("evaluate", "m", "close.svm", "--json")[1])["accuracy"] == 1.0


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is POSIX")
def test_an_interrupt_before_the_learning_says_that_nothing_was_written(folder):
    process = subprocess.Popen(
        [sys.executable, "-m", "rosenblatt", "fit", "-", "--model", "m"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdin.write(b"+1 1:1\n")
    process.stdin.flush()
    wait_until_read(process.stdin)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert complaint == b"rosenblatt: interrupted; nothing was written\n"


def wait_until_read(pipe):
    """Wait until whoever reads from a pipe has taken all that was written to it."""
    import fcntl
    import termios

    until = time.monotonic() + 120
    while any(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4))):
        assert time.monotonic() < until
        time.sleep(0.05)


def test_version_is_that_of_the_package(shell):
    assert shell("--version")[1] == f"rosenblatt {rb.__version__}\n"


LINES = """if True:
    import sys
    from rosenblatt.cli.main import run
    heavy, *lines = sys.argv[1:]
    for line in lines:
        sys.argv = ["rosenblatt", *line.split()]
        try:
            run()
        except SystemExit as ended:
            assert not ended.code, line
        assert not set(heavy.split()) & set(sys.modules), line
"""


def run_without(modules, lines):
    """Run commands in a process of their own; give what they print."""
    command = [sys.executable, "-c", LINES, modules, *lines]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_help_loads_nothing_heavy():
    heavy = "numpy scipy numba sklearn matplotlib highspy flint"
    shown = run_without(heavy, ["--help", *(f"{name} --help" for name in app.commands)])
    assert shown.count("Exit status") >= 4


def test_learning_and_answering_do_not_wait_for_scikit_learn(folder):
    lines = [
        "fit good.svm -m m",
        "predict m good.svm",
        "fit good.svm -m svm --learner svm",
        "evaluate svm good.svm --json",
        "info svm",
        "fit good.svm -m hard --learner hard-svm",
        "evaluate hard good.svm",
    ]
    run_without("sklearn pandas", lines)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_and_reports_what_was_learned(number, folder):
    random = np.random.default_rng(0)
    X, y = random.standard_normal((2000, 20)), random.integers(0, 2, 2000)
    np.savez(folder / "noise.npz", X=X, y=y)
    for delay in (1.5, 5, 20, 60):  # long enough to be learning by then, on a machine of any speed
        status, shown = interrupt_after(delay, number, "fit", "noise.npz", "-m", "m", *NO_LIMIT)
        if shown:
            break
    assert status == 130
    assert str(rb.Stop.INTERRUPTED) in " ".join(shown.split())
    assert rb.load("m").run_.mistakes > 0


def interrupt_after(seconds, number, *words):
    """Run a command, as a script does in the background, and send it a signal after some seconds.

    Gives the exit status and the output.
    """
    command = [sys.executable, "-m", "rosenblatt", *words]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    time.sleep(seconds)
    process.send_signal(number)
    return process.wait(timeout=60), process.communicate()[0]
