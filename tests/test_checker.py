"""The checker: what is true is accepted, what is changed is refused, and nothing else happens.

The certificates and their data are small enough to be checked by hand; the comments do it.
"""

import ast
import copy
import json
import math
import re
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive_decide import rank
from rosenblatt import checker
from rosenblatt.checker import Refused, Row, as_number, check, digest

Certificate = dict[str, Any]
Bounds = Sequence[tuple[Any, Any]] | None


class Example(NamedTuple):
    certificate: Certificate
    rows: list[Row]
    columns: int
    bounds: Bounds = None

    def check(self):
        return check(self.certificate, self.rows, self.columns, self.bounds)


def labelled(*rows):
    return [Row(1 if sign > 0 else 2, list(enumerate(values))) for sign, values in rows]


def example(kind, matrix, columns, bounds=None, /, **fields):
    data = {
        "rows": len(matrix),
        "columns": columns,
        "digest": digest(matrix, columns, bounds),
        "numbers": "float64",
    }
    certificate = {"format": "rosenblatt certificate 1", "kind": kind, "data": data, **fields}
    if "point" not in kind and kind != "infeasibility":
        certificate["classes"] = {"negative": -1, "positive": 1}
    if "classes" in certificate and kind != "mistake bound":
        certificate.setdefault("intercept", False)
    return Example(certificate, matrix, columns, bounds)


# z = (2, 0), (0, 2), (1, 1); w = (1, 1) gives 2 on each, and 2/√2 = √2 lies between 7/5 and 3/2.
# The mean of the first two is (1, 1), of length √2.
CORNER = labelled((1, (2.0, 0.0)), (1, (0.0, 2.0)), (-1, (-1.0, -1.0)))
# z = (3, 1), (-1, -1); w = (1, -2) gives 1 on each. Half of 3 less half of 1 is 1.
INTERVAL = labelled((1, (3.0,)), (-1, (1.0,)))
# z = (1, 0), (-1, 0), (0, 1): the first two cancel, and w = (0, 1) gives 0, 0, 1.
WEAK = labelled((1, (1.0, 0.0)), (-1, (1.0, 0.0)), (1, (0.0, 1.0)))
# z = (1, 1, 0), (-1, -1, 0), (2, 2, 0): the first two cancel and span the multiples of (1, 1, 0),
# which are orthogonal to (1, -1, 0).
LINE = labelled((1, (1.0, 1.0, 0.0)), (-1, (1.0, 1.0, 0.0)), (1, (2.0, 2.0, 0.0)))
# z = (0, 1), (0, -1) with an intercept: they cancel and span the second coordinate.
ORIGIN = labelled((1, (0.0,)), (-1, (0.0,)))
# z = 1, 1 without a lift, (1, c), (1, -c) with one.
PAIR = labelled((1, (1.0,)), (-1, (-1.0,)))
# x + y >= 2, x - y > 0, x = 3, 0 <= y <= 5; the point is (3, 1).
SYSTEM = [Row(3, [(0, 1.0), (1, 1.0)], 2.0), Row(4, [(0, 1.0), (1, -1.0)]), Row(5, [(0, 1.0)], 3.0)]
BOX = [(None, None), (0.0, 5.0)]
# x + y >= 3, x <= 1, y <= 1: the sum says 0 >= 1.
FULL = [Row(3, [(0, 1.0), (1, 1.0)], 3.0)]
# x > 0, -x >= 0: the sum says 0 > 0.
OPEN = [Row(4, [(0, 1.0)]), Row(3, [(0, -1.0)])]
# x = 1, x >= 2: the second less the first says 0 >= 1.
EQUATION = [Row(5, [(0, 1.0)], 1.0), Row(3, [(0, 1.0)], 2.0)]
# -x >= 0 and x >= 1 as a bound: the sum says 0 >= 1.
RAISED = [Row(3, [(0, -1.0)])]

NO_BOUNDS: Certificate = {"columns": [], "weights": []}
HALVES = {"rows": [0, 1], "weights": ["1/2", "0x1.0000000000000p-1"]}
SHARES = {"rows": [0, 1], "weights": ["3/8", "5/8"]}


def proof(rows, weights, **sides):
    """Give the fields of a sum of rows and bounds."""
    named = {side: {"columns": j, "weights": w} for side, (j, w) in sides.items()}
    return {"rows": rows, "weights": weights, "lower": NO_BOUNDS, "upper": NO_BOUNDS, **named}


