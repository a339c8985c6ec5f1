"""What the loops ask of a row is the same in every memory layout, and what NumPy says it is.

The data are small whole numbers, so sums are exact in any order and equality can be asked for.
"""

from fractions import Fraction

import numba
import numpy as np
import pytest

from layouts import EVERY_LAYOUT, ROUNDING, normal_rows, whole_numbers, whole_weights
from naive import exact_dot, exact_extremes, exact_steepest
from rosenblatt.exact.enclosed import dot_and_sizes
from rosenblatt.exact.extremes import extremes, spread
from rosenblatt.lanes import CACHE_LINE
from rosenblatt.matrices import as_rows
from rosenblatt.online.perceptron import ALL_ONE
from rosenblatt.rows import (
    Single,
    Sparse,
    add,
    copy_on_a_line,
    dot,
    largest_sqnorm,
    scores,
    size,
    sqnorm,
    unpack,
)


@pytest.fixture(params=EVERY_LAYOUT, ids=str)
def layout(request):
    return request.param


@pytest.fixture(params=[0.0, 3.0], ids=["plain", "lifted"])
def lift(request):
    return request.param


def stored(layout, A, lift):
    entries = np.count_nonzero(A, axis=1) if layout.sparse else np.full(len(A), A.shape[1])
    return entries + (lift != 0)


# ---- rows


@numba.njit(_nrt=False)  # not kept on disk, where a change of the primitives would go unnoticed
def measure(rows, i, w, out):
    out[0], (out[4], out[1]) = dot(rows, i, w), dot_and_sizes(rows, i, w)
    out[2], out[3] = sqnorm(rows, i), size(rows, i)
    add(rows, i, -2.5, w)


def test_row_primitives_equal_numpy_on_lifted_rows(layout, lift):
    A, _ = whole_numbers()
    rows, found = layout.rows(A, lift), np.empty(5)
    cost = stored(layout, A, lift)
    for i, x in enumerate(np.column_stack([A, np.full(len(A), lift)])):
        w, v = whole_weights(), whole_weights()
        measure(rows, i, v, found)
        assert found.tolist() == [x @ w, np.abs(x) @ np.abs(w), x @ x, cost[i], x @ w]
        np.testing.assert_array_equal(v, w - 2.5 * x)


@numba.njit(_nrt=False)
def unpacked(rows, i, columns, values):
    return unpack(rows, i, columns, values, 2)


def test_unpack_copies_the_entries_that_are_not_zero(layout, lift):
    A, _ = whole_numbers()
    rows = layout.rows(A, lift)
    for i, x in enumerate(A):
        columns, values = np.full(12, 9, np.uint32), np.full(12, 9.0)
        kept = np.flatnonzero(x)
        assert unpacked(rows, i, columns, values) == 2 + kept.size
        assert columns.tolist() == [9, 9, *kept, *[9] * (10 - kept.size)]
        assert values.tolist() == [9, 9, *x[kept], *[9] * (10 - kept.size)]


@pytest.mark.parametrize("column", [-1, 2**32, 2**40 + 1, 2**63 - 1])
def test_unpack_lets_no_column_of_a_single_row_pass_for_another(column):
    row = Single(np.array([column]), np.ones(1), 0.0)
    columns = np.zeros(3, np.uint32)
    unpacked(row, 0, columns, np.zeros(3))
    assert columns[2] == 2**32 - 1


SPARSE = [layout for layout in EVERY_LAYOUT if layout.sparse]


@pytest.mark.parametrize("layout", SPARSE, ids=str)
def test_a_sparse_row_scores_nan_unless_the_weights_have_a_place_for_each_column(layout):
    rows = layout.rows(np.array([[0.0, 0, 0], [1, 0, 0], [0, 0, 2]]), 1.0)
    for width in range(4):
        out = np.zeros(3)
        scores(rows, np.ones(width + 1), out)
        assert np.isfinite(out).tolist() == [True, width >= 1, width >= 3]


@pytest.mark.parametrize("layout", SPARSE, ids=str)
@pytest.mark.parametrize("column", [-1, 3, 2**31 - 1])
def test_a_column_outside_of_the_weights_scores_nan(layout, column):
    X = layout.matrix(np.eye(3))
    X.indices[1] = column
    out = np.zeros(3)
    scores(as_rows(X, 1.0), np.ones(4), out)
    np.testing.assert_array_equal(out, [2, np.nan, 2])


@numba.njit(_nrt=False)
def lone_product(rows, i, w):
    return dot(rows, i, w)


def sparse_rows_of_every_length(index, value):
    lengths = [*range(1, 50), 0, 3]  # the last one ends inside of eight entries, with the array
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(index)
    entries = np.random.default_rng(0)
    columns = entries.integers(0, 30, starts[-1]).astype(index)
    return Sparse(starts, columns, entries.integers(-9, 9, starts[-1]).astype(value), 2.0)


