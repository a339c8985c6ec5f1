"""Proofs for Coq: the numbers, the theorem about them, and its proof by computation.

The theorems that are called, and all definitions, are those of `proofs/` beside the source.
"""

from __future__ import annotations

from collections.abc import Sequence

from rosenblatt.checker import CLASS, EQUAL, MORE_THAN, NEGATIVE, Number, integers
from rosenblatt.proofs.statement import Statement

HEADER = """\
(* {sentence}

   To check it: coqc -Q proofs Rosenblatt FILE, where proofs is the
   folder of Rosenblatt.v, compiled. *)

From Coq Require Import ZArith QArith List.
From Rosenblatt Require Import Rosenblatt.
Import ListNotations.
Local Open Scope Z_scope.

"""
FOOTER = "Print Assumptions proven.\n"
SHORT = 10**9  # integers from here on are written in hexadecimal, which Coq reads faster
RELATIONS = {MORE_THAN: "MoreThan", EQUAL: "Equal"}


def written(statement: Statement) -> str:
    """Give the file that states and proves what a certificate claims."""
    body = WRITERS[statement.kind](statement)
    return HEADER.format(sentence=statement.sentence) + body + FOOTER


# ---- the kinds


def separator(s: Statement) -> str:
    """State that w separates with a margin."""
    lift, parts = _number(s.lift), _data(s) + _w(s) + _named(s, "margin")
    if s.classes:
        rest = f"{s.classes} {lift} (map rational W) data"
        claim = f"tells_apart {rest} /\\ has_joint_margin margin {rest}"
        return parts + _theorem(claim, "apply apart")
    claim = f"separates {lift} (rational w) data"
    claim += f" /\\ has_margin margin {lift} false (rational w) data"
    return parts + _theorem(claim, "apply separation")


def non_separability(s: Statement) -> str:
    """State that nothing separates the named rows; of w, that it separates all rows weakly."""
    lift = _number(s.lift)
    if s.classes:
        return _joint_non_separability(s, f"{s.classes} {lift}")
    nothing = f"forall w, ~ separates {lift} w data"
    if not s.w:
        proof = f"apply (no_separation {lift} weights)"
        return _data(s, s.places) + _weights(s) + _theorem(nothing, proof)
    claim = f"({nothing}) /\\ separates_weakly {lift} (rational w) data"
    proof = f"split; [apply (no_separation_by places {lift} weights) | apply weak_separation]"
    return _data(s) + _places(s) + _weights(s) + _w(s) + _theorem(claim, proof)


