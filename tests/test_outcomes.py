"""Counts: binomial ones held to the rows of their single trials, Poisson ones to their programs."""

import numpy as np
import pytest
from scipy.optimize import linprog

import rosenblatt as rb


def counts(seed):
    random = np.random.default_rng(seed)
    n, d = int(random.integers(4, 10)), int(random.integers(1, 4))
    X, trials = random.integers(-1, 2, (n, d)).astype(float), random.integers(0, 4, n)
    successes = random.integers(0, trials + 1)
    successes[:2], trials[:2] = (0, 2), (2, 2)
    return X, successes, trials


def finite(found):
    return {name for name, said in found.coefficients.items() if said == "finite"}


@pytest.mark.parametrize("seed", range(30))
def test_binomial_counts_are_decided_as_their_single_trials_are(seed):
    X, successes, trials = counts(seed)
    y = (successes, trials) if seed % 2 else np.column_stack([successes, trials])
    found = rb.separate(X, y, family="binomial")
    single = np.concatenate([np.arange(t) < s for s, t in zip(successes, trials, strict=True)])
    alone = rb.separate(np.repeat(X, trials, axis=0), single)
    assert (found.verdict, finite(found)) == (alone.verdict, finite(alone))
    assert rb.verify(found.certificate, X, y, family="binomial").ok
    assert rb.verify(found.certificate, *found.data).ok
    if found.verdict == "weakly separable":
        places = np.repeat(np.arange(len(X)), trials)
        assert found.rows.tolist() == np.unique(places[alone.rows]).tolist()


@pytest.mark.parametrize("seed", range(30))
def test_poisson_counts_are_decided_as_their_programs_are(seed):
    X, y, _ = counts(seed)
    y[:2] = 1, 0
    found = rb.separate(X, y, family="poisson")
    full = np.column_stack([np.ones(len(X)), X])
    zero, more = full[y == 0], full[y > 0]
    limits = {"A_ub": zero, "b_ub": np.zeros(len(zero)), "bounds": (-1, 1)}
    limits |= {"A_eq": more, "b_eq": np.zeros(len(more))}
    program = linprog(zero.sum(axis=0), **limits)
    assert found.verdict == ("weakly separable" if program.fun < -1e-7 else "inseparable")
    assert rb.verify(found.certificate, X, y, family="poisson").ok
    assert not rb.verify(found.certificate, X, y[::-1] + 1, family="poisson").ok
    if found.verdict == "weakly separable":
        assert (y[found.rows] == 0).all()
        assert "The counts are separated" in found.explain()
        assert "Poisson regression with log link" in found.explain()
        apart = [linprog(row, **limits).fun < -1e-7 for row in full]
        assert found.rows.tolist() == np.flatnonzero(apart).tolist()
    else:
        assert "finite solution" in found.explain()


def test_a_formula_may_name_successes_and_trials():
    pytest.importorskip("formulaic")
    pandas = pytest.importorskip("pandas")
    data = pandas.DataFrame({"s": [0, 1, 2, 2], "t": [2, 2, 2, None], "x": [1.0, 2, 3, 4]})
    found = rb.separate(formula="s + t ~ x", data=data, family="binomial")
    assert (found.coefficients["x"], found.rows.tolist()) == ("+inf", [0, 2])


def test_rows_without_trials_do_not_count_and_labels_stay_labels():
    X = [[0.0], [1.0], [2.0], [9.0]]
    found = rb.separate(X, ([0, 2, 2, 0], [2, 2, 2, 0]), family="binomial")
    assert (found.verdict, found.data[0].shape) == ("separable", (3, 1))
    labels = rb.separate(X, list("aabb"), family="binomial")
    assert labels.certificate == rb.separate(X, list("aabb")).certificate


def test_numbers_are_kept_exactly():
    X = [[2**70 + 1], [2**70], [2**70 + 1]]
    assert rb.separate(X, [0, 3, 0], family="poisson").coefficients[0] == "-inf"


@pytest.mark.parametrize(
    ("y", "options", "words"),
    [
        ([1, 2], {"family": "gamma"}, "family must be None, 'binomial' or 'poisson'"),
        ([1, -2], {"family": "poisson"}, "from 0 on, but row 1 has -2"),
        ([1, float("nan")], {"family": "poisson"}, "from 0 on, but row 1 has nan"),
        (["a", "b"], {"family": "poisson"}, "must be numbers"),
        ([0, 0], {"family": "poisson"}, "no outcome is 'positive'"),
        ([1], {"family": "poisson"}, "X has 2 rows"),
        (([3, 1], [1, 2]), {"family": "binomial"}, "row 0 has 3 successes of 1 trials"),
        (([1, 2], [1, 2]), {"family": "binomial"}, "no outcome is 'failure'"),
        (([0, 2], [1, 2]), {"family": "binomial", "many": "rest"}, "leave out many='rest'"),
    ],
)
def test_what_cannot_be_counted_is_told(y, options, words):
    with pytest.raises(rb.InputError, match=words):
        rb.separate([[1.0], [2.0]], y, **options)