@pytest.mark.parametrize("index", [np.uint32, np.uint64])
@pytest.mark.parametrize("value", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_sparse_rows_of_any_length_are_multiplied_by_contiguous_and_other_weights(
    index, value, order
):
    rows = sparse_rows_of_every_length(index, value)
    w = np.asarray(np.random.default_rng(1).integers(-9, 9, (2, 31)), np.float64, order)[1]
    for i in range(rows.starts.size - 1):
        row = slice(int(rows.starts[i]), int(rows.starts[i + 1]))
        assert lone_product(rows, i, w) == rows.values[row] @ w[rows.columns[row]] + 2.0 * w[30]


@pytest.mark.parametrize("broken", [30, 2**32 - 1])
def test_a_broken_column_spoils_its_own_row_alone(broken):
    whole = sparse_rows_of_every_length(np.uint32, np.float64)
    for k in range(whole.columns.size):
        columns = whole.columns.copy()
        columns[k] = broken
        rows = whole._replace(columns=columns)
        given = [lone_product(rows, i, np.ones(31)) for i in range(whole.starts.size - 1)]
        spoiled = np.searchsorted(whole.starts, k, "right") - 1
        assert np.flatnonzero(np.isnan(given)).tolist() == [spoiled]


@pytest.mark.twin_of("rows.scores")
def test_scores_equal_a_matrix_product(layout, lift):
    A, _ = whole_numbers()
    w, out = whole_weights(), np.empty(len(A))
    scores(layout.rows(A, lift), w, out)
    np.testing.assert_array_equal(out, A @ w[:-1] + lift * w[-1])


@pytest.mark.twin_of("rows.largest_sqnorm")
def test_largest_sqnorm_is_the_squared_radius(layout, lift):
    A, _ = whole_numbers()
    assert largest_sqnorm(layout.rows(A, lift), len(A)) == (A**2).sum(axis=1).max() + lift**2


def test_rows_of_no_stored_entries_have_only_their_lift(layout, lift):
    found = np.empty(5)
    measure(layout.rows(np.zeros((1, 4)), lift), 0, np.ones(5), found)
    cost = (0 if layout.sparse else 4) + (lift != 0)
    assert found.tolist() == [lift, lift, lift**2, cost, lift]


# ---- bounds


@pytest.mark.twin_of("exact.extremes.extremes")
@pytest.mark.parametrize("weighted", [False, True])
def test_extremes_enclose_the_exact_radius_and_margin_tightly(layout, lift, weighted):
    A, signs = normal_rows(layout)
    w = np.random.default_rng(4).standard_normal(6)
    weights = np.linspace(0.5, 3.0, len(A)) if weighted else ALL_ONE
    found = extremes(layout.rows(A, lift), signs, weights, w)
    check_extremes(found, A, signs, w, lift, weights)
    check_extremes(spread(layout.matrix(A), signs, w, lift, weights), A, signs, w, lift, weights)


def check_extremes(found, A, signs, w, lift, weights):
    largest, smallest, where, steepest = found
    weighted = weights.size > 0
    square, margin = exact_extremes(A, signs, w, lift, weights)
    assert square <= Fraction(largest) ** 2 <= square * (1 + Fraction(ROUNDING))
    assert margin - Fraction(ROUNDING) <= Fraction(smallest) <= margin
    x = np.append(A[where], lift)
    weight = Fraction(float(weights[where]) if weighted else 1) * int(signs[where])
    assert weight * exact_dot(x, w) == margin
    right = signs * (A @ w[:-1] + lift * w[-1]) > 0
    kept = weights[right] if weighted else ALL_ONE
    exact = exact_steepest(A[right], signs[right], w, lift, kept)
    assert exact <= Fraction(steepest) * (1 + Fraction(2**-50)) <= exact * (1 + 2 * Fraction(1e-9))


@pytest.mark.parametrize("scale", [1e-12, 1e-20, 1e-30, 1e15, 1e25])
def test_norms_of_single_precision_rows_are_double(layout, scale):
    A = (np.array([[1.1, 3.3]]) * scale).astype(np.float32).astype(float)
    square, _ = exact_extremes(A, [1], np.zeros(3))
    found = largest_sqnorm(layout.rows(A, 0.0), 1)
    assert abs(Fraction(found) - square) <= square * Fraction(2**-51)  # two products, one sum


def test_extremes_stay_outside_when_squares_underflow():
    A, w = np.array([[1e-165, 3e-165]]), np.array([1e-160, 1e-170, 0.0])
    signs, (square, margin) = np.ones(1, np.int8), exact_extremes(A, [1], w)
    for found in (extremes(as_rows(A, 0.0), signs, ALL_ONE, w), spread(A, signs, w, 0.0, ALL_ONE)):
        assert square <= Fraction(found[0]) ** 2
        assert Fraction(found[1]) <= margin


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(1,), (55,), (3, 7)])
def test_weights_on_a_line_are_a_copy_in_the_same_order(shape, order):
    for begin in range(8):
        size = int(np.prod(shape))
        w = np.arange(begin + size, dtype=float)[begin:].reshape(shape, order=order)
        copy = copy_on_a_line(w)
        np.testing.assert_array_equal(copy, w)
        assert copy.ctypes.data % CACHE_LINE == 0
        assert copy.flags.f_contiguous == w.flags.f_contiguous
        assert not np.shares_memory(copy, w)