def _joint_non_separability(s: Statement, rest: str) -> str:
    """State that nothing tells many classes apart; of w, that it does so weakly."""
    kept, rivals = None, s.classes - 1
    claim = f"forall W, ~ tells_apart {rest} W data"
    proof = f"apply (nothing_tells_apart places {rest} weights)"
    if s.w:
        claim = f"({claim}) /\\ tells_apart_weakly {rest} (map rational W) data"
        proof = f"split; [{proof} | apply apart_weakly]"
    else:  # nothing does so with the named samples alone
        kept = sorted({i // rivals for i in s.places})
        s = s._replace(places=[kept.index(i // rivals) * rivals + i % rivals for i in s.places])
    w = _w(s) if s.w else ""
    return _data(s, kept) + _places(s) + _weights(s) + w + _theorem(claim, proof)


def inseparability(s: Statement) -> str:
    """State that nothing separates, not even weakly."""
    lift = _number(s.lift)
    if s.classes:
        _, scales = zip(*sorted(zip(s.places, s.scales, strict=True)), strict=True)
        proof = f"apply (nothing_tells_apart_weakly {s.classes} {lift} weights)"
        claim = f"forall W, ~ tells_apart_weakly {s.classes} {lift} W data"
        return _data(s) + _weights(s._replace(scales=[*scales])) + _theorem(claim, proof)
    proof = f"apply (no_weak_separation {lift} weights)"
    claim = f"forall w, ~ separates_weakly {lift} w data"
    return _data(s, s.places) + _weights(s) + _theorem(claim, proof)


def feasible_point(s: Statement) -> str:
    """State that a point satisfies the system."""
    system = _system(s, range(len(s.claim.z)))
    return system + _w(s) + _theorem("satisfies (rational w) system", "apply solution")


def infeasibility(s: Statement) -> str:
    """State that nothing satisfies the named rows and bounds."""
    claim, proof = "forall x, ~ satisfies x system", "apply (no_solution weights)"
    return _system(s, s.places) + _weights(s) + _theorem(claim, proof)


def margin_interval(s: Statement) -> str:
    """State that w has the lower margin, and that nothing has more than the upper one."""
    rest = f"{_number(s.lift)} {str(s.counts).lower()}"
    claim = f"has_margin lower {rest} (rational w) data"
    claim += f" /\\ forall w, ~ has_more_than upper {rest} w data"
    proof = "split; [apply margin_is_at_least | apply (margin_is_at_most _ _ _ places weights)]"
    parts = [_data(s), _w(s), _places(s), _weights(s), _named(s, "lower"), _named(s, "upper")]
    return "".join(parts) + _theorem(claim, proof)


def mistake_bound(s: Statement) -> str:
    """State how many mistakes a perceptron makes at most."""
    passes = s.given["passes"]
    most = "None" if passes is None else f"(Some {_integer(passes)}%positive)"
    radius = f"Definition radius2 : Q := {_number(s.radius())}.\n\n"
    claim = f"mistakes_at_most bound {_number(s.lift)} {most} data"
    proof = "apply (mistakes_are_bounded _ _ _ w radius2)"
    return _data(s) + _w(s) + radius + _named(s, "bound") + _theorem(claim, proof)


WRITERS = {
    "separator": separator,
    "non-separability": non_separability,
    "inseparability": inseparability,
    "feasible point": feasible_point,
    "infeasibility": infeasibility,
    "margin interval": margin_interval,
    "mistake bound": mistake_bound,
}


# ---- their parts


def _theorem(claim: str, proof: str) -> str:
    return f"Theorem proven : {claim}.\nProof. {proof}; computed. Qed.\n\n"


def _data(s: Statement, places: Sequence[int] | None = None) -> str:
    """Define the samples; some of them with their numbers, from 1."""
    samples = []
    for i in range(len(s.samples)) if places is None else places:
        row = "" if places is None else f"(* row {i + 1} *) "
        samples.append(row + (_member(s, i) if s.classes else _sample(s, i)))
    return _definition(f"data : list {'member' if s.classes else 'sample'}", samples)


def _sample(s: Statement, i: int) -> str:
    z, q = s.claim.z[i]
    sign = -1 if s.samples[i].tag == NEGATIVE else 1
    x = {j: sign * a for j, a in z.items() if j < s.claim.columns}
    return f"{'Positive' if sign > 0 else 'Negative'} (Over {_vector(x)} {_integer(q)})"


def _member(s: Statement, i: int) -> str:
    tag, entries, _ = s.samples[i]
    values, q = integers(value for _, value in entries)
    x = {j: a for (j, _), a in zip(entries, values, strict=True) if a}
    return f"Of {tag - CLASS} (Over {_vector(x)} {_integer(q)})"


def _system(s: Statement, places: Sequence[int]) -> str:
    """Define rows and bounds."""
    rows = []
    for i in places:
        relation, right = RELATIONS.get(s.claim.rows[i].tag, "AtLeast"), _integer(s.right(i))
        numbers, over = _vector(s.left(i)), _integer(s.claim.z[i][1])
        rows.append(f"Row {numbers} {relation} {_brackets(right)} {over}")
    return _definition("system : list row", rows)


def _w(s: Statement) -> str:
    """Define w, for samples with the number of the lift before the others; or the point."""
    w = s.w
    if s.classes:
        return _of_classes(s)
    if not s.is_system:
        inner, last = (w[:-1], w[-1]) if len(w) > s.claim.columns else (w, 0)
        w = [last, *inner]
    numbers = _vector({j: a for j, a in enumerate(w) if a})
    return f"Definition w : vector := Over {numbers} {_integer(s.over)}.\n\n"


def _of_classes(s: Statement) -> str:
    """Define the weights of each class, which are zero for the first, intercepts first."""
    others, width = s.classes - 1, s.claim.measured // (s.classes - 1)
    w = [s.w[k * width : (k + 1) * width] for k in range(others)]
    first = s.w[others * width :] or [0] * others
    rows = [{}, *(dict(enumerate([b, *x])) for b, x in zip(first, w, strict=True))]
    listed = ";\n   ".join(_vector({j: a for j, a in row.items() if a}) for row in rows)
    return f"Definition W : list vector := all_over {_integer(s.over)}\n  [{listed}].\n\n"


def _named(s: Statement, name: str) -> str:
    """Define a number of the certificate."""
    return f"Definition {name} : Q := {_number(s.number(name))}.\n\n"


def _weights(s: Statement) -> str:
    """Define the weights, long ones as digits, which Coq reads in a fifth of the time."""
    listed = [_integer(scale) for scale in s.scales]
    if max(map(abs, s.scales), default=0) < SHORT:
        return _definition("weights : list Z", listed)
    digits = ";\n   ".join(listed)
    return f"Definition weights : list Z := map Z.of_num_int\n  [{digits}]%digits.\n\n"


def _places(s: Statement) -> str:
    """Define the places of the weighted rows, from 0."""
    return f"Definition places : list nat := [{'; '.join(map(str, s.places))}]%nat.\n\n"


def _definition(what: str, items: list[str]) -> str:
    listed = ";\n   ".join(items)
    return f"Definition {what} :=\n  [{listed}].\n\n"


def _vector(entries: dict[int, int]) -> str:
    """Write a list of numbers, or, if most are zero, those that are not with their places."""
    width = max(entries, default=-1) + 1
    if 3 * len(entries) < width:
        pairs = sorted(entries.items())
        return f"(sparse [{'; '.join(f'({j}, {_integer(a)})' for j, a in pairs)}])"
    return f"[{'; '.join(_integer(entries.get(j, 0)) for j in range(width))}]"


def _integer(value: int) -> str:
    return str(value) if abs(value) < SHORT else hex(value)


def _number(value: Number) -> str:
    top, bottom = value.as_integer_ratio()
    return f"{_integer(top)}%Q" if bottom == 1 else f"({_integer(top)} # {_integer(bottom)})%Q"


def _brackets(number: str) -> str:
    return f"({number})" if number.startswith("-") else number
