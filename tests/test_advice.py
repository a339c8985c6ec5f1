"""Fewest columns held to all sets of columns; advice to exact verdicts; calls are called."""

import importlib
import itertools

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import rosenblatt as rb
from amount import LONG
from rosenblatt.decide.answers import Clock
from rosenblatt.decide.separability.subsets import Guesses, hitting_set

BOTH = ("separable", "weakly separable")


def problem(seed):
    random = np.random.default_rng(seed)
    n, d = int(random.integers(4, 12)), int(random.integers(2, 6))
    X = random.integers(-2, 3, (n, d)).astype(float)
    return X, np.arange(n) % 2


SEPARATED = (1, 5, 6, 7, 8, 9, 11, 14, 21, 23, 24, 26, 27)  # completely or weakly


@pytest.mark.parametrize("seed", SEPARATED)
def test_no_set_of_fewer_columns_separates(seed):
    X, y = problem(seed)
    found = rb.separate(X, y)
    fewest = found.fewest_columns(None)
    enough = (found.verdict, "separable")
    assert found.verdict in BOTH

    def separates(columns):
        return rb.separate(X[:, columns], y).verdict in enough

    every = range(X.shape[1])
    sets = (list(some) for k in every for some in itertools.combinations(every, k + 1))
    assert fewest.columns.size == len(next(filter(separates, sets)))
    assert isinstance(fewest, rb.FewestColumns)
    assert fewest.smallest
    assert separates(fewest.columns)
    assert rb.verify(fewest.found.certificate, X[:, fewest.columns], y).ok
    assert "No smaller set of columns separates than column" in str(fewest)


def test_few_columns_are_found_among_many_and_named():
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(0)
    X = pandas.DataFrame(random.standard_normal((60, 12)), columns=list("abcdefghijkl"))
    found = rb.separate(X, X["c"] + X["h"] > 0.3)
    fewest = found.fewest_columns(None)
    assert [fewest.names[j] for j in fewest.columns] == ["c", "h"]
    assert fewest.found.names == ["c", "h"]


@pytest.mark.skipif(not LONG, reason="make test-long looks for the fewest of thirty columns")
def test_no_fewer_columns_of_breast_cancer_separate_than_23():
    found = rb.separate(*load_breast_cancer(return_X_y=True))
    fewest = found.fewest_columns(None)
    assert (fewest.columns.size, fewest.smallest) == (23, True)


def test_a_cut_is_found_though_floats_guess_wrong(monkeypatch):
    X, y = problem(5)
    found = rb.separate(X, y)
    right = found.fewest_columns(None).columns.size
    for guess in (True, False):
        monkeypatch.setattr(Guesses, "separates", lambda self, columns, guess=guess: guess)
        fewest = found.fewest_columns(None)
        assert (fewest.columns.size, fewest.smallest) == (right, True)


def test_time_that_is_over_leaves_a_bound():
    random = np.random.default_rng(1)
    X = random.standard_normal((40, 30))
    found = rb.separate(X, np.arange(40) % 2, max_seconds=60)
    assert found.verdict == "separable"
    fewest = found.fewest_columns(1e-6)
    assert (fewest.smallest, fewest.irreducible, fewest.columns.size) == (False, False, 30)
    assert "columns 0, 1, 2, 3, 4 and 25 more. It takes at least 1" in fewest.explain()


def test_many_classes_at_once_have_fewest_columns_too():
    X = np.array([[1, 1, 5], [1, -1, 5], [-1, 1, 5], [-1, -1, 5]], float)
    fewest = rb.separate(X, list("abcd"), many="joint").fewest_columns(None)
    assert (fewest.columns.tolist(), fewest.smallest) == ([0, 1], True)


def test_hitting_sets_are_the_smallest():
    random = np.random.default_rng(2)
    for _ in range(50):
        cuts = [frozenset(random.choice(6, 3, replace=False).tolist()) for _ in range(5)]
        sizes = [
            len(some)
            for k in range(7)
            for some in itertools.combinations(range(6), k)
            if all(cut & {*some} for cut in cuts)
        ]
        found = hitting_set(cuts, min(sizes), Clock())
        assert len(found) == min(sizes)
        assert all(cut & found for cut in cuts)
        assert hitting_set(cuts, min(sizes) - 1, Clock()) is None