EXAMPLES = {
    "separator": example("separator", CORNER, 2, w=["1", "0x1p+0"], margin="7/5"),
    "separator with intercept": example(
        "separator", INTERVAL, 1, intercept=True, w=["1", "-2"], margin="1"
    ),
    "non-separability": example("non-separability", WEAK, 2, **HALVES),
    "non-separability, w null": example("non-separability", WEAK, 2, **HALVES, w=None),
    "weak": example("non-separability", WEAK, 2, **HALVES, w=["0", "1/3"]),
    "inseparability": example(
        "inseparability", LINE, 3, **HALVES, complement=[["1", "-1", "0"]], unused=[2]
    ),
    "inseparability with intercept": example(
        "inseparability", ORIGIN, 1, intercept=True, **HALVES, complement=[], unused=[0]
    ),
    "feasible point": example("feasible point", SYSTEM, 2, BOX, w=["3", "1"]),
    "infeasibility": example(
        "infeasibility", FULL, 2, [(None, 1.0)] * 2, **proof([0], ["1"], upper=([0, 1], ["1", "1"]))
    ),
    "strict": example("infeasibility", OPEN, 1, **proof([0, 1], ["2", "2"])),
    "equation": example("infeasibility", EQUATION, 1, **proof([0, 1], ["-1", "1"])),
    "lower bound": example(
        "infeasibility", RAISED, 1, [(1.0, None)], **proof([0], ["1"], lower=([0], ["1"]))
    ),
    "margin interval": example(
        "margin interval", CORNER, 2, w=["1", "1"], lower="7/5", upper="3/2", **HALVES
    ),
    "margin interval with intercept": example(
        "margin interval",
        INTERVAL,
        1,
        intercept=True,
        w=["1", "-2"],
        lower="1",
        upper="1",
        **HALVES,
    ),
    # z = (3, 2), (-1, -2); w = (1, -1) gives 1 on each, 1/√2 of its length, and so does their mean.
    "margin interval with lift": example(
        "margin interval", INTERVAL, 1, lift="2", w=["1", "-1"], lower="7/10", upper="5/7", **SHARES
    ),
    "margin interval, lift null": example(
        "margin interval", CORNER, 2, lift=None, w=["1", "1"], lower="7/5", upper="3/2", **HALVES
    ),
    # The losses are 0 and 0: 1·1 + 0.
    "mistake bound": example("mistake bound", PAIR, 1, lift="0", w=["1", "0"], passes=1, bound="1"),
    "mistake bound, any passes": example(
        "mistake bound", PAIR, 1, lift="0", w=["1", "0"], passes=None, bound="1"
    ),
    # The losses are 1/2 and 1/2: 2·1/4 + 2·3·1.
    "mistake bound with lift": example(
        "mistake bound", PAIR, 1, lift="1", w=["1/2", "0"], passes=3, bound="13/2"
    ),
}

