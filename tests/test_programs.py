"""Linear programs in MPS and LP files: as HiGHS reads them, or one sentence."""

import math
import time
from fractions import Fraction
from typing import Any

import highspy
import numpy as np
import pytest
from scipy import sparse

import rosenblatt as rb
from rosenblatt.data.lp import parse_lp
from rosenblatt.data.mps import parse_mps
from rosenblatt.data.systems import read_system
from rosenblatt.exact.numbers import exact_row

MPS = """NAME          TINY
ROWS
 N  COST
 G  R1
 L  R2
 E  R3
 N  FREE
COLUMNS
    X         COST      1.0   R1        1.0
    X         R2        1.0   R3        0.1
    Y         R1        2.0   R2        -1e-10
    Y         FREE      1.0
    Z         R3        -1.0
RHS
    RHS       R1        3.0   R2        4.0
    RHS       R3        0.5
BOUNDS
 UP BND       X         4.0
 LO BND       Y         -1.0
 FR BND       Z
ENDATA
"""
LP = """\\ maximise something
Maximize
 obj: x + 2 y
Subject To
 c1: x + y >= 1
 c2: x - y <= 2.5
 c3: x + z = 0.1
Bounds
 x <= 4
 -3 <= y <= 5
 z free
End
"""


def by_highs(text, kind, folder):
    """Let HiGHS read a program."""
    path = folder / f"highs.{kind}"
    path.write_text(text)
    solver: Any = highspy.Highs()
    solver.setOptionValue("log_to_console", False)
    solver.setOptionValue("small_matrix_value", 1e-12)
    assert solver.readModel(str(path)).name != "kError"
    return solver.getLp()


def assert_like_highs(program, text, kind, folder):
    """Compare coefficients, ends and bounds, up to the rounding of sums."""
    lp = by_highs(text, kind, folder)
    stored = lp.a_matrix_
    make = sparse.csr_matrix if "Row" in stored.format_.name else sparse.csc_matrix
    parts = (np.array(stored.value_), np.array(stored.index_), np.array(stored.start_))
    theirs = make(parts, shape=(lp.num_row_, lp.num_col_)).toarray()
    assert program.unknowns.names == list(lp.col_names_)
    assert np.array_equal(program.matrix.toarray(), theirs)
    for side, none, rows, columns in (
        (0, -math.inf, lp.row_lower_, lp.col_lower_),
        (1, math.inf, lp.row_upper_, lp.col_upper_),
    ):
        ends = [none if pair[side] is None else float(pair[side]) for pair in program.ends]
        assert ends == pytest.approx(list(rows), rel=1e-15, abs=0)
        bounds = program.unknowns.upper if side else program.unknowns.lower
        assert [none if end is None else float(end) for end in bounds] == list(columns)


def number(random, infinite=False):
    """Write some number in some way."""
    value = random.choice([0.1, 2.5, 12.0, 1e-3, 7.25, 1e6]) * random.choice([1, -1])
    forms = [repr(float(value)), f"{value:g}", f"{value:.3e}", f"{value:+.6f}"]
    return str(random.choice(["1e30", "-1e30"] if infinite and random.random() < 0.1 else forms))


