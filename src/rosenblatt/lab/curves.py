"""Pictures of a run beside its bound."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.errors import MissingExtraError
from rosenblatt.margin.bounds import MistakeBound
from rosenblatt.run import History, Run

BLUE, ORANGE, GREY = "#1f5fa8", "#d9731a", "#6b6b6b"


def learning_curve(
    run: Run, bound: MistakeBound, path: str | os.PathLike[str], title: str = ""
) -> None:
    """Draw the mistakes of a run against its bound, and the two curves of the proof.

    The right half needs ``run.history``, and holds for a zero start and a rate of 1: w·w* stays
    above k·γ and ‖w‖ below R·√k, and they cannot cross later than at k = (R/γ)².
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "lab") from None
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    _mistakes(left, run, bound)
    if run.history is not None:
        _squeeze(right, run.history, bound)
    figure.suptitle(title)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def _mistakes(axes: Any, run: Run, bound: MistakeBound) -> None:
    total = np.concatenate([[0], np.cumsum(run.mistakes_per_pass)])
    axes.plot(total, color=BLUE, marker=".", label="mistakes so far")
    axes.axhline(bound.value, color=ORANGE, linestyle="--", label="bound of Theorem 1")
    axes.text(run.passes, total[-1], f" {total[-1]:,}", color=BLUE, va="bottom", ha="right")
    axes.text(0, bound.value, f" {bound.value:,.0f}", color=ORANGE, va="bottom")
    axes.set_yscale("symlog", linthresh=10)
    axes.set_ylim(0, bound.value * 3)
    axes.set_xlabel("passes over the data")
    axes.set_ylabel("mistakes")
    axes.set_title("Learning curve")
    axes.legend(loc="center right")


def _squeeze(axes: Any, history: History, bound: MistakeBound) -> None:
    k = history.k
    axes.plot(k, bound.radius * np.sqrt(k), color=GREY, linestyle="--", label="R·√k")
    axes.plot(k, np.sqrt(history.sqnorm), color=ORANGE, label="‖w‖, below R·√k")
    axes.plot(k, history.projection, color=BLUE, label="w·w*, above k·γ")
    axes.plot(k, bound.margin * k, color=GREY, linestyle=":", label="k·γ")
    axes.set_xlabel("mistake k")
    axes.set_title("The proof, watched")
    axes.legend(loc="upper left")