SENTENCES = {
    "separator": "without intercept: w separates with a margin of at least 1.4",
    "separator with intercept": "with an intercept: w separates with a margin of at least 1",
    "non-separability": "no hyperplane separates the classes",
    "non-separability, w null": "no hyperplane separates the classes",
    "weak": "no hyperplane separates the classes, but w does weakly",
    "inseparability": "no hyperplane separates the classes, not even weakly",
    "inseparability with intercept": "with an intercept: no hyperplane separates the classes, not "
    "even weakly",
    "feasible point": "w satisfies the system",
    "infeasibility": "no point satisfies the system",
    "strict": "no point satisfies the system",
    "equation": "no point satisfies the system",
    "lower bound": "no point satisfies the system",
    "margin interval": "the largest margin is at least 1.4, at most 1.5",
    "margin interval with intercept": "the largest margin is at least 1, at most 1",
    "margin interval with lift": "with lifted rows: the largest margin is at least 0.7, "
    "at most 0.714286",
    "margin interval, lift null": "without intercept: the largest margin is at least 1.4, "
    "at most 1.5",
    "mistake bound": "no perceptron from zero makes more than 1 mistakes (passes: 1)",
    "mistake bound, any passes": "no perceptron from zero makes more than 1 mistakes (passes: any)",
    "mistake bound with lift": "no perceptron from zero makes more than 6.5 mistakes (passes: 3)",
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_true_claims_are_accepted(name):
    sentence = EXAMPLES[name].check()
    assert sentence.startswith("Proven for ")
    assert sentence.endswith(f": {SENTENCES[name].split(': ')[-1]}.")
    assert SENTENCES[name] in sentence


# --- one thing changed ---

GONE = object()
TALL = "9" * checker.DIGITS

SHARED: list[tuple[str, str, Any, str]] = [
    (name, path, value, reason)
    for name in EXAMPLES
    for path, value, reason in [
        ("format", "rosenblatt certificate 2", "the format is not"),
        ("format", GONE, "the format is not"),
        ("kind", "separation", "the kind is unknown"),
        ("kind", ["separator"], "the kind is unknown"),
        ("kind", GONE, "the kind is unknown"),
        ("note", "true!", "the certificate has the unknown field 'note'"),
        ("", "", "the certificate has the unknown field ''"),
        ("data", GONE, "the certificate lacks data"),
        ("data", [], "data is not an object"),
        ("data.rows", GONE, "data lacks rows"),
        ("data.rows", 4, "the certificate is for other data: for these, its rows would"),
        ("data.rows", 10**5000, "the certificate is for other data: for these, its rows would"),
        ("data.rows", 2.0, "rows or columns is not an integer"),
        ("data.columns", True, "rows or columns is not an integer"),
        ("data.columns", 9, "the certificate is for other data: for these, its columns would"),
        ("data.digest", "0" * 16, "the certificate is for other data: for these, its digest would"),
        ("data.digest", None, "the certificate is for other data: for these, its digest would"),
        ("data.numbers", "float16", "numbers is of an unknown type"),
        ("data.numbers", ["float64"], "numbers is of an unknown type"),
        ("data.more", 1, "data has the unknown field 'more'"),
    ]
]

SEPARATOR = [
    ("separator", "classes", GONE, "the certificate lacks classes"),
    ("separator", "classes", [0, 1], "classes is not an object"),
    ("separator", "classes.neutral", 0, "classes has the unknown field 'neutral'"),
    ("separator", "classes.negative", GONE, "classes lacks negative"),
    ("separator", "classes.negative", [], "a label is of no usual type"),
    ("separator", "classes.negative", 10**5000, "a label is of no usual type"),
    ("separator", "classes.negative", math.nan, "a label is of no usual type"),
    ("separator", "classes.negative", 1.0, "both classes have the same label"),
    ("separator", "classes.negative", "+1", "both classes have the same label"),
    ("separator", "intercept", GONE, "the certificate lacks intercept"),
    ("separator", "intercept", 0, "intercept is neither true nor false"),
    ("separator", "intercept", True, "w is not a list of 3 numbers"),
    ("separator", "w", GONE, "the certificate lacks w"),
    ("separator", "w", None, "w is not a list of 2 numbers"),
    ("separator", "w", "11", "w is not a list of 2 numbers"),
    ("separator", "w", ["1"], "w is not a list of 2 numbers"),
    ("separator", "w", ["0", "-0x0.0p+0"], "margin is not positive, or w is zero"),
    ("separator", "w.0", "-1", "the margin of w on row 0 is below margin"),
    ("separator", "w.1", "0", "the margin of w on row 1 is below margin"),
    ("separator", "w.1", "3/2", "the margin of w on row 0 is below margin"),
    ("separator", "w.1", 1, r"w\[1\] is not a string"),
    ("separator", "w.1", True, r"w\[1\] is not a string"),
    ("separator", "w.1", math.nan, r"w\[1\] is not a string"),
    ("separator", "w.1", "nan", r"w\[1\] is neither"),
    ("separator", "w.1", "inf", r"w\[1\] is neither"),
    ("separator", "margin", "0", "margin is not positive"),
    ("separator", "margin", "-7/5", "margin is not positive"),
    ("separator", "margin", "3/2", "the margin of w on row 0 is below margin"),
    # 1.41421357² is above 2, by less than 10^-7.
    ("separator", "margin", "141421357/100000000", "the margin of w on row 0 is below margin"),
    ("separator", "margin", "0x1p+1023", "the margin of w on row 0 is below margin"),
    ("separator", "margin", "0x1p+1024", "margin is neither"),
    ("separator", "margin", TALL, "the margin of w on row 0 is below margin"),
    ("separator", "margin", TALL + "9", "margin has more than 50000 digits, which would"),
    ("separator", "rows", [0], "the certificate has the unknown field 'rows'"),
    ("separator with intercept", "w.1", "-3", "the margin of w on row 0 is below margin"),
    ("separator with intercept", "w", ["0", "0"], "margin is not positive, or w is zero"),
    ("separator with intercept", "w", ["0", "1"], "margin is not positive, or w is zero"),
    ("separator with intercept", "intercept", False, "w is not a list of 1 numbers"),
    ("separator with intercept", "margin", "1000001/1000000", "row 0 is below margin"),
]

MEANS = [
    (name, path, value, reason)
    for name in (
        "weak",
        "inseparability",
        "margin interval",
        "margin interval with intercept",
        "margin interval with lift",
    )
    for path, value, reason in [
        ("rows", GONE, "the certificate lacks rows"),
        ("rows", {"0": 0}, "rows is not a list of integers"),
        ("rows", [], "weights is not a list of 0 numbers"),
        ("rows", [0, 0], "rows holds an integer twice"),
        ("rows.0", -1, "rows is not a list of integers from 0"),
        ("rows.0", 3, "rows is not a list of integers from 0"),
        ("rows.0", 10**5000, "rows is not a list of integers from 0"),
        ("rows.0", False, "rows is not a list of integers from 0"),
        ("rows.0", 0.0, "rows is not a list of integers from 0"),
        ("rows.0", "0", "rows is not a list of integers from 0"),
        ("weights", GONE, "the certificate lacks weights"),
        ("weights", ["1"], "weights is not a list of 2 numbers"),
        ("weights", ["1/2", "1/2", "0"], "weights is not a list of 2 numbers"),
        ("weights", ["0", "1"], "a weight is not positive"),
        ("weights", ["-1/2", "3/2"], "a weight is not positive"),
        ("weights.0", "1/0", r"weights\[0\] is neither"),
        ("weights.0", "0x1.fffffffffffffp-2", "the weights do not sum to 1"),
        ("weights.0", f"{10**99 - 1}/{2 * 10**99}", "the weights do not sum to 1"),
        ("weights", ["2", "2"], "the weights do not sum to 1"),
    ]
]

NON_SEPARABILITY = [
    ("weak", "rows", [0, 2], "the weighted rows do not sum to zero"),
    ("weak", "weights", ["1/3", "2/3"], "the weighted rows do not sum to zero"),
    ("weak", "w", ["1", "1"], "w is wrong on row 1"),
    ("weak", "w", ["0", "-1"], "w is wrong on row 2"),
    ("weak", "w", ["0", "0"], "w is orthogonal to every row"),
    ("weak", "w", ["0"], "w is not a list of 2 numbers"),
    ("weak", "w", False, "w is not a list of 2 numbers"),
    ("weak", "intercept", True, "w is not a list of 3 numbers"),
    ("non-separability", "margin", "1", "the certificate has the unknown field 'margin'"),
]

INSEPARABILITY = [
    ("inseparability", "w", None, "the certificate has the unknown field 'w'"),
    ("inseparability", "weights", ["1/3", "2/3"], "the weighted rows do not sum to zero"),
    ("inseparability", "unused", [], "the named rows do not span all rows"),
    ("inseparability", "unused", [2, 2], "unused holds an integer twice"),
    ("inseparability", "unused", [3], "unused is not a list of integers from 0 to 2"),
    ("inseparability", "unused", [-1], "unused is not a list of integers from 0 to 2"),
    ("inseparability", "unused", [1], "the complement is not zero in an unused coordinate"),
    ("inseparability", "unused", None, "unused is not a list"),
    ("inseparability", "complement", None, "complement is not a list"),
    ("inseparability", "complement", [], "the named rows do not span all rows"),
    ("inseparability", "complement.0", "1", r"complement\[0\] is not a list of 3 numbers"),
    ("inseparability", "complement.0", ["1", "-1"], r"complement\[0\] is not a list of 3"),
    ("inseparability", "complement.0.2", "1", "the complement is not zero in an unused"),
    ("inseparability", "complement.0.1", "1", "row 0 is not orthogonal to the complement"),
    ("inseparability", "complement.0", ["0", "0", "0"], "the complement is linearly dependent"),
    (
        "inseparability",
        "complement",
        [["1", "-1", "0"], ["-1/2", "1/2", "0"]],
        "the complement is linearly dependent",
    ),
    ("inseparability with intercept", "unused", [0, 1], "row 0 is not zero in an unused"),
    ("inseparability with intercept", "rows", [0], "weights is not a list of 1 numbers"),
]

SYSTEMS = [
    ("feasible point", "classes", {"negative": 0, "positive": 1}, "unknown field 'classes'"),
    ("feasible point", "intercept", False, "unknown field 'intercept'"),
    ("feasible point", "w", ["3"], "w is not a list of 2 numbers"),
    ("feasible point", "w", ["3", "-1"], "w violates row 3"),
    ("feasible point", "w", ["3", "-2"], "w violates row 0"),
    ("feasible point", "w", ["3", "3"], "w violates row 1"),
    ("feasible point", "w", ["4", "1"], "w violates row 2"),
    ("feasible point", "w", ["29/10", "1"], "w violates row 2"),
    ("infeasibility", "rows", [], "weights is not a list of 0 numbers"),
    ("infeasibility", "rows", [-1], "rows is not a list of integers from 0 to 0"),
    ("infeasibility", "rows", [1], "rows is not a list of integers from 0 to 0"),
    ("infeasibility", "weights", ["-1"], "a weight is zero, or negative"),
    ("infeasibility", "weights", ["0"], "a weight is zero, or negative"),
    ("infeasibility", "weights", ["2"], "the weighted rows and bounds do not sum to zero"),
    ("infeasibility", "upper.columns", [0, 0], "upper columns holds an integer twice"),
    ("infeasibility", "upper.columns", [0, 2], "upper columns is not a list of integers"),
    ("infeasibility", "upper.columns", [0], "upper weights is not a list of 1 numbers"),
    ("infeasibility", "upper.weights", ["1", "-1"], "a weight is zero, or negative"),
    ("infeasibility", "upper.weights", ["1", "2"], "rows and bounds do not sum to zero"),
    ("infeasibility", "upper", NO_BOUNDS, "rows and bounds do not sum to zero"),
    ("infeasibility", "upper", None, "upper is not an object"),
    ("infeasibility", "upper.rows", [], "upper has the unknown field 'rows'"),
    ("infeasibility", "lower", {"columns": []}, "lower lacks weights"),
    (
        "infeasibility",
        "lower",
        {"columns": [0], "weights": ["1"]},
        "lower names a column without such a bound",
    ),
    ("strict", "weights", ["1", "2"], "rows and bounds do not sum to zero"),
    ("strict", "weights", ["-1", "-1"], "a weight is zero, or negative"),
    ("strict", "weights", ["0", "0"], "a weight is zero, or negative"),
    ("equation", "weights", ["1", "-1"], "a weight is zero, or negative"),
    ("equation", "weights", ["0", "1"], "a weight is zero, or negative"),
    ("lower bound", "upper", {"columns": [0], "weights": ["1"]}, "upper names a column without"),
    ("lower bound", "lower.weights", ["-1"], "a weight is zero, or negative"),
]

OTHERS = [
    ("margin interval", "lower", "0", "lower is not positive"),
    ("margin interval", "lower", "3/2", "the margin of w on row 0 is below lower"),
    ("margin interval", "upper", "7/5", "upper is not positive, or the mean is longer"),
    ("margin interval", "upper", "-3/2", "upper is not positive, or the mean is longer"),
    ("margin interval", "upper", "0", "upper is not positive, or the mean is longer"),
    ("margin interval", "w", ["1", "0"], "the margin of w on row 1 is below lower"),
    ("margin interval", "weights", ["1/4", "3/4"], "or the mean is longer"),
    ("margin interval with intercept", "weights", ["1/3", "2/3"], "do not sum to 1/2"),
    ("margin interval with intercept", "upper", "999/1000", "or the mean is longer"),
    ("margin interval with intercept", "w", ["1", "0"], "row 1 is below lower"),
    ("margin interval with lift", "lift", "0", "lift is not positive, or there is an intercept"),
    ("margin interval with lift", "lift", "-2", "lift is negative"),
    ("margin interval with lift", "lift", 2, "lift is not a string"),
    ("margin interval with lift", "lift", None, "w is not a list of 1 numbers"),
    ("margin interval with lift", "lift", GONE, "w is not a list of 1 numbers"),
    ("margin interval with lift", "lift", "1", "the margin of w on row 1 is below lower"),
    ("margin interval with lift", "intercept", True, "there is an intercept besides it"),
    ("margin interval with lift", "w", ["1"], "w is not a list of 2 numbers"),
    ("margin interval with lift", "w", ["1", "-9/10"], "row 1 is below lower"),
    ("margin interval with lift", "lower", "5/7", "row 0 is below lower"),
    ("margin interval with lift", "upper", "7/10", "or the mean is longer"),
    ("margin interval with lift", "weights", ["1/2", "1/2"], "or the mean is longer"),
    ("separator", "lift", "1", "the certificate has the unknown field 'lift'"),
    ("mistake bound", "lift", None, "lift is not a string"),
    ("mistake bound, any passes", "w", ["999/1000", "0"], "w has a hinge loss"),
    ("mistake bound, any passes", "bound", "999/1000", "below the bound by w"),
    ("mistake bound, any passes", "passes", False, "passes is not a positive integer"),
    ("mistake bound, any passes", "passes", GONE, "the certificate lacks passes"),
    ("mistake bound with lift", "passes", None, "w has a hinge loss"),
    ("mistake bound", "intercept", False, "the certificate has the unknown field 'intercept'"),
    ("mistake bound", "lift", "-1", "lift is negative"),
    ("mistake bound", "lift", 0, "lift is not a string"),
    ("mistake bound", "lift", "1/2", "bound is below the bound by w"),
    ("mistake bound", "w", ["1", "1"], "w must end in 0, since lift is 0"),
    ("mistake bound", "w", ["1"], "w is not a list of 2 numbers"),
    ("mistake bound", "w", ["1/2", "0"], "bound is below the bound by w"),
    ("mistake bound", "w", ["2", "0"], "bound is below the bound by w"),
    ("mistake bound", "passes", 0, "passes is not a positive integer"),
    ("mistake bound", "passes", True, "passes is not a positive integer"),
    ("mistake bound", "passes", "1", "passes is not a positive integer"),
    ("mistake bound", "passes", 1.0, "passes is not a positive integer"),
    ("mistake bound", "bound", "999/1000", "bound is below the bound by w"),
    ("mistake bound", "bound", "-1", "bound is below the bound by w"),
    ("mistake bound with lift", "passes", 4, "bound is below the bound by w"),
    ("mistake bound with lift", "bound", "6", "bound is below the bound by w"),
    ("mistake bound with lift", "lift", "2", "bound is below the bound by w"),
]

CHANGES = [*SHARED, *SEPARATOR, *MEANS, *NON_SEPARABILITY, *INSEPARABILITY, *SYSTEMS, *OTHERS]


def changed(certificate, path, value):
    """Copy a certificate and replace, add or remove what stands at a path."""
    result = copy.deepcopy(certificate)
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    place: Any = result
    for part in way:
        place = place[part]
    if value is GONE:
        del place[last]
    else:
        place[last] = value
    return result


@pytest.mark.parametrize("name", EXAMPLES)
def test_changed_certificates_are_refused(name):
    case = EXAMPLES[name]
    for path, value, reason in [change[1:] for change in CHANGES if change[0] == name]:
        wrong = case._replace(certificate=changed(case.certificate, path, value))
        with pytest.raises(Refused, match=reason) as caught:
            wrong.check()
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 200


@pytest.mark.parametrize("certificate", [None, [], "separator", 1, {}, True])
def test_only_objects_of_the_format_are_certificates(certificate):
    with pytest.raises(Refused):
        check(certificate, CORNER, 2)


def test_the_longest_numbers_are_read_and_not_written():
    huge = changed(EXAMPLES["mistake bound"].certificate, "bound", TALL)
    assert "more than the number given mistakes" in check(huge, PAIR, 1)
    tiny = changed(EXAMPLES["separator"].certificate, "margin", f"1/{TALL}")
    assert "margin of at least the number given" in check(tiny, CORNER, 2)


def test_numbers_that_would_take_too_long_to_check_are_refused():
    short = "9" * 30_000  # and the next number has no divisor in common with it
    point = EXAMPLES["feasible point"]
    long = point._replace(certificate=changed(point.certificate, "w", ["3", f"1/{short}"]))
    assert "w satisfies the system" in long.check()
    longer = changed(point.certificate, "w", [f"1/1{'0' * 30_000}", f"1/{short}"])
    with pytest.raises(Refused, match="w has a common denominator of more than 50000 digits, wh"):
        point._replace(certificate=longer).check()


def test_any_number_of_passes_is_checked():
    lossless = changed(EXAMPLES["mistake bound"].certificate, "passes", 10**5000)
    assert "(passes: 1.00000E+5000)" in check(lossless, PAIR, 1)


def test_what_is_said_is_rounded_to_the_safe_side():
    third = changed(EXAMPLES["separator"].certificate, "margin", "2/3")
    assert "at least 0.666666." in check(third, CORNER, 2)
    interval = changed(EXAMPLES["margin interval"].certificate, "upper", "5/3")
    assert "at most 1.66667." in check(interval, CORNER, 2)


# --- data that are not what they should be ---


@pytest.mark.parametrize(
    ("forged", "reason"),
    [
        (("separator", [Row(3, row.entries) for row in CORNER], 2), "data of another sort"),
        (("separator", CORNER, 2, [(0, 1), (0, 1)]), "data of another sort"),
        (("separator", [], 2), "no rows"),
        (("feasible point", CORNER, 2), "data of another sort"),
    ],
    ids=["rows of a system", "bounds", "no rows", "labelled rows"],
)
def test_certificates_are_about_data_of_their_sort(forged, reason):
    more = {"margin": "1"} if forged[0] == "separator" else {}
    with pytest.raises(Refused, match=reason):
        example(*forged, w=["1", "1"], **more).check()


def test_bounds_alone_can_contradict():
    # 2 <= x and x <= 1.
    fields = proof([], [], lower=([0], ["1"]), upper=([0], ["1"]))
    assert "no point" in example("infeasibility", [], 1, [(2, 1)], **fields).check()
    with pytest.raises(Refused, match="no contradiction"):
        example("infeasibility", [], 1, [(1, 2)], **fields).check()


def test_nothing_contradicts_nothing():
    with pytest.raises(Refused, match="no contradiction"):
        example("infeasibility", OPEN, 1, **proof([], [])).check()


@pytest.mark.parametrize(
    ("rows", "bounds", "reason"),
    [
        ([Row(1, [(0, 1.0), (0, 2.0)])], None, "row 0 of the data has a column twice"),
        ([Row(1, []), Row(1, [(-1, 1.0)])], None, "row 1 of the data has a column .* out of range"),
        ([Row(1, [(2, 1.0)])], None, "row 0 of the data has a column .* out of range"),
        ([Row(1, [(0, math.nan)])], None, "row 0 of the data has a value that is not finite"),
        ([Row(3, [], -math.inf)], None, "row 0 of the data has a value that is not finite"),
        ([Row(3, [])], [(0, None)], "not as many bounds as columns"),
        ([Row(3, [])], [(None, None), (0, math.inf)], "row 2 of the data .* not finite"),
    ],
)
def test_rows_that_are_not_well_formed_are_refused(rows, bounds, reason):
    with pytest.raises(Refused, match=reason):
        digest(rows, 2, bounds)


def test_values_are_exact():
    # 1/10 + 1/5 - 3/10 is zero; the doubles nearest to these numbers sum to 2^-55 and more.
    thirds = {"rows": [0, 1, 2], "weights": ["1/3", "1/3", "1/3"]}
    fractions = labelled((1, (Fraction(1, 10),)), (1, (Fraction(1, 5),)), (-1, (Fraction(3, 10),)))
    assert "no hyperplane separates" in example("non-separability", fractions, 1, **thirds).check()
    doubles = labelled((1, (0.1,)), (1, (0.2,)), (-1, (0.3,)))
    with pytest.raises(Refused, match="do not sum to zero"):
        example("non-separability", doubles, 1, **thirds).check()


# --- numbers ---


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0x1.8p+1", Fraction(3)),
        ("-0x1.8000000000000p+1", Fraction(-3)),
        ("0x1.999999999999ap-4", Fraction(0.1)),
        ("0x0.0000000000001p-1022", Fraction(5e-324)),
        ("0x1.fffffffffffffp+1023", Fraction(sys.float_info.max)),
        ("0x0.0p+0", Fraction(0)),
        ("-0x0.0p+0", Fraction(0)),
        ("0", Fraction(0)),
        ("-0", Fraction(0)),
        ("-17", Fraction(-17)),
        ("6/4", Fraction(3, 2)),
        ("-1/3", Fraction(-1, 3)),
        ("007/021", Fraction(1, 3)),
    ],
)
def test_numbers_mean_what_is_written(text, value):
    assert as_number(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *["", "-", "+1", " 1", "1 ", "1\n", "1_0", "٣", "0.5", "1e3", "nan", "inf", "-inf", "--1"],
        *["1/", "/2", "1/0", "1/00", "1/-2", "1/2/3", "1 /2", "0x1", "0x1p0", "0x1.8p", "0x2p+0"],
        *["0X1p+0", "0x1P+0", "+0x1p+0", "0x1.p+0", "0x1.8P+1", "0x1.00000000000000p+0"],
        *["0x1p+1024", "0x1p-1023", "0x1.8p-1075", "0x1.Ap+0", "0x1p+00000", "0x1p+0\n"],
        *[0, 1.5, True, None, b"1", ["1"], Fraction(1)],
        TALL + "9",
        f"1/{TALL}9",
    ],
    ids=lambda text: repr(text)[:20],
)
def test_other_numbers_are_refused(text):
    with pytest.raises(Refused):
        as_number(text)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_comes_back_from_its_hexadecimal_text(value):
    assert as_number(value.hex()) == Fraction(value)