def random_mps(random):
    """Write a program with rows, ranges and bounds of every kind that HiGHS takes as we do."""
    m, n = int(random.integers(1, 6)), int(random.integers(1, 6))
    kinds = [str(kind) for kind in random.choice(list("LGE"), m)]
    lines = ["* a program", "NAME  p", "ROWS", " N  cost", " N  other"]
    lines += [f" {kind}  r{i}" for i, kind in enumerate(kinds)] + ["", "COLUMNS"]
    for j in range(n):
        whole = random.random() < 0.2
        lines += ["    M  'MARKER'  'INTORG'"] * whole
        rows = [f"r{i}" for i in range(m) if random.random() < 0.6] + ["cost"]
        cells = [f"{row}\t{number(random)}" for row in rows]
        while cells:
            take = int(random.integers(1, 3))
            lines.append(f"    x{j}  {'   '.join(cells[:take])}")
            cells = cells[take:]
        lines += ["    M  'MARKER'  'INTEND'"] * whole
    lines.append("RHS")
    label = "set  " if random.random() < 0.7 else ""
    lines += [f"    {label}r{i}  {number(random)}" for i in range(m) if random.random() < 0.7]
    lines += [f"    {label}cost  3"] * (random.random() < 0.3)
    if random.random() < 0.5:
        lines.append("RANGES")
        lines += [f"    set  r{i}  {number(random)}" for i in range(m) if random.random() < 0.5]
    lines.append("BOUNDS")
    for j in range(n):
        low, high = sorted(random.choice([-3.5, -1.0, 0.1, 2.0, 4.75], 2, replace=False).tolist())
        choices: list[list[str]] = [[], [f"FR set x{j}"], [f"MI set x{j}", f"UP set x{j} {low}"]]
        choices += [[f"FX set x{j} {low}"], [f"LO set x{j} {low}", f"UP set x{j} {high}"]]
        choices += [[f"PL set x{j}"], [f"BV set x{j}"], [f"LI set x{j} 2"], [f"UI set x{j} 9"]]
        choices += [[f"LO set x{j} -1e30"], [f"UP set x{j} 1e30"], [f"SC set x{j} 4.5"]]
        lines += [f" {bound}" for bound in choices[int(random.integers(len(choices)))]]
    return "\n".join([*lines, "ENDATA", "what follows is not read"])


@pytest.mark.parametrize("seed", range(40))
def test_mps_is_read_as_highs_reads_it(seed, tmp_path):
    text = random_mps(np.random.default_rng(seed))
    assert_like_highs(parse_mps(text, "p.mps"), text, "mps", tmp_path)


def random_lp(random):
    """Write a program in what HiGHS takes of the LP format."""
    n, m = int(random.integers(1, 5)), int(random.integers(1, 5))

    def expression():
        terms = []
        for j in range(n):
            if random.random() < 0.7 or not terms:
                coefficient = random.choice(["", "2 ", "0.5", "1e-3 ", "3.25e+1 ", "- ", "- 4"])
                terms.append(f"{coefficient}x{j}")
        return "\n   + ".join(terms) if random.random() < 0.3 else " + ".join(terms)

    lines = ["\\ a program", str(random.choice(["Minimize", "MAX", "min", "Maximum"]))]
    lines += [f" obj: {expression()} - 3", str(random.choice(["st", "Subject To", "such that"]))]
    for i in range(m):
        relation = random.choice(["<=", ">=", "=", "  >=  "])
        name = f"r{i}: " if random.random() < 0.7 else ""
        lines.append(f" {name}{expression()} {relation} {number(random)}  \\ said")
    lines.append(str(random.choice(["Bounds", "BOUND"])))
    for j in range(n + 1):
        low, high = sorted(random.choice([-3.5, -1.0, 0.1, 2.0, 4.75], 2, replace=False).tolist())
        choices = ["", f"x{j} free", f"{low} <= x{j} <= {high}", f"x{j} >= {low}", f"x{j} = {low}"]
        choices += [f"x{j} <= {abs(high)}", f"-inf <= x{j} <= {high}", f"{low} <= x{j}"]
        lines.append(" " + choices[int(random.integers(len(choices)))])
    lines += ["General", " x0"] * (random.random() < 0.3) + ["Binaries", " x0 y"] * (n > 2)
    return "\n".join([*lines, "End"])


@pytest.mark.parametrize("seed", range(40))
def test_lp_is_read_as_highs_reads_it(seed, tmp_path):
    text = random_lp(np.random.default_rng(seed))
    assert_like_highs(parse_lp(text, "p.lp"), text, "lp", tmp_path)


# ---- numbers


def test_a_tenth_and_a_fifth_are_three_tenths_in_a_file(tmp_path):
    path = tmp_path / "s.lp"
    path.write_text("min\nst\n a: x = 0.1\n b: y = 0.2\n c: x + y = 0.3\nend\n")
    found = rb.solve(path)
    assert found.verdict == "feasible"
    assert found.w is not None
    assert found.w.tolist() == [Fraction(1, 10), Fraction(1, 5)]
    assert rb.solve(path, floats=True).verdict == "infeasible"


