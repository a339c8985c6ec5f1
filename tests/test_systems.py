"""Systems in files: what is read is what is written, and what the checker in plain Python reads."""

import bz2
import gzip
import io
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import rosenblatt as rb
from rosenblatt.check.subjects import System
from rosenblatt.checker import digest, read_rows
from rosenblatt.data.systems import read_system, write_system_csv
from rosenblatt.exact.numbers import exact_matrix, exact_row
from test_programs import LP
from test_programs import MPS as mps

PROGRAM = """minimize
 cost: x + y
subject to
 atleast: x + 2 y >= 3
bounds
 x <= 1
 y <= 1
end
"""
MPS = mps.replace("BOUNDS", "RANGES\n    RNG       R1        2.5\nBOUNDS")
CSV = "b,x,relation,y\n3,1,>=,2\n1,1,<=,0\n\n-0,0,<,1\n.5,1e-3,=,+1.\n2,1,==,1\n"


pytestmark = pytest.mark.usefixtures("folder")


def dense(system):
    return system.A.toarray() if sparse.issparse(system.A) else np.asarray(system.A)


def own_digest(system):
    return System(system.A, system.b, system.strict, system.equal, system.bounds).digest()


def digest_of_plain_checker(text):
    given = {"data": {"numbers": "decimal", "columns": 0}}
    rows, columns = read_rows(io.StringIO(text, newline="\n"), given, 1)
    return digest(rows, columns, decimal=True)


# ---- CSV


def test_csv_rows_are_turned_and_sorted_by_relation(folder):
    (folder / "s.csv").write_text(CSV)
    found = read_system("s.csv")
    assert found.names == ["x", "y"]
    assert found.A.tolist() == [[1, 2], [-1, 0], [0, -1], [0.001, 1], [1, 1]]
    assert found.b.tolist() == [3, -1, 0, 0.5, 2]
    assert found.strict.tolist() == [False, False, True, False, False]
    assert found.equal.tolist() == [False, False, False, True, True]
    assert found.bounds is None


def test_csv_without_relations_is_at_least(folder):
    (folder / "s.csv").write_text("x,b\n1,2\n")
    found = read_system("s.csv")
    assert not found.strict.any()
    assert not found.equal.any()


@pytest.mark.parametrize(
    "text",
    [
        CSV,
        CSV.replace("\n", "\r\n"),
        '"x, y",b\n 0.1 ,"1e-300"\n',
        "x,b\n0.30000000000000004,123456789012345678901234567890\n-0,-0.0\n",
        f"x,b\n1{'0' * 300},0.{'0' * 290}1\n",
    ],
)
def test_the_checker_in_plain_python_reads_the_same_numbers(text, folder):
    (folder / "s.csv").write_bytes(text.encode())
    assert own_digest(read_system("s.csv")) == digest_of_plain_checker(text)


def test_numbers_of_all_sizes_are_read_alike(folder):
    random = np.random.default_rng(0)
    values = random.standard_normal((40, 3)) * 10.0 ** random.integers(-300, 300, (40, 3))
    text = "x,y,b\n" + "".join(",".join(map(repr, row)) + "\n" for row in values.tolist())
    (folder / "s.csv").write_text(text)
    found = read_system("s.csv")
    assert np.array_equal(np.column_stack([found.A, found.b]), values)
    assert own_digest(found) == digest_of_plain_checker(text)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, bytes])
def test_compressed_files_are_the_same_files(pack, folder):
    for name, text in (("s.csv", CSV), ("s.mps", MPS), ("s.lp", LP)):
        (folder / name).write_text(text)
        (folder / f"{name}.gz").write_bytes(pack(text.encode()))
        assert own_digest(read_system(f"{name}.gz")) == own_digest(read_system(name))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "s.csv:1: the first line names the columns"),
        ("x,y\n1,2\n", "s.csv:1: the first line names the columns"),
        ("b,relation\n1,>\n", "s.csv:1: the first line names the columns"),
        ("x,x,b\n1,2,3\n", "s.csv:1: the first line names 'x' twice"),
        ("a,b,relation,rhs\n1,2,>,3\n", "s.csv:1: the first line names b, which is the right-hand"),
        ("x,b\n", "holds no rows"),
        ("x,b\n1,2\n1,2,3\n", "s.csv:3: the number of cells is 3 and not 2"),
        ("x,b\n1\n", "s.csv:2: the number of cells is 1 and not 2"),
        ("x,b,relation\n1,2,=>\n", "s.csv:2: '=>' is not one of the relations >= > = == <= <"),
        ("x,b,relation\n1,2,\n", "s.csv:2: '' is not one of the relations"),
        ("x,b\n1,two\n", "s.csv:2: 'two' is not a number that can be used"),
        ("x,b\n1,\n", "s.csv:2: '' is not a number that can be used"),
        ("x,b\n1_0,2\n", "s.csv:2: '1_0' is not"),
        ("x,b\n1e,5\n", "s.csv:2: '1e' is not"),
        ("x,b\n٣,5\n", r"s.csv:2: '\u0663' is not"),
        ("x,b\nnan,2\n", "s.csv:2: 'nan' is not"),
        ("x,b\n1,2\n\n1,1e999\n", "s.csv:4: '1e999' is not"),
        ('x,b\n"1,2\n', "s.csv:2: "),
        ("x,b\n\udcff,2\n", "it is not UTF-8 text"),
        ("\udcff,b\n1,2\n", "s.csv:1: it is not UTF-8 text"),
    ],
)
def test_bad_csv_gets_one_sentence_with_file_and_line(text, words, folder):
    (folder / "s.csv").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(rb.InputError) as raised:
        read_system("s.csv")
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_folder_or_a_file_that_is_not_there_is_refused(folder):
    with pytest.raises(rb.InputError, match=r"no file s\.csv"):
        read_system("s.csv")
    (folder / "a.csv").write_text(CSV)
    (folder / "b.csv").write_text(CSV)
    with pytest.raises(rb.InputError, match="stands for 2 files"):
        read_system("*.csv")


