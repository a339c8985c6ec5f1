"""What a shard is asked by a coordinator that decides or checks, and what it answers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.certificates import (
    MistakeProof,
    Number,
    Separator,
)
from rosenblatt.check.hinges import Interval, enclosed_square, exact_parts
from rosenblatt.check.subjects import Labelled as Subject
from rosenblatt.check.subjects import used_columns
from rosenblatt.cluster.shards import Shard
from rosenblatt.cluster.survey import widened
from rosenblatt.exact.digest import labelled_total
from rosenblatt.exact.extremes import enclosed_loss
from rosenblatt.exact.integers import Rationals
from rosenblatt.exact.numbers import exact_matrix, number_type
from rosenblatt.exact.products import (
    rough_products,
    short_of_root,
    signs_of_products,
    smallest,
)
from rosenblatt.exact.signed import SignedRows
from rosenblatt.exact.weights import Weights
from rosenblatt.labels import as_signs
from rosenblatt.matrices import Matrix
from rosenblatt.methods.relaxation import relaxed

FIRST_PASSES = 3  # over a shard, to find rows that are likely to matter


class Sides(NamedTuple):
    """What makes a shard rows of two classes: all columns, and which labels are positive."""

    token: str
    width: int
    classes: np.ndarray

    def of(self, shard: Shard) -> tuple[Matrix, np.ndarray]:
        """Give the rows and their signs."""

        def make() -> tuple[Matrix, np.ndarray]:
            rows = exact_matrix(widened(shard.examples.X, self.width))
            return rows, as_signs(shard.examples.y, self.classes)

        made: tuple[Matrix, np.ndarray] = shard.keep("sides", self.token, make)
        return made


class Sent(NamedTuple):
    """Rows that leave a shard: their places in it, themselves, and their signs."""

    places: np.ndarray
    X: Matrix
    signs: np.ndarray


def sent(X: Matrix, signs: np.ndarray, places: np.ndarray) -> Sent:
    """Let rows leave."""
    return Sent(places, X[places], signs[places])


def likely(shard: Shard, given: tuple[Sides, bool, int], _: None) -> Sent:
    """Send the rows that a few passes had most trouble with, and some others."""
    sides, lifted, most = given
    X, signs = sides.of(shard)
    steps = relaxed(X, signs, float(lifted), FIRST_PASSES, lambda: None).steps
    hardest = np.argsort(-steps, kind="stable")[:most]
    some = np.linspace(0, signs.size - 1, min(most, signs.size)).astype(np.int64)
    return sent(X, signs, np.union1d(hardest, some))


def named(shard: Shard, sides: Sides, places: np.ndarray) -> Sent:
    """Send rows by their places."""
    return sent(*sides.of(shard), places)


class Seen(NamedTuple):
    """What a shard says of a hyperplane: the rows against it, and whether some are for it."""

    against: Sent
    some_for: bool
    least: float


def against(shard: Shard, given: tuple[Sides, bool, list[Number], bool, int], _: None) -> Seen:
    """Send the rows on the wrong side of w, or on it if it is to be strict; the worst, if many."""
    sides, lifted, w, strict, most = given
    rows = SignedRows(*sides.of(shard), int(lifted))
    exact = signs_of_products(rows, w)
    wrong = np.flatnonzero(exact <= 0 if strict else exact < 0)
    if wrong.size > most:
        rough = rough_products(rows, rows.weights(w))[wrong]
        wrong = np.sort(wrong[np.argpartition(rough, most)[:most]])
    least = 0.0 if wrong.size or not strict else smallest(rows, w)[0]
    return Seen(sent(rows.X, rows.signs, wrong), bool((exact > 0).any()), least)


def apart(shard: Shard, given: tuple[Sides, bool, list[Number]], first: int) -> np.ndarray:
    """Give the rows strictly on their side of w; the first of the shard has the number given."""
    sides, lifted, w = given
    rows = SignedRows(*sides.of(shard), int(lifted))
    return first + np.flatnonzero(signs_of_products(rows, w) > 0)


def off_span(shard: Shard, given: tuple[Sides, list[Any], bool, np.ndarray, int], _: None) -> Sent:
    """Send rows that some vector of a complement meets, or with entries in unused columns."""
    sides, complement, lifted, unused, most = given
    X, signs = sides.of(shard)
    met = np.zeros(signs.size, bool)
    for vector in complement:
        met |= signs_of_products(SignedRows(X, signs, int(lifted)), vector) != 0
    if unused.size:
        part = X[:, unused]
        met |= np.asarray((part != 0).sum(axis=1)).ravel() > 0
    return sent(X, signs, np.flatnonzero(met)[:most])


def used(shard: Shard, sides: Sides, _: None) -> np.ndarray:
    """Give a bit for each column that has an entry."""
    return np.packbits(used_columns(sides.of(shard)[0]))


def total(shard: Shard, sides: Sides, first: int) -> tuple[int, str]:
    """Hash the rows of a shard as those from `first` on; give the type of their numbers, too."""
    X, signs = sides.of(shard)
    return labelled_total(X, signs, first), number_type(X)


def below_margin(shard: Shard, given: tuple[Sides, Separator], _: None) -> int | None:
    """Give a row on which w has less than the margin of a certificate, None if there is none."""
    sides, claim = given
    rows = SignedRows(*sides.of(shard), 1)
    norm = Rationals.of(claim.w[: sides.width]).square()
    if not (claim.margin > 0 and norm > 0):
        return 0
    square = Fraction(claim.margin) ** 2 * norm
    return short_of_root(rows, rows.weights(claim.w), square)[0]


def hinge_parts(
    shard: Shard, given: tuple[Sides, MistakeProof, bool], _: None
) -> tuple[Interval, Interval] | None:
    """Enclose max ‖x‖² and the hinge loss of a shard, or give them exactly."""
    sides, claim, exactly = given
    X, signs = sides.of(shard)
    w = Weights.of(claim.w, sides.width, claim.lift)
    if exactly:
        radius, loss = exact_parts(Subject(X, signs), w)
        return (radius, radius), (loss, loss)
    square, enclosed = enclosed_square(X), enclosed_loss(X, signs, w.floats, 1.0)
    return None if square is None or enclosed is None else (square, enclosed)
