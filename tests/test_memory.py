"""What needs more memory than there is, is refused before it is made, in one sentence."""

import gzip
import os
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

import rosenblatt as rb
from rosenblatt import memory
from rosenblatt.cli.source import Source
from rosenblatt.data.info import count_constant
from rosenblatt.online.linear_machine import WEIGHT_BYTES

KINDS = ("svm", "svm.gz", "npz", "csv", "csv.gz")
SMALL = 1 << 20
TEXT = b"1 1:0.5 2:1\n-1 1:2 2:0.25\n" * 50_000


@pytest.fixture
def folder(folder):
    (folder / "wide.svm").write_text("-1 1:1\n+1 200000:1\n")
    (folder / "long.svm").write_bytes(TEXT)
    (folder / "long.svm.gz").write_bytes(gzip.compress(TEXT))
    np.savez_compressed("long.npz", X=np.zeros((1 << 16, 9)), y=np.arange(1 << 16) % 2)
    (folder / "long.csv").write_bytes(b"1,2,0\n3,4,1\n" * 50_000)
    (folder / "long.csv.gz").write_bytes(gzip.compress((folder / "long.csv").read_bytes()))
    rb.save(rb.Perceptron().fit([[1.0, 2.0], [2.0, 1.0]], [1, -1]), "m")
    return folder


@pytest.fixture
def small(monkeypatch):
    """Let the machine have little memory."""
    for name in ("rosenblatt.memory", "rosenblatt.data.sources"):
        monkeypatch.setattr(f"{name}.memory", lambda: SMALL)
    monkeypatch.setattr(memory, "LITTLE", 0)  # on such a machine nothing is


@pytest.mark.parametrize(
    "words",
    [
        ["separate", "wide.svm"],
        ["margin", "wide.svm"],
        ["bound", "wide.svm"],
        ["fit", "wide.svm", "-m", "new"],
        ["convert", "wide.svm", "new.csv"],
    ],
    ids=" ".join,
)
def test_columns_that_would_fill_the_memory_are_refused(shell, folder, small, words):
    status, _, complaint = shell(*words)
    assert status == 2
    assert "GiB, more than this machine can spare; " in complaint
    assert "--stream" not in complaint
    assert not os.path.exists(words[-1]) or words[-1] == "wide.svm"


@pytest.mark.parametrize("data", [f"long.{kind}" for kind in KINDS])
def test_rows_that_would_fill_the_memory_are_refused(shell, folder, small, data):
    status, _, complaint = shell("separate", data)
    assert status == 2
    assert "this machine can spare; give a part of" in complaint
    assert "--stream" not in complaint
    for words in (["fit", data, "-m", "new"], ["predict", "m", data], ["evaluate", "m", data]):
        status, _, complaint = shell(*words)
        assert status == 2
        assert complaint.endswith(", or --stream, which reads it block by block\n")
    assert "--stream" not in shell("fit", data, "-m", "new", "--learner", "svm")[2]


@pytest.mark.parametrize("learner", [rb.Perceptron(), rb.SoftMarginSVM()])
def test_fitting_and_saving_take_no_more_memory_than_is_asked_for(learner, tmp_path):
    columns = 1 << 20
    X = sparse.csr_matrix(([1.0, -1.0], ([0, 1], [0, columns - 1])), (2, columns))
    learner.fit(X[:, :9], [1, -1])  # what is compiled and imported is not counted
    tracemalloc.start()
    try:
        rb.save(learner.fit(X, [1, -1]), tmp_path / "m")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 1.02 * WEIGHT_BYTES * columns


@pytest.mark.parametrize("learner", ["perceptron", "svm"])
def test_weights_that_take_much_memory_are_told_with_their_size(
    shell, folder, monkeypatch, learner
):
    monkeypatch.setattr("rosenblatt.online.linear_machine.LARGE", WEIGHT_BYTES * 200_000)
    status, _, said = shell("fit", "wide.svm", "-m", "new", "--learner", learner)
    assert (status, said) == (
        0,
        "rosenblatt: weights for 200,000 columns need about 0.0 GiB; number the columns densely, "
        "or hash them to fewer\n",
    )
    with pytest.warns(rb.LargeModelWarning, match="weights for 200,000 columns"):
        rb.Perceptron().fit(*rb.read("wide.svm"))
    monkeypatch.setattr("rosenblatt.online.linear_machine.LARGE", WEIGHT_BYTES * 200_001)
    assert shell("fit", "wide.svm", "-m", "new", "--learner", learner)[2] == ""


def test_a_stream_reads_what_memory_cannot_hold(shell, folder, small, monkeypatch):
    monkeypatch.setattr("rosenblatt.cli.source.STREAM_BYTES", 1 << 12)
    assert shell("fit", "long.svm.gz", "-m", "new", "--stream", "--max-iter", "1")[0] == 0


def test_memory_that_is_used_up_is_no_answer(shell, folder, monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr("rosenblatt.cli.source.read_whole", fail)
    assert shell("separate", "long.svm")[::2] == (
        2,
        "rosenblatt: there is not enough memory to read long.svm; give a part of it\n",
    )
    monkeypatch.setattr(Source, "examples", fail)
    assert shell("separate", "long.svm")[::2] == (
        2,
        "rosenblatt: there is not enough memory for this; give fewer rows or columns\n",
    )


def test_memory_is_a_number_of_bytes(monkeypatch):
    assert 2**20 < memory.memory() < 2**60
    monkeypatch.setattr(memory.Path, "read_text", lambda path: "MemTotal: 1 kB")
    assert 2**20 < memory.memory() < 2**60
    monkeypatch.delattr(memory.os, "sysconf")
    assert memory.memory() == 2**63


def test_constant_columns_of_wide_matrices_are_counted_as_those_of_others():
    X = sparse.csr_matrix([[0, 1, 0, 2, 0, 0, 3.0], [0, 1, 0, 0, 0, 0, 3]])
    assert X.nnz < X.shape[1]
    assert count_constant(X) == count_constant(X.toarray()) == 6
    assert count_constant(sparse.csr_matrix((2, 5))) == 5
