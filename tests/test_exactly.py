"""Tables of text, read as the decimals that are written."""

import gzip
import json
import subprocess
import sys
import time
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import rosenblatt as rb
from rosenblatt import checker
from rosenblatt.data import sources
from rosenblatt.data.compression import decompressed
from rosenblatt.decimals import is_decimal
from rosenblatt.exact.numbers import exact_row
from test_decimals import shares


def as_text(exact, labels, kind):
    """Write shares with two decimals."""
    lines = []
    for row, label in zip(exact, labels, strict=True):
        cells = [f"{float(value):.2f}" for value in row]
        pairs = " ".join(f"{j}:{cell}" for j, cell in enumerate(cells, start=1))
        lines.append(f"{label} {pairs}" if kind == "svm" else ",".join([*cells, str(label)]))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("kind", ["csv", "svm"])
def test_shares_with_two_decimals_are_decided_as_they_are_written(kind, tmp_path):
    random, differing, path = np.random.default_rng(2), 0, tmp_path / f"shares.{kind}"
    for _ in range(60):
        exact, _, labels = shares(random)
        path.write_text(as_text(exact, labels, kind))
        X, y = rb.read(path, exact=True)
        found, right = rb.separate(X, y), rb.separate(exact, labels).verdict
        assert found.verdict == right
        assert rb.verify(found.certificate, X, y).ok
        if kind == "svm":
            assert_checked_alone(found.certificate, path)
        differing += rb.separate(*rb.read(path, dtype=np.float64)).verdict != right
    assert differing  # else these data show nothing


def assert_checked_alone(certificate, path):
    """Let the checker in plain Python read the same file."""
    given = json.loads(certificate.to_json())
    with path.open() as file:
        rows, columns = checker.read_rows(file, given, 1)
    assert checker.check(given, rows, given["data"]["columns"]).startswith("Proven")
    assert columns == given["data"]["columns"]


@pytest.mark.parametrize("command", ["separate", "margin", "bound"])
def test_commands_take_decimals_and_verify_them(command, folder, shell):
    (folder / "a.csv").write_text("x,z,label\n0.1,0.2,a\n0.3,0.1,b\n0.25,-0.7,b\n")
    for options, numbers in (([], "decimal"), (["--floats"], "float64")):
        assert shell(command, "a.csv", "--certificate", "p.json", *options)[0] == 0
        assert json.loads((folder / "p.json").read_text())["data"]["numbers"] == numbers
        assert shell("verify", "p.json", "a.csv")[0] == 0


def test_commands_say_how_to_ask_about_the_other_numbers(folder, shell):
    system = "x,y,relation,b\n1,0,=,0.1\n0,1,=,0.2\n1,1,=,{}\n"
    (folder / "s.csv").write_text(system.format("0.3"))
    said = shell("solve", "s.csv", "--floats")[1]
    assert "the decimals: give them as text, and leave out --floats." in said
    (folder / "s.csv").write_text(system.format("0.3000000000001"))
    assert "only by 1e-13; --floats asks about the nearest floats." in shell("solve", "s.csv")[1]


def test_a_margin_is_that_of_the_decimals(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:0.3\n-1 1:0.1\n")
    found = rb.max_margin(*rb.read(tmp_path / "a.svm", exact=True))
    assert found.squared == Fraction(1, 100)


def test_whole_numbers_stay_floats_and_columns_keep_their_names(tmp_path):
    (tmp_path / "a.csv").write_text("x,z,label\n1,2,a\n3,-4,b\n")
    X, _ = rb.read(tmp_path / "a.csv", exact=True)
    assert not is_decimal(X)
    (tmp_path / "a.csv").write_text("x,z,label\n1,2.5,a\n3,-4,b\n")
    examples = rb.read(tmp_path / "a.csv", exact=True)
    assert is_decimal(examples.X)
    assert rb.separate(*examples).names == ("x", "z")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.svm", "1 1:{} 2:0.5\n-1 1:2\n"),
        ("a.csv", "x,z,label\n{},0.5,a\n2,3,b\n"),
        ("a.jsonl", '{{"x": {}, "z": 0.5, "label": "a"}}\n{{"x": 2, "z": 3, "label": "b"}}\n'),
    ],
)
@pytest.mark.parametrize(
    "number", ["0.1", "0.12345678901234567890", "1e-5", "0.30000000000000004", "9007199254740993"]
)
def test_every_digit_counts(name, text, number, tmp_path):
    if name.endswith("jsonl"):
        pytest.importorskip("polars")
    (tmp_path / name).write_text(text.format(number))
    X, _ = rb.read(tmp_path / name, exact=True)
    assert exact_row(X, 0)[0] == (0, Fraction(number))