def test_numbers_keep_every_digit(tmp_path):
    path = tmp_path / "s.mps"
    long = "0.1234567890123456789"
    path.write_text(MPS.replace("R3        0.1", f"R3        {long}").replace("3.0", "3.1D+1"))
    found = read_system(path)
    place = list(found.rows).index("R3")
    assert exact_row(found.A, place)[0] == (0, Fraction(long))
    assert found.b.tolist()[0] == 31.0


def test_ranges_and_constants_are_added_exactly(tmp_path):
    path = tmp_path / "s.mps"
    text = MPS.replace("BOUNDS", "RANGES\n    RNG  R1  0.2  R2  -0.2\n    RNG  R3  -0.2\nBOUNDS")
    path.write_text(text.replace("3.0", "0.1").replace("4.0", "0.1", 1).replace("0.5", "0.1"))
    ends = parse_mps(path.read_text(), "s.mps").ends
    tenth = Fraction(1, 10)
    assert ends == [(tenth, 3 * tenth), (-tenth, tenth), (-tenth, tenth)]
    text = "min\nst\n c: 0.1 x + 0.2 x + y + 0.1 >= 0.3\n -1 <= x + y <= 4\n 3 >= x >= 1\nend\n"
    program = parse_lp(text, "s.lp")
    assert program.ends == [(2 * tenth, None), (-1, 4), (1, 3)]
    assert program.matrix.toarray()[0].tolist() == [0.3, 1]


# ---- what others take in several ways


@pytest.mark.parametrize(
    ("bounds", "expected", "note"),
    [
        (" UP b X -2", (None, -2), "The upper bound of X is negative, so it has no lower one."),
        (" LO b X 0\n UP b X -2", (0, -2), ""),
        (" UP b X 5\n UP b X 3", (0, 3), "Of several bounds of X, the last counts."),
        (" UP b X 5\n UP c X 3", (0, 5), "Of the sets of BOUNDS, only the first, 'b', counts."),
        (" UP X 5", (0, 5), ""),
        (" FR X", (None, None), ""),
        (" fr b X 0", (None, None), ""),
        (" BV b X", (0, 1), "That X should be integers is ignored"),
        (" UI b X 7.5", (0, 7.5), "That X should be integers is ignored"),
        (" LO b X 2\n SC b X 5", (0, 5), "That X may be 0 or else above a bound is relaxed"),
        (" SI b X 5", (0, 5), "That X may be 0 or else above a bound is relaxed"),
        (" UP b X Infinity", (0, None), ""),
    ],
)
def test_bounds_are_taken_as_most_take_them(bounds, expected, note):
    text = MPS[: MPS.index("BOUNDS")] + f"BOUNDS\n{bounds}\nENDATA\n"
    program = parse_mps(text, "s.mps")
    assert (program.unknowns.lower[0], program.unknowns.upper[0]) == expected
    assert note in " ".join(program.notes)
    others = 2 if " SI " in bounds else 1  # about the objective, and integers
    assert len(program.notes) == others + bool(note)


def test_notes_are_part_of_the_answer(tmp_path):
    path = tmp_path / "s.mps"
    path.write_text(MPS.replace("FR BND       Z", "BV BND       Z"))
    found = rb.solve(path)
    assert found.notes == (
        "That Z should be integers is ignored: what has no solution has none in integers either, "
        "but for a solution in integers ask a mixed-integer solver, such as HiGHS.",
        "The objective 'COST' is ignored.",
    )
    assert found.explain().startswith(" ".join(found.notes))


