"""The largest margin: enclosed by two proven numbers, and exact on small problems."""

import json
import math
import sys
import time
import warnings
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import rosenblatt as rb
from amount import amount
from commands import alone
from layouts import LAYOUTS
from naive_margins import dot, naive_square
from planted import planted, quickly
from rosenblatt.certificates import MarginInterval
from rosenblatt.checker import Row, check
from rosenblatt.decide.answers import OutOfTimeError
from rosenblatt.decide.widest import margins
from rosenblatt.decide.widest.hulls import Hulls
from rosenblatt.decide.widest.nearest import Corral, descend
from rosenblatt.margin import support
from rosenblatt.margin.support import HardMargin

FREE, LIFTED, NONE = {}, {"lift": 0.75}, {"fit_intercept": False}
INTERCEPTS = pytest.mark.parametrize(
    "intercept", [FREE, LIFTED, NONE], ids=["free", "lift", "none"]
)


def proved(X, y, **options):
    """Ask for a margin whose certificate both checks accept, and whose fields fit together."""
    found = rb.max_margin(X, y, **options)
    assert rb.verify(found.certificate, X, y).ok
    rows = X.toarray() if sparse.issparse(X) else X
    rows = rows.tolist() if isinstance(rows, np.ndarray) else rows
    tags = [1 if label == found.classes[1] else 2 for label in y]
    entries = [[(j, value) for j, value in enumerate(x) if value] for x in rows]
    given = json.loads(found.certificate.to_json())
    assert check(given, list(map(Row, tags, entries)), len(rows[0])).startswith("Proven")
    if found.verdict == "separable":
        assert_whole(found)
    return found


def assert_whole(found):
    """Require the fields to be those of the certificate, rounded outwards."""
    proof = found.certificate
    assert isinstance(found, rb.Margin)
    assert isinstance(proof, MarginInterval)
    assert found.lower <= proof.lower <= proof.upper <= found.upper
    assert proof.rows == tuple(found.support.tolist())
    assert found.weights.sum() == pytest.approx(1)
    assert found.weights.min() > 0
    if found.squared is not None:
        assert Fraction(proof.lower) ** 2 <= found.squared <= Fraction(proof.upper) ** 2
    if found.squared is not None and 1e-300 < found.lower < 1e300:
        assert found.upper in (found.lower, math.nextafter(found.lower, math.inf))


def distances(found, X, y):
    signs = np.where(np.asarray(y) == found.classes[1], 1, -1)
    return signs * (np.asarray(X, float) @ found.coef + found.intercept)


# ---- a slow, obvious twin


@INTERCEPTS
@pytest.mark.parametrize("kind", ["whole", "thirds", "floats"])
def test_the_square_is_that_of_the_naive_twin(kind, intercept):
    random, separable = np.random.default_rng(5), 0
    for _ in range(amount(30, 70)):
        n, d = int(random.integers(2, 7)), int(random.integers(1, 4))
        X = random.integers(-3, 4, (n, d)).astype(object)
        if kind == "floats":
            X = (random.standard_normal((n, d)) * 10.0 ** random.integers(-3, 4, d)).astype(object)
        X = (X * Fraction(1, 3) if kind == "thirds" else X).tolist()
        signs = random.choice([-1, 1], n)
        signs[0] = -signs[-1]
        found = proved(X, signs.tolist(), **intercept)
        square = naive_square(X, signs.tolist(), **intercept)
        assert (found.verdict == "separable") == (square > 0)
        assert (found.squared or 0) == square
        separable += square > 0
    assert separable > 10


# ---- problems with a known answer


@INTERCEPTS
@quickly
@given(problem=planted())
def test_a_planted_margin_is_enclosed(problem, intercept):
    X, y, w = problem
    found = proved(X, y, **intercept)
    assert found.verdict == "separable"
    least = min(dot(map(Fraction, z), map(Fraction, w)) for z in (X * y[:, None]).tolist())
    if "lift" in intercept:  # whose margin is at least that of the hyperplanes through the origin
        assert found.squared >= least**2 / dot(*[list(map(Fraction, w))] * 2)
    assert Fraction(found.upper) ** 2 * dot(*[list(map(Fraction, w))] * 2) >= least**2


