"""Deciding separability (D9): every verdict against slow exact programs, every proof checked."""

import json
import math
import zlib
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy import sparse

import naive_decide
import rosenblatt as rb
from amount import amount
from naive_decide import INSEPARABLE, SEPARABLE, WEAKLY
from planted import interrupted
from rosenblatt.check.verification import verify
from rosenblatt.checker import Refused, check
from rosenblatt.decide.answers import Clock, OutOfTimeError
from rosenblatt.decide.equals import contradictions, first_of_equals, without_zeros
from rosenblatt.decide.separability.faces import FaceSearch
from rosenblatt.decide.separability.separate import separate
from rosenblatt.exact.digest import exact_rows, label_tags
from rosenblatt.exact.numbers import exact_matrix
from rosenblatt.exact.signed import SignedRows

TINIEST = 5e-324
PROBLEMS_OF_A_KIND = amount(20, 80)

# ---- small problems of all kinds: rows in any form, and signs


def shape(random, most_rows=10, most_columns=4):
    return random.integers(2, most_rows + 1), random.integers(1, most_columns + 1)


def any_signs(random, count):
    """Draw signs of which both occur."""
    signs = random.choice([-1, 1], count)
    signs[0] = -signs[-1]
    return signs


def signs_by(random, X, share=0.8):
    """Take signs by a plane, or by chance: the problem may go either way."""
    scores = X @ random.standard_normal(X.shape[1]) + random.choice([0, 0.3])
    signs = np.where(scores > 0, 1, -1)
    if random.random() > share or abs(signs.sum()) == signs.size:
        return any_signs(random, signs.size)
    return signs


def mixed(random, X):
    """Multiply by an integer matrix of determinant 1: integers stay such, and no case changes."""
    size = X.shape[1]
    upper = np.triu(random.integers(-2, 3, (size, size)), 1) + np.eye(size)
    return X @ upper @ np.tril(upper.T)


def whole(random, most=9, **sizes):
    X = random.integers(-most, most + 1, shape(random, **sizes)).astype(float)
    return X, signs_by(random, X)


def degenerate(random):
    return whole(random, most=1, most_rows=12)


def normal(random):
    X = random.standard_normal(shape(random))
    return X, signs_by(random, X)


def larger(random):
    X = random.integers(-3, 4, (20, 6)).astype(float)
    return X, signs_by(random, X, 0.9)


def with_margin(random):
    """Plant a margin from 0.1 to 1e-12, which several rows have."""
    n, d = shape(random)
    w = random.standard_normal(d)
    w /= np.linalg.norm(w)
    signs, X = any_signs(random, n), random.standard_normal((n, d))
    heights = 10.0 ** -random.integers(1, 13) * (1 + random.choice([0, 0, 1e3], n))
    X += np.outer(signs * heights - X @ w, w)
    return X, signs


def weakly_separable(random):
    """Put rows on a plane, ± each other, and rows on the right side of it."""
    n, d = shape(random, 5, 4)
    on, off = random.integers(-3, 4, (n, d)), random.integers(-3, 4, (random.integers(1, 4), d))
    on[:, 0], off[:, 0] = 0, random.integers(1, 4, len(off))
    Z = mixed(random, np.vstack([on, -on, off]).astype(float))
    signs = any_signs(random, len(Z))
    return Z * signs[:, None], signs


def inseparable(random):
    """Make the last row minus the sum of the others."""
    Z = random.integers(-9, 10, shape(random)).astype(float)
    Z[-1] = -Z[:-1].sum(axis=0)
    signs = any_signs(random, len(Z))
    return Z * signs[:, None], signs


def repeated(random):
    X, signs = whole(random)
    chosen = random.integers(0, len(X), 2 * len(X))
    chosen[:2] = np.argmin(signs), np.argmax(signs)
    return X[chosen], signs[chosen]


def contradicting(random):
    X, _ = whole(random, most=2, most_rows=5)
    X = X[random.integers(0, len(X), 2 * len(X))]
    return X, any_signs(random, len(X))


def zero_rows(random):
    X, signs = whole(random)
    X[random.random(len(X)) < 0.3] = 0
    return X, signs


def zero_columns(random):
    X, signs = whole(random, most_columns=6)
    X[:, random.random(X.shape[1]) < 0.5] = 0
    return X, signs


def rank_deficient(random):
    """Add columns that depend on the others: exactly, or up to rounding."""
    X, _ = whole(random) if random.random() < 0.5 else normal(random)
    X = np.hstack([X, X @ random.integers(-2, 3, (X.shape[1], random.integers(1, 4)))])[:, :6]
    X = X if random.random() < 0.5 else X * 0.1
    return X, signs_by(random, X)


