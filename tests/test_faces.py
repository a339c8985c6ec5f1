"""Faces as floats see them, single columns that settle rows, and weights that sum to zero."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import nnls

import naive_decide
import rosenblatt as rb
from rosenblatt.decide.answers import Clock
from rosenblatt.decide.separability import projection
from rosenblatt.decide.separability.balances import Balancing
from rosenblatt.decide.separability.faces import FaceSearch
from rosenblatt.decide.separability.projection import face_of
from rosenblatt.decide.separability.stumps import stumps
from rosenblatt.exact.signed import SignedRows


def no_pause():
    return None


def lifted(X, signs):
    return [[int(s) * Fraction(v) for v in (*x, 1)] for x, s in zip(X.tolist(), signs, strict=True)]


def few_values(random, n=12, d=3):
    """Draw rows of few values, among which single columns often separate weakly."""
    X = random.integers(0, 3, (n, d)).astype(float)
    signs = np.where(X @ random.integers(-1, 2, d) + random.integers(-2, 2) >= 0, 1, -1)
    return X, np.where(np.arange(n) < 2, [1, -1] * (n // 2), signs).astype(np.int8)


# ---- in floats


@pytest.mark.parametrize("projected", [0, 10**8], ids=["newton", "projection"])
def test_floats_see_the_face_that_was_planted(monkeypatch, projected):
    monkeypatch.setattr(projection, "PROJECTED", projected)
    random = np.random.default_rng(0)
    for _ in range(20):
        d, k = random.integers(3, 9), random.integers(1, 3)
        on = random.standard_normal((6 * d, d - k))
        off = np.column_stack([random.standard_normal((9, d - k)), random.uniform(0.1, 1, (9, k))])
        Z = np.vstack([np.column_stack([on, np.zeros((len(on), k))]), off])
        Z = Z @ np.linalg.qr(random.standard_normal((d, d)))[0]
        glance = face_of(Z / np.abs(Z).max(axis=1, keepdims=True), no_pause)
        assert glance.face.tolist() == list(range(len(on)))
        assert set(glance.reasons) <= set(glance.face)
        products = Z @ glance.w / np.linalg.norm(glance.w)
        assert np.abs(products[: len(on)]).max() < 1e-6 < products[len(on) :].min()


@pytest.mark.parametrize("balanced", [True, False])
def test_least_squares_in_pieces_come_as_near_as_at_once(balanced):
    rows = np.random.default_rng(3).standard_normal((300, 8))
    rows = rows if balanced else np.abs(rows)  # the nearest point is the total itself
    total = rows[:8].sum(axis=0) * ([1] * 4 + [1 if balanced else -1] * 4)
    found = projection.multipliers(rows, total, no_pause)
    assert (found >= 0).all()
    assert np.count_nonzero(found) <= 8
    nearest = nnls(rows.T, -total)[1]
    assert np.linalg.norm(total + found @ rows) == pytest.approx(nearest, abs=1e-8)


def test_rows_that_cancel_out_have_a_mean_of_nothing_but_rounding():
    row = np.random.default_rng(0).standard_normal(5)
    glance = face_of(np.array([row, -row * (1 + 2**-52)]), no_pause)
    assert glance.face.tolist() == [0, 1]
    assert not glance.w.any()


# ---- weights


def test_balanced_rows_sum_to_zero_exactly():
    random = np.random.default_rng(1)
    for _ in range(10):
        X, signs = random.standard_normal((40, 4)), random.choice([-1, 1], 40).astype(np.int8)
        cone = SignedRows(X, signs, 1)
        search = FaceSearch(cone, np.zeros(40), Clock())
        face = search.face()
        rows = lifted(X, signs)
        for weights, most in ((face.weights, 10), (search.circuit(face), 6)):
            assert len(weights) <= most
            assert min(weights.values()) > 0
            assert not any(naive_decide.combined(weights.values(), [rows[i] for i in weights]))


def test_floats_that_balance_nothing_are_noticed():
    X, signs = np.array([[1.0, 2.0], [3.0, 1.0]]), np.ones(2, np.int8)
    cone = SignedRows(X, signs, 0)
    balancing = Balancing(cone, np.arange(2), cone.scaled(np.arange(2)), np.zeros(2, int), Clock())
    assert balancing.spanning() is None
    assert balancing.circuit() is None


# ---- single columns


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, rb.as_decimals])
@pytest.mark.parametrize("lift", [0, 1])
def test_single_columns_settle_only_rows_off_the_face(form, lift):
    random, settled = np.random.default_rng(2), 0
    for _ in range(60):
        X, signs = few_values(random)
        cone = SignedRows(form(X / 10), signs, lift)
        found = stumps(cone, Clock())
        rows = [z if lift else z[:-1] for z in lifted(X, signs)]
        w = [Fraction(value) for value in found.extended(None)]
        if not lift:
            assert len(w) == X.shape[1]
        exact = [[v / 10 for v in z[:-1]] + z[-1:] for z in lifted(X, signs)]
        exact = exact if form is rb.as_decimals else lifted(X / 10, signs)
        products = naive_decide.dots([z if lift else z[:-1] for z in exact], w)
        assert [product > 0 for product in products] == [i not in found.left for i in range(len(X))]
        assert min(products) >= 0
        assert naive_decide.verdict(rows) != "inseparable" or found.left.size == len(X)
        settled += len(X) - found.left.size
    assert settled > 50


def test_what_single_columns_settle_leaves_the_verdict_alone():
    random, verdicts = np.random.default_rng(3), set()
    for _ in range(60):
        X, signs = few_values(random)
        found = rb.separate(X, signs)
        assert found.verdict == naive_decide.verdict(lifted(X, signs))
        assert rb.verify(found.certificate, X, signs)
        verdicts.add(found.verdict)
    assert len(verdicts) == 3


def test_a_point_for_the_rows_left_is_kept_on_them():
    X = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, -5.0], [0.5, 7.0]])
    found = stumps(SignedRows(X, np.array([1, -1, 1, 1], np.int8), 0), Clock())
    assert found.left.tolist() == [0, 1]
    w = found.extended([0, 3])
    assert w[1] == 3
    assert min(X[2:] @ np.array(w, float)) > 0
