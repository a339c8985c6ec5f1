"""What a data set is like, before anything is learned from it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.decide.equals import contradictions, first_of_equals, without_zeros
from rosenblatt.labels import as_labels
from rosenblatt.matrices import Matrix, as_matrix, check_finite, radius, without_duplicates


@dataclass(frozen=True)
class Info:
    """Facts about a data set.

    Attributes
    ----------
    rows : int
        The number of samples.
    columns : int
        The number of features.
    classes : dict from label to int, or None
        How many samples each label has; None without labels.
    density : float
        The fraction of non-zero entries.
    radius : float
        R, the largest norm of a sample.
    duplicates : int
        Samples that repeat an earlier one, whatever their label.
    constant_columns : int
        Features with the same value in every sample.
    contradiction : tuple of two ints, or None
        Two samples with the same x and different labels. They prove that no function of x
        separates the classes, let alone a hyperplane.
    contradicting_rows : int
        Samples whose x also occurs with another label.
    memory : int
        Bytes that the samples take.
    """

    rows: int
    columns: int
    classes: dict[Any, int] | None
    density: float
    radius: float
    duplicates: int
    constant_columns: int
    contradiction: tuple[int, int] | None
    contradicting_rows: int
    memory: int


def info(X: Any, y: Any = None) -> Info:
    """Describe a data set.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The samples.
    y : array-like of shape (n_samples,) or None, default=None
        The labels, if there are any.

    Returns
    -------
    Info
        Size, classes, density, duplicates and contradictions.

    See Also
    --------
    read : Read a data set.
    separate : Whether the classes are separable.

    Examples
    --------
    >>> import numpy as np, rosenblatt as rb
    >>> found = rb.info(np.array([[3.0, 4.0], [0.0, 1.0], [3.0, 4.0]]), ["a", "b", "b"])
    >>> found.radius, found.duplicates, found.contradiction
    (5.0, 1, (0, 2))
    """
    matrix = as_matrix(X)
    check_finite(matrix)
    matrix = without_zeros(without_duplicates(matrix))
    (n, d), memory = matrix.shape, _bytes(matrix)
    matrix = without_empty_columns(matrix)
    labels = None if y is None else as_labels(y, n)
    first = first_of_equals(matrix)
    clashes = np.zeros(0, np.int64) if labels is None else contradictions(labels, first)
    return Info(
        rows=n,
        columns=d,
        classes=None if labels is None else count_labels(labels),
        density=_stored(matrix) / (n * d),
        radius=radius(matrix),
        duplicates=int(np.count_nonzero(first != np.arange(n))),
        constant_columns=d - matrix.shape[1] + count_constant(matrix),
        contradiction=(int(first[clashes[0]]), int(clashes[0])) if clashes.size else None,
        contradicting_rows=int(np.isin(first, first[clashes]).sum()),
        memory=memory,
    )


def count_labels(labels: np.ndarray) -> dict[Any, int]:
    """Give the number of rows of each label, most frequent first."""
    return dict(Counter(labels.tolist()).most_common())


def without_empty_columns(X: Matrix) -> Matrix:
    """Leave out columns without entries where most have none: memory goes with the entries."""
    if not sparse.issparse(X) or X.nnz >= X.shape[1]:
        return X
    used, places = np.unique(X.indices, return_inverse=True)
    width = max(1, used.size)
    return sparse.csr_matrix((X.data, places.astype(np.int32), X.indptr), (X.shape[0], width))


def count_constant(X: Matrix) -> int:
    """Count the columns in which every row has the same value."""
    low, high = X.min(axis=0), X.max(axis=0)
    if sparse.issparse(X):
        low, high = low.toarray(), high.toarray()
    return int(np.count_nonzero(low == high))


def _stored(X: Matrix) -> int:
    return int(X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X))


def _bytes(X: Matrix) -> int:
    if sparse.issparse(X):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes)
