"""What the commands do that answer a question and prove it: separate, margin, solve."""

from __future__ import annotations

import csv
import io
import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import ROUND_FLOOR
from pathlib import Path
from typing import Any

import click
import numpy as np

import rosenblatt as rb
from rosenblatt.certificate_fields import Number, number_text
from rosenblatt.certificates import Certificate, Infeasible
from rosenblatt.cli.entry import INTERRUPTED
from rosenblatt.cli.outputs import check_writable
from rosenblatt.cli.printing import doing, plain, print_columns, show
from rosenblatt.cli.source import Source
from rosenblatt.cli.words import from_one, spoken
from rosenblatt.data.files import write_atomically
from rosenblatt.decide.answers import INTERRUPTED as STOPPED
from rosenblatt.decide.answers import less_reading
from rosenblatt.errors import InputError
from rosenblatt.exact.rounding import six_digits

YES, NO, UNDECIDED = 0, 1, 3  # exit statuses
STATUSES = {"separable": YES, "feasible": YES, "undecided": UNDECIDED}
FEW = 10  # places that people are shown
LISTS = ("rows_that_matter", "columns_that_matter", "bounds_that_matter", "aliased_columns")
FEW_DIGITS = 40  # of a fraction that people are shown
ROWS = re.compile(r"\brows? \d+(?:, \d+)*")
ADVICE_SECONDS = 10.0  # of each search for columns
SHORT = 400  # characters of a solution that people are shown


# ---- separate


def separate(
    source: Source,
    certificate: Path | None,
    intercept: bool,
    pairs: bool,
    rest: bool,
    joint: bool,
    advice: bool,
    max_seconds: float | None,
    floats: bool,
    cluster: str | None,
    json: bool,
) -> int:
    """Decide whether classes are separable, here or on shards; give the exit status."""
    if pairs + rest + joint > 1:
        raise click.UsageError("--pairs, --rest and --joint exclude each other")
    if advice and (pairs or rest or cluster is not None):
        raise click.UsageError("--advice is about one answer; leave out --pairs, --rest, --cluster")
    source = source.with_floats() if floats else source
    chosen: dict[str, Any] = {"fit_intercept": intercept, "max_seconds": max_seconds}
    if cluster is not None:
        from rosenblatt.cli.clusters import separate_on

        if pairs or rest or joint:
            raise click.UsageError("--pairs, --rest and --joint do not go with --cluster")
        return separate_on(cluster, source, certificate, chosen, json=json)
    if pairs or rest:
        chosen["many"] = "pairs" if pairs else "rest"
        return _separate_many(source, certificate, chosen, json)
    return _separate(
        source, certificate, chosen | {"many": "joint"} if joint else chosen, advice, json
    )


def _separate(
    source: Source, certificate: Path | None, options: dict[str, Any], advice: bool, json: bool
) -> int:
    """Decide at once, write the proof, report."""
    check_writable(certificate, source.data)
    examples, found, seconds = _decided(source, rb.separate, options)
    names = examples.names or source.column_numbers(examples.X.shape[1])
    found = replace(found or _unknown(examples.y), names=names)
    facts = {
        "data": str(source.data),
        **source.label_fact(examples.columns, json),
        **_answer(found),
        "rows": examples.X.shape[0],
        "columns": examples.X.shape[1],
        "rows_that_matter": (found.rows + 1).tolist(),
        "columns_that_matter": _named(found.columns, found.names),
        "aliased_columns": _aliased(found, json),
        "coefficients": _coefficients(found, json),
        "seconds": round(seconds, 6),
        "certificate": write_proof(certificate, found.certificate),
        "explanation": _explained(found, certificate),
    }
    if advice:
        facts |= _advised(found, options["max_seconds"], json)
    show(facts if json else _for_people(facts), json)
    return _status(found)


def _coefficients(found: rb.Separation, json: bool) -> Any:
    """Tell what becomes of coefficients; people, where some diverge and some do not."""
    telling = found.verdict == "weakly separable" and len(found.classes) <= 2
    if not json and (not telling or len(found.names) > FEW):
        return None
    said = found.coefficients
    if json or said is None:
        return said
    return None if len(said) > FEW else ", ".join(f"{name} {word}" for name, word in said.items())


def _advised(found: rb.Separation, seconds: float | None, json: bool) -> dict[str, Any]:
    """Say what to do about a regression, and which few columns separate."""
    if found.verdict == "undecided":
        return {"advice": "Advice needs a verdict, and this one is undecided; allow more seconds."}
    seconds = ADVICE_SECONDS if seconds is None else seconds
    facts: dict[str, Any] = {"advice": found.advice(seconds).explain()}
    if found.verdict == "inseparable":
        return facts
    few = found.fewest_columns(seconds)
    said = {"columns": _named(few.columns, few.names), "smallest": few.smallest}
    return facts | {"fewest_columns": said if json else few.explain()}


def _aliased(found: rb.Separation, json: bool) -> list[int | str] | str | None:
    """Name the columns that are set apart; tell people why they are unknown, if they are."""
    if found.aliased is not None:
        return _named(found.aliased, found.names)
    return f"unknown: {found.blame.doubt}" if found.blame.doubt and not json else None