# ---- linear programs


def test_rows_and_bounds_of_an_mps_file(folder):
    (folder / "s.mps").write_text(MPS)
    found = read_system("s.mps")
    assert found.names == ["X", "Y", "Z"]
    assert list(found.rows) == ["R1", "R1", "R2", "R3"]
    rows = [[1, 2, 0], [-1, -2, 0], [-1, 1e-10, 0], [0.1, 0, -1]]
    assert dense(found).tolist() == rows
    assert found.b.tolist() == [3, -5.5, -4, 0.5]
    assert found.equal.tolist() == [False, False, False, True]
    assert not found.strict.any()
    assert found.bounds == [(0, 4), (-1, None), (None, None)]


def test_rows_and_bounds_of_an_lp_file(folder):
    (folder / "s.lp").write_text(LP)
    found = read_system("s.lp")
    assert found.names == ["x", "y", "z"]
    assert dense(found).tolist() == [[1, 1, 0], [-1, 1, 0], [1, 0, 1]]
    assert found.b.tolist() == [1, -2.5, 0.1]
    assert found.equal.tolist() == [False, False, True]
    assert found.bounds == [(0, 4), (-3, 5), (None, None)]


# ---- arrays


def test_npz_holds_arrays_or_the_parts_of_a_sparse_matrix(folder):
    A = np.array([[1, 0, 2], [0, 3, 0]], np.float32)
    np.savez("dense.npz", A=A, b=[1, 2], strict=[True, False], equal=[False, True])
    found = read_system("dense.npz")
    assert found.A.dtype == np.float64
    assert (found.A.tolist(), found.b.tolist()) == (A.tolist(), [1, 2])
    assert (found.strict.tolist(), found.equal.tolist()) == ([True, False], [False, True])
    assert (found.bounds, found.names) == (None, ["x0", "x1", "x2"])
    m = sparse.csr_matrix(A)
    parts = {"data": m.data, "indices": m.indices, "indptr": m.indptr, "shape": m.shape}
    np.savez("sparse.npz", **parts, b=1.5, lower=0.0, upper=[1, np.inf, 3])
    found = read_system("sparse.npz")
    assert dense(found).tolist() == A.tolist()
    assert found.b.tolist() == [1.5, 1.5]
    assert found.bounds == [(0, 1), (0, None), (0, 3)]


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"A": np.eye(2)}, "has no array 'b'"),
        ({"b": np.ones(2)}, "a system is made of A and b"),
        ({"A": np.eye(2), "b": np.ones(3)}, r"s.npz: b has the shape \(3,\) in place of \(2,\)"),
        ({"A": np.ones(2), "b": 1}, "A has the shape"),
        ({"A": np.empty((0, 2)), "b": 1}, "A has the shape"),
        ({"A": np.eye(2) * np.nan, "b": 1}, "A contains NaN"),
        ({"A": np.eye(2), "b": np.inf}, "b contains NaN or infinity"),
        ({"A": np.array([["a"]]), "b": 1}, "not a usable .npz"),
        ({"A": np.eye(2), "b": 1, "strict": [0, 1]}, "strict holds int64, not truth values"),
        ({"A": np.eye(2), "b": 1, "equal": [True]}, "equal has the shape"),
        ({"A": np.eye(2), "b": 1, "lower": np.nan}, "lower holds something else"),
        ({"A": np.eye(2), "b": 1, "lower": np.inf}, "lower holds something else"),
        ({"A": np.eye(2), "b": 1, "upper": "a"}, "upper holds something else"),
        ({"A": np.eye(2), "b": 1, "upper": [1, 2, 3]}, "upper has the shape"),
    ],
)
def test_bad_arrays_get_one_sentence(arrays, words):
    np.savez("s.npz", **arrays)
    with pytest.raises(rb.InputError, match=words):
        read_system("s.npz")


def test_noise_is_refused(folder):
    for name in ("s.npz", "s.csv", "s.mps", "s.lp"):
        (folder / name).write_bytes(np.random.default_rng(0).bytes(2000))
        with pytest.raises(rb.InputError, match=r"s\.(npz|csv|mps|lp)"):
            read_system(name)


# ---- writing