@settings(deadline=None)
@given(st.integers(0, 6000), st.integers(0, 6000), st.randoms(use_true_random=False))
def test_fractions_of_any_length_come_back(above, below, random):
    p = "".join(random.choices("0123456789", k=above + 1))
    q = "7" + "".join(random.choices("0123456789", k=below))
    value = as_number(f"-{p}/{q}")
    # Unlike int(), a Decimal reads any number of digits.
    assert value == -Fraction(int(Decimal(p)), int(Decimal(q)))


# --- the rank ---


@settings(deadline=None)
@given(
    st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), max_size=4), st.integers(0, 4)
)
def test_the_rank_is_that_of_the_naive_elimination(matrix, needed):
    vectors = [dict(enumerate(row)) for row in matrix]
    assert checker.rank_reaches(needed, vectors) == (rank(matrix) >= needed)


def test_a_rank_that_one_prime_hides_is_seen_modulo_another():
    first, second = 2**61 - 1, 2**89 - 1
    assert checker.rank_reaches(2, [{0: first, 1: 0}, {0: 1, 1: 1}])
    assert checker.rank_reaches(1, [{0: first * second}])
    assert not checker.rank_reaches(3, [{0: first}, {1: second}])


# --- the digest ---


def test_digests_stay_what_they_are():
    assert digest([], 0) == "a706dd2f4d197e6f"
    assert digest(CORNER, 2) == "732c38197bd40c11"
    assert digest(SYSTEM, 2, BOX) == "851e459d1d4a4003"
    assert digest([Row(1, [(0, Fraction(1, 3))])], 1) == "42ff689f20efe3c3"