def _separate_many(
    source: Source, certificate: Path | None, options: dict[str, Any], json: bool
) -> int:
    """Decide about pairs of more than two classes, write the proofs, report."""
    check_writable(certificate, source.data)
    examples, found, seconds = _decided(source, rb.separate, options)
    answers = []
    for k, each in enumerate((found or {}).values(), start=1):
        path = certificate and certificate.with_stem(f"{certificate.stem}-{k}")
        answers.append({**_answer(each), "certificate": write_proof(path, each.certificate)})
    rows, columns = examples.X.shape
    facts: dict[str, Any] = {"data": str(source.data), **source.label_fact(examples.columns, json)}
    facts |= {"rows": rows, "columns": columns, "seconds": round(seconds, 6)}
    if json:
        show({**facts, "answers": answers}, json)
    else:
        print_columns(_answers(answers, pairs=options["many"] == "pairs"))
        show(facts, json)
    return max(map(_status, (found or {}).values()), default=INTERRUPTED)


def _answers(answers: list[dict[str, Any]], pairs: bool) -> list[list[str]]:
    rows = [["classes", "verdict", "margin", "certificate"]]
    for each in answers:
        first, second = map(str, each["classes"])
        names = f"{first}, {second}" if pairs else f"{second}, the rest"
        proof = each["certificate"] or "none written"
        rows.append([names, each["verdict"], f"{each['margin']:.6g}", proof])
    return rows


def _status(found: Any) -> int:
    """Give the exit status of an answer."""
    if found.stop.lower().startswith(STOPPED):
        return INTERRUPTED
    return STATUSES.get(found.verdict, NO)


def _decided(
    source: Source, question: Callable[..., Any], options: dict[str, Any]
) -> tuple[rb.Examples, Any, float]:
    """Read, and decide; the answer is None after an interrupt that left none."""
    began = time.perf_counter()
    with doing(f"reading {source.data}") as say:
        examples = source.examples()
        if examples.y is None:
            raise InputError(f"{source.data} has no labels; deciding needs one for each row")
        rows, columns = examples.X.shape
        say(f"deciding about {rows:,} × {columns:,}; Ctrl-C leaves it undecided")
        left = less_reading(options, began)
        return examples, *_timed(lambda: question(examples.X, examples.y, **left))


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    try:
        answer = work()
    except KeyboardInterrupt:
        answer = None
    return answer, time.perf_counter() - began


def _unknown(labels: Any) -> rb.Separation:
    """Give the answer of an interrupt that came before the first step."""
    first, second, *_ = dict.fromkeys(np.asarray(labels).tolist())
    return rb.Separation("undecided", (first, second), stop=STOPPED)


def _answer(found: rb.Separation) -> dict[str, Any]:
    return {
        "verdict": found.verdict,
        "classes": [plain(label) for label in found.classes],
        "margin": found.margin,
        "largest_margin": [end if math.isfinite(end) else None for end in found.enclosure],
    }


# ---- margin


def margin(
    source: Source,
    certificate: Path | None,
    tol: float,
    intercept: bool,
    lift: float | None,
    max_seconds: float | None,
    floats: bool,
    json: bool,
) -> int:
    """Enclose the largest margin, write the proof, report; give the exit status."""
    if lift is not None and not intercept:
        raise click.UsageError("--lift stands for an intercept; leave out --no-intercept")
    source = source.with_floats() if floats else source
    options = {"fit_intercept": intercept, "max_seconds": max_seconds, "tol": tol, "lift": lift}
    check_writable(certificate, source.data)
    examples, found, seconds = _decided(source, rb.max_margin, options)
    if found is None:
        classes = _unknown(examples.y).classes
        found = rb.Margin("undecided", 0.0, math.inf, 1.0, classes, tol, stop=STOPPED)
    facts = {
        "data": str(source.data),
        **source.label_fact(examples.columns, json),
        "verdict": found.verdict,
        "classes": [plain(label) for label in found.classes],
        "margin": _ends(found, json),
        "relative_width": found.width,
        "exact_square": None if found.squared is None else number_text(found.squared),
        "rows": examples.X.shape[0],
        "columns": examples.X.shape[1],
        "rows_that_matter": (found.support + 1).tolist(),
        "seconds": round(seconds, 6),
        "certificate": write_proof(certificate, found.certificate),
        "explanation": _explained(found, certificate),
    }
    show(facts if json else _for_people(facts), json)
    return _status(found)


def _ends(found: rb.Margin, json: bool) -> Any:
    """Give the ends of an interval: for machines as a list, for people as one number or two."""
    ends = [found.lower, found.upper]
    if json:
        return [end if math.isfinite(end) else None for end in ends]
    return " to ".join(map(repr, dict.fromkeys(ends)))


def _named(places: np.ndarray, names: Sequence[Any]) -> list[Any]:
    return [names[j] for j in places.tolist()]


def _explained(found: Any, certificate: Path | None) -> str:
    """Explain what was found; rows count from 1, and a proof that nobody asked for is offered."""
    text = ROWS.sub(from_one, spoken(found.explain()))
    offer = " (--certificate FILE writes the proof)"
    return text if certificate else text.replace(", which the certificate proves", offer)