def test_a_written_system_is_read_back_with_bounds_as_rows(folder):
    random = np.random.default_rng(1)
    A = random.standard_normal((6, 3)) * random.choice([0, 1], (6, 3))
    b, strict = random.standard_normal(6), np.array([1, 0, 0, 1, 0, 0], bool)
    equal, bounds = ~strict & (b > 0), [(0, 1e-300), (None, None), (None, 0.1)]
    for rows in (A, sparse.csr_matrix(A)):
        write_system_csv("s.csv", rows, b, strict, equal, bounds, names=["x", "b", ' "a, \n'])
        found = read_system("s.csv")
        assert found.names == ["x", "b_", '"a,']
        assert found.A[:6].tolist() == A.tolist()
        assert found.A[6:].tolist() == [[1, 0, 0], [-1, 0, 0], [0, 0, -1]]
        assert found.b.tolist() == [*b.tolist(), 0, -1e-300, -0.1]
        assert found.strict.tolist() == [*strict.tolist(), *[False] * 3]
        assert found.equal.tolist() == [*equal.tolist(), *[False] * 3]
        text = (folder / "s.csv").read_text()
        assert digest_of_plain_checker(text) == own_digest(found)


def test_a_program_and_its_csv_have_the_same_answer(folder):
    for name, text in (("s.mps", MPS), ("s.lp", LP), ("t.lp", LP.replace(">= 1", ">= 100"))):
        (folder / name).write_text(text)
        answers = []
        A, b, strict, equal, bounds, names, *_ = read_system(name)
        write_system_csv("s.csv", A, b, strict, equal, bounds, names=names)
        for read in (read_system(name), read_system("s.csv")):
            A, b, strict, equal, bounds, *_ = read
            found = rb.solve(A, b, strict=strict, equal=equal, bounds=bounds)
            assert rb.verify(found.certificate, A, b, strict=strict, equal=equal, bounds=bounds)
            assert isinstance(found, rb.Solution)
            answers.append(found.verdict)
        assert answers == ["infeasible" if name == "t.lp" else "feasible"] * 2


def test_what_csv_cannot_hold_is_refused_and_leaves_nothing(folder):
    for A, bounds in (
        ([[Fraction(1, 3)]], None),
        ([[1]], [(0, Fraction(1, 3))]),
        ([[1]], [(0, 10**400)]),
    ):
        with pytest.raises(rb.InputError, match="not a decimal of a size that can be written"):
            write_system_csv("s.csv", A, [1], bounds=bounds)
    with pytest.raises(rb.InputError, match="2 names for 1 unknowns"):
        write_system_csv("s.csv", [[1]], [1], names=["x", "y"])
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    "A", [[[Fraction(1, 10), 0.3]], [[0.1, 2**53 + 1]], rb.as_decimals([[0.1, 0.25]])]
)
def test_numbers_are_written_in_full(A, folder):
    write_system_csv("s.csv", A, [1])
    found = read_system("s.csv")
    assert exact_row(found.A, 0) == exact_row(exact_matrix(A), 0)


# ---- solving what a file holds


@pytest.mark.parametrize("kind", [str, Path])
@pytest.mark.parametrize("name", ["plan.lp", "plan.lp.gz", "system.csv", "system.npz", "tiny.mps"])
def test_solve_takes_a_path(name, kind, tmp_path):
    path = tmp_path / name
    if name == "plan.lp.gz":
        path.write_bytes(gzip.compress(PROGRAM.encode()))
    elif name == "system.csv":
        write_system_csv(path, [[1, 2], [-1, 0], [0, -1]], [3, -1, -1])
    elif name == "system.npz":
        np.savez(path, A=[[1.0, 2], [-1, 0], [0, -1]], b=[3.0, -1, -1])
    else:
        path.write_text(PROGRAM if name == "plan.lp" else MPS)
    system, found = read_system(path), rb.solve(kind(path))
    same = rb.solve(*system[:2], strict=system.strict, equal=system.equal, bounds=system.bounds)
    assert found.verdict == same.verdict == "feasible"
    assert found.certificate == same.certificate
    assert (found.w == same.w).all()
    assert list(found.names) == system.names


def test_a_file_may_be_taken_strictly_and_says_the_rest_itself(tmp_path):
    (tmp_path / "plan.lp").write_text(PROGRAM)
    assert rb.solve(tmp_path / "plan.lp", strict=True).verdict == "infeasible"
    for options in ({"b": 2}, {"b": [1]}, {"equal": True}, {"bounds": (0, None)}):
        with pytest.raises(rb.InputError, match=r"plan\.lp holds its own right-hand sides, equati"):
            rb.solve(tmp_path / "plan.lp", **options)


@pytest.mark.parametrize("name", ["plan.lp", "plan.mps", "plan.LP", "plan.mps.gz"])
def test_reading_a_linear_program_as_data_says_what_reads_it(name, tmp_path):
    (tmp_path / name).write_bytes(gzip.compress(b"") if name.endswith("gz") else b"NAME\n")
    with pytest.raises(rb.InputError, match=rf"{name} is a linear program, .* rosenblatt\.solve"):
        rb.read(tmp_path / name)