def test_the_mixer_is_that_of_splitmix64():
    # The first outputs of the generator from the seed 0, as published.
    assert checker.mix(0) == 0xE220A8397B1DCDAF
    assert checker.mix(0x9E3779B97F4A7C15) == 0x6E789E6AA1B965F4


def test_the_digest_sees_values_and_not_how_they_are_stored():
    one = digest([Row(1, [(0, 1.0), (2, 0.5)])], 3)
    assert digest([Row(1, [(2, Fraction(1, 2)), (1, -0.0), (0, 1)])], 3) == one
    others = [
        digest([Row(2, [(0, 1.0), (2, 0.5)])], 3),
        digest([Row(1, [(1, 1.0), (2, 0.5)])], 3),
        digest([Row(1, [(0, -1.0), (2, 0.5)])], 3),
        digest([Row(1, [(0, 1.0), (2, 0.5)])], 4),
        digest([Row(1, [(0, 1.0), (2, 0.5)]), Row(1, [])], 3),
    ]
    assert len({one, *others}) == 6


def test_the_digest_takes_numbers_of_any_length():
    assert digest([Row(1, [(0, 10**5000)])], 1) != digest([Row(1, [(0, 10**5000 + 1)])], 1)


# --- alone ---

CHECKER = Path(checker.__file__)
CORNER_TEXT = "\ufeff# three points\n+1 1:2\n\n1.0 qid:7 2:1 2:1 # twice\r\n-1\t1:-1 2:-1e0"
SYSTEM_TEXT = "x, relation ,y,b\n1,>=,1,2\n1,>,-1,0\n\n3,==,0,9\r\n0,<=,1,5\n0,<,-1,1\n"


