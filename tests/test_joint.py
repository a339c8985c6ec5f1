import itertools
import time

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits

from layouts import DENSE, EVERY_LAYOUT, SPARSE, normal_rows, whole_numbers
from naive import Draws
from rosenblatt.errors import InputError
from rosenblatt.loops import loop
from rosenblatt.margin import joint, joint_newton
from rosenblatt.margin.class_rows import class_add, class_dots, class_weights, padded
from rosenblatt.margin.classes import without_zeros
from rosenblatt.margin.joint import JointDescent, simplex_points
from rosenblatt.margin.joint_sweeps import ACTIVE, GAP, REACH
from rosenblatt.margin.problem import Effort, Problem
from rosenblatt.matrices import as_matrix

# ---- naive twins


def nearest_by_sorting(v, cap):
    """The point of {q >= 0, Σ q = cap} nearest to v, as in the textbooks."""
    down = np.sort(v)[::-1]
    sums = np.cumsum(down) - cap
    count = np.flatnonzero(down - sums / np.arange(1, v.size + 1) > 0)[-1] + 1
    q = v - sums[count - 1] / count
    return np.where(q > 1e-14 * cap, q, 0.0)


class Twin:
    """Sweeps and leaps in plain NumPy; rows are lifted by hand, weights lie class by class."""

    def __init__(self, X, y, k, lam, lift, caps, seed):
        self.Z = np.column_stack([np.asarray(X, float), np.full(len(y), lift)])
        self.y, self.k, self.lam, self.caps = y, k, lam, caps
        self.q = np.eye(k)[y] * caps[:, None]
        self.w = np.zeros((k, self.Z.shape[1]))
        self.offsets = np.zeros(k)
        self.draws = Draws(seed)
        self.active, self.bound = list(range(len(y))), np.inf
        self.base, self.reach = None, 4.0

    def way_of(self, step):
        return -step.T @ self.Z / (2 * self.lam)

    def dual(self):
        alphas = np.eye(self.k)[self.y] * self.caps[:, None] - self.q
        W = alphas.T @ self.Z / (2 * self.lam)
        np.testing.assert_allclose(W, self.w, atol=1e-9 / self.lam)
        right = alphas[np.arange(len(alphas)), self.y].sum()
        return right - (alphas @ self.offsets).sum() - self.lam * (W**2).sum()

    def gains(self, i):
        return self.w @ self.Z[i] + self.offsets + (np.arange(self.k) != self.y[i])

    def sweep(self):
        self.active = self.draws.shuffle(self.active)
        kept, self.gap, worst = [], 0.0, 0.0
        for i in self.active:
            g, q, A = self.gains(i), self.q[i].copy(), self.Z[i] @ self.Z[i] / (2 * self.lam)
            wrong = g.max() - g[q > 0].min()
            self.gap += self.caps[i] * g.max() - q @ g
            worst = max(worst, wrong)
            if wrong > 0:
                self.q[i] = nearest_by_sorting(q + g / A, self.caps[i])
                self.w += np.outer(q - self.q[i], self.Z[i]) / (2 * self.lam)
                kept.append(i)
            elif (q > 0).sum() > 1 or g.max() - g[q == 0].max() <= self.bound:
                kept.append(i)
        self.active, self.bound = kept, 0.1 * worst

    def leap_or_wait(self):
        if self.base is None or 2 * len(self.active) < self.members:
            self.members, self.since = len(self.active), 0
            self.base, self.step = self.q.copy(), np.zeros_like(self.q)
            return
        self.since += 1
        if self.since == 2:
            self.leap()
            self.since = 0

    def leap(self):
        steps = np.array([self.q - self.base, self.step])
        D = np.array([self.way_of(s) for s in steps])
        slope = np.array([self.slope(s, w) for s, w in zip(steps, D, strict=True)])
        H = 2 * self.lam * np.einsum("arj,brj->ab", D, D)
        if H[1, 1] == 0:
            factors = np.array([slope[0] / H[0, 0], 0.0])
        else:
            factors = np.linalg.solve(H, slope)
        limited = np.abs(factors).max() > self.reach
        if limited:
            factors *= self.reach / np.abs(factors).max()
        point = self.q + np.tensordot(factors, steps, 1)
        way = (
            np.array([nearest_by_sorting(p, c) for p, c in zip(point, self.caps, strict=True)])
            - self.q
        )
        w = self.way_of(way)
        t = np.clip(self.slope(way, w) / (2 * self.lam * (w**2).sum()), 0.0, 1.0)
        before, self.q = self.base, np.maximum(0.0, self.q + t * way)
        self.w = self.w + t * w
        self.step, self.base = self.q - before, self.q.copy()
        if t < 0.5:
            self.reach = max(1.0, self.reach / 2)
        elif t == 1.0 and limited:
            self.reach *= 2

    def slope(self, step, w):
        along = (step @ self.offsets).sum() - step[np.arange(len(step)), self.y].sum()
        return along - 2 * self.lam * (w * self.w).sum()


