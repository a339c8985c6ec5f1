"""What a certificate is held against: labelled rows, or a system."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.certificate_fields import Number, plain_number
from rosenblatt.certificates import Data, Infeasible
from rosenblatt.checker import CLASS, Refused
from rosenblatt.decimals import is_decimal, shortest
from rosenblatt.errors import InputError
from rosenblatt.exact.digest import (
    AT_LEAST,
    EQUAL,
    LOWER,
    MORE_THAN,
    UPPER,
    Bounds,
    label_tags,
    listed,
    shown,
    system_digest,
    tagged_digest,
)
from rosenblatt.exact.numbers import (
    as_decimals,
    exact_list,
    exact_matrix,
    exact_row,
    exact_vector,
    is_exact,
    number_type,
)
from rosenblatt.exact.products import compare, short_of_root
from rosenblatt.exact.signed import SignedRows
from rosenblatt.exact.weights import Weights
from rosenblatt.labels import as_labels, as_objects, as_signs
from rosenblatt.matrices import Matrix, check_finite
from rosenblatt.outcomes import joint_rows

Entries = list[tuple[int, Number]]
ROWS_AT_A_TIME = 2**14


class Subject:
    """A matrix, and what is asked of it."""

    X: Matrix

    @property
    def columns(self) -> int:
        """The number of columns."""
        return int(self.X.shape[1])

    def require_shape(self, named: Data) -> None:
        """Require the data to be as large as those that a certificate names."""
        if self.given.shape != (named.rows, named.columns):
            rows, columns = self.given.shape
            raise Refused(
                f"the certificate is for other data, of {named.rows} x {named.columns} "
                f"and not {rows} x {columns}"
            )

    @property
    def given(self) -> Matrix:
        """The rows as they were given."""
        return self.X

    def named(self) -> Data:
        """Name the data as a certificate does."""
        rows, columns = self.given.shape
        return Data(rows=rows, columns=columns, digest=self.digest(), numbers=self.numbers)

    @property
    def numbers(self) -> str:
        """The type of the numbers."""
        return number_type(self.given)

    def require(self, named: Data) -> None:
        """Require the data to be finite, and those that a certificate names."""
        check_finite(self.given)
        _require_digest(self.digest(), named, self.given)

    def digest(self) -> str:
        """Identify the data."""
        raise NotImplementedError


class Labelled(Subject):
    """Rows, as `exact_matrix` gives them, and the signs of their classes."""

    def __init__(self, X: Matrix, signs: np.ndarray) -> None:
        self.X, self.signs = X, signs

    @classmethod
    def of(cls, X: Any, y: Any, classes: tuple[Any, Any], others: str | None = None) -> Labelled:
        """Take rows and labels of two classes; `others` says what becomes of rows of others."""
        matrix = exact_matrix(X)
        labels = as_labels(y, matrix.shape[0])
        if others is not None:
            matrix, labels = _with_others(matrix, labels, classes, others)
        if not labels.size:
            raise Refused("the data have no rows")
        try:
            return cls(matrix, as_signs(labels, as_objects(list(classes))))
        except InputError as error:
            raise Refused(str(error)) from None

    @property
    def measured(self) -> int:
        """The number of coordinates of w that count in its length."""
        return self.columns

    @cached_property
    def tags(self) -> np.ndarray:
        """The tags of the rows in the digest."""
        return label_tags(self.signs)

    def digest(self) -> str:
        """Identify the data."""
        return tagged_digest(self.X, self.tags)

    def row(self, i: int, added: Number) -> Entries:
        """Give the entries of (x, added), or of x if nothing is added."""
        return exact_row(self.X, i) + ([(self.columns, added)] if added else [])

    def lifted(self, lift: Number = 1) -> SignedRows:
        """Give the rows s·(x, lift)."""
        return SignedRows(self.X, self.signs, lift)

    def compare(self, w: Weights, thresholds: np.ndarray) -> np.ndarray:
        """Give the sign of z·w minus a threshold for every row."""
        return compare(self.lifted(), w, thresholds).signs

    def short_of_root(self, w: Weights, square: Fraction, named: Data) -> int | None:
        """Name a row with z·w < √square, if there is one; require the digest of the data, too."""
        if is_exact(self.X):
            self.require(named)
            return short_of_root(self.lifted(), w, square)[0]
        row, total = short_of_root(self.lifted(), w, square, self.tags)
        _require_digest(shown(total, *self.X.shape), named, self.X)
        return row


class JointLabelled(Labelled):
    """Rows of many classes, as what each asks of the weights of all classes at once.

    `codes` are the places of their classes, of which there are `others` but the first. Intercepts
    stand among the columns, behind those that are measured.
    """

    def __init__(self, X: Matrix, codes: np.ndarray, count: int, lifted: bool) -> None:
        self.samples, self.codes, self.others = X, codes, count - 1
        joint = joint_rows(X, codes, count, lifted)
        super().__init__(joint, np.ones(joint.shape[0], np.int8))

    @classmethod
    def of_classes(cls, X: Any, y: Any, classes: Sequence[Any], lifted: bool) -> JointLabelled:
        """Take rows and labels of some classes."""
        matrix = exact_matrix(X)
        labels, places = as_labels(y, matrix.shape[0]), {c: k for k, c in enumerate(classes)}
        codes = [places.get(label, -1) for label in labels.tolist()]
        if min(codes, default=-1) < 0:
            raise Refused("the data have no rows, or a label that is not one of the classes")
        return cls(matrix, np.array(codes), len(classes), lifted)

    @property
    def given(self) -> Matrix:
        """The rows as they were given."""
        return self.samples

    @property
    def measured(self) -> int:
        """The number of coordinates of w that count in its length."""
        return self.others * int(self.samples.shape[1])

    def digest(self) -> str:
        """Identify the data."""
        return tagged_digest(self.given, (CLASS + self.codes).astype(np.uint64))

    def short_of_root(self, w: Weights, square: Fraction, named: Data) -> int | None:
        """Name a row with z·w < √square, if there is one; require the digest of the data, too."""
        self.require(named)
        return short_of_root(self.lifted(), w, square)[0]


def _with_others(
    X: Matrix, labels: np.ndarray, classes: tuple[Any, Any], others: str
) -> tuple[Matrix, np.ndarray]:
    """Give rows of other classes the negative label, or leave them out."""
    listed = labels.tolist()
    if others == "negative":
        negative, positive = classes
        return X, as_objects([positive if label == positive else negative for label in listed])
    kept = np.flatnonzero([label in classes for label in listed])
    return X[kept], labels[kept]


class System(Subject):
    """Rows a·w >= b, > b or = b, and bounds. If A or b are decimals, so are all floats."""

    b: np.ndarray
    tags: np.ndarray
    pairs: Bounds | None
    bounds: list[tuple[int, int, Number]]

    def __init__(self, A: Any, b: Any, strict: Any, equal: Any, bounds: Any) -> None:
        self.X = exact_matrix(A, "A")
        n = int(self.X.shape[0])
        self.b = exact_vector([b] * n if np.ndim(b) == 0 else b, n, "b")
        decimal = is_decimal(self.X) or is_decimal(self.b)
        if decimal:
            self.X, self.b = as_decimals(self.X), as_decimals(self.b)
        self.tags = as_tags(n, strict, equal)
        self.pairs = as_bounds(bounds, self.columns, decimal)
        self.bounds = listed(self.pairs or [])

    def row(self, i: int) -> Entries:
        """Give the entries of (a, b)."""
        (right,) = exact_list(self.b[i : i + 1])
        return [*exact_row(self.X, i), (self.columns, right)]

    def bound_row(self, column: int, tag: int) -> Entries:
        """Give the row w_j >= lo of a lower bound, or -w_j >= -hi of an upper one."""
        side, sign = (0, 1) if tag == LOWER else (1, -1)
        bound = self.pairs[column][side] if self.pairs else None
        if bound is None:
            raise Refused(f"column {column} has no such bound")
        return [(column, sign), (self.columns, sign * bound)]

    def bound_rows(self, claim: Infeasible) -> list[Entries]:
        """Give the rows of the bounds that a certificate names."""
        sides = (LOWER, claim.lower[0]), (UPPER, claim.upper[0])
        return [self.bound_row(column, tag) for tag, columns in sides for column in columns]

    def compare(self, w: Weights) -> np.ndarray:
        """Give the sign of a·w - b for every row."""
        rows = SignedRows(self.X, np.ones(self.X.shape[0], np.int8), 0)
        return compare(rows, w, self.b).signs

    @property
    def numbers(self) -> str:
        """The type of the numbers."""
        found = number_type(self.X, self.b)
        if found == "float32" and (self.b.astype(np.float32) != self.b).any():
            return "float64"
        return found

    def digest(self) -> str:
        """Identify the data."""
        return system_digest(self.X, self.b, self.tags, self.pairs)


def homogeneous(row: Entries) -> Entries:
    """Give a row (a, b) as (a, -b), of a·w - b·t."""
    *entries, (last, right) = row
    return [*entries, (last, -right)]


def _require_digest(found: str, named: Data, X: Matrix) -> None:
    if is_decimal(X) != (named.numbers == "decimal"):
        raise Refused(f"the certificate is about {named.numbers} numbers, not {number_type(X)}")
    if found != named.digest:
        hint = ""
        if named.numbers in ("float32", "float64") and str(X.dtype) != named.numbers:
            hint = f" (its numbers are {named.numbers}, these {X.dtype})"
        raise Refused(
            "the certificate is for other data: the certificate's digest is "
            f"{named.digest}, that of these data {found}{hint}"
        )


def as_tags(n: int, strict: Any, equal: Any) -> np.ndarray:
    """Give the tag of each row; strict and equal are a truth value each, or one for every row."""
    equations = _as_mask(n, equal, "equal")
    stricts = _as_mask(n, strict, "strict")
    if strict is True:
        stricts = ~equations
    if (equations & stricts).any():
        row = int((equations & stricts).argmax())
        raise InputError(f"row {row} cannot be both strict and an equation")
    return np.where(equations, EQUAL, np.where(stricts, MORE_THAN, AT_LEAST))


def _as_mask(n: int, given: Any, name: str) -> np.ndarray:
    mask = np.asarray(False if given is None else given)
    if mask.dtype != bool or mask.shape not in ((), (n,)):
        raise InputError(f"{name} must be a truth value, or an array of one for each of {n} rows")
    return np.broadcast_to(mask, (n,))


def as_bounds(given: Any, columns: int, decimal: bool = False) -> Bounds | None:
    """Give a pair of exact numbers or None for each column; one pair may stand for all."""
    if given is None:
        return None
    try:
        pairs = list(given)
    except TypeError:
        raise InputError(f"bounds must be a pair, or one for each column, got {given!r}") from None
    if len(pairs) == 2 and not any(hasattr(end, "__len__") for end in pairs):
        pairs = [tuple(pairs)] * columns
    if len(pairs) != columns:
        raise InputError(f"bounds needs a pair for each of {columns} columns, got {len(pairs)}")
    try:
        ends = [(_as_end(low, -math.inf), _as_end(high, math.inf)) for low, high in pairs]
        return [(_written(low), _written(high)) for low, high in ends] if decimal else ends
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("bounds needs a pair (lower, upper) for each column") from None


def _as_end(value: Any, none: float) -> Number | None:
    if value is None or (isinstance(value, float | np.floating) and value == none):
        return None
    number = plain_number(value)
    if number is None:
        raise InputError(
            f"a bound is {value!r}, which is not a finite number; use None for no bound"
        )
    return number


def _written(end: Number | None) -> Number | None:
    return shortest(end) if isinstance(end, float) else end


def used_columns(X: Matrix) -> np.ndarray:
    """Tell for each column whether a row has an entry in it that is not zero."""
    used = np.zeros(X.shape[1], bool)
    if sparse.issparse(X):
        used[X.indices[: X.indptr[-1]][X.data[: X.indptr[-1]] != 0]] = True
        return used
    for start in range(0, X.shape[0], ROWS_AT_A_TIME):
        used |= (X[start : start + ROWS_AT_A_TIME] != 0).any(axis=0)
    return used
