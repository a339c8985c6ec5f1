"""What an experiment is: what varies, what is measured, what is drawn, what is seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Case = dict[str, Any]
Row = dict[str, Any]


class Table:
    """Rows that were measured, as columns.

    Examples
    --------
    >>> pairs = [(10, 3), (20, 5), (20, 7)]
    >>> table = Table({"n": n, "mistakes": mistakes} for n, mistakes in pairs)
    >>> table["mistakes"].tolist(), table.values("n")
    ([3, 5, 7], [10, 20])
    >>> table.where(n=20)["mistakes"].mean()
    np.float64(6.0)
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> np.ndarray:
        """Give a column; rows that lack it are left out."""
        return np.array([row[name] for row in self.rows if row.get(name) is not None])

    def values(self, name: str) -> list[Any]:
        """Give the different values of a column, sorted."""
        return sorted({row[name] for row in self.rows if row.get(name) is not None})

    def where(self, **wanted: Any) -> Table:
        """Give the rows that have these values."""
        return Table(r for r in self.rows if all(r.get(k) == v for k, v in wanted.items()))

    def groups(self, name: str) -> Iterator[tuple[Any, Table]]:
        """Give the rows of each value of a column."""
        return ((value, self.where(**{name: value})) for value in self.values(name))

    def spread(self, by: str, of: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Give the values of a column, with the least, median and largest of another at each."""
        found = [(value, part[of]) for value, part in self.groups(by)]
        places = np.array([value for value, part in found if part.size])
        ends = np.array([np.quantile(part, (0, 0.5, 1)) for _, part in found if part.size])
        least, middle, most = ends.T if len(ends) else np.zeros((3, 0))
        return places, least, middle, most

    def share(self, of: str = "mistakes", bound: str = "bound") -> str:
        """Write the largest share of its bound that a row has used, rounded up."""
        return at_most(float(np.max(self[of] / self[bound])))


@dataclass(frozen=True)
class Experiment:
    """An experiment, which the runner turns into rows, a figure and a piece of the report.

    Attributes
    ----------
    name : what people type.
    title, question, setup : what the report says before the figure; the question is a sentence.
    theorem : the statement that the figure is to be seen beside, with its number (theory F5, …).
    cases : called with ``quick``, gives what varies: dicts of plain numbers and words. Those with a
        ``seed`` are moved by the seed of the run.
    measure : called with the entries of a case, gives its row or rows, without these entries. What
        it raises becomes a row.
    draw : called with an empty figure and the table of rows that did not fail.
    seen : called with the same table, gives what is seen, in sentences with numbers from the rows.
    bounds : pairs of columns; the first must not be above the second in any row that has both.
    more : called with the table and a folder, writes further files and gives HTML for the report.
    size : of the figure, in inches.
    """

    name: str
    title: str
    question: str
    setup: str
    theorem: str
    cases: Callable[[bool], Sequence[Case]]
    measure: Callable[..., Row | list[Row]]
    draw: Callable[[Any, Table], None]
    seen: Callable[[Table], str]
    bounds: tuple[tuple[str, str], ...] = ()
    more: Callable[[Table, Path], str] | None = None
    size: tuple[float, float] = (7.2, 4.2)

    def above(self, table: Table) -> list[Row]:
        """Give the rows in which something lies above its bound: there should be none."""
        return [
            row
            for row in table.rows
            for low, high in self.bounds
            if row.get(low) is not None and row.get(high) is not None and row[low] > row[high]
        ]


def slope(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Fit y = c·x^s by least squares of the logarithms; give s and its standard error.

    Examples
    --------
    >>> slope(np.array([1, 2, 4, 8]), np.array([3, 12, 48, 192]))
    (2.0, 0.0)
    """
    u, v = np.log(np.asarray(x, dtype=float)), np.log(np.asarray(y, dtype=float))
    u, v = u - u.mean(), v - v.mean()
    s = float(u @ v / (u @ u))
    left = v - s * u
    spare = max(len(u) - 2, 1)
    return round(s, 12), round(float(np.sqrt(left @ left / spare / (u @ u))), 12)


def at_most(share: float) -> str:
    """Write a share as percent, rounded up: what "no more than" may be said of.

    Examples
    --------
    >>> at_most(0.14), at_most(0.1401)
    ('14%', '15%')
    """
    return f"{math.ceil(round(100 * share, 9))}%"  # 100 · 0.14 is a little more than 14
