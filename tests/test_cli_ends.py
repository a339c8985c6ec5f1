"""How commands begin and end: outputs that cannot be written, readers that go, Ctrl-C."""

import importlib
import io
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

import rosenblatt as rb
from rosenblatt import loops
from rosenblatt.cli import entry, printing
from rosenblatt.cli.entry import faithful
from rosenblatt.data.workers import ahead, in_order, workers
from rosenblatt.data.write import write_svmlight
from rosenblatt.pauses import waited

X, Y, _ = rb.make_separable(40, 3, margin=0.1, seed=4)
needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is full")
posix = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")


@pytest.fixture
def folder(folder):
    write_svmlight("good.svm", rb.Examples(X, Y))
    (folder / "c").write_text(rb.separate(X, Y).certificate.to_json())
    rb.save(rb.Perceptron().fit(X, Y), "m")
    return folder


@pytest.fixture
def into(shell, monkeypatch):
    """Run a command whose output goes to a stream; give its exit status and complaints."""

    def call(stream, *words):
        monkeypatch.setattr(sys, "stdout", faithful(stream))
        return shell(*words)[::2]

    return call


COMMANDS = (
    ["--version"],
    ["info", "good.svm"],
    ["predict", "m", "good.svm"],
    ["predict", "m", "good.svm", "--json"],
    ["separate", "good.svm", "--json"],
    ["verify", "c", "good.svm"],
)


@needs_full
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_an_output_that_cannot_be_written_is_one_sentence_and_no_answer(into, words):
    with open("/dev/full", "w") as full:
        assert into(full, *words) == (
            2,
            "rosenblatt: cannot write the output: No space left on device; what was printed is "
            "not all of it\n",
        )


@needs_full
def test_the_command_itself_says_so_too(folder):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-u", "-m", "rosenblatt", "--version"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


@posix
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_reader_that_has_gone_is_no_answer_and_nothing_to_speak_of(into, words):
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as gone:
        assert into(gone, *words) == (141, "")


@posix
def test_an_unbuffered_output_writes_all_or_fails(tmp_path):
    resource = importlib.import_module("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with open(tmp_path / "out", "wb", buffering=0) as raw:
        plain = io.TextIOWrapper(raw, "utf-8", write_through=True)
        out = faithful(plain)
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
            with pytest.raises(OSError, match="File too large"):
                out.buffer.write(b"x" * 100_000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        plain.detach()
    assert os.path.getsize(tmp_path / "out") == 1000


def test_predictions_need_an_output(folder, shell, monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert shell("predict", "m", "good.svm")[::2] == (
        2,
        "rosenblatt: there is no standard output; give --out FILE\n",
    )


@pytest.fixture
def listening():
    """Hear signals as a command does, for the time of a test."""
    names = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)
    before = {number: signal.getsignal(number) for number in names}
    entry.listen()
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number, handler in before.items():
        signal.signal(number, handler)


SLOW = """
import os, signal, time
os.kill(os.getpid(), signal.SIGINT)
for _ in range(5):
    time.sleep(0.01)
done = True
"""


@posix
def test_an_interrupt_waits_for_the_end_of_an_import(tmp_path, monkeypatch, listening):
    (tmp_path / "slow_to_import.py").write_text(SLOW)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 (the import ends before it)
        importlib.import_module("slow_to_import")
        time.sleep(5)
    assert sys.modules.pop("slow_to_import").done


@posix
def test_an_import_that_does_not_end_is_interrupted_all_the_same(tmp_path, monkeypatch, listening):
    (tmp_path / "endless.py").write_text(SLOW.replace("range(5)", "iter(int, 1)"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(entry, "PATIENCE", 0.05)
    with pytest.raises(KeyboardInterrupt):
        importlib.import_module("endless")


@posix
def test_an_interrupt_before_the_command_has_begun_is_one_line(listening, monkeypatch, capsys):
    def stop():
        raise KeyboardInterrupt

    ends = []
    monkeypatch.setattr("rosenblatt.cli.main.run", stop)
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(entry.os, "_exit", ends.append)
    monkeypatch.setattr(entry.gc, "set_threshold", lambda _: None)
    entry.enter()
    assert ends == [130]
    assert capsys.readouterr().err == "rosenblatt: interrupted\n"


# ---- compiling


def look_at_a_terminal(monkeypatch):
    """Make standard error a terminal that was told nothing yet, and waits less long."""
    monkeypatch.setattr("rosenblatt.pauses.LONG", 0.05)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(loops, "COMPILING", replace(loops.COMPILING, seconds=0.0, told=False))


def compile_for(seconds):
    return waited(lambda: time.sleep(seconds), loops._on_terminal())


def test_a_terminal_is_told_once_of_compiling_that_takes_long(monkeypatch, capsys):
    look_at_a_terminal(monkeypatch)
    compile_for(0.0)
    assert capsys.readouterr().err == ""
    for _ in range(3):
        compile_for(0.04)
    assert capsys.readouterr().err == "rosenblatt: compiling, once\n"


def test_a_terminal_is_told_of_compiling_in_threads_and_in_parts_of_a_command(monkeypatch, capsys):
    look_at_a_terminal(monkeypatch)
    with printing.telling(), printing.telling(), workers(2) as apply:
        list(apply(compile_for, [0.1, 0.1]))
        list(in_order(compile_for, iter([0.1, 0.1]), 2))
    with printing.telling(), printing.doing("deciding"):
        list(ahead(map(compile_for, [0.1, 0.1])))
    assert capsys.readouterr().err.count("rosenblatt: compiling, once\n") == 1


def test_whoever_is_not_a_terminal_is_not_told(monkeypatch, capsys):
    monkeypatch.setattr("rosenblatt.pauses.LONG", 0.0)
    assert loops._on_terminal() is None
    compile_for(0.01)
    assert capsys.readouterr().err == ""