def scaled_columns(random):
    X, signs = [normal, with_margin, inseparable][random.integers(3)](random)
    return X * 10.0 ** random.integers(-150, 151, X.shape[1]), signs


def scaled_rows(random):
    X, signs = [normal, with_margin, weakly_separable][random.integers(3)](random)
    return X * 2.0 ** random.integers(-400, 401, (len(X), 1)), signs


def scaled_entries(random):
    X, signs = whole(random, most_rows=6, most_columns=3)
    return X * 10.0 ** random.choice([0, 0, 0, -20, 20, -300, 300], X.shape), signs


def subnormal(random):
    X, signs = [whole, weakly_separable, inseparable][random.integers(3)](random)
    return X * TINIEST * random.choice([1, 2**20]), signs


def huge(random):
    X, signs = [whole, with_margin, inseparable][random.integers(3)](random)
    return X / np.abs(X).max(initial=1e-300) * 1.7e308, signs


def one_hot(random):
    """Encode the levels of two or three factors."""
    n, factors = random.integers(4, 15), random.integers(2, 4)
    X = np.hstack([np.eye(3)[random.integers(0, random.integers(2, 4), n)] for _ in range(factors)])
    return X[:, : random.integers(5, 10)], signs_by(random, X, 0.6)


def single_precision(random):
    X, signs = [normal, with_margin, whole][random.integers(3)](random)
    return X.astype(np.float32), signs


def sparse_rows(random):
    """Store zeros, entries twice or out of order in CSR and other formats."""
    X, signs = whole(random, most=2, most_columns=6)
    rows, columns = np.indices(X.shape).reshape(2, -1)
    order = random.permutation(np.repeat(np.arange(X.size), 2))
    halves = X.ravel()[order] / 2
    kept = (halves != 0) | (random.random(halves.size) < 0.1)
    places = rows[order][kept], columns[order][kept]
    stored = sparse.coo_matrix((halves[kept], places), X.shape)
    forms = [stored.tocsr(), sparse.csr_matrix(X), stored, sparse.csc_matrix(X)]
    return forms[random.integers(4)].astype(random.choice([np.float32, np.float64])), signs


def long_integers(random):
    """Take integers beyond 2^53 that differ in their last digits."""
    X, signs = [whole, weakly_separable, inseparable][random.integers(3)](random)
    factor, added = 3 ** int(random.integers(35, 60)), int(random.integers(2))
    steps = [added * int(sign > 0) for sign in signs]
    longer = [[int(value) * factor + step for value in x] for x, step in zip(X, steps, strict=True)]
    return np.array(longer, object), signs


def fractions(random):
    X, signs = [whole, weakly_separable, inseparable][random.integers(3)](random)
    thirds = [Fraction(1, int(k)) for k in random.choice([1, 3, 7, 10**30], X.shape[1])]
    return X.astype(int).astype(object) * np.array(thirds, object), signs


def numbers_of_all_types(random):
    """Put floats, integers and fractions side by side."""
    X, signs = whole(random)
    kinds = [float, int, lambda v: Fraction(int(v), 3), lambda v: 10**400 * int(v)]
    chosen = random.integers(0, 4, X.shape[1])
    return [[kinds[c](v) for c, v in zip(chosen, x, strict=True)] for x in X.tolist()], signs


def arrays_of_all_types(random):
    X, signs = whole(random, most=4)
    types = [np.int8, np.int64, np.float16, np.longdouble, list, np.asfortranarray]
    kind = types[random.integers(6)]
    if kind is list:
        return X.tolist(), signs
    return kind(X) if kind is np.asfortranarray else X.astype(kind), signs


def wide(random):
    """Have more columns than rows."""
    n = random.integers(2, 6)
    X = random.standard_normal((n, n + random.integers(1, 4)))
    X = X if random.random() < 0.4 else np.round(X)
    X = X if random.random() < 0.7 else np.vstack([X, X[:1]])
    return X, any_signs(random, len(X))


def next_to_each_other(random):
    """Put points of both classes one float apart."""
    X = random.standard_normal(shape(random, 5, 3))
    X[random.random(X.shape) < 0.3] = 1
    moved = X.copy()
    moved[:, 0] = np.nextafter(X[:, 0], random.choice([-9, 9], len(X)))
    signs = np.ones(len(X), int)
    return np.vstack([X, moved]), np.concatenate([signs, -signs])


