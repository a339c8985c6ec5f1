"""What to do about a regression whose coefficients diverge.

Drop        columns without which all coefficients are finite, none of which can be kept besides
            the others: exact verdicts, one for each column that diverges
Merge       levels of a factor, whose dummies are such columns, with other levels of it
Penalise    bias-reduced and penalised fits of other packages, which are finite
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from rosenblatt.decide.answers import INSEPARABLE, SEPARABLE, UNDECIDED, Clock, Explained
from rosenblatt.decide.separability.explained import listed
from rosenblatt.decide.separability.separation import Separation
from rosenblatt.decide.separability.subsets import Set, Subsets
from rosenblatt.errors import InputError
from rosenblatt.outcomes import BINOMIAL, POISSON
from rosenblatt.pauses import OutOfTimeError

# Dummies as patsy and formulaic name them, C(site)[T.b], and tables of ours, site=b.
FACTOR = r"(?:C\((?P<coded>[^():,]+)[^:]*\)|(?P<plain>[^\[\]:=]+))"
LEVEL = re.compile(FACTOR + r"(?:\[(?:T\.)?[^\]:]+\]|=[^:]+)")
COUNTS, JOINT = "counts", "joint"
CALLS = {
    BINOMIAL: {
        "firthmodels": "firthmodels.FirthLogisticRegression().fit(X, y)",
        "statsmodels": "statsmodels.api.Logit(y, X).fit_regularized(alpha=0.1)",
        "scikit-learn": "sklearn.linear_model.LogisticRegression(C=1.0).fit(X, y)",
        "R": "glm(y ~ ., binomial, data, method = brglm2::brglm_fit)",
    },
    COUNTS: {
        "statsmodels": (
            "statsmodels.api.GLM(numpy.column_stack([successes, trials - successes]), X, "
            "family=statsmodels.api.families.Binomial()).fit_regularized(alpha=0.1)"
        ),
        "R": "glm(cbind(successes, trials - successes) ~ ., binomial, data, "
        "method = brglm2::brglm_fit)",
    },
    POISSON: {
        "statsmodels": (
            "statsmodels.api.GLM(y, X, family=statsmodels.api.families.Poisson())"
            ".fit_regularized(alpha=0.1)"
        ),
        "scikit-learn": "sklearn.linear_model.PoissonRegressor(alpha=0.1).fit(X, y)",
        "R": "glm(y ~ ., poisson, data, method = brglm2::brglm_fit)",
    },
    JOINT: {
        "statsmodels": "statsmodels.api.MNLogit(y, X).fit_regularized(alpha=0.1)",
        "scikit-learn": "sklearn.linear_model.LogisticRegression(C=1.0).fit(X, y)",
        "R": "brglm2::brmultinom(y ~ ., data)",
    },
}


@dataclass(frozen=True)
class Advice(Explained):
    """What to do about a regression whose coefficients diverge.

    Attributes
    ----------
    drop : ndarray of int
        Columns to drop so that all coefficients are finite; empty if they are finite anyway.
    irreducible : bool
        Whether it is proven that none of these columns can be kept.
    merge : dict of str to list of str
        For dummies among them, the dummies of the same factor to merge them with instead.
    apart : int
        The number of rows that cause the separation: those strictly on the correct side.
    rows : int
        The number of all rows.
    calls : dict of str to str
        Penalised fits, which stay finite, by package.
    names : sequence of str
        The names of the columns, if they have any.
    """

    drop: np.ndarray
    irreducible: bool
    merge: dict[str, list[str]]
    apart: int
    rows: int
    calls: dict[str, str] = field(repr=False)
    names: Sequence[str] = ()

    def explain(self) -> str:
        """Give the advice, as a paragraph."""
        if not self.drop.size:
            return "All coefficients are finite: an ordinary fit will do."
        several = self.irreducible and self.drop.size > 1
        every = "All" if self.apart == self.rows else f"{self.apart:,} of"
        parts = [
            f"{every} {self.rows:,} rows cause the separation.",
            f"Without {listed('column', self.drop, self.names)}, all coefficients are finite"
            + ("; if any one of them is kept, some are not." * several or "."),
        ]
        if self.merge:
            parts.append(
                "Dropping the dummy of a level merges that level with the reference level."
            )
        parts += [f"{level} may be merged with {_or(others)}." for level, others in self._merged()]
        if self.apart < self.rows:
            parts.append("The finite coefficients are those of a fit to the other rows alone.")
        calls = "; ".join(f"{package}: {call}" for package, call in self.calls.items())
        return " ".join([*parts, f"To keep all columns, fit with a penalty: {calls}."])

    def _merged(self) -> list[tuple[str, list[str]]]:
        return [(level, others) for level, others in self.merge.items() if others]


def advise(found: Separation, clock: Clock) -> Advice:
    """Look for columns to drop and levels to merge, as far as the time allows."""
    if found.verdict == UNDECIDED or found.design is None:
        raise InputError("advice needs a verdict, and this one is undecided; allow more seconds")
    counts = COUNTS if found.places is not None and found.family == BINOMIAL else found.family
    calls = dict(CALLS[JOINT if len(found.classes) > 2 else counts])
    rows = int(found.counted_rows)
    if found.verdict == INSEPARABLE:
        return Advice(np.zeros(0, np.int64), True, {}, 0, rows, calls, found.names)
    subsets = Subsets(found, clock)
    aliased = set() if found.aliased is None else {*found.aliased.tolist()}
    every = [j for j in found.used_columns if j not in aliased]
    suspects = every if found.verdict == SEPARABLE or found.blame.doubt else found.columns.tolist()
    kept, irreducible = Set(every) - Set(suspects), False
    merge: dict[str, list[str]] = {}
    with suppress(OutOfTimeError, KeyboardInterrupt):
        for j in suspects:
            if subsets.answer(kept | {j}).verdict == INSEPARABLE:
                kept |= {j}
        irreducible = True
        dropped = [j for j in every if j not in kept and factor(found, j) is not None]
        merge = {found.names[j]: _partners(found, j, kept, clock) for j in dropped}
    drop = np.array(sorted(Set(every) - kept), np.int64)
    apart = rows if found.verdict == SEPARABLE else int(found.rows.size)
    return Advice(drop, irreducible, merge, apart, rows, calls, found.names)


def factor(found: Separation, column: int) -> str | None:
    """Give the factor that a column is a dummy of, by its name."""
    match = LEVEL.fullmatch(str(found.names[column])) if len(found.names) else None
    return None if match is None else match["coded"] or match["plain"]


def _partners(found: Separation, level: int, kept: Set, clock: Clock) -> list[str]:
    """Give the levels of the same factor that leave all coefficients finite if merged with one."""
    columns, partners = sorted(kept), []
    for place, other in enumerate(columns):
        if factor(found, other) != factor(found, level):
            continue
        choice = np.zeros((found.width, len(columns)))
        choice[columns, np.arange(len(columns))] = 1
        choice[level, place] = 1
        if found.on_sums(choice, clock).verdict == INSEPARABLE:
            partners.append(found.names[other])
    return partners


def _or(names: Sequence[str]) -> str:
    return " or ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