def test_a_quadratic_objective_is_ignored_as_any():
    program = parse_mps(MPS.replace("ENDATA", "QSECTION COST\n X X 2.0\nENDATA"), "s.mps")
    assert program.notes == ("The objective 'COST' is ignored.",)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.mps", "ROWS\n N c\nCOLUMNS\n x c 1\nBOUNDS\n LO b x 2\nENDATA\n"),
        ("s.lp", "min x\nst\nbounds x >= 2\nend"),
        ("s.lp", "min x\nst\n nothing: <= 0\n bound: x >= 2\nend"),
    ],
)
def test_rows_may_be_missing_or_empty(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    found = rb.solve(path)
    assert found.verdict == "feasible"
    assert found.w.tolist() == [2.0]
    path.write_text(text.replace("<= 0", "<= -1").replace(">= 2", "= 2\n x <= 1"))
    if name == "s.lp":
        assert rb.solve(path).verdict == "infeasible"


def test_names_may_hold_blanks_in_fixed_places():
    text = """NAME          BLANKS
ROWS
 N  COST
 G  ROW 1
 L  R2
COLUMNS
    X Y       COST               1.0   ROW 1              0.5
    X Y       R2                 2.0
    Z         ROW 1             -1.0
RHS
    RHS       ROW 1              3.0   R2                 4.0
BOUNDS
 UP BND       X Y                9.0
ENDATA
"""
    program = parse_mps(text, "s.mps")
    assert program.unknowns.names == ["X Y", "Z"]
    assert list(program.rows) == ["ROW 1", "R2"]
    assert program.matrix.toarray().tolist() == [[0.5, -1], [2, 0]]
    assert program.ends == [(3, None), (None, 4)]
    assert program.unknowns.upper == [9, None]


def test_sections_may_be_missing_empty_or_in_lower_case():
    text = MPS[: MPS.index("RHS")] + "ENDATA"
    assert parse_mps(text, "s.mps").ends == [(0, None), (None, 0), (0, 0)]
    same = MPS.replace("ROWS", "rows").replace("BOUNDS", "Bounds").replace("ENDATA", "endata")
    same = same.replace("NAME          TINY", "OBJSENSE\n    MAX").replace("\n", "\r\n")
    assert parse_mps(same, "s.mps").ends == parse_mps(MPS, "s.mps").ends


# ---- what cannot be read


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("s.mps", "0.5", "2.x", "s.mps:16: '2.x' is not a number that can be used"),
        ("s.mps", "-1e-10", "nan", "s.mps:11: 'nan' is not a number"),
        ("s.mps", "-1e-10", "1_0", "s.mps:11: '1_0' is not a number"),
        ("s.mps", "-1e-10", "1e999999999", "s.mps:11: '1e999999999' is not a number"),
        ("s.mps", "-1e-10", "1e-999999999", "s.mps:11: '1e-999999999' is not a number"),
        ("s.mps", "-1e-10", "7" * 10**5, "s.mps:11: '77777"),
        ("s.mps", "-1e-10", "inf", "s.mps:11: 'inf' is not a number"),
        ("s.mps", "RHS       R3", "RHS       R9", "s.mps:16: the row 'R9' is not in ROWS"),
        ("s.mps", "    Z         R3", "    Z         R9", "s.mps:13: the row 'R9' is not in ROWS"),
        ("s.mps", "BND       X         4.0", "BND       X         4,0", "s.mps:18: '4,0'"),
        ("s.mps", "BND       X  ", "BND       Q  ", "s.mps:18: the column 'Q' is not in COLUMNS"),
        (
            "s.mps",
            " UP BND",
            " UQ BND",
            "s.mps:18: 'UQ BND X 4.0' is not a line of BOUNDS, which reads",
        ),
        (
            "s.mps",
            "LO BND       Y         -1.0",
            "LO BND Y 1e30",
            "the lower bound of 'Y' is infin",
        ),
        ("s.mps", "FREE      1.0", "R1        5", "s.mps:12: the column 'Y' has two numbers in on"),
        ("s.mps", "    Z   ", "    X   ", "s.mps:13: the column 'X' comes twice, with others"),
        ("s.mps", " L  R2", " L  R1", "s.mps:5: the row 'R1' is named twice"),
        ("s.mps", "R3        0.5", "R1        0.5", "s.mps:16: RHS has two numbers for the row"),
        ("s.mps", "ENDATA", "", "s.mps:21: the file ends before ENDATA; it may be cut off"),
        ("s.mps", "COLUMNS", "SOS", "s.mps:8: 'SOS' is not a section of a linear program"),
        ("s.mps", "BOUNDS", "ROWS", "s.mps:17: the section ROWS comes twice"),
        ("s.mps", "COLUMNS", "RHS", "s.mps:14: the section RHS comes twice"),
        (
            "s.mps",
            "    Z         R3",
            "    Z",
            "s.mps:13: 'Z -1.0' is not a line of COLUMNS, which reads",
        ),
        ("s.mps", MPS, "", "s.mps:1: the file is empty; give it sections"),
        ("s.mps", "ENDATA", "QSECTION R1\n X X 1\nENDATA", "s.mps:21: the row 'R1' is quadratic"),
        ("s.mps", MPS, "\0\xff\x80", "s.mps:1: '\\x00\\xff\\x80' is not a section"),
        ("s.mps", MPS, "ROWS\nCOLUMNS\nENDATA\n", "s.mps holds no system: 0 rows of 0 unknowns"),
        ("s.lp", LP, "", "s.lp:1:1: the file is empty"),
        ("s.lp", "Subject To", "Subject", "s.lp:4:1: 'Subject' begins no section; write Subject"),
        ("s.lp", "Subject To", "", "s.lp:5:12: an objective has no relation; write Subject To"),
        ("s.lp", ">= 1", ">= 2 z", "s.lp:5:17: 'z' is on the right; variables belong to"),
        ("s.lp", "= 0.1", "= 2 + y - 3", "s.lp:7:16: 'y' is on the right; variables belong to the"),
        ("s.lp", ">= 1", ">= 1\n z 3", "s.lp:6:4: '3' is in the place of a relation"),
        ("s.lp", LP, "hello world", "s.lp:1:1: no section begins here"),
        ("s.lp", LP, "\0\xff\x80", "s.lp:1:1: no section begins here"),
        ("s.lp", LP, "min\nst\nend", "s.lp holds no system: 0 rows of 0 unknowns"),
        ("s.lp", "End", "", "s.lp:13:1: there is no End; the file may be cut off"),
        ("s.lp", LP[LP.index(" 2.5") :], "", "s.lp:6:14: the file ends too early"),
        ("s.lp", "x - y", "x - 1.5.2 y", "s.lp:6:13: '.2' is in the place of a relation"),
        ("s.lp", "x - y", "x - nan y", "s.lp:6:14: 'y' is in the place of a relation"),
        ("s.lp", "x - y", "x - 1e999 y", "s.lp: '-1e999' is not a number that can be used"),
        ("s.lp", "c1: x", "c1: q = 1 -> x", "s.lp:5:13: '>' is in the place of a term"),
        ("s.lp", "<= 2.5", "<= abc", "s.lp:6:15: 'abc' is in the place of a number"),
        ("s.lp", "<= 2.5", "<= y", "s.lp:6:15: 'y' is in the place of a number; variables"),
        ("s.lp", "<= 2.5", ">= inf", "a row cannot be beyond infinity"),
        ("s.lp", "-3 <= y <= 5", "-3 <= y >= 5", "s.lp:10:10: the two relations of a bound must"),
        ("s.lp", "x <= 4", "x 4", "s.lp:9:4: '4' is in the place of a relation"),
        (
            "s.lp",
            "Bounds",
            "SOS\n s1: S1:: x:1\nBounds",
            "s.lp:8:1: 'SOS' is not a section of a lin",
        ),
    ],
)
def test_what_is_wrong_is_one_sentence_with_its_line(name, old, new, words, tmp_path):
    text = {"s.mps": MPS, "s.lp": LP}[name]
    assert old in text
    (tmp_path / name).write_bytes(text.replace(old, new, 1).encode("latin-1"))
    began = time.perf_counter()
    with pytest.raises(rb.InputError) as raised:
        read_system(tmp_path / name)
    message = str(raised.value).replace(str(tmp_path / name), name)
    assert words in message
    assert "\n" not in message
    assert len(message) < 200
    assert time.perf_counter() - began < 5


def test_letters_of_any_encoding_may_be_in_names(tmp_path):
    text = LP.replace(" z", " größe")
    for encoding in ("utf-8", "latin-1"):
        (tmp_path / "s.lp").write_bytes(text.encode(encoding))
        assert read_system(tmp_path / "s.lp").names == ["x", "y", "größe"]
