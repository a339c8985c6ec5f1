"""Proofs for SMT solvers (SMT-LIB 2, QF_LRA): one assertion that z3 and cvc5 refute at once.

It denies what the certificate claims. A weighted sum is claimed as two facts: the rows, times their
weights, add up to a constant c whatever x is; and values s that are as the rows demand do not add
up to c. Together, no x gives such values. Claims about a given w are about constants alone; since
the logic multiplies numerals only, a sum that is squared is first claimed to equal a numeral.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from rosenblatt.certificate_fields import number_text
from rosenblatt.checker import EQUAL, MORE_THAN
from rosenblatt.proofs.statement import Statement

HEADER = """\
; {sentence}
; Proven if the answer is unsat: the assertion denies it.
(set-info :smt-lib-version 2.6)
(set-logic QF_LRA)
(set-info :status unsat)
"""
FOOTER = "(check-sat)\n(exit)\n"


def written(statement: Statement) -> str:
    """Give the file whose assertion is refuted if what a certificate claims is true."""
    file = Script(statement)
    WRITERS[statement.kind](file, statement)
    lines = [*file.definitions, f"(assert (not {_all(file.claims)}))\n"]
    return HEADER.format(sentence=statement.sentence) + "".join(lines) + FOOTER


class Script:
    """Definitions, and the claims that the assertion denies."""

    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        self.definitions: list[str] = []
        self.claims: list[str] = []

    def define(self, name: str, term: str) -> None:
        """Give a term a name."""
        self.definitions.append(f"(define-fun {name} () Real {term})\n")

    def declare(self, name: str) -> None:
        """Name an unknown."""
        self.definitions.append(f"(declare-fun {name} () Real)\n")

    def claim(self, relation: str, left: str, right: str = "0") -> None:
        """Claim a relation of two terms."""
        self.claims.append(f"({relation} {left} {right})")

    def value(self, name: str, value: int | Fraction, term: str) -> None:
        """Name a number, and claim that a term equals it."""
        self.define(name, _number(value))
        self.claim("=", name, term)

    def products(self) -> None:
        """Name the numbers of w, and the products of all rows with it."""
        s = self.statement
        for j, value in enumerate(s.w):
            self.define(f"w{j + 1}", _number(Fraction(value, s.over)))
        for i in range(len(s.claim.z)):
            self.value(f"r{i + 1}", s.value(i), _linear(s, i, "w"))

    def margin(self, name: str) -> None:
        """Claim that w has a margin of at least a number on all rows."""
        s, measured = self.statement, self.statement.claim.measured
        p, q = s.number(name).as_integer_ratio()
        square = Fraction(sum(value * value for value in s.w[:measured]), s.over**2)
        self.value("length2", square, _total(f"(* w{j + 1} w{j + 1})" for j in range(measured)))
        self.claim(">", _number(p))
        self.claim(">", "length2")
        for i, (_, common) in enumerate(s.claim.z):
            self.claim(">", f"r{i + 1}")
            least = f"(* {_number((p * common) ** 2)} length2)"
            self.claim("<=", least, f"(* {_number(q * q)} r{i + 1} r{i + 1})")

    def sum(self, relations: Sequence[str], more: str = "true") -> None:
        """Claim that the weighted rows add up to c, and that no values as demanded do."""
        s = self.statement
        for j in sorted({j for i in s.places for j in s.left(i)}):
            self.declare(f"x{j + 1}")
        for i in s.places:
            self.define(f"z{i + 1}", _linear(s, i, "x"))
        for i in s.places:
            self.declare(f"s{i + 1}")
        pairs = list(zip(s.scales, s.places, strict=True))
        constant = _number(-sum(y * s.right(i) for y, i in pairs))
        rows, values = (_total(f"(* {_number(y)} {x}{i + 1})" for y, i in pairs) for x in "zs")
        demands = [f"({r} s{i + 1} 0)" for r, i in zip(relations, s.places, strict=True)]
        self.claim("=", rows, constant)
        self.claims.append(f"(not {_all([*demands, more, f'(= {values} {constant})'])})")


# ---- the kinds


def separator(file: Script, s: Statement) -> None:
    """Claim that w separates with the margin."""
    file.products()
    file.margin("margin")


def non_separability(file: Script, s: Statement) -> None:
    """Claim that nothing separates; of w, that it separates weakly."""
    file.sum([">"] * len(s.places))
    if s.w:
        file.products()
        for i in range(len(s.claim.z)):
            file.claim(">=", f"r{i + 1}")
        file.claim(">", _total(f"r{i + 1}" for i in range(len(s.claim.z))))


def inseparability(file: Script, s: Statement) -> None:
    """Claim that nothing separates weakly."""
    file.sum([">="] * len(s.places), f"(> {_total(f's{i + 1}' for i in s.places)} 0)")


def feasible_point(file: Script, s: Statement) -> None:
    """Claim that a point satisfies every row and every bound."""
    file.products()
    for i in range(len(s.claim.z)):
        file.claim(_relation(s, i), f"r{i + 1}")


def infeasibility(file: Script, s: Statement) -> None:
    """Claim that nothing satisfies the named rows and bounds."""
    file.sum([_relation(s, i) for i in s.places])


def margin_interval(file: Script, s: Statement) -> None:
    """Claim the margin of w, and that the mean of rows is no longer than the upper end."""
    file.products()
    file.margin("lower")
    rows = [(scale, *s.claim.z[i]) for i, scale in zip(s.places, s.scales, strict=True)]
    for scale in s.scales:
        file.claim(">", _number(scale))
    for j in range(s.claim.dimension):
        terms = [(scale, z[j]) for scale, z, _ in rows if j in z]
        file.value(f"m{j + 1}", sum(p * q for p, q in terms), _total(map(_product, terms)))
    sizes = [(scale, common) for scale, _, common in rows]
    file.value("size", sum(p * q for p, q in sizes), _total(map(_product, sizes)))
    for j in range(s.claim.measured, s.claim.dimension):
        file.claim("=", f"m{j + 1}")
    upper = _number(s.number("upper"))
    square = _total(f"(* m{j + 1} m{j + 1})" for j in range(s.claim.measured))
    file.claim(">", upper)
    file.claim("<=", square, f"(* {upper} {upper} size size)")


def mistake_bound(file: Script, s: Statement) -> None:
    """Claim that the hinge-loss bound of w is at most the bound."""
    file.products()
    file.define("radius2", _number(s.radius()))
    for i, (z, common) in enumerate(s.claim.z):
        q = _number(common)
        file.define(f"loss{i + 1}", f"(ite (< r{i + 1} {q}) (/ (- {q} r{i + 1}) {q}) 0)")
        squares = _total(_product((a, a)) for a in z.values())
        file.claim("<=", squares, f"(* {q} {q} radius2)")
    losses, passes = _total(f"loss{i + 1}" for i in range(len(s.claim.z))), s.given["passes"]
    square = Fraction(sum(value * value for value in s.w), s.over**2)
    file.value("length2", square, _total(f"(* w{j + 1} w{j + 1})" for j in range(len(s.w))))
    value = f"(+ (* radius2 length2) (* {2 * (passes or 0)} {losses}))"
    file.claim("<=", value, _number(s.number("bound")))
    if passes is None:
        file.claim("=", losses)
    if not s.lift:
        file.claim("=", f"w{len(s.w)}")


WRITERS = {
    "separator": separator,
    "non-separability": non_separability,
    "inseparability": inseparability,
    "feasible point": feasible_point,
    "infeasibility": infeasibility,
    "margin interval": margin_interval,
    "mistake bound": mistake_bound,
}


# ---- terms


def _linear(s: Statement, i: int, name: str) -> str:
    """Give the product of a row and w, less its right-hand side."""
    terms = [f"(* {_number(a)} {name}{j + 1})" for j, a in s.left(i).items()]
    return _total(terms + ([_number(-s.right(i))] if s.right(i) else []))


def _relation(s: Statement, i: int) -> str:
    return {MORE_THAN: ">", EQUAL: "="}.get(s.claim.rows[i].tag, ">=")


def _all(claims: Sequence[str]) -> str:
    return "\n  ".join(["(and", *claims, "true)"])


def _total(terms: Iterable[str]) -> str:
    listed = list(terms)
    return f"(+ {' '.join(listed)})" if len(listed) > 1 else "".join(listed) or "0"


def _product(factors: tuple[int, int]) -> str:
    return f"(* {' '.join(map(_number, factors))})"


def _number(value: int | Fraction) -> str:
    top, _, bottom = number_text(value).removeprefix("-").partition("/")
    text = f"(/ {top} {bottom})" if bottom else top
    return f"(- {text})" if value < 0 else text
