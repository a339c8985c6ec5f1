"""Products that skip zeros, sums of tiles, and what blocked training computes only where needed."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

import naive_kernel
from kernel_runs import blocked, calls_of, doubts, every_layout
from rosenblatt.kernel import functions, scoring, training, zeros
from rosenblatt.kernel.functions import Lengths, as_kernel
from rosenblatt.kernel.pointwise import weigh
from rosenblatt.kernel.space import TILE, Space
from rosenblatt.kernel.store import Block, KeptRows
from rosenblatt.kernel.threads import in_turn, working
from rosenblatt.kernel.zeros import LANES, Panels, Signs, entries_of, skipping_pays

UNIT = {np.float32: 2.0**-24, np.float64: 2.0**-53}
both_precisions = pytest.mark.parametrize("precision", UNIT)
every_share = pytest.mark.parametrize("share", [0.0, 0.02, 0.2, 0.7, 1.0])


def rows_with_zeros(n, columns, share, precision=np.float32, seed=0):
    """Rows of both signs, an entry of which is not zero with a given probability."""
    random = np.random.default_rng(seed)
    chosen = random.random((n, columns)) < share
    return np.where(chosen, random.standard_normal((n, columns)), 0.0).astype(precision)


def stored(rows):
    return KeptRows.of(Block(rows, np.zeros(len(rows)), np.arange(len(rows))))


def panels_of(rows, *cuts):
    """Panels that followed a store which grew in portions."""
    panels, store = Panels(), stored(rows[:0])
    for start, stop in pairwise([0, *cuts, len(rows)]):
        store = store.extended(
            Block(rows[start:stop], np.zeros(stop - start), np.arange(start, stop))
        )
        panels.follow(store)
    return panels


def naive_products(A, B):
    """Products in float64, and what bounds the error of sums in another precision."""
    exact = np.array(
        [[sum(float(x) * float(z) for x, z in zip(a, b, strict=True)) for b in B] for a in A]
    )
    size = np.array(
        [[sum(abs(float(x) * float(z)) for x, z in zip(a, b, strict=True)) for b in B] for a in A]
    )
    return exact, size


# ---- what is not zero


@pytest.mark.twin_of("kernel.zeros.find_entries")
@both_precisions
@every_share
@pytest.mark.parametrize("shape", [(1, 1), (5, 1), (1, 7), (9, 33), (0, 4)])
def test_entries_are_those_that_are_not_zero(precision, share, shape):
    rows = rows_with_zeros(*shape, share, precision)
    rows[::3, ::2] *= -0.0  # is a zero, too
    found, expected = entries_of(rows), sparse.csr_matrix(rows)
    expected.eliminate_zeros()
    used = found.starts[-1]
    assert found.starts.tolist() == expected.indptr.tolist()
    assert found.columns[:used].tolist() == expected.indices.tolist()
    assert found.values[:used].tolist() == expected.data.tolist()
    assert found.values.dtype == precision


@pytest.mark.twin_of("kernel.zeros.count_signs")
@both_precisions
@every_share
def test_signs_are_counted(precision, share):
    rows = rows_with_zeros(17, 45, share, precision)
    for given in (rows, rows[::2], rows[:, ::2], rows[:0]):
        signs = Signs.of(given)
        assert signs.entries.tolist() == [sum(x != 0 for x in row) for row in given]
        assert signs.negative.tolist() == [sum(x < 0 for x in row) for row in given]


def test_skipping_pays_where_few_entries_are_not_zero_and_panels_fit_the_cache():
    assert skipping_pays(rows_with_zeros(100, 200, 0.1))
    assert not skipping_pays(rows_with_zeros(100, 200, 0.5))
    assert not skipping_pays(np.zeros((8, zeros.CACHE // LANES), np.float32))


# ---- products


@pytest.mark.twin_of("kernel.zeros.multiply")
@both_precisions
@every_share
@pytest.mark.parametrize("columns", [1, 3, 4, 50])
@pytest.mark.parametrize("many", [1, LANES - 1, LANES, LANES + 1])
def test_products_that_skip_zeros_keep_to_the_bound(precision, share, columns, many):
    A, B = (
        rows_with_zeros(6, columns, share, precision),
        rows_with_zeros(many, columns, 0.8, precision, 1),
    )
    A[2] = 0
    found = panels_of(B).products(entries_of(A), 0, many)
    assert found.dtype == precision
    exact, size = naive_products(A, B)
    rounded = Signs.of(A).entries[:, None] * UNIT[precision]
    slack = 0.0 if precision == np.float32 else columns * UNIT[precision]  # of the naive sums
    assert (np.abs(found - exact) <= (rounded / (1 - rounded) + slack) * size).all()
    assert not found[2].any()


@pytest.mark.parametrize(
    "cuts",
    [(), (1,), (LANES,), (5, LANES - 1, LANES + 1, 2 * LANES), (2 * LANES + 8, 2 * LANES + 9)],
)
def test_panels_follow_a_store_however_it_grows(cuts):
    A, B = rows_with_zeros(5, 30, 0.3), rows_with_zeros(3 * LANES + 17, 30, 0.3, seed=1)
    entries = entries_of(A)
    found = panels_of(B, *cuts).products(entries, LANES, len(B))
    np.testing.assert_array_equal(found, panels_of(B).products(entries, 0, len(B))[:, LANES:])
    np.testing.assert_allclose(found, A.astype(float) @ B[LANES:].T.astype(float), atol=1e-5)


def test_panels_are_as_precise_as_the_rows_that_come():
    A, B = rows_with_zeros(5, 30, 0.5, np.float64), rows_with_zeros(70, 30, 0.5, np.float64, 1)
    store, panels = stored(B[:20].astype(np.float32)), Panels()
    panels.follow(store)
    panels.follow(store.extended(Block(B[20:], np.zeros(50), np.arange(20, 70))))
    expected = A @ np.concatenate([B[:20].astype(np.float32), B[20:]]).T
    np.testing.assert_allclose(panels.products(entries_of(A), 0, 70), expected, atol=1e-14)


def test_rows_of_double_precision_meet_panels_of_single_precision_in_double():
    A, B = rows_with_zeros(7, 40, 0.4, np.float64), rows_with_zeros(LANES + 9, 40, 0.4, seed=1)
    found = panels_of(B).products(entries_of(A), 0, len(B))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, naive_products(A, B)[0], rtol=0, atol=1e-14)


def test_products_go_beyond_single_precision_as_sums_do():
    A = np.array([[3e38, 0, 0], [3e38, 3e38, 0], [1e-30, 0, 1e-30], [0, 1e-38, 0]], np.float32)
    B = np.array([[1, 1, 1], [3e38, -3e38, 0], [1e-30, 1, 1], [-1, 0.5, 2]], np.float32)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        found = panels_of(B).products(entries_of(A), 0, 4)
        np.testing.assert_allclose(found, A @ B.T, rtol=1e-6, atol=1e-44)
    assert found[1, 0] == np.inf
    assert not np.isfinite(found[1, 1])


# ---- sums of tiles


@pytest.mark.twin_of("kernel.pointwise.weigh")
@both_precisions
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 11])
@pytest.mark.parametrize("many", [1, 7, 64, 129])
@pytest.mark.parametrize("classes", [1, 2, 10])
def test_tiles_are_weighed(precision, n, many, classes):
    random = np.random.default_rng(0)
    values = random.standard_normal((n, many)).astype(precision)
    weights, sizes = random.standard_normal((classes, many)), random.random(many)
    scores, spread = np.full((n, classes), np.nan), np.full(n, np.nan)
    weigh(values, weights, sizes, np.empty((4, many)), scores, spread)
    for i in range(n):
        for r in range(classes):
            expected = sum(float(v) * w for v, w in zip(values[i], weights[r], strict=True))
            assert abs(scores[i, r] - expected) < 1e-12
        expected = sum(abs(float(v)) * size for v, size in zip(values[i], sizes, strict=True))
        assert abs(spread[i] - expected) < 1e-12


def learned_from(X, classes=3, kernel="polynomial:3:1"):
    """A space, rows stored in it, and coefficients."""
    random = np.random.default_rng(5)
    space = Space.around(as_kernel(kernel), 0.0, X)
    store = KeptRows.of(space.block(X, slice(None), np.arange(len(X))))
    return space, store, random.integers(-2, 3, (classes, len(X) + 3)).astype(float)


@pytest.mark.parametrize("classes", [2, 5, scoring.FEW_CLASSES + 1])
@pytest.mark.parametrize("kernel", ["polynomial:3:1", "gaussian:0.05"])
def test_scores_do_not_depend_on_how_they_are_computed(classes, kernel):
    X = rows_with_zeros(TILE + 200, 60, 0.15)
    space, store, alphas = learned_from(X, classes, kernel)
    block = space.block(
        rows_with_zeros(scoring.HEIGHT + 45, 60, 0.15, seed=1),
        slice(None),
        np.arange(scoring.HEIGHT + 45),
    )
    panels, sizes = Panels(), np.abs(alphas).sum(axis=0)
    panels.follow(store)
    values = space.values(block.doubled(), store.span())
    expected = values @ alphas[:, : store.size].T
    for given in (None, panels):
        for rows, tolerance in ((block, 1e-5), (block.doubled(), 1e-13)):
            scores, spread = scoring.weighed(space, rows, store, alphas, in_turn, sizes, given)
            np.testing.assert_allclose(
                scores, expected, atol=tolerance * np.abs(values).sum(1).max()
            )
            np.testing.assert_allclose(spread, np.abs(values) @ sizes[: store.size], rtol=tolerance)


def test_threads_change_no_bit():
    X = rows_with_zeros(3 * TILE + 200, 60, 0.15)
    space, store, alphas = learned_from(X)
    block = space.block(rows_with_zeros(600, 60, 0.15, seed=1), slice(None), np.arange(600))
    panels, sizes = Panels(), np.abs(alphas).sum(axis=0)
    panels.follow(store)
    alone = scoring.weighed(space, block, store, alphas, in_turn, sizes, panels)
    with working() as apply:
        together = scoring.weighed(space, block, store, alphas, apply, sizes, panels)
    np.testing.assert_array_equal(alone[0], together[0])
    np.testing.assert_array_equal(alone[1], together[1])


# ---- bounds


@pytest.mark.parametrize("kernel", ["polynomial:4:1", "polynomial:1", "gaussian:0.3"])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("share", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("negative", [False, True])
def test_bounds_of_rounding_errors_count_only_what_is_not_zero(kernel, scale, share, negative):
    X = np.float32(scale / 20) * rows_with_zeros(200, 400, share)
    X = X if negative else np.abs(X)
    space = Space.around(as_kernel(kernel), 0.7, X)
    block = space.block(X, slice(None), np.arange(200))
    store = KeptRows.of(block)
    relative, absolute = space.rounding(block, store)
    exact = space.values(block.doubled(), block.doubled())
    products = panels_of(X).products(entries_of(X), 0, 200)
    for single in (space.values(block, block), space.from_products(products, block, block)):
        assert single.dtype == np.float32
        error = np.abs(single.astype(float) - exact)
        assert (error <= relative[:, None] * np.abs(single) + absolute[:, None]).all()
        assert error.max() > 0
    full = space.block(np.abs(X) + 1, slice(None), np.arange(200))
    if kernel == "polynomial:4:1" and not negative and share < 1:
        assert (space.rounding(full, store).relative > 2 * relative).all()


def test_rows_with_too_many_entries_for_single_precision_are_always_in_doubt():
    for nonnegative in (False, True):
        entries = np.array([5, 2**30])
        lengths = Lengths(np.array([2.0, 0.0]), entries, 3.0, nonnegative)
        found = as_kernel("polynomial:2:1").rounding(lengths, 1.0)
        assert np.isfinite(found.relative).tolist() == [True, False]
        assert np.isfinite(found.absolute).all()


# ---- training


def pictures(n=700, columns=90, classes=4, seed=0):
    """Rows that are mostly zeros, whole numbers, with codes that mean something."""
    random = np.random.default_rng(seed)
    X = np.where(random.random((n, columns)) < 0.15, random.integers(1, 4, (n, columns)), 0)
    X[::50] = 0
    codes = (
        X @ random.standard_normal((columns, classes)) + random.standard_normal(classes)
    ).argmax(1)
    return X.astype(float), codes


@every_layout
@pytest.mark.parametrize("rows", [7, 100, 333, 1000])
def test_rows_of_zeros_are_learned_as_one_at_a_time(layout, rows, monkeypatch):
    skipped = calls_of(Panels, "products", monkeypatch)
    monkeypatch.setattr(training, "WORTH_PANELS", 0)
    X, codes = pictures()
    ran, learned = blocked("polynomial:2:1", layout(X), codes, 4, rows, passes=2)
    assert skipped
    K = (X @ X.T + 1) ** 2  # exact: whole numbers
    twin, expected = naive_kernel.learn(K, codes, 4, max_looks=2 * len(codes))
    assert ran.counts.tolist() == expected.counts
    assert learned.store.span().numbers.tolist() == twin.order
    np.testing.assert_array_equal(learned.alphas[:, : learned.size].T, twin.alphas[twin.order])


@pytest.mark.parametrize("kernel", ["polynomial:4:1", "gaussian:0.3", "linear"])
@pytest.mark.parametrize("negative", [False, True])
def test_single_precision_that_skips_zeros_makes_the_mistakes_of_double(
    kernel, negative, monkeypatch
):
    monkeypatch.setattr(training, "WORTH_PANELS", 0)
    monkeypatch.setattr(functions, "CUSHION", 20.0)  # for some doubt with every kernel
    doubted = doubts(monkeypatch)
    random = np.random.default_rng(1)
    A = rows_with_zeros(400, 30, 0.2)
    A = A if negative else np.abs(A)
    close = A * (1 + np.float32(1e-5) * random.standard_normal(A.shape).astype(np.float32))
    mixed = random.permutation(800)
    X = np.concatenate([A, close])[mixed]
    codes = np.concatenate([np.arange(400) % 3, np.arange(1, 401) % 3])[mixed]
    single = blocked(kernel, X, codes, 3, 64, passes=4)
    double = blocked(kernel, X.astype(np.float64), codes, 3, 64, passes=4)
    assert doubted
    assert single[0].counts.tolist() == double[0].counts.tolist()


def test_values_within_a_block_are_computed_for_few_rows(monkeypatch):
    monkeypatch.setattr(training, "CHEAP", 0)
    computed = calls_of(training, "wide_gram", monkeypatch)
    X, codes = pictures(n=1000, classes=2)
    ran, _ = blocked("polynomial:2:1", X, codes, 2, 200, passes=3)
    blocks, rows = 3 * 5, 3 * 1000
    assert ran.mistakes <= sum(map(len, computed)) < rows / 2
    assert len(computed) < ran.mistakes + blocks