def test_what_does_not_separate_has_no_fewest_columns():
    with pytest.raises(rb.InputError, match="no columns separate"):
        rb.separate([[0], [1], [2]], [0, 1, 0]).fewest_columns()


# ---- advice


@pytest.mark.parametrize("seed", range(16))
def test_without_the_columns_to_drop_all_is_finite_and_none_can_be_kept(seed):
    X, y = problem(seed)
    found = rb.separate(X, y)
    advice = found.advice(None)
    rest = [j for j in range(X.shape[1]) if j not in advice.drop]
    if rest:
        assert rb.separate(X[:, rest], y).verdict == "inseparable"
    for j in advice.drop:
        assert rb.separate(X[:, [*rest, j]], y).verdict in BOTH
    assert isinstance(advice, rb.Advice)
    assert bool(advice.drop.size) == (found.verdict in BOTH)
    told = {"separable": len(y), "weakly separable": found.rows.size, "inseparable": 0}
    assert (advice.apart, advice.rows) == (told[found.verdict], len(y))


def trial():
    pandas = pytest.importorskip("pandas")
    ages = [1, 2, 3, 4, 5, 6, 3, 2.5, 1]
    ill = [0, 1, 1, 0, 0, 1, 0, 1, 1]
    return pandas.DataFrame({"ill": ill, "age": ages, "site": list("abcabcaab")})


def test_levels_are_merged_where_that_helps():
    pytest.importorskip("formulaic")
    data = trial()
    advice = rb.separate(formula="ill ~ age + C(site)", data=data).advice()
    assert advice.merge == {"C(site)[T.c]": ["C(site)[T.b]"]}
    assert "C(site)[T.c] may be merged with C(site)[T.b]" in str(advice)
    assert "2 of 9 rows cause the separation" in str(advice)
    merged = data.assign(site=data["site"].replace({"c": "b"}))
    again = rb.separate(formula="ill ~ age + C(site)", data=merged)
    assert again.verdict == "inseparable"
    assert str(again.advice()) == "All coefficients are finite: an ordinary fit will do."


def test_advice_needs_a_verdict_and_time():
    X, y = problem(SEPARATED[0])
    with pytest.raises(rb.InputError, match="advice needs a verdict"):
        rb.separate(X, y, max_seconds=1e-9).advice()
    advice = rb.separate(X, y).advice(1e-6)
    assert not advice.irreducible
    assert advice.drop.size


ANSWERS = {
    "labels": lambda X, y: rb.separate(X, y),
    "trials": lambda X, y: rb.separate(X, (y, 2 * y + 1), family="binomial"),
    "counts": lambda X, y: rb.separate(X, y, family="poisson"),
    "classes": lambda X, y: rb.separate(X, y + np.arange(9) % 2 * 2 * y, many="joint"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("what", ANSWERS)
def test_the_calls_of_the_advice_are_fits_that_stay_finite(what):
    data = trial()
    X = np.column_stack([data["age"], data["site"] == "c"]).astype(float)
    y = 1 - data["ill"].to_numpy()
    calls = ANSWERS[what](X, y).advice().calls
    assert "brglm2::" in calls.pop("R")
    classes = y + np.arange(9) % 2 * 2 * y
    names = {"X": X, "y": classes if what == "classes" else y}
    names |= {"successes": y, "trials": 2 * y + 1, "numpy": np}
    for call in calls.values():
        module = call.split("(")[0].rsplit(".", 1)[0]
        root = pytest.importorskip(module.split(".")[0])
        importlib.import_module(module)
        fitted = eval(call, names | {module.split(".")[0]: root})
        coefficients = getattr(fitted, "params", getattr(fitted, "coef_", None))
        assert np.isfinite(np.asarray(coefficients, float)).all()