def written(folder, certificate, data):
    """Write a certificate and its data; give the names of the files."""
    text = certificate if isinstance(certificate, str) else json.dumps(certificate)
    for name, content in {"certificate.json": text, "data": data}.items():
        (folder / name).write_bytes(content.encode("utf-8", "surrogateescape"))
    return [str(folder / "certificate.json"), str(folder / "data")]


def run(folder, certificate, data):
    """Run the checker as a script that can see nothing of the package."""
    command = [sys.executable, "-I", str(CHECKER), *written(folder, certificate, data)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert len((done.stdout + done.stderr).splitlines()) == 1, done.stderr
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def main(folder, certificate, data, *options):
    """Do the same without a new process."""
    return checker.main([*written(folder, certificate, data), *options])


def test_only_the_standard_library_is_imported():
    tree = ast.walk(ast.parse(CHECKER.read_text(encoding="utf-8")))
    imports = [node for node in tree if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [
        alias.name if isinstance(node, ast.Import) else str(node.module)
        for node in imports
        for alias in node.names
    ]
    assert names
    assert all(name.split(".")[0] in sys.stdlib_module_names for name in names)


def test_alone_it_says_what_is_proven(tmp_path):
    code, out, _ = run(tmp_path, EXAMPLES["separator"].certificate, CORNER_TEXT)
    assert (code, out) == (0, EXAMPLES["separator"].check())


def test_alone_it_says_why_it_refuses(tmp_path):
    wrong = changed(EXAMPLES["separator"].certificate, "margin", "2")
    code, out, _ = run(tmp_path, wrong, CORNER_TEXT)
    assert (code, out) == (1, "Refused: the margin of w on row 0 is below margin.")


def test_alone_it_says_what_it_cannot_read(tmp_path):
    code, _, error = run(tmp_path, "{", CORNER_TEXT)
    assert code == 2
    assert error.startswith("Unreadable: ")


def test_alone_it_reads_systems(tmp_path):
    # 0 <= y <= 5 and y > -1 as rows: -y >= -5, y > -1.
    rows = [
        Row(3, [(0, 1.0), (1, 1.0)], 2.0),
        Row(4, [(0, 1.0), (1, -1.0)]),
        Row(5, [(0, 3.0)], 9.0),
        Row(3, [(1, -1.0)], -5.0),
        Row(4, [(1, 1.0)], -1.0),
    ]
    feasible = example("feasible point", rows, 2, w=["3", "1"])
    code, out, _ = run(tmp_path, feasible.certificate, SYSTEM_TEXT)
    assert (code, out) == (0, feasible.check())


def test_relations_may_be_left_out(tmp_path):
    feasible = example("feasible point", FULL, 2, w=["3", "0"])
    assert main(tmp_path, feasible.certificate, "u,v,b\n1,1,3\n") == 0


def test_columns_may_count_from_zero(tmp_path):
    certificate = EXAMPLES["separator"].certificate
    text = "1 0:2\n1 1:2\n-1 0:-1 1:-1\n"
    assert main(tmp_path, certificate, text, "--zero-based") == 0
    assert main(tmp_path, certificate, text) == 2


def test_values_are_rounded_as_the_certificate_says(tmp_path):
    text = "1 1:0.1\n-1 1:-0.1 1:-0.2\n"
    sums: dict[str, tuple[float, float] | tuple[Fraction, Fraction]] = {
        "float64": (0.1, 0.1 + 0.2),
        "float32": (0.10000000149011612, 0.30000001192092896),
        "exact": (Fraction(1, 10), Fraction(3, 10)),
    }
    for numbers, (first, second) in sums.items():
        rows = labelled((1, (first,)), (-1, (-second,)))
        made = example("separator", rows, 1, w=["1"], margin="1/11").certificate
        assert main(tmp_path, changed(made, "data.numbers", numbers), text) == 0
        assert main(tmp_path, changed(made, "data.numbers", "float64"), text) == int(
            numbers != "float64"
        )


@pytest.mark.parametrize(
    ("negative", "positive", "text"),
    [
        (-1, 1, "+1 1:1\n-1.0 1:-1\n"),
        ("-1", "1", "+1 1:1\n-1.0 1:-1\n"),
        (-1.0, 0.1, "0.10 1:1\n-1 1:-1\n"),
        (-1e300, 1, "1 1:1\n-1e+300 1:-1\n"),
        ("no", "yes", "yes 1:1\nno 1:-1\n"),
        ("no", 1, "1e0 1:1\nno 1:-1\n"),
        ("ärger", "glück", "glück 1:1\närger 1:-1\n"),
        (False, True, "True 1:1\nFalse 1:-1\n"),
    ],
)
def test_labels_are_compared_as_numbers_or_as_text(negative, positive, text, tmp_path):
    made = example("separator", PAIR, 1, w=["1"], margin="1").certificate
    classes = {"negative": negative, "positive": positive}
    assert main(tmp_path, changed(made, "classes", classes), text) == 0


PLANE = EXAMPLES["separator"].certificate
POINT = example("feasible point", EQUATION[1:], 2, w=["3", "0"]).certificate


@pytest.mark.parametrize(
    ("certificate", "text", "code", "reason"),
    [
        (PLANE, "", 1, "for these, its rows would be 0"),
        (PLANE, "2 1:1\n", 1, "line 1 of the data: the label belongs to neither class"),
        (PLANE, "x 1:1\n", 1, "line 1 of the data: the label belongs to neither class"),
        (PLANE, "1:2 2:1\n", 1, "line 1 of the data: the label belongs to neither class"),
        (PLANE, "1 3:1\n1 1:1\n1 1:1\n", 1, "row 0 of the data has a column .* out of range"),
        (PLANE, "1 1:1e999\n1 1:1\n1 1:1\n", 1, "row 0 of the data has a value that is not finite"),
        (PLANE, "1 1:2\n\n1 0:1\n", 2, "line 3 of the data: '0:1' is not a column from 1 on"),
        (PLANE, "1 1:2\n1 -1:1\n", 2, "line 2 of the data: '-1:1' is not a column"),
        (PLANE, "1 11111111111:1\n", 2, "is not a column"),
        (PLANE, "1 1:nan\n", 2, "line 1 of the data: 'nan' is not a number"),
        (PLANE, "1 1:0x1p0\n", 2, "is not a number"),
        (PLANE, "1 1:1_0\n", 2, "is not a number"),
        (PLANE, "1 1:\n", 2, "'' is not a number"),
        (PLANE, "1 1\n", 2, "'1' is not a column"),
        (PLANE, "1 1:2 qid:1\n", 2, "'qid:1' is not a column"),
        (PLANE, "1 1:\u0663\n", 2, "is not a number"),
        (PLANE, "1 1:2 \udcff\n", 2, "utf-8"),
        (POINT, "", 2, "the header of the data does not name b"),
        (POINT, "x,y\n1,1\n", 2, "the header of the data does not name b"),
        (POINT, "x,x,b\n1,1,3\n", 2, "names something twice"),
        (POINT, "x,y,b\n1,1\n", 2, "line 2 of the data: the number of cells is 2 and not 3"),
        (POINT, "x,y,b\n1,1,3,4\n", 2, "line 2 of the data: the number of cells is 4 and not 3"),
        (POINT, "x,y,b\n1,,3\n", 2, "line 2 of the data: '' is not a number"),
        (POINT, "x,y,b\n1,1,inf\n", 2, "line 2 of the data: 'inf' is not a number"),
        (POINT, "x,y,relation,b\n1,1,=>,3\n", 2, "line 2 of the data: '=>' is not a relation"),
        (POINT, "x,y,relation,b\n1,1,,3\n", 2, "line 2 of the data: '' is not a relation"),
        (POINT, 'x,y,b\n"1,1,3\n', 2, "line 2 of the data"),
        (POINT, "x,b\n1,3\n", 1, "for these, its columns would be 1"),
        (POINT, "x,y,b\n1,1,3\n", 1, "for these, its digest would be"),
    ],
)
def test_data_that_do_not_fit(certificate, text, code, reason, tmp_path, capsys):
    assert main(tmp_path, certificate, text) == code
    assert_said(capsys, code, reason)


def assert_said(capsys, code, reason):
    said = capsys.readouterr()
    sentence = said.out if code < 2 else said.err
    assert sentence.startswith(("Proven", "Refused: ", "Unreadable: ")[code])
    assert sentence.count("\n") == 1
    assert re.search(reason, sentence)


@pytest.mark.parametrize(
    ("numbers", "text", "reason"),
    [
        ("float32", "1 1:1e39\n", "too large"),
        ("exact", "1 1:1e1000000000\n", "'1e1000000000' is not a number that can be used"),
    ],
)
def test_numbers_that_no_type_holds(numbers, text, reason, tmp_path, capsys):
    certificate = changed(EXAMPLES["separator"].certificate, "data.numbers", numbers)
    assert main(tmp_path, certificate, text) == 2
    assert_said(capsys, 2, f"line 1 of the data: .*{reason}")


@pytest.mark.parametrize(
    ("certificate", "code"),
    [
        ("", 2),
        ("{}", 1),
        ("[" * 100_000, 2),
        ('{"margin": ' + "1" * 5000 + "}", 2),
        ('{"kind": "separator", "kind": "separator"}', 1),
        ("\udcff", 2),
    ],
    ids=["empty", "object", "deep", "long", "twice", "bytes"],
)
def test_files_that_are_no_certificates(certificate, code, tmp_path, capsys):
    assert main(tmp_path, certificate, CORNER_TEXT) == code
    assert_said(capsys, code, "")


def test_files_that_are_not_there(tmp_path, capsys):
    assert checker.main([str(tmp_path / "a"), str(tmp_path / "b")]) == 2
    assert_said(capsys, 2, "No such file")
    assert checker.main(["certificate.json"]) == 2
    assert_said(capsys, 2, "usage: ")


# --- nothing but a refusal is raised; that nothing false is accepted, test_tampering.py tells ---

scalars = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.just(5000).map(lambda k: 10**k), st.floats()),
    *(st.text(max_size=5), st.sampled_from(["-1", "0", "1/3", "2/3", "1", "2"])),
)
names = st.sampled_from(["columns", "weights", "rows", "w", ""])
junk = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner), max_leaves=6
)


def places(value, way=""):
    """List the ways to everything in a certificate."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    ways = []
    for key, inner in inside:
        ways.append(f"{way}{key}")
        if isinstance(inner, dict | list):
            ways += places(inner, f"{way}{key}.")
    return ways


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(sorted(EXAMPLES)), junk, st.data())
def test_hostile_content_is_refused_and_nothing_else(name, value, data):
    case = EXAMPLES[name]
    path = data.draw(st.sampled_from(places(case.certificate)))
    with suppress(Refused):
        case._replace(certificate=changed(case.certificate, path, value)).check()