def street(random, d, n, kind):
    """Plant a widest street by its KKT conditions; give X, signs, γ² and the support.

    A point p of whole numbers, rows with z·p = p·p whose mean is p, and rows with more. With a free
    intercept p is half the difference of the means of the classes, and everything is moved by b.
    """
    p = random.integers(-4, 5, d)
    p[random.integers(d)] += 7
    across = [2 * _across(random, p) for _ in range(3)]
    signs = random.choice([-1, 1], n)
    signs[:6] = 1, 1, -1, -1, 1, -1
    z = np.array([_beyond(random, p) for _ in range(n)])
    z[:4] = p + across[0], p - across[0], p + across[1], p - across[1]
    centre = random.integers(-50, 51, d) if kind == "free" else np.zeros(d, int)
    X = signs[:, None] * z + centre
    return X.astype(float), signs, Fraction(int(p @ p)), [0, 1, 2, 3]


def _across(random, p):
    """A vector of whole numbers that is orthogonal to p."""
    while True:
        v = random.integers(-3, 4, p.size)
        v = v * int(p @ p) - int(v @ p) * p
        if v.any() or p.size == 1:
            return v


def _beyond(random, p):
    """A row with more than p·p."""
    step = random.integers(1, 4)
    return (1 + step) * p + _across(random, p)


@pytest.mark.parametrize("kind", ["free", "none"])
@pytest.mark.parametrize("d", [2, 5, 12, 30])
def test_a_street_that_is_planted_by_its_conditions_is_found_exactly(d, kind):
    random = np.random.default_rng(d)
    for _ in range(5):
        X, y, square, support = street(random, d, 60, kind)
        found = proved(X, y, fit_intercept=kind == "free")
        assert found.squared == square
        assert set(found.support.tolist()) <= set(support)
        assert distances(found, X, y).min() == pytest.approx(math.sqrt(square), rel=1e-12)


@pytest.mark.parametrize(("n", "d"), [(300, 50), (200, 45)])
@INTERCEPTS
def test_a_tiny_tolerance_is_met(n, d, intercept):
    random = np.random.default_rng(n)
    X = random.standard_normal((n, d))
    y = np.sign(X @ random.standard_normal(d))
    found = proved(X, y, tol=1e-12, **intercept)
    assert found.verdict == "separable"
    assert (found.upper - found.lower) / found.upper <= 1e-12
    assert found.width <= 1e-12


def test_floats_suffice_with_many_columns():
    random = np.random.default_rng(3)
    X = random.standard_normal((150, 120))
    y = np.sign(X @ random.standard_normal(120))
    found = proved(X, y)
    assert found.squared is None
    assert found.width <= 1e-6
    assert all(isinstance(value, float) for value in found.certificate.w)
    wanted = proved(X, y, tol=1e-3)
    assert max(found.lower, wanted.lower) <= min(found.upper, wanted.upper)


def test_exact_arithmetic_goes_on_where_floats_end(monkeypatch):
    """A guess that is no good at all: the answer does not depend on it."""

    def bad(search, *_):
        rows, columns = search.X.shape
        return HardMargin(np.full(columns + 1, np.nan), np.zeros(rows), np.inf)

    random = np.random.default_rng(4)
    for d in (3, 10, 60):
        X = random.standard_normal((40, d))
        y = np.sign(X @ random.standard_normal(d))
        expected = rb.max_margin(X, y, tol=1e-9)
        with monkeypatch.context() as patch:
            patch.setattr(margins.SupportSearch, "run", bad)
            found = proved(X, y, tol=1e-9)
        assert found.squared is not None
        assert found.squared == expected.squared or d == 60
        assert found.lower <= expected.upper
        assert expected.lower <= found.upper


# ---- laws


def problem_of(seed, n=40, d=5):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    return X, np.where(X @ random.standard_normal(d) > 0.2, "yes", "no")