def thin(random):
    """Turn the worst case F10, in more dimensions."""
    K = 10.0 ** random.integers(1, 17)
    rows = np.array([[1, 1], [1, 0], [1 / K, 1], [0, 1]])
    others = random.integers(-1, 2, (4, random.integers(0, 3)))
    return mixed(random, np.hstack([rows, others])), np.array([1, 1, 1, -1])


def on_a_line(random):
    """Draw points of a line, with a threshold that both classes may touch."""
    x = np.sort(random.integers(-4, 5, random.integers(2, 9))) * random.choice([1, 0.1])
    place = random.integers(1, x.size)
    signs = np.where(np.arange(x.size) < place, -1, 1)
    return x[:, None].astype(float), signs * random.choice([-1, 1])


def two_points(random):
    X = random.choice([0.0, 1.0, -2.0, 0.1, 1e-300], (2, random.integers(1, 4)))
    return X, np.array([1, -1])


def nearly_dependent(random):
    """Repeat a column up to its last digits."""
    X, _ = normal(random)
    X = np.hstack([X, X[:, :1] * (1 + 1e-15 * random.integers(-3, 4, (len(X), 1)))])
    return X, any_signs(random, len(X))


KINDS = [
    whole, degenerate, normal, larger, with_margin, weakly_separable, inseparable, repeated,
    contradicting, zero_rows, zero_columns, rank_deficient, scaled_columns, scaled_rows,
    scaled_entries, subnormal, huge, one_hot, single_precision, sparse_rows, long_integers,
    fractions, numbers_of_all_types, arrays_of_all_types, wide, next_to_each_other, thin, on_a_line,
    two_points, nearly_dependent
]  # fmt: skip


def problem(make, number):
    """Give problem so many of a kind: rows, labels and whether there is an intercept."""
    random = np.random.default_rng([zlib.crc32(make.__name__.encode()), number])
    X, signs = make(random)
    names = [(0, 1), ("no", "yes"), (-1, 1), (2.5, 7.0)][random.integers(4)]
    return X, [names[int(sign > 0)] for sign in signs], bool(random.integers(2))


@cache
def answer(make, number):
    """Give what is found for a problem; several tests look at it."""
    X, y, intercept = problem(make, number)
    return separate(X, y, fit_intercept=intercept)


# ---- verdicts and proofs

SAYS = {
    SEPARABLE: "w separates with a margin of at least",
    WEAKLY: "but w does weakly",
    INSEPARABLE: "not even weakly",
}


def listed(X):
    """Give rows of any form as lists of numbers."""
    if sparse.issparse(X):
        return X.toarray().tolist()
    return X.tolist() if isinstance(X, np.ndarray) else X


def signs_of(y, positive):
    return [1 if label == positive else -1 for label in y]


def signed_rows(X, y, intercept):
    """Give signed rows in fractions; the larger label is positive."""
    return naive_decide.signed(listed(X), signs_of(y, max(y)), intercept)


def load_loops():
    """Have everything compiled or loaded, before time counts."""
    for make in (whole, inseparable, weakly_separable, fractions):
        answer(make, 0)


def assert_proven(found, X, y):
    """Have both checkers accept the certificate, as text, for what the verdict says."""
    text, matrix = found.certificate.to_json(), exact_matrix(X)
    tags = label_tags(np.array(signs_of(y, found.classes[1]))).tolist()
    proven = check(json.loads(text), exact_rows(matrix, tags), matrix.shape[1])
    assert SAYS[found.verdict] in proven
    assert verify(text, X, y).ok


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_small_problems_are_decided_as_the_slow_programs_do(make):
    for number in range(PROBLEMS_OF_A_KIND):
        X, y, intercept = problem(make, number)
        found = answer(make, number)
        truth = naive_decide.verdict(signed_rows(X, y, intercept))
        assert found.verdict == truth, f"{make.__name__} {number}"
        assert_proven(found, X, y)


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_proofs_rest_on_few_rows(make):
    for number in range(PROBLEMS_OF_A_KIND):
        found = answer(make, number)
        if found.verdict != SEPARABLE:
            dimension = found.certificate.dimension
            most = 2 * dimension if found.verdict == INSEPARABLE else dimension + 1
            assert len(found.certificate.rows) <= most, f"{make.__name__} {number}"


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_the_face_holds_the_rows_that_no_weak_separator_leaves(make):
    for number in range(0, PROBLEMS_OF_A_KIND, 2):
        cone, rows = cone_of(make, number)
        search = FaceSearch(cone, np.zeros(cone.size), Clock())
        face = search.face()
        held = [rows[i] for i in face.weights]
        weights = face.weights.values()
        assert all(weight > 0 for weight in weights)
        assert not held or not any(naive_decide.combined(weights, held))
        products = naive_decide.dots(rows, face.point or [0] * cone.dimension)
        on_span = [naive_decide.rank([*held, z]) == naive_decide.rank(held) for z in rows]
        assert [product == 0 for product in products] == on_span
        assert min(products) >= 0


