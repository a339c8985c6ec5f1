"""Facts about data sets."""

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

import rosenblatt as rb

shapes = st.tuples(st.integers(1, 12), st.integers(1, 3))
small = arrays.arrays(np.float64, shapes, elements=st.sampled_from([0.0, -0.0, 1.0, 2.5]))


def naive_first(X):
    rows = [tuple(row) for row in (X + 0.0).tolist()]
    return [rows.index(row) for row in rows]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@given(X=small, data=st.data())
@settings(max_examples=60, deadline=None)
def test_duplicates_constants_and_contradictions_are_those_of_an_obvious_search(form, X, data):
    y = data.draw(st.lists(st.sampled_from("ab"), min_size=len(X), max_size=len(X)))
    found, first = rb.info(form(X), y), naive_first(X)
    assert (found.rows, found.columns) == X.shape
    assert found.duplicates == sum(first[i] != i for i in range(len(X)))
    assert found.constant_columns == sum(len(set(column)) == 1 for column in (X + 0.0).T.tolist())
    pairs = itertools.product(range(len(X)), repeat=2)
    clashing = {i for i, j in pairs if first[i] == first[j] and y[i] != y[j]}
    assert found.contradicting_rows == len(clashing)
    assert (found.contradiction is None) == (not clashing)
    if found.contradiction is not None:
        i, j = found.contradiction
        assert first[i] == first[j]
        assert y[i] != y[j]
    assert found.density == pytest.approx(np.count_nonzero(X) / X.size)
    assert found.radius == pytest.approx(np.linalg.norm(X, axis=1).max())


def test_stored_zeros_and_entries_given_twice_do_not_hide_equal_rows():
    plain = sparse.csr_matrix(np.array([[0.0, 2.0, 0.0]]))
    odd = sparse.csr_matrix(([1.0, 1.0, 0.0], [1, 1, 2], [0, 3]), shape=(1, 3))
    found = rb.info(sparse.vstack([plain, odd]).tocsr(), [0, 1])
    assert found.duplicates == 1
    assert found.contradiction == (0, 1)


def test_classes_are_counted_and_may_be_missing():
    assert rb.info(np.eye(3), ["b", "a", "b"]).classes == {"b": 2, "a": 1}
    assert rb.info(np.eye(3)).classes is None
    assert rb.info(np.eye(3)).contradiction is None


def test_memory_is_that_of_the_arrays():
    X = np.eye(4, dtype=np.float32)
    found = rb.info(X)
    assert isinstance(found, rb.Info)
    assert found.memory == 64
    rows = sparse.csr_matrix(X)
    assert rb.info(rows).memory == rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes


def test_data_that_cannot_be_used_are_refused():
    with pytest.raises(rb.InputError, match="NaN"):
        rb.info(np.array([[np.nan]]))
    with pytest.raises(rb.InputError, match="rows but y has"):
        rb.info(np.eye(2), [1])


def test_facts_about_a_few_entries_need_little_memory_however_wide_they_are():
    X = sparse.csr_matrix(([1.0, 2.0, 1.0], [0, 199_999_999, 0], [0, 2, 3]), (2, 200_000_000))
    tracemalloc.start()
    found = rb.info(X, [0, 1])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.constant_columns == 199_999_999
    assert found.radius == np.sqrt(5.0)
    assert peak < 2**20