@INTERCEPTS
@pytest.mark.parametrize("power", [1, 10, -10, 300, -300])
def test_powers_of_two_scale_the_interval_exactly(power, intercept):
    X, y = problem_of(0)
    X = np.abs(X) * np.where(y == "yes", 1, -1)[:, None]
    lift = {"lift": np.ldexp(0.75, power)} if intercept is LIFTED else intercept
    before, after = proved(X, y, **intercept), proved(np.ldexp(X, power), y, **lift)
    assert after.lower == np.ldexp(before.lower, power)
    assert after.upper == np.ldexp(before.upper, power)
    assert np.array_equal(after.support, before.support)
    assert after.squared == before.squared * Fraction(4) ** power


@quickly
@given(problem=planted(), lift=st.sampled_from([0.01, 1.0, 1000.0]))
def test_a_lifted_margin_is_at_most_the_free_one_and_at_least_that_without_intercept(problem, lift):
    X, y, _ = problem
    none, lifted, free = (
        rb.max_margin(X, y, **options).squared for options in (NONE, {"lift": lift}, FREE)
    )
    assert none <= lifted <= free


# ---- forms of data


@INTERCEPTS
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_every_layout_gives_the_same_margin(layout, intercept):
    X = np.array([[0, 3.5], [1, 0], [-2, -1], [0, -2.25], [0, 0.5]])
    y = [1, 1, 0, 0, 1]
    found = rb.max_margin(layout.matrix(X), y, **intercept)
    expected = proved(X, y, **intercept)
    assert rb.verify(found.certificate, layout.matrix(X), y).ok
    assert (found.lower, found.upper) == (expected.lower, expected.upper)
    assert found.squared == expected.squared


def test_numbers_in_single_precision_are_what_they_are():
    X = np.array([[0.1, 0], [-0.1, 0]], np.float32)
    found = proved(X, [1, 0])
    assert found.lower == found.upper == float(np.float32(0.1))
    assert found.certificate.data.numbers == "float32"


def test_exact_numbers_are_taken_as_they_are():
    X = [[10**30 + 1, 0], [10**30 - 1, 0]]
    assert proved(X, ["a", "b"]).squared == 1
    thirds = np.array([[Fraction(1, 3)], [Fraction(-1, 3)]], object)
    found = proved(thirds, [True, False])
    assert found.squared == Fraction(1, 9)
    assert found.lower < Fraction(1, 3) < found.upper


SIZES = [1e-323, 1e-300, 1e-150, 1e150, 1e300, 1.7e308, [1e-300, 1e300]]


@pytest.mark.parametrize("scale", SIZES, ids=str)
@INTERCEPTS
def test_huge_and_tiny_numbers(scale, intercept):
    X = np.array([[1.0, 0.5], [-1.0, 0.25], [1.0, 1.0]]) * scale
    found = proved(X, [1, 0, 1], **intercept)
    assert found.verdict == "separable"
    assert found.squared == naive_square(X.tolist(), [1, -1, 1], **intercept)
    assert np.isfinite(found.coef).all()
    assert np.isfinite(found.intercept)


def test_a_margin_beyond_all_floats():
    found = proved([[10**400], [-(10**400)]], [1, 0])
    assert (found.lower, found.upper) == (sys.float_info.max, math.inf)
    assert found.squared == 10**800
    assert found.width == 0
    found = proved([[Fraction(1, 10**400)], [-Fraction(1, 10**400)]], [1, 0])
    assert (found.lower, found.upper) == (0.0, 5e-324)
    assert found.width < 1e-15


# ---- corners


def test_one_row_of_each_class():
    found = proved([[0.0, 0.0], [3.0, 4.0]], ["a", "b"])
    assert (found.lower, found.upper, found.squared) == (2.5, 2.5, Fraction(25, 4))
    assert found.coef.tolist() == [0.6, 0.8]
    assert found.intercept == -2.5
    assert found.support.tolist() == [0, 1]
    assert found.weights.tolist() == [0.5, 0.5]


def test_the_intercept_of_lifted_rows_is_in_the_users_coordinates():
    X, y = [[3.0], [1.0]], [1, -1]
    found = proved(X, y, lift=2)
    assert found.squared == Fraction(1, 2)  # of (1, -1)/√2 and rows (3, 2), -(1, 2)
    assert found.coef == pytest.approx([0.5**0.5])
    assert found.intercept == pytest.approx(-2 * 0.5**0.5)
    assert distances(found, X, y) == pytest.approx([found.lower, found.lower])


