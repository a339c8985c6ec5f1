"""The tour that ``rosenblatt demo`` gives: every step is an ordinary call of the package."""

from __future__ import annotations

import json as jsonlib
import math
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape

import rosenblatt as rb
from rosenblatt.bounds.theorem import MistakeBound
from rosenblatt.data.files import make_folder
from rosenblatt.errors import MissingExtraError


def tour(out: Path, json: bool) -> None:
    """Learn a planted and a real problem, show mistakes beside bounds, save, load, predict."""
    console = Console(quiet=json, highlight=False)
    make_folder(out)
    planted, model, X = _planted(console, out)
    real = _real(console)
    again = _keep(console, out, model, X)
    if json:
        print(jsonlib.dumps({"planted": planted, "real": real, "files": again}))


def _planted(console: Console, out: Path) -> tuple[dict[str, Any], rb.Perceptron, np.ndarray]:
    console.rule("[bold]1  A problem with a known margin")
    n, d, margin = 1000, 20, 0.02
    console.print(f"{n:,} points in the unit ball of {d} dimensions; a hidden hyperplane separates")
    console.print(f"them with margin {margin}, and no other one does better.")
    with console.status("learning (the loops are compiled once, which takes some seconds)"):
        X, y, w = rb.make_separable(n, d, margin=margin, seed=0)
        model = rb.Perceptron(fit_intercept=False).fit(X, y, comparator=w)
    bound = model.bound(X, y, w)
    facts = _show(console, model, bound, int(np.count_nonzero(model.predict(X) != y)))
    picture = out / "learning-curve.png"
    try:
        rb.plot_learning_curve(model, bound, picture)
        console.print(f"The learning curve against the bound: [bold]{escape(str(picture))}[/]")
    except MissingExtraError as missing:
        console.print(f"No picture: {missing}", markup=False)
    return facts, model, X


def _real(console: Console) -> dict[str, Any]:
    console.rule("[bold]2  Real data: handwritten threes and eights")
    from sklearn.datasets import load_digits
    from sklearn.svm import SVC

    digits = load_digits()
    chosen = np.isin(digits.target, (3, 8))
    X, y = np.ascontiguousarray(digits.data[chosen]), digits.target[chosen]
    console.print(f"{len(y)} images of 8 × 8 pixels, bundled with scikit-learn. A wide separator")
    console.print("for the bound comes from scikit-learn's SVC; any separator gives a valid one.")
    model = rb.Perceptron(lift="radius").fit(X, y)
    wide = SVC(kernel="linear", C=1e6).fit(X, y)
    comparator = np.append(wide.coef_[0], wide.intercept_)
    bound = model.bound(X, y, comparator)
    return _show(console, model, bound, int(np.count_nonzero(model.predict(X) != y)))


def _show(
    console: Console, model: rb.Perceptron, bound: MistakeBound, errors: int
) -> dict[str, Any]:
    run = model.run_
    console.print(f"  mistakes   {run.mistakes:,} in {run.passes} passes")
    console.print(
        f"  bound      {math.floor(bound.value):,}   (R = {bound.radius:.4g}, "
        f"margin = {bound.margin:.4g}, Theorem 1 of Block and Novikoff)"
    )
    console.print(f"  errors     {errors} on the {run.counts.size:,} examples afterwards")
    console.print(f"  {run.stop}", soft_wrap=True)
    return {
        "mistakes": run.mistakes,
        "bound": bound.value,
        "passes": run.passes,
        "errors": errors,
        "stop": str(run.stop),
    }


def _keep(console: Console, out: Path, model: rb.Perceptron, X: np.ndarray) -> dict[str, Any]:
    console.rule("[bold]3  Save, load, predict")
    path = out / "model.safetensors"
    rb.save(model, path)
    again = rb.load(path)
    same = bool(np.array_equal(again.predict(X), model.predict(X)))
    console.print(f"Saved to [bold]{escape(str(path))}[/] and loaded again.", soft_wrap=True)
    console.print(f"The loaded model gives the same {len(X):,} answers: {'yes' if same else 'NO'}.")
    some = ", ".join(str(again.predict_one(x)) for x in X[:5])
    console.print(f"One row at a time it says {some}; about the origin, which lies")
    console.print(f"on the hyperplane, {again.predict_one(0 * X[0])}: [italic]I don't know[/].")
    return {"model": str(path), "same_answers": same}
