"""Columns that are to blame, and columns set apart: held to slow programs in fractions."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import naive_decide
import rosenblatt as rb
from naive_decide import SEPARABLE, WEAKLY
from rosenblatt.pauses import OutOfTimeError
from test_separate import (
    KINDS,
    PROBLEMS_OF_A_KIND,
    answer,
    numbers_of_all_types,
    problem,
    signed_rows,
)


def small_problems(make, step):
    for number in range(0, PROBLEMS_OF_A_KIND, step):
        X, y, intercept = problem(make, number)
        yield answer(make, number), signed_rows(X, y, intercept), intercept


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_aliased_columns_are_the_later_ones_of_those_that_depend_on_each_other(make):
    for found, rows, intercept in small_problems(make, 8):
        assert found.aliased.tolist() == naive_decide.aliased(rows, intercept)


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_columns_to_blame_are_those_in_which_the_slow_programs_can_move(make):
    for found, rows, intercept in small_problems(make, 8):
        if found.verdict == WEAKLY:
            assert found.columns.tolist() == naive_decide.to_blame(rows, intercept)


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_the_columns_of_separable_data_suffice_to_separate_them(make):
    for found, rows, intercept in small_problems(make, 8):
        if found.verdict == SEPARABLE:
            kept = [*found.columns.tolist(), *[len(rows[0]) - 1] * intercept]
            assert naive_decide.verdict([[row[j] for j in kept] for row in rows]) == SEPARABLE
            assert not set(found.columns) & set(found.aliased)


# ---- designs as statisticians have them

SEX = pl.DataFrame({"sex=f": [1, 1, 1, 1, 0, 0, 0, 0], "sex=m": [0, 0, 0, 0, 1, 1, 1, 1]})
AGE = pl.Series("age", [30, 50, 40, 60, 35, 45, 20, 55])
ILL = ["no", "yes", "yes", "no", "no", "no", "no", "no"]  # no man is ill


def test_of_two_dummies_the_first_one_is_to_blame_and_the_second_one_set_apart():
    found = rb.separate(SEX.insert_column(0, AGE), ILL)
    assert found.verdict == WEAKLY
    assert [found.names[j] for j in found.columns] == ["sex=f"]
    assert [found.names[j] for j in found.aliased] == ["sex=m"]
    assert "the coefficients of the intercept and of column sex=f diverge" in found.explain()
    assert "Aliased: column sex=m, which is a linear combination" in found.explain()


def test_the_constant_of_a_design_matrix_is_set_apart_beside_an_intercept():
    X = np.column_stack([np.ones(8), AGE, SEX["sex=m"]])
    found = rb.separate(X, ILL)
    assert (found.columns.tolist(), found.aliased.tolist()) == ([2], [0])
    found = rb.separate(X, ILL, fit_intercept=False)
    assert (found.columns.tolist(), found.aliased.tolist()) == ([2], [])


def test_rows_of_another_class_may_lie_on_the_hyperplane_that_was_found():
    """Two dummies are to blame; a hyperplane may use one, and have all of the other on it."""
    X = np.array([[0, 0, 1], [0, 0, 2], [0, 0, 1], [0, 0, 2], [1, 0, 1], [0, 1, 2], [0, 1, 1]])
    y = [0, 1, 1, 0, 1, 0, 0]
    found = rb.separate(X, y)
    assert (found.verdict, found.columns.tolist()) == (WEAKLY, [0, 1])
    on = replace(found.certificate, w=(1.0, 0.0, 0.0, 0.0))
    assert found.design.blame(on).columns.tolist() == [0, 1]


def test_columns_without_an_entry_are_set_apart():
    X = sparse.csr_matrix(([1.0, -1.0], ([0, 1], [2, 2])), (2, 5))
    found = rb.separate(X, [1, 0])
    assert (found.columns.tolist(), found.aliased.tolist()) == ([2], [0, 1, 3, 4])


FLOATS = [make for make in KINDS if make is not numbers_of_all_types]


@pytest.mark.parametrize("make", FLOATS, ids=lambda make: make.__name__)
def test_empty_columns_between_the_others_change_nothing(make):
    for number in range(0, PROBLEMS_OF_A_KIND, 8):
        X, y, intercept = problem(make, number)
        X = X.toarray() if sparse.issparse(X) else np.array(X, np.float64)
        narrow = sparse.csr_matrix(X)
        wide = sparse.csr_matrix(
            (narrow.data, 5 * narrow.indices + 3, narrow.indptr), (len(y), 5 * narrow.shape[1])
        )
        said, few = (rb.separate(Z, y, fit_intercept=intercept) for Z in (wide, narrow))
        used = np.flatnonzero(np.diff(narrow.tocsc().indptr))
        set_apart = np.setdiff1d(np.arange(wide.shape[1]), 5 * np.setdiff1d(used, few.aliased) + 3)
        assert said.columns.tolist() == (5 * few.columns + 3).tolist()
        assert said.aliased.tolist() == set_apart.tolist()
        named = {j if j == "intercept" else 5 * j + 3: word for j, word in few.coefficients.items()}
        assert {j: said.coefficients[j] for j in named} == named


def test_columns_of_an_inseparable_design_are_those_of_the_proof_without_aliased_ones():
    X = np.array([[0, 0, 0, 0], [0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 1, 1]])
    found = rb.separate(X, [0, 1, 1, 0])
    assert (found.columns.tolist(), found.aliased.tolist()) == ([0, 1], [2, 3])


def test_rows_that_no_sample_holds_are_looked_at():
    """Two columns differ in one row of many."""
    X = np.repeat(np.eye(2), 5000, axis=0)
    X = np.column_stack([X[:, 0], X[:, 0]])
    y = np.arange(len(X)) % 2
    assert rb.separate(X, y).aliased.tolist() == [1]
    X[1234, 1] = 2
    assert rb.separate(X, y).aliased.tolist() == []


def test_rows_and_columns_of_a_pair_of_classes_are_those_of_the_whole_table():
    X = np.array([[5.0, 0], [0, 0], [6, 0], [1, 0], [0, 0], [1, 0], [0, 1]])
    y = ["a", "b", "a", "c", "c", "b", "c"]
    found = rb.separate(X, y, many="pairs")["b", "c"]
    assert (found.verdict, found.rows.tolist(), found.columns.tolist()) == (
        WEAKLY,
        [6],
        [1],
    )


# ---- what is not known


def weak():
    return np.array([[0.0, 0, 0], [1, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 1]]), [0, 1, 1, 0, 1]


def test_too_many_columns_are_told_and_nobody_is_called_innocent(monkeypatch):
    monkeypatch.setattr("rosenblatt.decide.separability.blame.MOST_COLUMNS", 2)
    found = rb.separate(*weak())
    assert found.aliased is None
    assert "is not known: exact elimination is for at most 2 columns" in found.explain()
    assert set(found.columns) == set(np.flatnonzero(found.coef))


@pytest.mark.parametrize(
    ("error", "words"),
    [(OutOfTimeError, "time limit"), (KeyboardInterrupt, "interrupted")],
)
def test_a_question_that_is_cut_short_is_told(error, words, monkeypatch):
    def stopped(*arguments):
        raise error

    found = rb.separate(*weak())
    monkeypatch.setattr("rosenblatt.decide.separability.blame._to_blame", stopped)
    assert words in found.explain()
    assert (found.columns.tolist(), found.aliased.tolist()) == ([1], [2])


def test_rows_that_were_changed_since_are_not_asked():
    X, y = weak()
    found = rb.separate(X, y)
    X[0] += 1
    with pytest.raises(rb.InputError, match="X was changed since"):
        _ = found.columns


def test_an_undecided_question_blames_nobody():
    found = rb.separate(*weak(), max_seconds=1e-9)
    assert (found.columns.tolist(), found.aliased) == ([], None)