def joint_margin(X, y, k, lam, *, caps=None, intercept="none", lift=1.0, **limits):
    problem = Problem.of(as_matrix(X), y, lam, caps, intercept, lift, k)
    return joint.joint_margin(problem, **limits)


def objective(X, y, k, lam, W, *, caps=None, lift=1.0, penalised=True):
    caps = np.ones(len(y)) if caps is None else caps
    S = np.asarray(X @ W[:, :-1].T) + lift * W[:, -1]
    right = S[np.arange(len(y)), y]
    wrong = S + (np.arange(k) != y[:, None])
    return caps @ (wrong.max(axis=1) - right) + lam * ((W if penalised else W[:, :-1]) ** 2).sum()


def three_classes(n=60, d=4, k=3, seed=0, noise=1.0):
    random = np.random.default_rng(seed)
    y = random.integers(0, k, n)
    y[:k] = np.arange(k)
    centres = random.standard_normal((k, d)) * 2
    return centres[y] + noise * random.standard_normal((n, d)), y


# ---- the loops


@loop
def dots_of_all(rows, weights, out):
    for i in range(out.shape[0]):
        class_dots(rows, i, weights, out[i])


@loop
def add_all(rows, steps, weights):
    for i in range(steps.shape[0]):
        class_add(rows, i, steps[i], weights)


