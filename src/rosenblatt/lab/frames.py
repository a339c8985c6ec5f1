"""Frames: a run of the perceptron in the plane, mistake by mistake, ready to be drawn.

From w = 0, each mistake adds y·x to w (theory D3). After the k-th one, k·γ <= w·w* <= ‖w‖ and
‖w‖² <= k·R² (F6); as k·γ cannot outgrow R·√k, the run ends (F5). With an intercept b, all of this
is about (w, b) and the points (x, 1) (D7); drawn is the line w·x + b = 0.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

import rosenblatt as rb
from rosenblatt.bounds.theorem import lifted, unit
from rosenblatt.errors import InputError, RosenblattError
from rosenblatt.lab.pictures import column_names
from rosenblatt.labels import as_labels, as_signs, two_classes
from rosenblatt.matrices import as_matrix, check_finite
from rosenblatt.names import column_names as names_of
from rosenblatt.options import flag

MOST_MISTAKES = 300
MOST_POINTS = 5000
LONGEST_NAME = 20
SCALES = (1e-100, 1e100)  # squares of such numbers are still far from the ends of float64
SECONDS_FOR_THE_MARGIN = 20.0


@dataclass(frozen=True, eq=False)
class Frames:
    """A run on points of the plane; entry k of an array is the state after k mistakes.

    Attributes
    ----------
    X, signs : the points, and -1 or +1 for the class of each.
    names : the names of the negative and of the positive class.
    axes : the names of the two columns.
    example : which point was the mistake; entry 0 belongs to the first one.
    w : the weights, from zero on; with an intercept, a third column.
    sqnorm : ‖w‖², the intercept included.
    projection : w·w*, the intercepts included; None without a comparator.
    comparator : w*, of norm 1, or None.
    radius : R, the largest norm of a point, lifted if there is an intercept, rounded up.
    margin : γ, the smallest y·(w*·x), rounded down; None unless it is above 0.
    converged : whether a whole pass made no mistake in the end.
    ending : a sentence that says how the run ended.
    """

    X: np.ndarray
    signs: np.ndarray
    names: tuple[str, str]
    axes: tuple[str, str]
    example: np.ndarray
    w: np.ndarray
    sqnorm: np.ndarray
    projection: np.ndarray | None
    comparator: np.ndarray | None
    radius: float
    margin: float | None
    converged: bool
    ending: str

    @property
    def mistakes(self) -> int:
        """How many mistakes there are to be seen."""
        return self.example.size

    @property
    def passes(self) -> np.ndarray:
        """In which pass each mistake was made.

        Of two mistakes, the later one is in the same pass exactly if its point is stored later:
        otherwise all points would have been looked at in between, and the run would have ended.
        """
        return 1 + np.concatenate([[0], np.cumsum(np.diff(self.example) <= 0)])

    @property
    def reach(self) -> float:
        """How far the picture reaches from the origin, in each direction."""
        return 1.15 * float(np.abs(self.X).max())

    @property
    def shrink(self) -> float:
        """By what w is multiplied to be drawn among the points: 1 if that leaves it inside."""
        longest = float(np.hypot(*self.w[:, :2].T).max())
        return min(1.0, 0.9 * self.reach / longest) if longest > 0 else 1.0

    @property
    def heights(self) -> tuple[float, float, float]:
        """Where the chart of ‖w‖² ends, and where that of w·w* begins and ends.

        Bounds far above what they bound leave the chart, which would else show a flat line.
        """
        products = np.zeros(1) if self.projection is None else self.projection
        squares = min(self.mistakes * self.radius**2, 4 * self.sqnorm.max())
        highest = min(self.radius * self.mistakes**0.5, 4 * np.abs(products).max())
        return (
            1.05 * float(squares) or 1.0,
            1.05 * float(products.min()),
            1.05 * float(highest) or 1.0,
        )

    @property
    def intercept(self) -> bool:
        """Whether the line may miss the origin."""
        return bool(self.w.shape[1] == 3)

    @property
    def score(self) -> str:
        """How an answer is computed."""
        return "w·x + b" if self.intercept else "w·x"

    def caption(self, k: int) -> str:
        """Say what the k-th mistake was; for 0, how the run begins."""
        if k == 0:
            zero = "w = 0 and b = 0" if self.intercept else "w = 0"
            said = (
                f"The run begins with {zero}: every answer is “I don't know”, which is a mistake."
            )
        else:
            i = self.example[k - 1]
            sign = "+" if self.signs[i] > 0 else "−"
            said = (
                f"Mistake {k} of {self.mistakes} (pass {self.passes[k - 1]}): row {i} (from 0) "
                f"{self._answer(k)}; w becomes w {sign} x"
                + (f", b becomes b {sign} 1." if self.intercept else ".")
            )
        ending = self.ending if k == self.mistakes else ""
        return " ".join(filter(None, [said, ending, self.note]))

    @property
    def note(self) -> str:
        """Why the lower bound of w·w* is missing; empty if it is there, or there is no w*."""
        if self.comparator is None or self.margin is not None:
            return ""
        return "This w* does not separate the classes, so there is no lower line k·γ."

    def _answer(self, k: int) -> str:
        """Say how the point of the k-th mistake was answered by the weights before it."""
        i = self.example[k - 1]
        x = np.append(self.X[i], 1.0) if self.intercept else self.X[i]
        score, spread = _product(self.w[k - 1], x)
        other, name = self.names[:: int(self.signs[i])]
        if score == 0 and spread == 0:
            return f"was answered “I don't know”, it is {name} ({self.score} = 0)"
        if abs(score) <= spread:
            return f"was not on the side of {name} ({self.score} = 0 up to rounding)"
        return f"was answered {other}, but is {name} ({self.score} = {number(score)})"

    @property
    def line(self) -> str:
        """What is learned."""
        return "line" if self.intercept else "line through the origin"

    def squares(self, k: int) -> str:
        """State ‖w‖² beside its bound."""
        square = "‖w‖² + b²" if self.intercept else "‖w‖²"
        return f"{square} = {number(self.sqnorm[k])}  ≤  k·R² = {number(k * self.radius**2)}"

    def products(self, k: int) -> str:
        """State w·w* between its bounds, as far as there are any."""
        if self.projection is None:
            return f"There is no w* to compare w with:\nno {self.line} is known to separate."
        product = "w·w* + b·b*" if self.intercept else "w·w*"
        middle = (
            f"{product} = {number(self.projection[k])}  ≤  R·√k = {number(self.radius * k**0.5)}"
        )
        return middle if self.margin is None else f"k·γ = {number(k * self.margin)}  ≤  {middle}"


def number(value: float) -> str:
    """Write a number with four digits and a proper minus sign.

    Examples
    --------
    >>> number(-0.123456), number(3.0)
    ('−0.1235', '3')
    """
    return f"{value:.4g}".replace("-", "−")


def foot(w: np.ndarray, farthest: float) -> np.ndarray:
    """Give the point of the line w·x + b = 0 nearest to the origin; of far lines, one that far.

    Examples
    --------
    >>> [foot(np.array([0.0, 2.0, -3.0]), farthest).tolist() for farthest in (9.0, 1.0)]
    [[0.0, 1.5], [0.0, 1.0]]
    """
    length = float(np.hypot(*w[:2]))
    distance = 0.0 if w.size == 2 else float(np.clip(-w[2] / length, -farthest, farthest))
    return distance * (w[:2] / length)


def record(
    X: Any,
    y: Any,
    w_star: Any = None,
    *,
    fit_intercept: bool = False,
    names: Any = None,
    limit: int = MOST_MISTAKES,
) -> Frames:
    """Run the perceptron on points of the plane, and keep every mistake, up to a limit.

    Without a comparator w*, it is the separator of largest margin, if there is one. With an
    intercept, points x are lifted to (x, 1), so that the line may miss the origin.

    Examples
    --------
    >>> points = [(-1, 2), (1, 0), (1, 1), (-1, 0), (-1, -2), (1, -1)]
    >>> frames = record(points, [-1, 1, 1, -1, -1, 1])
    >>> frames.w.tolist()
    [[0.0, 0.0], [1.0, -2.0], [2.0, -1.0], [3.0, 1.0]]
    >>> print(frames.caption(2))
    Mistake 2 of 3 (pass 1): row 2 (from 0) was answered -1, but is 1 (w·x = −1); w becomes w + x.
    """
    points, labels, classes = points_of_the_plane(X, y, "an animation", MOST_POINTS)
    lift = float(flag("fit_intercept", fit_intercept))
    rows = np.insert(points, 2, lift, axis=1) if lift else points
    if w_star is None:
        w_star, separable = _separator(rows, labels)
    else:
        w_star, separable = unit(lifted(w_star, 2, lift)[: rows.shape[1]]), None
    # A history needs some comparator; what it says of one that nobody asked for is not used.
    direction = np.eye(rows.shape[1])[0] if w_star is None else w_star
    learner = rb.Perceptron(fit_intercept=False, output="last", max_iter=None, max_updates=limit)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Stopped at the limit on updates")
        learner.fit(rows, labels, comparator=direction)
    bound = learner.bound(rows, labels, direction)
    first, second = column_names(X, names, 2) or ("x₁", "x₂")
    history, signs = learner.run_.history, as_signs(labels, classes)
    assert history is not None  # there was a comparator
    known = w_star is not None
    return Frames(
        X=points,
        signs=signs,
        names=(_name(classes.tolist()[0]), _name(classes.tolist()[1])),
        axes=(_name(first), _name(second)),
        example=history.example,
        w=_weights(rows, signs, history.example, learner.coef_[0]),
        sqnorm=np.append(0.0, history.sqnorm),
        projection=np.append(0.0, history.projection) if known else None,
        comparator=w_star,
        radius=bound.radius,
        margin=bound.margin if known and bound.margin > 0 else None,
        converged=learner.run_.converged,
        ending=_ending(
            learner.run_, bound, known, separable, "" if lift else " through the origin"
        ),
    )


def points_of_the_plane(
    X: Any, y: Any, shown: str, most: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Take points that can be drawn, and labels of two classes, or say what is wrong with them."""
    matrix = as_matrix(X)
    rows, columns = matrix.shape
    if columns != 2:
        names = names_of(X)
        some = ":, :2" if names is None else names[:2]
        raise InputError(
            f"{shown} shows points of the plane, but X has {columns} "
            f"column{'s' if columns > 1 else ''}; choose two, such as X[{some}]"
        )
    if rows > most:
        raise InputError(
            f"{shown} shows at most {most:,} points, but X has {rows:,} rows; give a part of them"
        )
    check_finite(matrix)
    points = np.ascontiguousarray(
        matrix.toarray() if sparse.issparse(matrix) else matrix, dtype=np.float64
    )
    largest = float(np.abs(points).max())
    if not SCALES[0] < largest < SCALES[1]:
        raise InputError(
            f"the largest number of X is {largest:.3g}, which cannot be drawn; multiply X by a "
            "constant, which changes no mistake"
        )
    labels = as_labels(y, rows)
    return points, labels, two_classes(labels)


