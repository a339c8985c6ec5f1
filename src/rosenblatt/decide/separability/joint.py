"""Many classes at once: the question of a multinomial logit, with a vector of weights for each.

Problem     β for each class, zero for the first. The data are separable if some β give every row
            the largest score for its own class, weakly if none scores more than it, and in some
            row one less: a β for which the likelihood never stops rising         (theory D9, D18)
Method      rows in the weights of all classes (`outcomes.joint_rows`), decided as any others
Sources     Albert & Anderson 1984
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from rosenblatt.certificates import JointInseparability, JointNonSeparability, JointSeparator
from rosenblatt.check.subjects import JointLabelled
from rosenblatt.decide.answers import Clock
from rosenblatt.decide.separability.explained import explained_jointly
from rosenblatt.decide.separability.question import Question
from rosenblatt.decide.separability.separation import Separation, checked_kind
from rosenblatt.decide.separability.verdicts import Asked
from rosenblatt.labels import as_codes, as_objects
from rosenblatt.matrices import Matrix
from rosenblatt.memory import DECISION_BYTES, check_columns

KINDS = JointSeparator, JointNonSeparability, JointInseparability


@dataclass(frozen=True)
class JointSeparation(Separation):
    """Whether many classes are jointly separable, by a weight vector for each class, and why.

    The attributes are those of `Separation`, for all classes at once: `coef` has a row and
    `intercept` a number for each class, zero for the first; `coefficients` has a table for each
    class but the first, with which the others are compared.
    """

    intercept: Any = None
    given: tuple[Matrix, np.ndarray] | None = field(compare=False, repr=False, default=None)

    @property
    def data(self) -> tuple[Matrix, np.ndarray] | None:
        """The rows and labels that the certificate is about, for `verify`."""
        return self.given

    def explain(self) -> str:
        """Explain the verdict about all classes."""
        return explained_jointly(self)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of classes but one, and the number of columns."""
        assert self.design is not None
        others = len(self.classes) - 1
        return others, (int(self.design.X.shape[1]) - self.design.constants) // others

    @property
    def columns(self) -> np.ndarray:
        """The columns that matter."""
        return self._columns(self.blame.columns)

    @property
    def aliased(self) -> np.ndarray | None:
        """The columns that are linear combinations of columns before them; None if unknown."""
        aliased = self.blame.aliased
        return None if aliased is None else self._columns(aliased)

    def _columns(self, places: np.ndarray) -> np.ndarray:
        if self.design is None:
            return places
        others, width = self.shape
        return np.unique(places[places < others * width] % max(1, width))

    def columns_of(self, coordinates: np.ndarray) -> list[int]:
        """Give the columns of coordinates of w."""
        return list(self._columns(coordinates).tolist())

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.shape[1]

    @property
    def counted_rows(self) -> int:
        """The number of samples."""
        return 0 if self.given is None else len(self.given[1])

    @property
    def _matrix(self) -> Matrix:
        assert self.given is not None
        return self.given[0]

    def _on(self, X: Matrix, clock: Clock) -> JointSeparation:
        assert self.given is not None
        lifted = bool(self.design and self.design.constants)
        return decide_jointly(X, self.given[1], as_objects([*self.classes]), lifted, clock)

    @cached_property
    def coefficients(self) -> Any:
        """What becomes of each coefficient in a multinomial logit, by class and by name."""
        said = self._said()
        if said is None:
            return None
        (others, width), lifted = self.shape, bool(self.design and self.design.constants)
        tables = {}
        for k, label in enumerate(self.classes[1:]):
            own = said[k * width : (k + 1) * width]
            constant = said[others * width + k] if lifted else None
            tables[label] = self._named(own, constant)
        return tables

    def frame(self, kind: str = "pandas") -> Any:
        """Give `coefficients` as a data frame of "class", "column" and "coefficient"."""
        checked_kind(kind)
        tables = self.coefficients or {}
        lines = [(label, name, said) for label in tables for name, said in tables[label].items()]
        table: dict[str, list[Any]] = {"class": [label for label, _, _ in lines]}
        table["column"] = [str(name) for _, name, _ in lines]
        table["coefficient"] = [said for _, _, said in lines]
        return import_module(kind).DataFrame(table)


def decide_jointly(
    X: Matrix, labels: np.ndarray, classes: np.ndarray, fit_intercept: bool, clock: Clock
) -> JointSeparation:
    """Decide about many classes at once, in what is left of the time."""
    count, width, lifted = classes.size, X.shape[1], bool(fit_intercept)
    check_columns((count - 1) * (width + lifted), DECISION_BYTES, "a joint decision about")
    labelled = JointLabelled(X, as_codes(labels, classes), count, lifted)
    asked = Asked(labelled, tuple(classes.tolist()), False, kinds=KINDS)
    found = Question(asked, clock).answer()
    design = found.design and replace(found.design, constants=labelled.columns - labelled.measured)
    rows = np.unique(found.rows // (count - 1))
    made = replace(as_joint(found), rows=rows, design=design, given=(X, labels))
    if found.coef is None:
        return made
    coef, intercept = np.zeros((count, width)), np.zeros(count)
    coef[1:] = found.coef[: labelled.measured].reshape(count - 1, width)
    if lifted:
        intercept[1:] = found.coef[labelled.measured :]
    return replace(made, coef=coef, intercept=intercept)


def as_joint(found: Separation) -> JointSeparation:
    """Give an answer as one about many classes."""
    return JointSeparation(**{item.name: getattr(found, item.name) for item in fields(found)})
