"""Small data, and every way in which it may lie in memory."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from amount import LONG
from rosenblatt.matrices import as_rows

ROUNDING = 1e-12  # a few hundred operations of 2^-53 each, with room to spare


class Layout(NamedTuple):
    sparse: bool
    values: type
    indices: type | None = None

    def __str__(self):
        kind = f"sparse {self.indices.__name__}" if self.sparse else "dense"
        return f"{kind} {self.values.__name__}"

    def matrix(self, A):
        if not self.sparse:
            return np.ascontiguousarray(A, self.values)
        X = sparse.csr_matrix(A.astype(self.values))
        X.indices, X.indptr = X.indices.astype(self.indices), X.indptr.astype(self.indices)
        return X

    def rows(self, A, lift):
        return as_rows(self.matrix(A), lift)


DENSE, SPARSE = Layout(False, np.float64), Layout(True, np.float64, np.int32)
# Each layout of rows is a loop to compile, which takes most of the time of tests of loops. Loops
# are written over primitives of rows: those are tried in all layouts, loops in the two that most
# other tests need.
LAYOUTS = [DENSE, SPARSE]
EVERY_LAYOUT = [
    Layout(False, np.float32),
    DENSE,
    Layout(True, np.float32, np.int32),
    Layout(True, np.float64, np.int64),
]
if LONG:
    EVERY_LAYOUT += [Layout(True, np.float32, np.int64), SPARSE]
    LAYOUTS = EVERY_LAYOUT


def whole_numbers(n=23, d=7, seed=0):
    """Rows with many zeros, one of them empty, and random signs: not separable."""
    random = np.random.default_rng(seed)
    A = random.integers(-3, 4, (n, d)) * (random.random((n, d)) < 0.6).astype(float)
    A[5] = 0
    return A, random.choice([-1, 1], n).astype(np.int8)


def whole_weights(d=7, seed=1):
    return np.random.default_rng(seed).integers(-4, 5, d + 1).astype(float)


def normal_rows(layout):
    random = np.random.default_rng(3)
    A = random.standard_normal((40, 5)).astype(layout.values).astype(float)
    return A, random.choice([-1, 1], 40).astype(np.int8)


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=ROUNDING, atol=ROUNDING)