def test_decimal_commas_are_decimals_too(tmp_path):
    (tmp_path / "a.csv").write_text("x;label\n0,1;a\n0,12345678901234567890;b\n")
    X, _ = rb.read(tmp_path / "a.csv", exact=True, decimal=",", separator=";")
    found = [exact_row(X, i)[0][1] for i in (0, 1)]
    assert found == [Fraction(1, 10), Fraction("0.12345678901234567890")]


def test_decimals_of_one_place_are_not_added_up(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1 1:0.5\n1 1:0.1 3:1 1:0.2\n-1 2:0.5\n")
    with pytest.raises(rb.InputError, match=r"a\.svm:2:1: column 1 comes twice, and decimals are"):
        rb.read(path, exact=True)
    path.write_text("1 1:1 1:2 3:1\n-1 2:0.5\n")
    assert exact_row(rb.read(path, exact=True).X, 0) == [(0, 3), (2, 1)]


def test_numbers_that_floats_cannot_tell_apart_are_refused(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:0.1\n-1 1:0.10000000000000001\n")
    with pytest.raises(rb.InputError, match=r"a\.svm: .* differ by less than float64 can tell"):
        rb.read(tmp_path / "a.svm", exact=True)
    assert rb.separate(*rb.read(tmp_path / "a.svm")).verdict == "inseparable"


@pytest.mark.parametrize("number", ["1e-400", "1e-310", "1e999999999", "1e-999999999", "nan"])
def test_numbers_that_cannot_be_used_are_refused_at_once(number, folder, shell):
    path = folder / "a.svm"
    path.write_text(f"1 1:{number}\n-1 1:2\n")
    began = time.perf_counter()
    with pytest.raises(rb.InputError, match=r"a\.svm"):
        rb.read(path, exact=True)
    status, _, complaint = shell("separate", "a.svm")
    assert (status, complaint.count("\n")) == (2, 1)
    assert time.perf_counter() - began < 20


def test_a_number_of_many_digits_takes_no_time(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text(f"1 1:0.{'3' * 40_000}\n-1 1:-2\n")
    began = time.perf_counter()
    X, _ = rb.read(path, exact=True)
    assert exact_row(X, 0)[0][1] * 10**40_000 == (10**40_000 - 1) // 3
    assert time.perf_counter() - began < 20
    path.write_text(f"1 1:0.{'3' * 10**5}\n-1 1:-2\n")
    with pytest.raises(rb.InputError, match="is not a number that can be used"):
        rb.read(path, exact=True)


def test_arrays_stay_floats_and_text_from_pipes_is_exact(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.array([[0.1], [0.3]]), y=np.array([0, 1]))
    X, _ = rb.read(tmp_path / "a.npz", exact=True)
    assert not is_decimal(X)
    code = "import rosenblatt as rb; print(type(rb.read('-', exact=True).X).__name__)"
    run = [sys.executable, "-c", code]
    text = "1 1:0.1\n-1 1:2\n"
    piped = subprocess.run(run, input=text, capture_output=True, text=True, check=True)
    assert piped.stdout.strip() == "SparseDecimals"
    assert isinstance(rb.read(tmp_path / "a.npz").X, np.ndarray)


def test_sparse_rows_stay_sparse(tmp_path):
    (tmp_path / "a.svm").write_text("1 100000:0.1\n-1 1:0.3\n")
    X, y = rb.read(tmp_path / "a.svm", exact=True)
    assert sparse.issparse(X)
    assert rb.separate(X, y).verdict == "separable"


def test_several_packed_tables_are_unpacked_once_and_read_as_they_are_written(
    tmp_path, monkeypatch
):
    texts = {"a.csv.gz": b"x,y\n0.1,yes\n", "b.csv.gz": b"x,y\n0.12345678901234567890,no\n"}
    names = []
    for name, text in texts.items():
        (tmp_path / name).write_bytes(gzip.compress(text))
        names.append(tmp_path / name)
    unpacked = []
    monkeypatch.setattr(
        sources,
        "decompressed",
        lambda kind, head, raw, name, size: (
            unpacked.append(name) or decompressed(kind, head, raw, name, size)
        ),
    )
    found = rb.read([*names, names[0]], exact=True, format="csv")
    assert Counter(unpacked) == {str(names[0]): 2, str(names[1]): 1}
    assert found.y.tolist() == ["yes", "no", "yes"]
    exact = [Fraction(1, 10), Fraction("0.12345678901234567890"), Fraction(1, 10)]
    assert [exact_row(found.X, i) for i in range(3)] == [[(0, value)] for value in exact]
