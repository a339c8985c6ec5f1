"""The tour that ``rosenblatt demo`` gives: every step is an ordinary call of the package."""

from __future__ import annotations

import json as jsonlib
import math
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape

import rosenblatt as rb
from rosenblatt.data.files import make_folder
from rosenblatt.errors import MissingExtraError

PLAN = """Subject To
 orders: north + south >= 90
 energy: 2 north + 3 south <= 300
Bounds
 north <= 45
 south <= 40
End
"""
NEXT = (
    ("verify {out}/proof.json {out}/nines.svm", "check the proof again"),
    ("solve {out}/plan.lp --repair", "the least change that makes the plan feasible"),
    ("fit YOURS.csv --model yours.safetensors", "train on your own table"),
    ("separate YOURS.csv --advice", "why does a regression on it not converge?"),
    ("lab margin --quick --out {out}/lab", "Theorem 1, measured and plotted"),
)


def demo(out: Path, json: bool) -> None:
    """Learn below a bound, prove a verdict, name a conflict, and say how to go on."""
    console = Console(quiet=json, highlight=False)
    make_folder(out)
    facts = {
        "planted": _planted(console, out),
        "verdict": _verdict(console, out),
        "conflict": _conflict(console, out),
    }
    console.rule("[bold]4  How to go on")
    commands = [command.format(out=out) for command, _ in NEXT]
    for command, (_, aim) in zip(commands, NEXT, strict=True):
        line = f"{_program()} {command:{max(map(len, commands))}}  # {aim}"
        console.print(line, markup=False, soft_wrap=True)
    console.print("make docs builds the documentation, with a gallery of whole questions.")
    if json:
        print(jsonlib.dumps(facts))


def _program() -> str:
    """Give what to type for this program: its name if the shell finds it, else its path."""
    found = shutil.which("rosenblatt")
    called = found is None and Path(sys.argv[0]).name == "rosenblatt"
    return sys.argv[0] if called else "rosenblatt"


def _planted(console: Console, out: Path) -> dict[str, Any]:
    console.rule("[bold]1  A problem with a known margin")
    n, d, margin = 1000, 20, 0.02
    console.print(
        f"{n:,} points in the unit ball of {d} dimensions, separated by a hyperplane with"
    )
    console.print(f"margin {margin}. A perceptron learns them; how many mistakes will it make?")
    with console.status("learning (the loops are compiled once, which takes some seconds)"):
        X, y, w = rb.make_separable(n, d, margin=margin, seed=0)
        model = rb.Perceptron(fit_intercept=False).fit(X, y, comparator=w)
    run, bound = model.run_, model.bound(X, y, w)
    errors = int(np.count_nonzero(model.predict(X) != y))
    console.print(f"  mistakes   {run.mistakes:,} in {run.passes} passes")
    console.print(f"  bound      {math.floor(bound.value):,}, by Theorem 1 of Block and Novikoff")
    console.print(f"  errors     {errors} of {n:,} points misclassified afterwards")
    console.print(f"  {run.stop}", soft_wrap=True)
    console.print(
        f"Asked about a point on its hyperplane, it says {model.predict_one(0 * w)}: ", end=""
    )
    console.print("[italic]I don't know[/].")
    rb.save(model, out / "model.safetensors")
    picture = out / "learning-curve.png"
    try:
        rb.plot_learning_curve(model, bound, picture)
        console.print(f"The learning curve against the bound: [bold]{escape(str(picture))}[/]")
    except MissingExtraError as missing:
        console.print(f"No picture: {missing}", markup=False)
    return {"mistakes": run.mistakes, "bound": bound.value, "passes": run.passes, "errors": errors}


def _verdict(console: Console, out: Path) -> dict[str, Any]:
    console.rule("[bold]2  Why does a logistic regression not converge?")
    from sklearn.datasets import dump_svmlight_file, load_digits

    X, digit = load_digits(return_X_y=True)
    y = (digit == 9).astype(int)
    console.print(
        f"{len(y):,} images of digits that come with scikit-learn: nines against the rest."
    )
    with console.status("deciding"):
        answer = rb.separate(X, y)
    assert answer.certificate is not None  # no verdict without one
    diverging = len(answer.columns)
    console.print(
        f"  verdict    {answer.verdict}: the coefficients of {diverging} pixels are infinite"
    )
    dump_svmlight_file(X, y, str(out / "nines.svm"), zero_based=False)
    rb.save(answer.certificate, out / "proof.json")
    checked = rb.verify(out / "proof.json", X, y)
    console.print(f"  proof      {out / 'proof.json'}", markup=False, soft_wrap=True)
    console.print(f"  checked    in exact arithmetic: {'it holds' if checked.ok else checked}")
    return {"verdict": answer.verdict, "columns": diverging, "ok": checked.ok}


def _conflict(console: Console, out: Path) -> dict[str, Any]:
    console.rule("[bold]3  Which constraints contradict each other?")
    path = out / "plan.lp"
    path.write_text(PLAN, encoding="utf-8")
    answer = rb.solve(path)
    conflict = answer.conflict()
    console.print(f"A production plan for two plants is {answer.verdict}.")
    console.print(conflict.explain(), markup=False, soft_wrap=True)
    return {"verdict": answer.verdict, "rows": len(conflict.rows), "bounds": len(conflict.bounds)}
