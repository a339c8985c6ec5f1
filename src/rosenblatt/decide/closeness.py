"""How little a verdict hangs on, so that nobody takes a rounding error for an answer.

A proof is exact whatever the numbers, but where it rests on less than 1e-9 of their size, numbers
that were rounded once may deserve another verdict: 0.1 + 0.2 = 0.3 holds of decimals, and fails by
2.8e-17 of the floats that are nearest to them.
"""

from __future__ import annotations

from fractions import Fraction

from rosenblatt.certificates import Infeasible
from rosenblatt.check.subjects import System
from rosenblatt.matrices import Matrix, radius

NEGLIGIBLE = 1e-9


def nearly_feasible(proof: Infeasible, system: System) -> str:
    """Say by how little a system is infeasible, if it is little; nothing otherwise.

    The weights of the proof, the largest of size 1, sum up right-hand sides to an amount above
    zero. It is little if it is so beside the sum of their sizes.
    """
    rows = [system.row(i) for i in proof.rows] + system.bound_rows(proof)
    rights = [right for *_, (_, right) in rows]
    weights = [Fraction(y) for y in (*proof.weights, *proof.lower[1], *proof.upper[1])]
    terms = [y * Fraction(right) for y, right in zip(weights, rights, strict=True)]
    total, largest = sum(terms, Fraction(0)), max(map(abs, weights))
    if not 0 < total < Fraction(NEGLIGIBLE) * sum(map(abs, terms)):
        return ""
    return f"It is infeasible only by {float(total / largest):.2g}{_other_question(system.numbers)}"


def nearly_inseparable(margin: float, X: Matrix, numbers: str) -> str:
    """Say how small a margin is beside the data, if it is little; nothing otherwise."""
    if X.dtype == object:
        return ""
    share = margin / (radius(X) or 1.0)
    if not 0 < share < NEGLIGIBLE:
        return ""
    return f"The margin is only {share:.2g} of the largest row{_other_question(numbers)}"


def _other_question(numbers: str) -> str:
    """End a sentence by how to ask about the other numbers that may be meant."""
    if numbers.startswith("float"):
        return (
            ": if the numbers are decimals that were rounded to floats, ask again about the "
            "decimals, by as_decimals."
        )
    return "; floats=True asks about the nearest floats."