def test_the_slow_programs_know_the_examples_of_the_theory():
    assert naive_decide.verdict([[1, 2], [3, 1], [1, -2]]) == SEPARABLE
    assert naive_decide.verdict([[1, 0], [0, 1], [0, -1]]) == WEAKLY
    assert naive_decide.verdict([[1, 0], [-1, 1], [0, -1]]) == INSEPARABLE
    assert naive_decide.verdict([[0, 0], [0, 0]]) == INSEPARABLE
    assert naive_decide.verdict([[0, 0], [0, 1]]) == WEAKLY


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("K", [10, 1e3, 1e6, 1e9, 1e15])
def test_the_worst_case_of_the_perceptron_is_decided_at_once(K, intercept):
    load_loops()
    X, y = [[1, 1], [1, 0], [1 / K, 1], [0, 1]], [1, 1, 1, 0]
    for rows in (X, [[1, 1], [1, 0], [Fraction(1, int(K)), 1], [0, 1]]):
        found = separate(rows, y, fit_intercept=intercept, max_seconds=1)
        assert found.verdict == naive_decide.verdict(signed_rows(rows, y, intercept)) == SEPARABLE
        assert_proven(found, rows, y)


def test_entries_that_floats_lose_beside_others_are_not_taken_for_zeros():
    X, y = np.array([[1e300], [-1e-300]]), [1, 0]
    found = separate(X, y, fit_intercept=False)
    assert found.verdict == SEPARABLE
    assert_proven(found, X, y)


def by_plane(random, n, d):
    X = random.standard_normal((n, d))
    return X, np.where(X @ random.standard_normal(d) > 0, 1, -1)


def by_chance(random, n, d):
    return random.standard_normal((n, d)), any_signs(random, n)


