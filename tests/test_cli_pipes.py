"""Pipes in the place of files: every command sees what it would see of the file."""

import gzip
import io
import json
import os
import sys
import threading
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest
from scipy import sparse

import rosenblatt as rb
from rosenblatt.data import sources
from rosenblatt.data.write import write_csv, write_svmlight

X, Y, _ = rb.make_separable(3000, 6, margin=0.03, seed=4)  # more than a pipe holds at once
X = X.astype(np.float32)
SYSTEMS = {
    "system.csv": "x,relation,b\n" + "1,>=,0\n" * 20_000 + "1,<=,-1\n",
    "system.mps": "NAME t\nROWS\n N c\n G r\nCOLUMNS\n x r 1\nRHS\n RHS r 1\nENDATA\n",
    "system.lp": "min\n obj: x\nst\n c: x >= 1\nend\n",
}
needs_descriptors = pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="no /dev/fd here")


@pytest.fixture
def folder(folder):
    write_svmlight("data.svm", rb.Examples(X, Y))
    return folder


@contextmanager
def piped(content):
    """Give the path of a pipe that another thread fills."""
    reader, writer = os.pipe()

    def fill():
        with open(writer, "wb") as file:
            file.write(content)

    thread = threading.Thread(target=fill)
    thread.start()
    try:
        yield f"/dev/fd/{reader}"
    finally:
        os.close(reader)
        thread.join()


@pytest.fixture
def both(shell, folder):
    """Run a command on files, then on pipes in their place; words that begin with < are pipes."""

    def call(*words):
        named = shell(*(word.removeprefix("<") for word in words))
        with ExitStack() as stack:
            paths = [
                stack.enter_context(piped((folder / word[1:]).read_bytes()))
                if word.startswith("<")
                else word
                for word in words
            ]
            return named, shell(*paths)

    return call


def same(named, through, *but):
    """Hold two answers in JSON to be the same, the names of files and such apart."""
    assert named[0] == through[0], through
    facts, others = (json.loads(answer[1]) for answer in (named, through))
    for name in ("data", "seconds", "system", "model", "certificate", *but):
        facts.pop(name, None)
        others.pop(name, None)
    assert facts == others


@needs_descriptors
@pytest.mark.parametrize(
    "command", [["info"], ["separate"], ["fit", "-m", "m"], ["fit", "-m", "m", "--max-iter", "1"]]
)
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_pipe_is_read_from_its_first_byte_on(both, folder, command, compress):
    (folder / "d").write_bytes(compress((folder / "data.svm").read_bytes()))
    # One pass over a pipe is a stream, which is not read again to measure the error.
    unmeasured = ("misclassified", "training_error") if "--max-iter" in command else ()
    same(*both(*command, "<d", "--json"), *unmeasured)


@needs_descriptors
def test_tables_arrays_and_words_come_through_pipes(both, folder):
    write_csv("t.csv", rb.Examples(X, Y))
    np.savez("a.npz", X=X, y=Y)
    (folder / "words").write_text("".join(f"{'ab'[i % 2]}\tword{i % 2} and\n" for i in range(5000)))
    for name in ("t.csv", "a.npz", "words"):
        same(*both("info", f"<{name}", "--json"))


@needs_descriptors
def test_models_and_data_to_predict_come_through_pipes(both, shell, folder):
    assert shell("fit", "data.svm", "-m", "m")[0] == 0
    for options in ([], ["--stream", "--scores"]):
        named, through = both("predict", "<m", "<data.svm", *options)
        assert named[1].count("\n") == 3000
        assert named == through
    same(*both("evaluate", "<m", "<data.svm", "--json"))
    same(*both("info", "<m", "--json"))


@needs_descriptors
def test_a_pipe_is_converted_from_its_first_byte_on(both, shell, folder):
    both("convert", "<data.svm", "out.csv")
    assert len(rb.read("out.csv")) == 3000
    both("convert", "<data.svm", "out.rows")
    assert len(rb.read("out.rows")) == 3000


@needs_descriptors
def test_certificates_and_their_data_come_through_pipes(both, shell, folder):
    rows, labels = rb.read("data.svm", dtype="float64", width=6)
    wide = sparse.hstack([rows, np.zeros((len(X), 1))], format="csr")  # 0 is not written
    (folder / "c").write_text(rb.separate(wide, labels).certificate.to_json())
    for certificate in ("c", "<c"):
        named, through = both("verify", certificate, "<data.svm")
        assert named == through
        assert named[0] == 0


@needs_descriptors
@pytest.mark.parametrize("name", SYSTEMS)
def test_systems_come_through_pipes(both, folder, name):
    (folder / name).write_text(SYSTEMS[name])
    same(*both("solve", f"<{name}", "--json"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_read_and_not_waited_for_again(shell, folder):
    os.mkfifo("pipe")
    text = (folder / "data.svm").read_bytes()
    threading.Thread(target=(folder / "pipe").write_bytes, args=(text,)).start()
    assert json.loads(shell("info", "pipe", "--json")[1])["rows"] == 3000


@needs_descriptors
def test_what_must_be_read_twice_is_no_pipe(shell, folder):
    with piped((folder / "data.svm").read_bytes()) as path:
        status, _, complaint = shell("fit", path, "-m", "m", "--stream")
        assert status == 2
        assert f"{path} can be read only once; give --max-iter 1, or a file" in complaint
        status, _, complaint = shell("fit", path, "-m", "m", "--cache")
        assert status == 2
        assert f"{path} cannot be read again; give a file" in complaint
        shell("info", path)  # lets the writer end


def test_the_beginning_of_a_pipe_may_be_looked_at_many_times(monkeypatch):
    text = b"1 1:1\n" * 50_000
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(text))))
    for size in (3, 70_000, 10):
        assert sources.beginning("-", size) == text[:size]
    assert sources.contents("-").tobytes() == text
    assert not sources._held


def test_a_file_behind_standard_input_is_mapped_after_a_look_at_it(folder, monkeypatch):
    with open("data.svm", encoding="utf-8") as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert sources.beginning("-", 5) == (folder / "data.svm").read_bytes()[:5]
        assert isinstance(sources.contents("-"), np.memmap)
