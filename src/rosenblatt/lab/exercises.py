"""Eleven exercises about perceptrons, each with a check that takes the answer for what it proves.

Where a question asks for a proof, the answer is a certificate in small: weights that separate,
multipliers that add up to a contradiction. It is checked in exact arithmetic, so there are as many
right answers as there are proofs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from rosenblatt.decide.separability.separate import separate
from rosenblatt.decide.widest.margins import max_margin
from rosenblatt.errors import InputError

__all__ = ["Checked", "check_exercise"]

WALK = [((-1, 2), -1), ((1, 0), 1), ((1, 1), 1), ((-1, 0), -1), ((-1, -2), -1), ((1, -1), 1)]
CORNERS = [((0, 0), 1), ((1, 1), 1), ((0, 1), -1), ((1, 0), -1)]
STREET = [((0, 0), -1), ((2, 1), 1), ((3, -1), 1), ((-1, 2), -1)]
SYSTEM = [((1, 1), 3), ((-1, 0), -1), ((0, -1), -1)]
CLASSES = 4
MOST_MISTAKES = 10_000


class Checked(NamedTuple):
    """Whether an answer is right, and a remark.

    Attributes
    ----------
    right : bool
        Whether it is; also the truth value of the whole.
    remark : str
        What it shows, or what is wrong with it.
    """

    right: bool
    remark: str

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return f"{'Right' if self.right else 'Not yet'}: {self.remark}"


def check_exercise(number: int, answer: Any = "?") -> Checked | str:
    """Check the answer to an exercise, or give the question.

    Parameters
    ----------
    number : int
        The number of the exercise, from 1 to 11.
    answer : object, default="?"
        The answer, in the form that the question asks for; "?" gives the question.

    Returns
    -------
    Checked or str
        Whether the answer is right, with a remark; the question if it was asked for.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> rb.check_exercise(7)
    'Give w and b, as (w1, w2, b), with w·x + b > 0 for (1, 1) and < 0 for (0, 0), (0, 1), (1, 0).'
    >>> rb.check_exercise(7, (1, 1, -1))
    Not yet: (0, 1) has the score 0, and must be negative.
    >>> rb.check_exercise(7, (2, 2, -3))
    Right: AND is a half-plane.
    """
    if not isinstance(number, int) or not 1 <= number <= len(EXERCISES):
        raise InputError(f"exercises are numbered from 1 to {len(EXERCISES)}, got {number!r}")
    exercise = EXERCISES[number - 1]
    if isinstance(answer, str) and answer == "?":
        return exercise.question
    if answer is None:
        return Checked(False, "there is no answer.")
    try:
        fault = exercise.fault(answer)
    except (TypeError, ValueError, IndexError) as error:
        raise InputError(f"exercise {number} takes another form of answer: {error}") from None
    return Checked(not fault, fault or exercise.moral)


class Exercise(NamedTuple):
    """A question, what is wrong with an answer (nothing if it is right), and what it shows."""

    question: str
    fault: Callable[[Any], str]
    moral: str


def _numbers(answer: Any, count: int | None = None) -> list[Fraction]:
    found = [Fraction(value) for value in answer]
    if count is not None and len(found) != count:
        raise ValueError(f"it is {count} numbers, got {len(found)}")
    return found


def _dot(a: Sequence[Any], b: Sequence[Any]) -> Fraction:
    return sum((Fraction(p) * Fraction(q) for p, q in zip(a, b, strict=True)), Fraction(0))


def _wrong_side(w: Sequence[Fraction], examples: Sequence[tuple[tuple[int, ...], int]]) -> str:
    """Name an example that is not on its side; w holds the intercept, too, if it is longer."""
    for x, sign in examples:
        score = _dot(w, (*x, 1)[: len(w)])
        if sign * score <= 0:
            side = "positive" if sign > 0 else "negative"
            return f"{x} has the score {score}, and must be {side}."
    return ""


# ---- what is wrong with an answer


def _walked(answer: Any) -> str:
    expected, found = _pass([Fraction(0)] * 2, WALK), [int(number) for number in answer]
    if found == expected:
        return ""
    odd = sorted(set(found) ^ set(expected))
    return f"look at example {odd[0]} again." if odd else "give each number once, in order."


def _pass(w: list[Fraction], examples: Sequence[tuple[Sequence[Any], int]]) -> list[int]:
    """Make a pass of the perceptron, which changes w; give the numbers of the mistakes."""
    mistakes = []
    for number, (x, sign) in enumerate(examples, 1):
        if sign * _dot(w, x) <= 0:
            w[:] = [a + sign * Fraction(b) for a, b in zip(w, x, strict=True)]
            mistakes.append(number)
    return mistakes


def _many_mistakes(answer: Any) -> str:
    positive, negative = (_numbers(x, 2) for x in answer)
    w, total = [Fraction(0)] * 2, 0
    while (made := len(_pass(w, [(positive, 1), (negative, -1)]))) and total < MOST_MISTAKES:
        total += made
    if made:
        return f"they are not separable, or need more than {MOST_MISTAKES:,} mistakes."
    return "" if total >= 10 else f"it makes {total} mistakes."


def _bound(answer: Any) -> str:
    return "" if Fraction(answer) == 50 else "R² is the largest ‖x‖², and γ is min y·(w*·x) / ‖w*‖."


def _inseparable(answer: Any) -> str:
    points, signs = zip(*answer, strict=True)
    if len(points) != 3:
        return f"it is 3 points, got {len(points)}."
    found = separate([[Fraction(x)] for x in points], list(signs))
    return "" if found.verdict == "inseparable" else f"they are {found.verdict}."


def _xor(answer: Any) -> str:
    weights = _numbers(answer, len(CORNERS))
    if any(weight < 0 for weight in weights) or not any(weights):
        return "no weight may be negative, and not all 0."
    signed = [[sign * value for value in (*x, 1)] for x, sign in CORNERS]
    total = [_dot(weights, column) for column in zip(*signed, strict=True)]
    return f"Σ λ·y·(x, 1) is ({', '.join(map(str, total))}), not 0." if any(total) else ""


def _rate(answer: Any) -> str:
    words = str(answer).strip().lower()
    return "" if words == "none" else "start from w = 0, and look at w / eta after each mistake."


def _and(answer: Any) -> str:
    return _wrong_side(_numbers(answer, 3), [((1, 1), 1), ((0, 0), -1), ((0, 1), -1), ((1, 0), -1)])


def _quadratic(answer: Any) -> str:
    products = [((x * y, x, y), sign) for (x, y), sign in CORNERS]
    return _wrong_side(_numbers(answer, 4), products)


def _farkas(answer: Any) -> str:
    y = _numbers(answer, len(SYSTEM))
    if any(value < 0 for value in y):
        return "a negative multiplier reverses an inequality."
    for column in range(2):
        total = _dot(y, [row[column] for row, _ in SYSTEM])
        if total:
            return f"the coefficients of {'xy'[column]} add up to {total}, not 0."
    right = _dot(y, [b for _, b in SYSTEM])
    return "" if right > 0 else f"0 ≥ {right} is not a contradiction."


def _street(answer: Any) -> str:
    points, signs = zip(*STREET, strict=True)
    found = max_margin(points, signs)
    return "" if abs(float(answer) - found.upper) <= 1e-6 else "it is half the width of the street."


def _kesler(answer: Any) -> str:
    return "" if int(answer) == CLASSES - 1 else "one row for each wrong class."


EXERCISES = (
    Exercise(
        "From w = 0, without an intercept, in this order: (-1, 2)-, (1, 0)+, (1, 1)+, (-1, 0)-, "
        "(-1, -2)-, (1, -1)+. On which examples, from 1 to 6, does the perceptron make a mistake "
        "in its first pass?",
        _walked,
        "w goes from (0, 0) to (1, -2), (2, -1) and (3, 1).",
    ),
    Exercise(
        "Give two points of the plane, a positive and a negative one, on which the perceptron "
        "without an intercept makes at least 10 mistakes before it converges.",
        _many_mistakes,
        "the thinner the wedge that they leave for w, the more mistakes.",
    ),
    Exercise(
        "All ‖x‖² ≤ 2, and w* = (3, 4) has y·(w*·x) ≥ 1 for all examples. How many mistakes does "
        "Theorem 1 allow?",
        _bound,
        "R²‖w*‖² = 2 · 25.",
    ),
    Exercise(
        "Give three points of a line, as [(x, sign), …], that no threshold separates, not even "
        "weakly.",
        _inseparable,
        "three points are enough, and two different ones never are.",
    ),
    Exercise(
        "Prove that (0, 0)+, (1, 1)+, (0, 1)-, (1, 0)- are not separable: give λ ≥ 0, one for each "
        "point, with Σ λ·y·(x, 1) = 0.",
        _xor,
        "the middle of one pair is the middle of the other.",
    ),
    Exercise(
        "From w = 0, which learning rates eta > 0 change the number of mistakes? Answer 'all', "
        "'large', 'small' or 'none'.",
        _rate,
        "eta multiplies every w, and no sign changes.",
    ),
    Exercise(
        "Give w and b, as (w1, w2, b), with w·x + b > 0 for (1, 1) and < 0 for (0, 0), (0, 1), "
        "(1, 0).",
        _and,
        "AND is a half-plane.",
    ),
    Exercise(
        "Separate (0, 0)+, (1, 1)+, (0, 1)-, (1, 0)- by a polynomial: give the coefficients of "
        "x·y, x, y and 1.",
        _quadratic,
        "what no line does, a curve of degree 2 does.",
    ),
    Exercise(
        "Prove that x + y ≥ 3, x ≤ 1, y ≤ 1 have no solution: give multipliers ≥ 0 for "
        "x + y ≥ 3, -x ≥ -1 and -y ≥ -1.",
        _farkas,
        "their sum says 0 ≥ 1.",
    ),
    Exercise(
        "How large is the margin of (0, 0)-, (2, 1)+, (3, -1)+, (-1, 2)- with an intercept, to six "
        "decimals?",
        _street,
        "two nearest points of the hulls decide it.",
    ),
    Exercise(
        "A row of 4 classes is taken apart into rows of two classes (w_y·x - w_r·x > 0). How many?",
        _kesler,
        "so every theorem about two classes holds for many.",
    ),
)