def _separator(points: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray | None, bool | None]:
    """Give the separator of largest margin through the origin of its rows, and if there is any."""
    found = rb.max_margin(points, labels, fit_intercept=False, max_seconds=SECONDS_FOR_THE_MARGIN)
    if found.verdict == "separable" and found.coef is not None:
        return unit(found.coef), True
    return None, None if found.verdict == "undecided" else False


def _weights(
    points: np.ndarray, signs: np.ndarray, example: np.ndarray, learned: np.ndarray
) -> np.ndarray:
    """Give w after each mistake, which must end in the weights that were learned."""
    w = np.zeros((example.size + 1, points.shape[1]))
    np.cumsum(signs[example, None] * points[example], axis=0, out=w[1:])
    if not np.allclose(w[-1], learned, rtol=0, atol=1e-9 * np.abs(points[example]).sum()):
        raise RosenblattError(
            f"the mistakes add up to {w[-1].tolist()}, not to the weights learned, "
            f"{learned.tolist()}; this is an error of the package"
        )
    return w


def _product(w: np.ndarray, x: np.ndarray) -> tuple[float, float]:
    """Give w·x, and by how much another way of adding up may differ from it.

    Compiled loops may fuse a product with a sum; that is without effect where no product is
    rounded.
    """
    terms = [float(a) * float(b) for a, b in zip(w, x, strict=True)]
    exact = all(
        Fraction(float(a)) * Fraction(float(b)) == Fraction(term)
        for a, b, term in zip(w, x, terms, strict=True)
    )
    score = sum(terms)
    return score, 0.0 if exact and score == 0 else 4 * np.finfo(float).eps * sum(map(abs, terms))


def _name(label: Any) -> str:
    """Write a label in one line, shortened if it is long."""
    text = " ".join(str(label).split()) or repr(label)
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


def _ending(run: Any, bound: Any, known: bool, separable: bool | None, through: str) -> str:
    """Say how the run ended, and what the theorem says of it."""
    if run.converged:
        ending = "Then a whole pass makes no mistake: the run has converged"
        if known and bound.theorem == 1:
            return f"{ending}. Theorem 1 allows {bound.value:,.0f} mistakes, (R/γ)²."
        return f"{ending}."
    if separable is False:
        return (
            f"No line{through} separates the classes: the run would never end, and is shown no "
            "further."
        )
    return "More mistakes follow, which are not shown."
