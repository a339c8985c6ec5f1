"""What a model answers: to rows, and over a window of a plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.ndimage import zoom

from rosenblatt.errors import InputError
from rosenblatt.lab.pictures import ask, classes_of, codes_of, rows_like, zero_is_positive
from rosenblatt.lab.pictures_planes import PicturePlane

MOST_CLASSES = 40
VALUES = 5e7  # numbers in all the rows of a plane that a model is asked about
SIDE = (24, 160)  # of the square of these rows, at least and at most
CELLS = 480  # of the picture, to each side
UNSURE = -1
ALIKE = 2.0  # times that points may be wider or higher than the paper, and be drawn to scale


def answered(scores: np.ndarray, model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Give the places of the classes that scores stand for, and where they mean *I don't know*."""
    if scores.shape[-1] == 1 and zero_is_positive(model):
        return (scores[..., 0] >= 0).astype(np.intp), np.zeros(scores.shape[:-1], bool)
    if scores.shape[-1] == 1:
        return (scores[..., 0] > 0).astype(np.intp), scores[..., 0] == 0
    on_top = scores == scores.max(axis=-1, keepdims=True)
    return scores.argmax(axis=-1), np.count_nonzero(on_top, axis=-1) > 1


@dataclass(frozen=True)
class Told:
    """What a model answers to the examples.

    Attributes
    ----------
    classes : the labels.
    codes : the place of the answered class for each row, `UNSURE` for *I don't know*.
    by_scores : whether these are the classes with the largest scores.
    """

    classes: np.ndarray
    codes: np.ndarray
    by_scores: bool

    @classmethod
    def by(cls, model: Any, X: Any, labels: np.ndarray | None) -> Told:
        """Ask a model about rows."""
        answers = ask(model, "predict", X)
        classes = classes_of(model, answers, labels)
        if classes.size > MOST_CLASSES:
            raise InputError(
                f"there are {classes.size} different answers; a plot has colours for {MOST_CLASSES}"
            )
        codes = codes_of(answers, classes)
        if not hasattr(model, "decision_function"):
            return cls(classes, codes, False)
        scores = ask(model, "decision_function", X).reshape(codes.size, -1)
        if scores.shape[1] != (1 if classes.size == 2 else classes.size):
            return cls(classes, codes, False)
        best, unsure = answered(scores, model)
        if not np.all((best == codes) | unsure):
            return cls(classes, codes, False)
        return cls(classes, np.where(unsure, UNSURE, codes), True)


@dataclass(frozen=True)
class View:
    """The part of a plane that is seen."""

    x: tuple[float, float]
    y: tuple[float, float]

    @classmethod
    def around(cls, points: np.ndarray) -> View:
        """Leave some room on every side of points."""
        low, high = points.min(axis=0), points.max(axis=0)
        room = np.where(high > low, 0.06 * (high - low), np.maximum(1.0, 1e-6 * np.abs(low)))
        (left, bottom), (right, top) = (low - room).tolist(), (high + room).tolist()
        return cls((left, right), (bottom, top))

    def to_scale(self, shape: float) -> View:
        """Give one that also has one scale for both axes, if that does not take much more room.

        `shape` is the width of the paper divided by its height.
        """
        (left, right), (bottom, top) = self.x, self.y
        width, height = right - left, top - bottom
        if not shape / ALIKE <= width / height <= shape * ALIKE:
            return self
        wider = max(height * shape - width, 0.0) / 2
        higher = max(width / shape - height, 0.0) / 2
        return View((left - wider, right + wider), (bottom - higher, top + higher))

    def grid(self, side: int) -> tuple[np.ndarray, np.ndarray]:
        """Give so many places on each axis, from end to end."""
        return np.linspace(*self.x, side), np.linspace(*self.y, side)


@dataclass(frozen=True)
class Field:
    """Answers over a window: places of classes or `UNSURE`, and the scores they come from."""

    window: View
    codes: np.ndarray
    scores: np.ndarray | None

    @classmethod
    def over(cls, window: View, plane: PicturePlane, model: Any, X: Any, told: Told) -> Field:
        """Ask a model about a grid of rows of the plane; scores are interpolated between them."""
        side = int(np.clip(np.sqrt(VALUES / plane.origin.size), *SIDE))
        points = np.stack(np.meshgrid(*window.grid(side)), axis=-1).reshape(-1, 2)
        method = "decision_function" if told.by_scores else "predict"
        step = max(1, 2**22 // plane.origin.size)
        found = np.concatenate(
            [
                ask(model, method, rows_like(X, plane.rows(points[k : k + step])))
                for k in range(0, side * side, step)
            ]
        )
        if not told.by_scores:
            return cls(window, codes_of(found, told.classes).reshape(side, side), None)
        finer = (CELLS / side, CELLS / side, 1)
        scores = zoom(found.reshape(side, side, -1).astype(float), finer, order=1)
        best, unsure = answered(scores, model)
        return cls(window, np.where(unsure, UNSURE, best), scores)

    def lead(self, place: int) -> np.ndarray:
        """Give what is positive where a class is answered, and 0 on the boundary of its region."""
        if self.scores is None:
            return np.where(self.codes == place, 0.5, -0.5)
        if self.scores.shape[-1] == 1:
            return self.scores[..., 0] if place else -self.scores[..., 0]
        others = np.delete(self.scores, place, axis=-1)
        found: np.ndarray = self.scores[..., place] - others.max(axis=-1)
        return found