def write_proof(path: Path | None, certificate: Certificate | None) -> str | None:
    """Write a certificate, if there are one and a place for it; give that place."""
    if path is None or certificate is None:
        return None
    rb.save(certificate, path)
    return str(path)


def _for_people(facts: dict[str, Any]) -> dict[str, Any]:
    """Cut long lists, and leave out what is empty, or said by the paragraph at the end."""
    chosen = {name: value for name, value in facts.items() if value not in ([], None)}
    for name in ("largest_margin", "notes"):
        chosen.pop(name, None)
    if isinstance(chosen.get("margin"), float):
        undecided = chosen["verdict"] == "undecided"
        chosen["margin"] = "unknown" if undecided else six_digits(chosen["margin"], ROUND_FLOOR)
    if len(chosen.get("exact_square", "")) > FEW_DIGITS:
        del chosen["exact_square"]
    for name in ("conflict", "repair"):
        if name in chosen:
            chosen[name] = chosen[name]["explanation"]
    lists = [name for name, value in chosen.items() if isinstance(value, list) and name in LISTS]
    return chosen | {name: few(chosen[name]) for name in lists}


def few(places: list[Any]) -> str:
    """Name the first of some places, and how many more there are."""
    more = f" and {len(places) - FEW:,} more" if len(places) > FEW else ""
    return ", ".join(map(str, places[:FEW])) + more


# ---- solve


def solve(
    system: str,
    certificate: Path | None,
    point: Path | None,
    method: str,
    max_seconds: float | None,
    max_steps: int | None,
    strict: bool,
    floats: bool,
    json: bool,
    **wishes: Any,
) -> int:
    """Decide a system, write the proof and the solution, report; give the exit status."""
    from rosenblatt.cli.conflicts import Wishes, answered
    from rosenblatt.data.systems import read_system  # which other commands need not load

    if max_steps is not None and method == "auto":
        raise click.UsageError("--max-steps needs a --method other than auto")
    asked = Wishes(**wishes, max_seconds=max_seconds)
    _check_outputs(system, certificate, point)
    asked.check(system)
    options = {"method": method, "max_seconds": max_seconds, "max_steps": max_steps}
    began = time.perf_counter()
    with doing(f"reading {system}") as say:
        given = read_system(system, floats=floats)
        rows, unknowns = given.A.shape
        say(f"deciding {rows:,} × {unknowns:,}; Ctrl-C leaves it undecided")
        left = less_reading(options, began)
        found, seconds = _timed(lambda: given.solved(strict, **left))
    if found is None:
        found = rb.Solution("undecided", method=method, steps=0, stop=STOPPED)
    facts = {
        "system": system,
        "verdict": found.verdict,
        "rows": rows,
        "unknowns": unknowns,
        "method": found.method,
        "steps": found.steps,
        "rows_that_matter": _named(found.rows, given.rows or range(1, rows + 1)),
        "bounds_that_matter": _bounds(found.certificate, given.names),
        "solution": None if found.w is None else _solution(found.w, given.names, json),
        "seconds": round(seconds, 6),
        "certificate": write_proof(certificate, found.certificate),
        "point": _write_point(point, found.w, given.names),
        "notes": list(found.notes),
        "explanation": _explained(found, certificate),
        **answered(found, asked),
    }
    show(facts if json else _for_people(facts), json)
    return _status(found)


def _check_outputs(name: str, certificate: Path | None, point: Path | None) -> None:
    for path in filter(None, (certificate, point)):
        check_writable(path, name)
    if certificate is not None and point is not None and certificate.resolve() == point.resolve():
        raise InputError(f"{point} cannot hold both the certificate and the solution")


def _bounds(certificate: Certificate | None, names: list[str]) -> list[str]:
    """Tell on which bounds a proof of infeasibility rests."""
    if not isinstance(certificate, Infeasible):
        return []
    lower, upper = ([names[j] for j in side[0]] for side in (certificate.lower, certificate.upper))
    return [f"lower of {name}" for name in lower] + [f"upper of {name}" for name in upper]


def _solution(w: np.ndarray, names: list[str], json: bool) -> Any:
    """Give a solution: for machines whole, for people if it is short."""
    if json:
        values = [v if isinstance(v, float) else number_text(v) for v in w.tolist()]
        return dict(zip(names, values, strict=True))
    shown = ", ".join(f"{name} = {_digits(v)}" for name, v in zip(names, w.tolist(), strict=True))
    return shown if len(shown) <= SHORT else f"{len(names):,} numbers; --point writes them"


def _digits(value: Number) -> str:
    """Write a number so that it is read back as the same: floats in decimal, others as p/q."""
    return repr(value) if isinstance(value, float) else number_text(value)


def _write_point(path: Path | None, w: np.ndarray | None, names: list[str]) -> str | None:
    if path is None or w is None:
        return None
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("name", "value"))
    writer.writerows(zip(names, map(_digits, w.tolist()), strict=True))
    write_atomically(path, text.getvalue().encode())
    return str(path)