def on_a_plane(random, n, d):
    """Put half the rows, which are whole numbers, on a plane, ± each other."""
    Z = random.integers(-2, 3, (n, d)).astype(float)
    Z[:, -1] = random.integers(1, 3, n)
    Z[: n // 2, -1] = 0
    Z[: n // 4] = -Z[n // 4 : 2 * (n // 4)]
    signs = any_signs(random, n)
    return Z * signs[:, None], signs


@pytest.mark.parametrize("layout", [np.ascontiguousarray, sparse.csr_matrix])
@pytest.mark.parametrize(
    ("make", "n", "d"),
    [
        (by_plane, 2000, 6),
        (by_plane, 300, 60),
        (by_plane, 60, 550),
        (by_chance, 2000, 6),
        (by_chance, 300, 60),
        (by_chance, 40, 60),
        (on_a_plane, 1200, 6),
        (on_a_plane, 240, 55),
    ],
)
def test_larger_problems_are_decided_with_proof(make, n, d, layout):
    X, y = make(np.random.default_rng(n + d), n, d)
    for intercept in (False, True):
        found = separate(layout(X), y, fit_intercept=intercept)
        assert found.verdict in SAYS
        assert_proven(found, layout(X), y)


# ---- hard cases


def checked_verdict(X, y, **options):
    """Decide, have the proof checked, and give the verdict."""
    found = separate(X, y, **options)
    assert_proven(found, X, y)
    assert found.verdict == naive_decide.verdict(
        signed_rows(X, y, options.get("fit_intercept", True))
    )
    return found.verdict


@pytest.mark.parametrize("prime", [2**61 - 1, 2**31 - 1, 2**63 - 25, 2**64 - 59])
def test_no_prime_hides_that_rows_are_independent(prime):
    rows = [[prime, 1], [-prime, 1], [0, 1]]
    assert checked_verdict(rows, [1, 1, 0], fit_intercept=False) == INSEPARABLE
    rows = [[prime, 1], [prime, 1], [0, 1], [0, 1]]
    assert checked_verdict(rows, [1, 0, 1, 0], fit_intercept=False) == INSEPARABLE


def test_no_prime_hides_that_rows_of_floats_are_independent():
    a, b = 2.0**31, 2.0**30  # a·b - 1 is a prime
    X = np.array([[a, 1], [1, b], [a + 1, b + 1]])
    assert checked_verdict(X, [1, 1, 0], fit_intercept=False) == INSEPARABLE
    twice = np.array([[a, 1], [a, 1], [1, b], [1, b]])
    assert checked_verdict(twice, [1, 0, 1, 0], fit_intercept=False) == INSEPARABLE


@pytest.mark.parametrize("intercept", [False, True])
def test_a_margin_may_be_smaller_than_every_float(intercept):
    X = [[TINIEST, 0], [0, TINIEST], [-TINIEST, -TINIEST]]
    assert checked_verdict(X, [1, 1, 0], fit_intercept=intercept) == SEPARABLE
    assert checked_verdict([[TINIEST], [0]], [1, 0]) == SEPARABLE
    tiny = Fraction(1, 10**400)
    assert checked_verdict([[tiny, 0], [0, tiny]], [1, 0], fit_intercept=intercept) == SEPARABLE
    assert (
        checked_verdict([[tiny, 0.0], [1e300, -tiny]], [1, 0], fit_intercept=intercept) == SEPARABLE
    )


def test_numbers_may_be_larger_than_every_float():
    assert checked_verdict([[10**400, 1], [10**400, 2]], [0, 1]) == SEPARABLE
    assert checked_verdict([[10**400, 0.5], [10**400, 0.5]], [0, 1]) == INSEPARABLE
    assert checked_verdict([[10**400], [0], [-(10**400)]], [0, 1, 0]) == INSEPARABLE


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_rows_of_zeros_are_separable_by_nothing(layout):
    nothing = layout(np.zeros((3, 2)))
    assert checked_verdict(nothing, [0, 1, 1], fit_intercept=False) == INSEPARABLE
    assert checked_verdict(nothing, [0, 1, 1], fit_intercept=True) == INSEPARABLE
    some = layout(np.array([[0.0, 0], [0, 0], [1, 2], [3, 1]]))
    assert checked_verdict(some, [0, 1, 1, 1], fit_intercept=False) == WEAKLY


def test_many_rows_of_zeros_cost_no_more_than_one():
    load_loops()
    X = np.zeros((3000, 3))
    X[-3:] = np.eye(3)
    found = separate(X, np.arange(3000) % 2, fit_intercept=False, max_seconds=1)
    assert found.verdict == WEAKLY
    assert len(found.certificate.rows) <= 2


def test_contradictions_on_one_line_are_not_all_named():
    line = [[1.0, 0, 0], [2, 0, 0], [3, 0, 0]]
    others = [[0.0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
    y = [1, 1, 1, 0, 0, 0, 1, 1, 1, 1]
    found = separate([*line, *line, *others], y, fit_intercept=False)
    assert found.verdict == INSEPARABLE
    assert len(found.certificate.rows) <= 6


# ---- what is told beside the verdict


def well_scaled(verdict, number_of=60):
    """Give answers of one verdict, and their problems, where floats are of about unit size."""
    for make in (whole, degenerate, normal, with_margin, weakly_separable, inseparable, one_hot):
        for number in range(number_of):
            found = answer(make, number)
            if found.verdict == verdict:
                yield found, *problem(make, number)


def exact_products(found, X, y, intercept):
    return naive_decide.dots(signed_rows(X, y, intercept), found.certificate.w)


def test_the_margin_is_that_of_the_hyperplane_rounded_down():
    for found, X, y, intercept in well_scaled(SEPARABLE):
        least = min(exact_products(found, X, y, intercept))
        norm = sum(Fraction(value) ** 2 for value in found.certificate.w[: X.shape[1]])
        claimed = Fraction(found.margin)
        assert least > 0
        assert claimed**2 <= least**2 / norm <= (claimed * (1 + Fraction(1, 10**9))) ** 2
        assert found.certificate.margin == found.margin


def test_the_hyperplane_is_that_of_the_certificate():
    for verdict in (SEPARABLE, WEAKLY):
        for found, X, _, intercept in well_scaled(verdict, 20):
            w = [float(value) for value in found.certificate.w]
            assert found.coef.tolist() == w[: X.shape[1]]
            assert found.intercept == (w[-1] if intercept else 0.0)


def test_the_rows_of_separable_data_are_those_nearest_to_the_hyperplane():
    for found, X, y, intercept in well_scaled(SEPARABLE):
        products = exact_products(found, X, y, intercept)
        least = min(products)
        assert products.index(least) in found.rows
        assert all(products[i] <= least * (1 + Fraction(1, 10**8)) for i in found.rows)


def test_the_rows_of_weakly_separable_data_are_those_told_apart():
    for found, X, y, intercept in well_scaled(WEAKLY):
        products = exact_products(found, X, y, intercept)
        assert found.rows.tolist() == [i for i, value in enumerate(products) if value > 0]
        on = np.setdiff1d(np.arange(len(products)), found.rows)
        signed = signed_rows(X, y, intercept)
        assert naive_decide.verdict([signed[i] for i in on]) == INSEPARABLE
        assert found.margin == 0
        assert found.enclosure == (0, 0)


def test_the_rows_of_inseparable_data_are_those_of_the_proof():
    for found, X, _, _ in well_scaled(INSEPARABLE):
        assert found.rows.tolist() == list(found.certificate.rows)
        held = np.flatnonzero(X[found.rows].any(axis=0))
        assert found.columns.tolist() == np.setdiff1d(held, found.aliased).tolist()
        assert found.coef is None
        assert found.intercept is None
        assert found.margin == found.enclosure[1] == 0


def test_the_enclosure_holds_the_largest_margin():
    for seed in range(30):
        random = np.random.default_rng(seed)
        largest = random.choice([0.3, 0.1, 0.01])
        X, y, _ = rb.make_separable(40, int(random.integers(2, 6)), largest, seed=seed)
        lower, upper = separate(X, y, fit_intercept=False).enclosure
        assert 0 < lower <= largest * (1 + 1e-9)
        assert largest * (1 - 1e-9) <= upper < np.inf


def test_the_enclosure_of_two_points_holds_half_their_distance():
    for seed in range(30):
        X = np.random.default_rng(seed).standard_normal((2, 3))
        lower, upper = separate(X, [0, 1]).enclosure
        half = np.linalg.norm(X[0] - X[1]) / 2
        assert lower <= half * (1 + 1e-9)
        assert half * (1 - 1e-9) <= upper <= 2 * half


def test_every_verdict_is_explained(monkeypatch):
    explained = {
        SEPARABLE: separate([[1], [2]], ["a", "b"]),
        WEAKLY: separate([[1, 0], [1, 0], [2, 1]], ["a", "b", "b"]),
        INSEPARABLE: separate([[1], [2], [3]], ["a", "b", "a"]),
    }
    for verdict, found in explained.items():
        assert found.verdict == verdict
        assert str(found) == found.explain()
        assert "'a'" in str(found)
        assert "'b'" in str(found)
    stop(monkeypatch, OutOfTimeError)
    assert str(separate([[1], [2], [3]], ["a", "b", "a"]))


# ---- more than two classes


def toy_flowers():
    """Make three classes: one by itself, and two that overlap."""
    random = np.random.default_rng(0)
    centres = np.repeat([[5.0, 3.4], [5.9, 2.8], [6.6, 3.0]], 20, axis=0)
    X = np.round(centres + 0.35 * random.standard_normal(centres.shape), 1)
    X[:20, 0] -= 2
    return X, np.repeat(["setosa", "versicolor", "virginica"], 20)


def test_pairs_of_classes_are_decided_one_by_one():
    X, y = toy_flowers()
    found = separate(X, y, many="pairs")
    assert list(found) == [
        ("setosa", "versicolor"),
        ("setosa", "virginica"),
        ("versicolor", "virginica"),
    ]
    for pair, one in found.items():
        chosen = np.isin(y, pair)
        assert one.classes == pair
        assert one.verdict == naive_decide.verdict(signed_rows(X[chosen], y[chosen], True))
        assert_proven(one, X[chosen], y[chosen])
        assert verify(one.certificate.to_json(), X, y).ok
        assert not verify(one.certificate, X, np.roll(y, 1)).ok
    assert [one.verdict for one in found.values()] == [SEPARABLE, SEPARABLE, INSEPARABLE]


def test_each_class_is_decided_against_the_rest():
    X, y = toy_flowers()
    found = separate(X, y, many="rest")
    assert list(found) == ["setosa", "versicolor", "virginica"]
    for label, one in found.items():
        assert one.classes == (f"not {label}", label)
        assert_proven(one, X, y)
        assert not verify(one.certificate, X, np.roll(y, 1)).ok
        rows = naive_decide.signed(X.tolist(), signs_of(y, label), True)
        assert one.verdict == naive_decide.verdict(rows)
    assert found["setosa"].verdict == SEPARABLE


@pytest.mark.parametrize("many", ["pairs", "rest"])
def test_no_certificate_of_many_classes_is_accepted_with_another_word_about_the_others(many):
    X, y = toy_flowers()
    for one in separate(X, y, many=many).values():
        given = one.certificate.as_dict()
        assert verify(given, X, y).ok
        for word in ("positive", "", None, 1, "negative" if many == "pairs" else "left out"):
            assert not verify({**given, "others": word}, X, y).ok
        with pytest.raises(Refused, match="others is not one of negative, left out"):
            check({**given, "others": "positive"}, [], 2)


@pytest.mark.parametrize("labels", [[0, 1, 2], [0.5, 1.5, 7.0], ["b", "a", 1], [True, 2, "x"]])
def test_labels_of_any_type_name_the_answers(labels):
    X, y = [[0.0], [1.0], [2.0]], labels
    assert {frozenset(pair) for pair in separate(X, y, many="pairs")} == {
        frozenset([labels[a], labels[b]]) for a, b in ((0, 1), (0, 2), (1, 2))
    }
    rest = separate(X, y, many="rest")
    assert {label: rest[label].verdict for label in labels} == {
        labels[0]: SEPARABLE,
        labels[1]: INSEPARABLE,
        labels[2]: SEPARABLE,
    }


def test_a_class_may_be_called_rest():
    found = separate([[0.0], [1.0], [2.0]], ["rest", "a", "b"], many="rest")
    verdicts = {label: one.verdict for label, one in found.items()}
    assert verdicts == {"rest": SEPARABLE, "a": INSEPARABLE, "b": SEPARABLE}
    assert all(len(set(one.classes)) == 2 for one in found.values())


@pytest.mark.parametrize("many", ["pairs", "rest"])
def test_two_classes_may_be_many(many):
    found = separate([[0.0], [1.0]], ["a", "b"], many=many)
    assert {one.verdict for one in found.values()} == {SEPARABLE}


# ---- ends before an answer


def stop(monkeypatch, error):
    """Have the search raise an error when it begins."""

    def ask(self):
        raise error

    monkeypatch.setattr(FaceSearch, "face", ask)


def assert_undecided(found):
    assert found.verdict == "undecided"
    assert found.certificate is found.coef is found.intercept is None
    assert found.rows.size == found.columns.size == 0
    lower, upper = found.enclosure
    assert lower <= 0 <= upper


@pytest.mark.parametrize("error", [KeyboardInterrupt, OutOfTimeError])
@pytest.mark.parametrize("intercept", [False, True])
def test_a_search_that_is_stopped_tells_what_it_knows(monkeypatch, error, intercept):
    random = np.random.default_rng(0)
    X, y = random.standard_normal((200, 3)), random.integers(0, 2, 200)
    stop(monkeypatch, error)
    found = separate(X, y, fit_intercept=intercept)
    assert_undecided(found)
    word = "interrupted" if error is KeyboardInterrupt else "time"
    assert word in found.stop
    assert word in found.explain()
    assert found.enclosure[1] < np.linalg.norm(X, axis=1).max()


def test_an_interrupt_of_the_first_passes_ends_the_search(monkeypatch):
    monkeypatch.setattr("rosenblatt.decide.separability.question.relaxed", interrupted)
    random = np.random.default_rng(0)
    assert_undecided(separate(random.standard_normal((200, 3)), random.integers(0, 2, 200)))


@pytest.mark.parametrize("seconds", [1e-9, 1e-3])
def test_time_that_is_over_leaves_the_question_open(seconds):
    load_loops()
    random = np.random.default_rng(0)
    X, y = random.standard_normal((20000, 60)), random.integers(0, 2, 20000)
    found = separate(X, y, max_seconds=seconds)
    assert_undecided(found)
    assert found.seconds < 5


def test_time_that_is_over_ends_exact_work_too():
    A = np.random.default_rng(0).standard_normal((30, 300))
    X, y = np.vstack([A, A]), np.repeat([0, 1], 30)
    load_loops()
    found = separate(X, y, max_seconds=0.05)
    assert found.verdict == "undecided"
    assert found.seconds < 5
    assert found.enclosure[1] == 0  # the contradictions were found in time
    assert rb.verify(found.certificate, X, y).ok
    assert found.columns.size == 0
    margin = rb.max_margin(X, y, max_seconds=0.05)
    assert (margin.verdict, margin.lower, margin.upper) == ("not separable", 0, 0)
    assert margin.certificate == found.certificate
    assert "There is no margin" in margin.explain()
    assert margin.explain().endswith(
        "Whether weakly is undecided: the time limit was reached; allow more seconds."
    )
    with pytest.raises(rb.InseparableError, match=r"\(not separable\)") as refusal:
        rb.HardMarginSVM(max_seconds=0.05).fit(X, y)
    assert rb.verify(refusal.value.certificate, X, y).ok


def test_time_that_is_over_leaves_every_pair_open():
    random = np.random.default_rng(0)
    X, y = random.standard_normal((3000, 20)), random.integers(0, 3, 3000)
    for many, count in (("pairs", 3), ("rest", 3)):
        found = separate(X, y, many=many, max_seconds=1e-9)
        assert len(found) == count
        for one in found.values():
            assert_undecided(one)


# ---- refusals


@pytest.mark.parametrize(
    ("X", "y", "options", "words"),
    [
        ([[1], [2]], [1, 1], {}, "two classes"),
        ([[1], [2]], [1, 1], {"many": "rest"}, "two classes"),
        ([[1], [2]], [1, 1], {"many": "pairs"}, "two classes"),
        ([[1], [2], [3]], [1, 2, 3], {}, "many='pairs'"),
        ([[1], [2], [3]], [0.5, 1.5, 2.5], {}, "continuous"),
        ([[math.nan], [2]], [0, 1], {}, "nan"),
        (np.array([[math.nan], [2]]), [0, 1], {}, "NaN"),
        (np.array([[math.inf], [2]]), [0, 1], {}, "infinity"),
        (sparse.csr_matrix([[math.inf], [2]]), [0, 1], {}, "infinity"),
        ([[10**400], [math.inf]], [0, 1], {}, "inf"),
        ([[1], [2]], [0, 1, 1], {}, "2 rows"),
        ([[1], [2]], None, {}, "labels"),
        ([[1], [2]], [0.0, math.nan], {}, "NaN"),
        ([], [], {}, "rows"),
        (np.empty((0, 2)), [], {}, "two classes, got none, since there are no rows"),
        (np.empty((0, 2)), np.empty(0, int), {}, "two classes, got none, since there are no rows"),
        (np.empty((0, 2)), np.empty(0, str), {"many": "rest"}, "since there are no rows"),
        (sparse.csr_matrix((0, 2)), np.empty(0), {"many": "pairs"}, "since there are no rows"),
        (np.empty((2, 0)), [0, 1], {}, "table with rows and columns"),
        (sparse.csr_matrix((2, 0)), [0, 1], {}, "table with rows and columns"),
        ([[1, 2]], [1], {}, r"two classes, got 1 class \(1\)"),
        ([1, 2], [0, 1], {}, "table"),
        ([[1], [2, 3]], [0, 1], {}, "table"),
        ([["a"], ["b"]], [0, 1], {}, "number"),
        (np.zeros((2, 2, 2)), [0, 1], {}, "table"),
        (sparse.csr_matrix(np.array([[2**60], [1]])), [0, 1], {}, "dense"),
        ([[1], [2]], [0, 1], {"many": "all"}, "many must be"),
        ([[1], [2]], [0, 1], {"many": 2}, "many must be"),
        ([[1], [2]], [0, 1], {"max_seconds": 0}, "max_seconds must be"),
        ([[1], [2]], [0, 1], {"max_seconds": -1}, "max_seconds must be"),
        ([[1], [2]], [0, 1], {"max_seconds": math.nan}, "max_seconds must be"),
        ([[1], [2]], [0, 1], {"max_seconds": math.inf}, "max_seconds must be"),
        ([[1], [2]], [0, 1], {"max_seconds": "1"}, "max_seconds must be"),
        ([[1], [2]], [(0,), (1,)], {}, "label"),
        ([[1], [2]], [(0,), (1, 2)], {"many": "pairs"}, "label"),
        ([[1], [2]], [b"a", b"b"], {}, "label"),
    ],
)
def test_what_cannot_be_used_is_refused(X, y, options, words):
    with pytest.raises(rb.InputError, match=words):
        separate(X, y, **options)


def test_data_are_left_alone():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    for given in (X, sparse.csr_matrix(X), sparse.coo_matrix(X)):
        (given if given is X else given.data).flags.writeable = False
        assert separate(given, [0, 1, 1]).verdict == SEPARABLE


# ---- changes that change no verdict


def test_the_same_question_has_the_same_answer():
    for make in KINDS:
        X, y, intercept = problem(make, 0)
        first, second = (separate(X, y, fit_intercept=intercept) for _ in range(2))
        assert first.certificate == second.certificate


# ---- the parts: rows as integers and as floats


def cone_of(make, number):
    X, y, intercept = problem(make, number)
    signs = np.array(signs_of(y, max(y)), np.int8)
    return SignedRows(exact_matrix(X), signs, int(intercept)), signed_rows(X, y, intercept)


def test_equal_rows_are_found():
    for make in (contradicting, repeated, sparse_rows, long_integers, numbers_of_all_types):
        for number in range(20):
            X, y, _ = problem(make, number)
            rows = listed(X)
            first = first_of_equals(without_zeros(exact_matrix(X)))
            assert first.tolist() == [rows.index(row) for row in rows]
            clashes = [i for i, row in enumerate(rows) if y[i] != y[rows.index(row)]]
            assert contradictions(np.array(y), first).tolist() == clashes