def test_identical_rows_and_constant_columns():
    X = [[1.0, 5.0, 0.0]] * 4 + [[-1.0, 5.0, 0.0]] * 3
    y = [1] * 4 + [0] * 3
    for intercept in (FREE, LIFTED, NONE):
        assert proved(X, y, **intercept).lower == pytest.approx(
            math.sqrt(naive_square(X[2:6], [1, 1, -1, -1], **intercept)), rel=1e-15
        )
    assert proved(X, y).coef.tolist() == [1.0, 0.0, 0.0]
    assert proved(X, y).squared == 1


@INTERCEPTS
@pytest.mark.parametrize("d", [8, 60])
@pytest.mark.parametrize("margin", [1e-6, 1e-12])
def test_tiny_margins_are_closed(margin, d, intercept):
    X, y, _ = rb.make_separable(500, d, margin, seed=2)
    found = proved(X, y, **intercept)
    assert found.width <= 1e-6
    if intercept is not LIFTED:
        assert found.lower == pytest.approx(margin, rel=1e-4)  # the rows are rounded to 1e-16


@INTERCEPTS
def test_sparse_rows_without_entries_and_repeated_ones(intercept):
    dense = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [3.0, 0.0, 4.0], [3.0, 0.0, 4.0]])
    found = proved(sparse.csr_matrix(dense), [0, 0, 1, 1], **intercept)
    if intercept is NONE:  # 0 is on every hyperplane through the origin
        assert found.verdict != "separable"
    else:
        assert found.squared == naive_square(dense[1:3].tolist(), [-1, 1], **intercept)


def test_inseparable_data_ask_separate_once(monkeypatch):
    asked, decide = [], margins.decide
    monkeypatch.setattr(margins, "decide", lambda *given: asked.append(1) or decide(*given))
    random = np.random.default_rng(0)
    X, y = random.standard_normal((400, 60)), random.choice([0, 1], 400)
    assert proved(X, y).verdict == "inseparable"
    assert asked == [1]
    assert proved(X[:50], y[:50]).verdict == "separable"
    assert asked == [1]


def test_many_rows_on_the_margin():
    grid = np.array([[i, j] for i in (-1.0, 1.0) for j in range(200)])
    found = proved(grid, np.sign(grid[:, 0]))
    assert found.lower == found.upper == 1.0
    assert found.coef.tolist() == [1.0, 0.0]


@INTERCEPTS
def test_data_that_are_not_separable_carry_the_proof_of_separate(intercept):
    crossed, weak = [[0, 1], [1, 0], [0, -1], [-1, 0]], [[0, 1], [0, -1], [1, 0], [0, 1], [0, -1]]
    plain = {"fit_intercept": intercept is not NONE}
    for X, y in ((crossed * 2, [0, 1, 0, 1, 1, 0, 1, 0]), (weak, [0, 0, 1, 1, 1])):
        found, expected = proved(X, y, **intercept), rb.separate(X, y, **plain)
        assert found.verdict == expected.verdict != "separable"
        assert found.certificate == expected.certificate
        assert found.lower == found.upper == found.width == 0.0
        assert found.coef is found.intercept is found.squared is None
        assert found.support.size == found.weights.size == 0
        assert f"There is no margin: the classes 0 and 1 are {found.verdict}" in str(found)


