"""Counting operations: one routine over plain numbers, or over numbers that count (theory D22).

Problem     how many operations does a routine need, as a formula, and does it keep to it?
Counted     multiplications, divisions, additions (subtractions too), comparisons and square roots
            of the numbers given; not the work of the loops around them
Method      a routine is written once for numbers of any kind; given `CountingNumber`s, each
            operation adds 1 to a tally that they share
Formulas    n entries, matrices m × n and n × p, a pass over n rows of d entries with M mistakes:

            routine          multiplications   additions        comparisons   square roots
            norm             n                 n - 1                          1
            dot product      n                 n - 1
            Frobenius norm   m·n               m·n - 1                        1
            matrix-vector    m·n               m·(n - 1)
            matrix-matrix    m·n·p             m·(n - 1)·p
            linear search                                       i + 1, if found at i; else n
            perceptron pass  n·(d + 1) + M·d   n·(d - 1) + M·d  n

A pass multiplies the score by the sign for its test, y·(w·x) <= 0; apart from these n products it
has the n·d + M·d multiplications that `Run.operations` calls multiply-adds.
"""

from __future__ import annotations

import math
import operator
import time
from collections import Counter
from collections.abc import Callable, Sequence
from timeit import Timer
from typing import Any

Vector = Sequence[Any]
Matrix = Sequence[Sequence[Any]]


Tally = Counter[str]  # how many operations of each kind there were
ROUNDS = 4  # of timing
KINDS = ("multiplications", "divisions", "additions", "comparisons", "square_roots")


def _arithmetic(kind: str, operation: Callable[[float, float], float]) -> tuple[Any, Any]:
    """Give the methods for a number on the left and on the right of an operation."""

    def left(self: CountingNumber, other: Any) -> CountingNumber:
        return self._counted(kind, operation(self.value, float(other)))

    def right(self: CountingNumber, other: Any) -> CountingNumber:
        return self._counted(kind, operation(float(other), self.value))

    return left, right


def _comparison(operation: Callable[[float, float], bool]) -> Any:
    def method(self: CountingNumber, other: Any) -> bool:
        self.tally["comparisons"] += 1
        return operation(self.value, float(other))

    return method


class CountingNumber:
    """A float that counts what is done with it.

    Examples
    --------
    >>> tally = Counter()
    >>> x, y = CountingNumber(3.0, tally), CountingNumber(4.0, tally)
    >>> float((x * x + y * y).sqrt()), tally
    (5.0, Counter({'multiplications': 2, 'additions': 1, 'square_roots': 1}))
    """

    __slots__ = ("tally", "value")

    def __init__(self, value: float, tally: Tally) -> None:
        self.value, self.tally = value, tally

    def _counted(self, kind: str, value: float) -> CountingNumber:
        self.tally[kind] += 1
        return CountingNumber(value, self.tally)

    __add__, __radd__ = _arithmetic("additions", operator.add)
    __sub__, __rsub__ = _arithmetic("additions", operator.sub)
    __mul__, __rmul__ = _arithmetic("multiplications", operator.mul)
    __truediv__, __rtruediv__ = _arithmetic("divisions", operator.truediv)
    __lt__, __le__ = _comparison(operator.lt), _comparison(operator.le)
    __gt__, __ge__ = _comparison(operator.gt), _comparison(operator.ge)
    __eq__, __ne__ = _comparison(operator.eq), _comparison(operator.ne)
    __hash__ = None  # type: ignore[assignment]

    def sqrt(self) -> CountingNumber:
        """Give the square root."""
        return self._counted("square_roots", math.sqrt(self.value))

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return f"CountingNumber({self.value!r})"


def counting(values: Any, tally: Tally) -> Any:
    """Give numbers, or lists of numbers, as numbers that count on a tally."""
    if isinstance(values, (list, tuple)):
        return [counting(value, tally) for value in values]
    return CountingNumber(float(values), tally)


# ---- the routines, for numbers of any kind


def square_root(x: Any) -> Any:
    """Give the square root of a number of any kind."""
    return x.sqrt() if isinstance(x, CountingNumber) else math.sqrt(x)


def dot_product(u: Vector, v: Vector) -> Any:
    """Give Σ u_j·v_j; the sum begins with the first product, not with 0."""
    total = u[0] * v[0]
    for j in range(1, len(u)):
        total = total + u[j] * v[j]
    return total


def norm(v: Vector) -> Any:
    """Give ‖v‖ = √(v·v)."""
    return square_root(dot_product(v, v))


def frobenius_norm(A: Matrix) -> Any:
    """Give the norm of a matrix read as one long vector."""
    return norm([entry for row in A for entry in row])


def matrix_vector(A: Matrix, v: Vector) -> list[Any]:
    """Give A v: a dot product for each row."""
    return [dot_product(row, v) for row in A]


def matrix_matrix(A: Matrix, B: Matrix) -> list[list[Any]]:
    """Give A B, by the definition: a dot product for each entry."""
    columns = [[row[k] for row in B] for k in range(len(B[0]))]
    return [[dot_product(row, column) for column in columns] for row in A]


def linear_search(values: Vector, wanted: Any) -> int:
    """Give the first place of a value, or -1 if it has none."""
    for i in range(len(values)):
        if values[i] == wanted:
            return i
    return -1


def perceptron_pass(X: Matrix, y: Vector, w: list[Any]) -> tuple[list[Any], int]:
    """Present each example once (theory D1 to D3); give the weights and the number of mistakes."""
    mistakes = 0
    for x, sign in zip(X, y, strict=True):
        if sign * dot_product(w, x) <= 0:
            w = [w[j] + sign * x[j] for j in range(len(w))]
            mistakes += 1
    return w, mistakes


# ---- the formulas

COSTS: dict[Callable[..., Any], Callable[..., Tally]] = {
    dot_product: lambda n: Counter(multiplications=n, additions=n - 1),
    norm: lambda n: Counter(multiplications=n, additions=n - 1, square_roots=1),
    frobenius_norm: lambda m, n: COSTS[norm](m * n),
    matrix_vector: lambda m, n: Counter(multiplications=m * n, additions=m * (n - 1)),
    matrix_matrix: lambda m, n, p: Counter(multiplications=m * n * p, additions=m * (n - 1) * p),
    # of n values, the one wanted being found at a place, or nowhere: -1
    linear_search: lambda n, place: Counter(comparisons=n if place < 0 else place + 1),
    # of n rows of d entries, of which so many were mistakes
    perceptron_pass: lambda n, d, mistakes: Counter(
        multiplications=n * (d + 1) + mistakes * d,
        additions=n * (d - 1) + mistakes * d,
        comparisons=n,
    ),
}


# ---- times


def seconds_of(call: Callable[[], Any], at_least: float) -> float:
    """Give the processor seconds of a call, after one that is not timed: the best of some rounds.

    All rounds together take so many seconds; a call that takes longer is timed once.
    """
    call()
    timer, calls = Timer(call, timer=time.process_time), 1
    while (spent := timer.timeit(calls)) < at_least / ROUNDS:
        calls *= 2
    further = 0 if spent > at_least else ROUNDS - 1
    return min([spent, *timer.repeat(further, calls)]) / calls
