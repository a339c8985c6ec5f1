"""`Separation`: the answer of `separate`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from rosenblatt.certificates import Certificate
from rosenblatt.decide.answers import SEPARABLE, UNDECIDED, WEAKLY, Clock, Explained
from rosenblatt.decide.separability.blame import Blame, Design
from rosenblatt.decide.separability.explained import explained
from rosenblatt.decimals import is_decimal, marked
from rosenblatt.errors import InputError
from rosenblatt.labels import as_objects
from rosenblatt.matrices import Matrix
from rosenblatt.outcomes import BINOMIAL

if TYPE_CHECKING:
    from rosenblatt.decide.separability.advice import Advice
    from rosenblatt.decide.separability.subsets import FewestColumns


@dataclass(frozen=True)
class Separation(Explained):
    """Whether a hyperplane separates two classes, and why.

    Attributes
    ----------
    verdict : {"separable", "weakly separable", "inseparable", "undecided"}
        Weakly separable (quasi-complete separation): a hyperplane has no sample on the wrong side,
        some on it and some off it.
    coef : ndarray of shape (n_features,) or None
        The hyperplane x·coef + intercept = 0 in floats, positive for the second class, for the
        first two verdicts. The exact numbers are in the certificate.
    intercept : float or None
        Likewise.
    margin : float
        The distance of the nearest sample to the hyperplane, rounded down; 0 unless separable.
    enclosure : tuple of two floats
        A lower and an upper bound of the largest margin that any hyperplane has.
    certificate : Certificate or None
        The proof, for `verify`. If undecided, the proof that nothing separates the classes
        strictly, where that much is known, else None.
    rows : ndarray of int
        The samples that matter. Separable: those nearest to the hyperplane. Weakly separable:
        those strictly on the correct side; all others lie on every hyperplane that has none on the
        wrong side. Inseparable: those that the proof uses.
    columns : ndarray of int
        The features that matter, aliased ones left out. Separable: those with a non-zero
        coefficient; in a logistic regression none is finite. Weakly separable: exactly those whose
        coefficients diverge in a logistic regression. Inseparable: those of the proof's samples.
    aliased : ndarray of int or None
        The features that are linear combinations of the intercept and of earlier features.
    classes : tuple of two labels
        The second one is positive.
    names : sequence of str
        The names of the features, from a data frame or a file; empty if they have none.
    stop : str
        Why it is undecided: "out of time", "interrupted", "the proof did not pass the check".
    seconds : float
        The time taken.
    family : {"binomial", "poisson"}
        The regression that the answer is about.
    places : ndarray of int or None
        Of counts, the sample that each row of `data` stands for.

    Notes
    -----
    `columns` and `aliased` are computed in exact arithmetic when they are first asked for, which
    may take up to `max_seconds` again; X must not change before that. If the time is too short, or
    X has more than 1,000 columns, `explain` says so: `columns` are then those of the hyperplane
    that was found, and `aliased` is None if unknown.
    """

    verdict: str
    classes: tuple[Any, ...]
    coef: np.ndarray | None = None
    intercept: float | None = None
    margin: float = 0.0
    enclosure: tuple[float, float] = (-math.inf, math.inf)
    certificate: Certificate | None = None
    rows: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    names: Sequence[str] = ()
    stop: str = ""
    design: Design | None = field(compare=False, repr=False, default=None)
    seconds: float = field(compare=False, default=0.0)
    family: str = BINOMIAL
    places: np.ndarray | None = field(compare=False, repr=False, default=None)

    @property
    def columns(self) -> np.ndarray:
        """The columns that matter."""
        return self.blame.columns

    @property
    def aliased(self) -> np.ndarray | None:
        """The columns that are linear combinations of columns before them; None if unknown."""
        return self.blame.aliased

    @property
    def coefficients(self) -> dict[str | int, str] | None:
        """What becomes of each coefficient in a regression without a penalty: logistic, or Poisson.

        By name, or place where columns have none, the intercept first: "finite", "+inf" or "-inf",
        and "aliased" for columns that are set apart; None if it is not known. Where a coefficient
        may go either way, the sign is that of the hyperplane.
        """
        said, design = self._said(), self.design
        if said is None or design is None:
            return None
        return self._named(said[:-1], said[-1] if design.lift else None)

    def _said(self) -> list[str] | None:
        """Say what becomes of each coordinate, the intercept last; None if it is not known."""
        blame, design = self.blame, self.design
        if design is None or self.verdict == UNDECIDED or blame.aliased is None or blame.doubt:
            return None
        words = {1: "+inf", -1: "-inf"}
        count = int(design.X.shape[1])
        found = [words.get(blame.signs.get(j, 0), "finite") for j in range(count + 1)]
        for j in blame.aliased.tolist():
            found[j] = "aliased"
        return found

    def _named(self, said: list[str], constant: str | None) -> dict[str | int, str]:
        """Give what is said of each column by its name, the intercept first."""
        names: list[str | int] = [*self.names] if len(self.names) else list(range(len(said)))
        first = "(intercept)" if "intercept" in names else "intercept"
        start: dict[str | int, str] = {} if constant is None else {first: constant}
        return start | dict(zip(names, said, strict=False))

    def frame(self, kind: str = "pandas") -> Any:
        """Give `coefficients` as a data frame.

        Parameters
        ----------
        kind : {"pandas", "polars"}, default="pandas"
            Whose data frame.

        Returns
        -------
        DataFrame
            The columns are "column" and "coefficient".
        """
        checked_kind(kind)
        found = self.coefficients or {}
        table = {"column": [str(name) for name in found], "coefficient": list(found.values())}
        return import_module(kind).DataFrame(table)

    @cached_property
    def blame(self) -> Blame:
        """What can be said of the columns."""
        if self.design is None or self.certificate is None or self.verdict == UNDECIDED:
            return Blame(np.zeros(0, np.int64))
        return self.design.blame(self.certificate)

    @property
    def data(self) -> tuple[Matrix, np.ndarray] | None:
        """The rows and labels that the certificate is about, for `verify`; None if not kept."""
        if self.design is None:
            return None
        labels = np.where(self.design.signs > 0, *as_objects([*self.classes[::-1]]))
        return self.design.rows, labels

    def fewest_columns(self, max_seconds: float | None = 10.0) -> FewestColumns:
        """Find the fewest columns that still separate, as completely or as weakly as all of them.

        Parameters
        ----------
        max_seconds : float or None, default=10.0
            The time limit. Where it is over before the proof, `smallest` is False, and `at_least`
            tells how many columns are needed.

        Returns
        -------
        FewestColumns
            With `columns`, `smallest` and `found`, the answer about these columns alone.
        """
        from rosenblatt.decide.separability.subsets import fewest_columns

        if self.verdict not in (SEPARABLE, WEAKLY) or self.design is None:
            raise InputError(f"the verdict is {self.verdict}: no columns separate, few or many")
        return fewest_columns(self, Clock.of(max_seconds))

    def advice(self, max_seconds: float | None = 10.0) -> Advice:
        """Say what to do: which columns to drop or levels to merge, which fits stay finite.

        Parameters
        ----------
        max_seconds : float or None, default=10.0
            The time limit, after which columns may be named that need not be dropped.

        Returns
        -------
        Advice
            With `drop`, `merge`, `calls` and more; as text, a paragraph.
        """
        from rosenblatt.decide.separability.advice import advise

        return advise(self, Clock.of(max_seconds))

    # ---- the same question about other columns

    @property
    def width(self) -> int:
        """The number of columns."""
        assert self.design is not None
        return int(self.design.X.shape[1])

    @property
    def counted_rows(self) -> int:
        """The number of samples that count."""
        assert self.design is not None
        return int(self.design.signs.size if self.places is None else np.unique(self.places).size)

    @property
    def used_columns(self) -> list[int]:
        """The columns in which some row is not zero."""
        assert self.design is not None
        return self.columns_of(self.design.signed.used)

    def columns_of(self, coordinates: np.ndarray) -> list[int]:
        """Give the columns of coordinates of w."""
        return list(coordinates[coordinates < self.width].tolist())

    def on_columns(self, columns: np.ndarray, clock: Clock) -> Separation:
        """Ask the same question about some columns alone."""
        X, names = self._matrix, [self.names[j] for j in columns] if len(self.names) else ()
        some = X[:, columns] if sparse.issparse(X) else X.take(columns, axis=1)  # in C order
        return replace(self._on(some, clock), names=names)

    def on_sums(self, choice: np.ndarray, clock: Clock) -> Separation:
        """Ask the same question about sums of columns: X times a matrix of zeros and ones."""
        X = self._matrix
        plain = X.view(np.ndarray) if isinstance(X, np.ndarray) else sparse.csr_matrix(X)
        made = plain @ choice.astype(X.dtype)
        return self._on(marked(made, X.written) if is_decimal(X) else made, clock)

    @property
    def _matrix(self) -> Matrix:
        assert self.design is not None
        return self.design.rows

    def _on(self, X: Matrix, clock: Clock) -> Separation:
        from rosenblatt.decide.separability.separate import decide

        assert self.design is not None
        classes = as_objects([*self.classes])
        found = decide(X, self.design.signs, classes, bool(self.design.lift), clock)
        return replace(found, family=self.family)

    def explain(self) -> str:
        """Explain the verdict.

        Returns
        -------
        str
            A paragraph.
        """
        return explained(self)


def checked_kind(kind: str) -> None:
    """Refuse frames of others."""
    if kind not in ("pandas", "polars"):
        raise InputError(f"kind must be 'pandas' or 'polars', got {kind!r}")