@pytest.mark.parametrize("layout", EVERY_LAYOUT, ids=str)
def test_class_primitives_are_products_of_matrices(layout):
    A, _ = whole_numbers()
    random = np.random.default_rng(0)
    for k, columns in itertools.product((2, 5, 8, 11, 16, 23), (1, 2, 3, A.shape[1])):
        B = A[:, :columns]
        weights = class_weights(columns, k)
        weights[:] = random.integers(-4, 5, weights.shape)
        steps = random.integers(-4, 5, (len(B), padded(k))).astype(float)
        steps *= np.repeat(random.random((len(B), padded(k) // 4)) < 0.5, 4, axis=1)
        lifted = np.column_stack([B, np.full(len(B), 2.0)])
        out = np.ones((len(B), padded(k)))
        dots_of_all(layout.rows(B, 2.0), weights, out)
        np.testing.assert_array_equal(out, 1 + lifted @ weights)
        expected = weights + lifted.T @ steps
        add_all(layout.rows(B, 2.0), steps, weights)
        np.testing.assert_array_equal(weights, expected)


def test_weights_of_classes_begin_at_a_cache_line():
    for columns, k in itertools.product((0, 1, 17, 5000), (2, 5, 26)):
        weights = class_weights(columns, k)
        assert weights.shape == (columns + 1, padded(k))
        assert weights.flags.c_contiguous
        assert weights.ctypes.data % 64 == 0
        assert not weights.any()


@pytest.mark.twin_of("margin.classes.fill_entries")
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("height", [1, 400])  # a row, and several blocks
def test_dense_rows_that_are_mostly_zeros_become_sparse_ones(kind, height):
    random = np.random.default_rng(5)
    X = random.standard_normal((height, 700)).astype(kind)
    X *= random.random(X.shape) < 0.1
    X[-1] = 0.0
    found, expected = without_zeros(X), csr_matrix(X)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
        assert getattr(found, name).dtype == getattr(expected, name).dtype
    filled = random.standard_normal((height, 700))
    assert without_zeros(filled) is filled


@pytest.mark.twin_of("margin.joint_sweeps.descend")
@pytest.mark.parametrize("layout", [DENSE, SPARSE], ids=str)
@pytest.mark.parametrize("lam", [0.02, 1.0])
def test_sweeps_and_leaps_do_what_the_twin_does(layout, lam):
    A, _ = normal_rows(layout)
    random = np.random.default_rng(2)
    y, caps = random.integers(0, 5, len(A)), random.random(len(A)) + 0.5
    task = Problem.of(layout.matrix(A), y, lam, caps, "lifted", 0.7, 5)
    offsets = random.standard_normal(5) * 0.1
    for sweeps in (1, 2, 5, 8, 14):
        descent = JointDescent(task, joint.lifted_problem(task), simplex_points(task, None), 3)
        twin = Twin(A, y, 5, lam, 0.7, caps, 3)
        descent.dual.offsets[:5] = twin.offsets[:] = offsets
        descent.look_at_all()
        descent.sweep_until(-1.0, Effort(most=sweeps))
        values = twin_values(twin, sweeps)
        np.testing.assert_allclose(descent.found[GAP], twin.gap, rtol=1e-5, atol=1e-9)
        np.testing.assert_allclose(descent.dual.q, twin.q, atol=1e-7)
        np.testing.assert_allclose(descent.dual.weights[:, :5].T, twin.w, atol=1e-7 / lam)
        assert descent.sweeps.tally[ACTIVE] == len(twin.active)
        assert descent.found[REACH] == twin.reach
        assert (np.diff(values) >= -1e-12).all()


@pytest.mark.twin_of("margin.joint_newton.fill_duals", "margin.joint_newton.add_squares")
@pytest.mark.parametrize("layout", [DENSE, SPARSE], ids=str)
def test_duals_near_a_centre_and_what_they_bend_follow_their_formulas(layout):
    A, _ = normal_rows(layout)
    A[::3] *= np.arange(A.shape[1]) % 3 == 0  # rows that are mostly zeros
    A[3] = 0.0
    random, n, k = np.random.default_rng(4), len(A), 4
    gains, ways = random.standard_normal((2, n, k))
    centre, caps = random.random((n, k)), random.random(n) + 0.5
    near = joint_newton.Nearby(layout.rows(A, 2.0), caps, centre, 3.0)
    duals = joint_newton.Duals.like(gains)
    total = joint_newton.fill_duals(near, gains, ways, 0.5, duals)
    there = gains + 0.5 * ways
    q = np.array(
        [nearest_by_sorting(c, cap) for c, cap in zip(centre + 3 * there, caps, strict=True)]
    )
    np.testing.assert_allclose(duals.q, q, atol=1e-12)
    assert total == pytest.approx((q * ways).sum())
    np.testing.assert_array_equal(duals.tops, there.max(axis=1))
    np.testing.assert_array_equal(duals.held, (q > 0).sum(axis=1))
    Z = np.column_stack([A, np.full(n, 2.0)])
    width = Z.shape[1]
    sums = np.zeros((k * (k + 1) // 2, width * (width + 1) // 2))
    joint_newton.add_squares(near, duals, joint_newton.Square.of_width(width), sums)
    H = joint_newton.unfolded(sums, k, width).reshape(k, width, k, width)
    expected = np.zeros_like(H)
    for z, held in zip(Z, q > 0, strict=True):
        P = np.diag(held) - np.outer(held, held) / held.sum()
        expected += 3 * np.einsum("rs,a,b->rasb", P, z, z)
    for r, s in itertools.product(range(k), repeat=2):
        wanted = expected[s, :, r] if s >= r else 0 * expected[s, :, r]
        np.testing.assert_allclose(H[s, :, r], wanted, atol=1e-9)


@pytest.mark.parametrize("intercept", ["none", "lifted", "free"])
def test_newton_steps_and_sweeps_find_the_same_optimum(intercept, monkeypatch):
    X, y = three_classes(n=300, noise=2.0)
    X[:, 0] *= np.arange(300) % 50 == 0  # a column that hardly any row has
    stepped = joint_margin(X, y, 3, 0.1, intercept=intercept, tol=1e-7)
    monkeypatch.setattr(joint, "FEW_NUMBERS", 0)
    swept = joint_margin(X, y, 3, 0.1, intercept=intercept, tol=1e-7)
    assert stepped.converged
    assert swept.converged
    assert stepped.passes < swept.passes
    assert stepped.primal == pytest.approx(swept.primal, rel=1e-6)


def test_rows_that_are_few_beside_the_weights_are_swept():
    digits = load_digits()
    for rows, pays in ((slice(None), False), (np.tile(np.arange(1797), 3), True)):
        X, y = np.ascontiguousarray(digits.data[rows]), digits.target[rows]
        task = Problem.of(X, y.astype(np.int64), 1.0, k=10)
        assert joint.newton_pays(task) is pays


def test_newton_steps_begin_with_the_weights_of_a_part_of_the_rows(monkeypatch):
    X, y = three_classes(n=600, noise=2.0)
    whole = joint_margin(X, y, 3, 0.1, tol=1e-6)
    monkeypatch.setattr(joint_newton, "PART_ROWS", 40)
    assert joint_margin(X, y, 3, 0.1, tol=1e-6).primal == pytest.approx(whole.primal, rel=2e-6)


def twin_values(twin, sweeps):
    """Sweep and leap; give the values of the dual on the way."""
    values = [twin.dual()]
    for turn in range(sweeps):
        twin.sweep()
        values.append(twin.dual())
        if turn < sweeps - 1:
            twin.leap_or_wait()
            values.append(twin.dual())
    return values


# ---- the solution


@pytest.mark.parametrize("intercept", ["none", "lifted", "free"])
@pytest.mark.parametrize("lam", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_gap_is_met_for_all_kinds_of_lam(lam, intercept):
    X, y = three_classes(noise=0.7)
    result = joint_margin(X, y, 3, lam, intercept=intercept, tol=1e-4)
    assert result.converged
    assert -1e-12 <= result.gap <= 1e-4


def test_identical_rows_of_different_classes_share_the_loss():
    X, y = np.ones((9, 2)), np.arange(9) % 3
    result = joint_margin(X, y, 3, 0.1, tol=1e-8)
    assert result.converged
    assert result.primal == pytest.approx(9.0)  # no weights are better than none


def test_rows_of_zeros_lose_one_each():
    X, y = three_classes(n=20)
    with_zeros = np.vstack([X, np.zeros((3, X.shape[1]))])
    plain = joint_margin(X, y, 3, 0.1, tol=1e-9)
    more = joint_margin(with_zeros, np.append(y, [0, 1, 2]), 3, 0.1, tol=1e-9)
    assert more.converged
    assert more.primal == pytest.approx(plain.primal + 3, rel=1e-8)
    assert joint_margin(0 * X, y, 3, 0.1).primal == pytest.approx(20.0)


@pytest.mark.parametrize("intercept", ["none", "free"])
def test_classes_of_one_row_and_of_none_are_allowed(intercept):
    X, y = three_classes(n=40, k=3)
    y[y == 2] = 0
    y[5] = 2
    result = joint_margin(X, y, 4, 0.05, intercept=intercept, tol=1e-6)
    assert result.converged
    assert result.w.shape == (4, 5)


def test_start_from_a_solution_needs_hardly_a_pass():
    X, y = three_classes(n=100, noise=2.0)
    first = joint_margin(X, y, 3, 0.1, tol=1e-6)
    again = joint_margin(X, y, 3, 0.1, tol=1e-5, start=(first.w, first.alphas))
    assert again.converged
    assert again.passes <= 1
    strange = joint_margin(X, y, 3, 0.1, tol=1e-6, start=(first.w, np.full((100, 3), -7.0)))
    assert strange.primal == pytest.approx(first.primal, rel=1e-5)


@pytest.mark.parametrize("intercept", ["none", "free"])
def test_limits_leave_an_honest_gap(intercept):
    X, y = three_classes(n=200, noise=2.0)
    best = joint_margin(X, y, 3, 1e-3, intercept=intercept, tol=1e-7)
    for limit in ({"max_seconds": 0.0}, {"max_passes": 2}):
        result = joint_margin(X, y, 3, 1e-3, intercept=intercept, tol=1e-9, **limit)
        assert not result.converged
        assert result.passes <= 2
        assert result.gap == (result.primal - result.dual) / result.primal > 1e-9
        primal = objective(X, y, 3, 1e-3, result.w, penalised=intercept != "free")
        assert result.primal == pytest.approx(primal)
        assert result.dual <= best.primal <= result.primal


def test_time_limit_is_kept():
    X, y = load_digits(return_X_y=True)
    joint_margin(X[:50], y[:50], 10, 1.0)
    began = time.process_time()
    result = joint_margin(X, y, 10, 1e-9, tol=1e-12, max_seconds=0.2)
    assert time.process_time() - began < 2.0
    assert not result.converged


def test_seed_changes_the_order_and_not_the_optimum():
    X, y = three_classes(n=12, noise=2.0)  # fewer rows than weights: sweeps, in random order
    a, b = (joint_margin(X, y, 3, 0.1, tol=1e-9, seed=seed) for seed in (0, 1))
    assert a.primal == pytest.approx(b.primal, rel=1e-8)
    assert not np.array_equal(a.alphas, b.alphas)


def test_rows_whose_squares_are_infinite_are_refused():
    X, y = three_classes()
    with pytest.raises(InputError, match="divide X by a constant"):
        joint_margin(X * 1e160, y, 3, 1.0)