def test_points_close_together_that_defaults_elsewhere_do_not_separate():
    from sklearn.linear_model import Perceptron
    from sklearn.svm import SVC, LinearSVC

    X, y = np.array([[1.0, 1.0], [1.0, 1.001], [1.001, 1.0]]), np.array([1, 0, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for other in (LinearSVC(), SVC(kernel="linear"), Perceptron()):
            assert other.fit(X, y).score(X, y) < 1
    found = proved(X, y)
    assert found.squared == (Fraction(1.001) - 1) ** 2 / 8
    assert (distances(found, X, y) > 0).all()
    assert np.allclose(distances(found, X, y), found.lower, rtol=1e-9)


def test_certificates_are_short_where_exact_numbers_are_long():
    X, y = problem_of(6, 200, 30)
    found = proved(X, y)
    assert found.squared.denominator > 2**1000
    assert len(found.certificate.to_json()) < 10_000
    simple = proved([[0, 0], [1, 0], [3, 1], [3, -1]], [0, 0, 1, 1]).certificate
    assert simple.w == (1, 0, -2)
    assert simple.weights == (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))


def test_a_stranger_checks_a_certificate(tmp_path):
    X, y = problem_of(7)
    X = X + np.where(y == "yes", 3.0, -3.0)[:, None]
    lines = [
        " ".join([label, *(f"{j + 1}:{v!r}" for j, v in enumerate(x))])
        for label, x in zip(y, X.tolist(), strict=True)
    ]
    (tmp_path / "data.svm").write_text("\n".join(lines) + "\n")
    for k, intercept in enumerate((FREE, LIFTED, NONE)):
        path = tmp_path / f"{k}.json"
        path.write_text(proved(X, y, **intercept).certificate.to_json())
        status, shown = alone(path, tmp_path / "data.svm")
        assert status == 0
        assert "the largest margin is at least" in shown


# ---- time


def test_an_answer_in_no_time_is_undecided():
    X, y = problem_of(8, 300, 30)
    found = rb.max_margin(X, y, max_seconds=1e-9)
    assert found.verdict == "undecided"
    assert found.certificate is found.coef is None
    assert found.lower == 0
    assert found.upper > 0
    assert found.width == 1
    assert found.stop == "out of time"
    assert str(found).startswith("Undecided: it is not known whether the classes 'no' and 'yes'")
    assert str(found).endswith(": the time limit was reached; allow more seconds.")


def test_an_interrupt_is_not_told_as_time_that_was_over(monkeypatch):
    def stopped_after(looks):
        def look(*arguments):
            nonlocal looks
            looks -= 1
            if looks < 0:
                raise KeyboardInterrupt
            return steps(*arguments)

        return look

    X, y = problem_of(8, 300, 70)
    X = X + np.where(y == "yes", 0.5, -0.5)[:, None]
    steps = support.descend
    monkeypatch.setattr(support, "WORK", 1)
    monkeypatch.setattr(support, "descend", stopped_after(2))
    found = rb.max_margin(X, y)
    assert (found.verdict, found.stop) == ("separable", "interrupted")
    assert 0 < found.width < 1
    assert str(found).endswith("it was interrupted; ask again and let it run.")
    monkeypatch.setattr(support, "descend", stopped_after(0))
    found = rb.max_margin(*problem_of(8, 300, 70))
    assert (found.verdict, found.stop) == ("undecided", "interrupted")
    assert str(found).endswith("it was interrupted; ask again and let it run.")


def test_one_clock_runs_for_the_whole_search(monkeypatch):
    class Slow(margins.Hulls):
        def __init__(self, *arguments):
            time.sleep(0.002)
            super().__init__(*arguments)

    monkeypatch.setattr(margins, "Hulls", Slow)
    assert rb.max_margin([[0.0], [1.0]], [0, 1], max_seconds=0.001).verdict == "undecided"


def test_a_margin_keeps_what_is_known_of_the_classes():
    assert rb.max_margin([[0.0], [1.0]], [0, 1]).separation is None  # the proof says it all
    assert rb.max_margin([[0.0], [1.0], [2.0]], [0, 1, 0]).separation.rows.tolist() == [0, 1, 2]


@INTERCEPTS
@pytest.mark.parametrize("stop", [OutOfTimeError, KeyboardInterrupt])
def test_what_is_known_when_the_time_is_over_is_proved(stop, intercept, monkeypatch):
    X, y = problem_of(9, 200, 12)
    X = X + np.where(y == "yes", 1.0, -1.0)[:, None]
    exact = proved(X, y, **intercept)
    nearest, widths = margins.Hulls.nearest, []

    def stopped(looks):
        def search(self, start, watch):
            def look(plane):
                nonlocal looks
                watch(plane)
                looks -= 1
                if looks < 0:
                    raise stop

            first = next(iter(start))
            others = [i for i in start if self.group(i) != self.group(first)][:1]
            return nearest(self, {i: start[i] for i in (first, *others)}, look)

        return search

    def nothing(search, *_):
        rows, columns = search.X.shape
        return HardMargin(np.zeros(columns + 1), np.zeros(rows), np.inf)

    monkeypatch.setattr(margins.SupportSearch, "run", nothing)
    for looks in (0, 2, 5):
        monkeypatch.setattr(margins.Hulls, "nearest", stopped(looks))
        found = proved(X, y, **intercept)
        assert found.verdict == "separable"
        assert found.squared is None
        assert found.lower <= exact.upper
        assert exact.lower <= found.upper
        assert "The relative width is" in str(found)
        widths.append(found.width)
    assert widths == sorted(widths, reverse=True)


# ---- words


def test_an_explanation_says_what_is_known():
    found = rb.max_margin([[0, 0], [1, 0], [3, 1], [3, -1]], ["no", "no", "yes", "yes"])
    assert found.explain() == str(found)
    assert "The largest margin between the classes 'no' and 'yes' is exactly 1." in str(found)
    assert "a weighted mean of rows 1, 2, 3, with those of 'no' negated" in str(found)
    found = rb.max_margin([[3.0], [1.0]], [1, -1], lift=2)
    assert ", for rows lifted by 2, is between 0.707106781 and 0.707106782." in str(found)


# ---- refusals


@pytest.mark.parametrize(
    ("name", "message", "values"),
    [
        ("tol", "a number between 0 and 1", [0, 1, -1e-6, 2, math.nan, math.inf, "1", None, True]),
        ("lift", "a positive number, or None", [0, -1, math.nan, math.inf, "1", True, [1]]),
        ("max_seconds", "a positive finite number", [0, -1, math.nan, "1"]),
    ],
)
def test_options_that_cannot_be_used_are_refused(name, message, values):
    for value in values:
        with pytest.raises(rb.InputError, match=f"{name} must be {message}"):
            rb.max_margin([[0], [1]], [0, 1], **{name: value})


def test_a_lift_goes_with_an_intercept():
    with pytest.raises(rb.InputError, match="lift stands for an intercept"):
        rb.max_margin([[0], [1]], [0, 1], fit_intercept=False, lift=1)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.array([[0.0], [np.nan]]), [0, 1], r"X contains NaN \(row 1, column 0\)"),
        ([[0], [math.inf]], [0, 1], r"X\[1, 0\] is inf"),
        (sparse.csr_matrix([[0.0], [np.inf]]), [0, 1], "X contains infinity"),
        ([[0], [1]], [0, 0], "labels must be two classes, got 1"),
        ([[0], [1], [2]], [0, 1, 2], "labels must be two classes, got 3"),
        ([[0], [1]], [0, 1, 1], "X has 2 rows but y has 3 labels"),
        ([[0], [1, 2]], [0, 1], "rows of the table differ in length"),
        ([0, 1], [0, 1], "a table with rows and columns is needed"),
        ([[], []], [0, 1], "a table with rows and columns is needed"),
    ],
)
def test_data_that_cannot_be_used_are_refused(X, y, message):
    with pytest.raises(rb.InputError, match=message):
        rb.max_margin(X, y)


