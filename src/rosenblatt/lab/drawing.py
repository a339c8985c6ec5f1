"""Pieces of figures that several experiments share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rosenblatt.lab.experiment import Table, slope
from rosenblatt.lab.style import BLACK, BLUE, BOUND, ORANGE


def band(
    axes: Any, table: Table, by: str, of: str, label: str, color: str = BLUE, marker: str = "o"
) -> None:
    """Draw the median of a column as a line, and the range over seeds as a band around it."""
    x, least, middle, most = table.spread(by, of)
    axes.fill_between(x, least, most, color=color, alpha=0.18, linewidth=0)
    axes.plot(x, middle, color=color, marker=marker, label=label)


def growth(
    axes: Any,
    table: Table,
    by: str,
    of: str,
    bound: str,
    bound_label: str,
) -> None:
    """Draw a column against another on logarithmic axes, with the fitted slope and the bound."""
    axes.set(xscale="log", yscale="log")
    bound_line(axes, table, by, bound, bound_label)
    s, error = slope(table[by], np.maximum(table[of], 0.5))
    band(axes, table, by, of, f"{of}: median, range over seeds; slope {s:.2f} ± {error:.2f}")
    mark(axes.xaxis, table.values(by))
    axes.legend(loc="upper left")


def mark(axis: Any, places: Sequence[float], most: int = 10) -> None:
    """Put the ticks of a logarithmic axis where something was measured, the numbers written out."""
    places = places[:: -(-len(places) // most)]
    axis.set_ticks(places, labels=[f"{place:,.6g}" for place in places])
    axis.set_ticks([], minor=True)


def mark_round(axis: Any) -> None:
    """Put the ticks of a short logarithmic axis at 1, 2, 5, 10, …, the numbers written out."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axis.set_minor_locator(NullLocator())


def bound_line(
    axes: Any,
    table: Table,
    by: str,
    of: str,
    label: str | None,
    color: str = BLACK,
    marker: str = "",
) -> None:
    """Draw a bound as a dashed line, the largest one at each place; its markers are hollow."""
    x, *_, most = table.spread(by, of)
    hollow = {"marker": marker, "markerfacecolor": "white", "markersize": 4}
    axes.plot(x, most, label=label, **{**BOUND, **hollow, "color": color})


def halves(table: Table, by: str) -> tuple[Table, Table]:
    """Split a table at the middle value of a column; the rows there belong to both halves.

    Examples
    --------
    >>> low, high = halves(Table({"n": n} for n in (1, 2, 4, 8, 16)), "n")
    >>> low.values("n"), high.values("n")
    ([1, 2, 4], [4, 8, 16])
    """
    values = table.values(by)
    middle = values[len(values) // 2]
    low = Table(row for row in table.rows if row[by] <= middle)
    return low, Table(row for row in table.rows if row[by] >= middle)


def draw_bent(figure: Any, table: Table, by: str, name: str) -> None:
    """Draw mistakes that level off: a fitted slope for each half of the range, and the bound."""
    axes = figure.add_subplot()
    axes.set(xscale="log", yscale="log", xlabel=name, ylabel="mistakes until convergence")
    bound_line(axes, table, by, "bound", f"bound (R/γ)², the same for all {by}")
    band(axes, table, by, "mistakes", "mistakes: median, range over seeds")
    for part, style in zip(halves(table, by), (":", "-."), strict=True):
        x, counts = part[by], np.maximum(part["mistakes"], 0.5)
        s, error = slope(x, counts)
        centre = np.exp(np.mean(np.log(counts)) - s * np.mean(np.log(x)))
        ends = np.array([x.min(), x.max()], dtype=float)
        label = f"fit from {ends[0]:,.0f} to {ends[1]:,.0f}: slope {signed(s)} ± {error:.2f}"
        axes.plot(ends, centre * ends**s, style, color=ORANGE, label=label)
    mark(axes.xaxis, table.values(by))
    axes.legend(loc="lower right")


def tell_bent(table: Table, by: str, so: str = "") -> str:
    """Tell the two slopes that `draw_bent` draws, and the bound, with what follows from it."""
    low, high = halves(table, by)
    first, last = (slope(part[by], np.maximum(part["mistakes"], 0.5))[0] for part in (low, high))
    return (
        f"Up to {by} = {high.values(by)[0]:,} mistakes go as {by}^{signed(first)}, from there on "
        f"as {by}^{signed(last)}. The bound, {table['bound'].max():,.0f}, is the same for all "
        f"{by}{so}. No run used more than {table.share()} of it."
    )


def signed(value: float) -> str:
    """Write a number to two places, with the minus of the figures' axes."""
    return f"{value:.2f}".replace("-", "−")


def strip(axes: Any, table: Table, by: str, of: str, order: Sequence[Any], color: str) -> None:
    """Draw a dot for each row, side by side for each value of a column, and a bar at the median."""
    for place, value in enumerate(order):
        found = table.where(**{by: value})[of]
        if found.size:
            sideways = place + 0.5 * (np.arange(found.size) + 0.5) / found.size - 0.25
            axes.plot(sideways, found, "o", color=color, alpha=0.6, markersize=4, linewidth=0)
            axes.hlines(np.median(found), place - 0.35, place + 0.35, color=BLACK, linewidth=2)
    axes.set_xticks(range(len(order)), order)
    axes.grid(visible=False, axis="x")