# ---- the parts


def test_two_hulls_come_as_near_as_their_points_do():
    """Wolfe's method with two groups: the distance of a segment and a point."""
    rows = [[0, 4], [4, 0], [-1, -1]]
    found = descend(
        lambda chosen: flint.fmpz_mat([rows[i] for i in chosen]),
        Corral([0, 2], [Fraction(1)] * 2),
        lambda found: 1 if 1 not in found.corral.rows else None,
        lambda i: int(i == 2),
    )
    assert found.corral == ([0, 2, 1], [Fraction(1, 2), 1, Fraction(1, 2)])
    assert found.point[0] == found.point[1] > 0


def test_the_exact_hyperplane_is_the_same_from_whichever_rows_the_search_begins():
    # The third and the fourth row are nearest together, and so is the second one by itself.
    X = np.array([[-7.0, 2], [5, 2], [5, -1], [5, 6]])
    hulls = Hulls(X, np.array([-1, 1, 1, 1]), 0, True)
    alone, both = (
        hulls.nearest({0: Fraction(1)} | {i: Fraction(1) for i in rows}, lambda _: None)
        for rows in ([1], [2, 3])
    )
    assert sorted(alone.rows) == [0, 1]
    assert sorted(both.rows) == [0, 2, 3]
    assert alone.w == both.w
