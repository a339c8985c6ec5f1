"""Operations of seven routines: the formula, what an instrumented run counts, and the time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.lab import counting
from rosenblatt.lab.counting import COSTS, KINDS, Tally, seconds_of
from rosenblatt.lab.experiment import Case, Experiment, Row, Table, slope
from rosenblatt.lab.style import BLUE, BOUND, GREEN, ORANGE
from rosenblatt.learners.perceptron import Perceptron

QUICK_SIZES = {
    1: (64, 512, 4096, 2**15, 2**17, 2**19),
    2: (16, 48, 128, 512, 1024, 2048),
    3: (8, 16, 32, 96, 192, 384),
}
FULL_SIZES = {
    1: tuple(2**k for k in range(4, 23, 2)),
    2: tuple(2**k for k in range(3, 13)),
    3: tuple(2**k for k in range(2, 11)),
}
QUICK_COUNT, FULL_COUNT = 70_000, 1_500_000  # operations: at about a microsecond each
QUICK_SECONDS, FULL_SECONDS = 0.002, 0.1
ROOM = 300  # above the highest line, for the slopes
BEYOND_THE_CALL = 4  # times are fitted where they are so many times that of the smallest size


@dataclass(frozen=True)
class Routine:
    """A routine for inputs of one size n.

    `generic` works on lists of any numbers, `compiled` on arrays; `cost` gives the formula for n
    and what was found, `formula` is the same for people, `exponent` its growth with n.
    """

    exponent: int
    formula: str
    inputs: Callable[[int, np.random.Generator], tuple[np.ndarray, ...]]
    generic: Callable[..., Any]
    compiled: Callable[..., Any]
    cost: Callable[[int, Any], Tally]


def vectors(number: int, n: int, random: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Give vectors of small whole numbers: sums over them are exact in any order."""
    return tuple(random.integers(-3, 4, n, np.int8).astype(float) for _ in range(number))


def matrices(number: int, n: int, random: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Give square matrices of small whole numbers."""
    return tuple(random.integers(-3, 4, (n, n), np.int8).astype(float) for _ in range(number))


def haystack(n: int, random: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Give values whose last one is wanted, the worst case."""
    values = random.permutation(n).astype(float)
    return values, values[-1]


def examples(n: int, random: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Give n rows of n entries with random labels, so that about half of them are mistakes."""
    return *matrices(1, n, random), random.choice([-1.0, 1.0], n)


def counted_pass(X: list[list[Any]], y: list[Any]) -> tuple[list[Any], int]:
    """Make the pass of the definition, from zero."""
    return counting.perceptron_pass(X, y, [0.0] * len(X[0]))


def learned_pass(X: np.ndarray, y: np.ndarray) -> Perceptron:
    """Make the pass of the package."""
    return Perceptron(fit_intercept=False).partial_fit(X, y)


ROUTINES = {
    "norm": Routine(
        1,
        "n multiplications, n − 1 additions, 1 square root",
        partial(vectors, 1),
        counting.norm,
        np.linalg.norm,
        lambda n, _: COSTS[counting.norm](n),
    ),
    "dot product": Routine(
        1,
        "n multiplications, n − 1 additions",
        partial(vectors, 2),
        counting.dot_product,
        np.dot,
        lambda n, _: COSTS[counting.dot_product](n),
    ),
    "linear search": Routine(
        1,
        "n comparisons, the wanted one being last",
        haystack,
        counting.linear_search,
        lambda values, wanted: (values == wanted).argmax(),
        lambda n, _: COSTS[counting.linear_search](n, n - 1),
    ),
    "Frobenius norm": Routine(
        2,
        "n² multiplications, n² − 1 additions, 1 square root",
        partial(matrices, 1),
        counting.frobenius_norm,
        np.linalg.norm,
        lambda n, _: COSTS[counting.frobenius_norm](n, n),
    ),
    "matrix–vector product": Routine(
        2,
        "n² multiplications, n² − n additions",
        lambda n, random: (*matrices(1, n, random), *vectors(1, n, random)),
        counting.matrix_vector,
        np.dot,
        lambda n, _: COSTS[counting.matrix_vector](n, n),
    ),
    "perceptron pass": Routine(
        2,
        "n² + n + M·n multiplications, n² − n + M·n additions, n comparisons, M mistakes",
        examples,
        counted_pass,
        learned_pass,
        lambda n, mistakes: COSTS[counting.perceptron_pass](n, n, mistakes),
    ),
    "matrix–matrix product": Routine(
        3,
        "n³ multiplications, n³ − n² additions",
        partial(matrices, 2),
        counting.matrix_matrix,
        np.dot,
        lambda n, _: COSTS[counting.matrix_matrix](n, n, n),
    ),
}


def cases(quick: bool) -> list[Case]:
    """Each routine at several sizes; only those of few operations are counted."""
    sizes = QUICK_SIZES if quick else FULL_SIZES
    count, seconds = (QUICK_COUNT, QUICK_SECONDS) if quick else (FULL_COUNT, FULL_SECONDS)
    return [
        {"routine": name, "size": n, "count_up_to": count, "time_at_least": seconds, "seed": 0}
        for name, routine in ROUTINES.items()
        for n in sizes[routine.exponent]
    ]


def measure(routine: str, size: int, count_up_to: int, time_at_least: float, seed: int) -> Row:
    """Count and time one routine at one size."""
    chosen = ROUTINES[routine]
    inputs = chosen.inputs(size, np.random.default_rng(seed))
    found = chosen.compiled(*inputs)
    row: Row = {"seconds_compiled": seconds_of(lambda: chosen.compiled(*inputs), time_at_least)}
    mistakes = found.run_.mistakes if isinstance(found, Perceptron) else None
    formula = chosen.cost(size, mistakes)
    row |= {f"{name}_formula": value for name, value in tallied(formula).items()}
    if mistakes is not None:
        row |= {"learner_mistakes": mistakes}
        row |= {"learner_multiply_adds": found.run_.operations.multiply_adds}
    if formula.total() <= count_up_to:
        row |= counted(chosen, inputs, time_at_least)
    return row


def counted(routine: Routine, inputs: tuple[np.ndarray, ...], time_at_least: float) -> Row:
    """Run the routine on numbers that count, then time it on plain ones."""
    tally, plain = Tally(), [given.tolist() for given in inputs]
    result = routine.generic(*counting.counting(plain, tally))
    row: Row = tallied(tally)
    if routine.generic is counted_pass:
        n = len(inputs[1])
        row |= {"mistakes": result[1], "multiply_adds": tally["multiplications"] - n}
    return row | {"seconds_python": seconds_of(lambda: routine.generic(*plain), time_at_least)}


def tallied(tally: Tally) -> Row:
    """Give a tally as columns."""
    return {"operations": tally.total(), **{kind: tally[kind] for kind in KINDS}}


def exponents(part: Table) -> tuple[float | None, float | None, float | None]:
    """Give the fitted exponents: of the counts, of the plain routine's time, of compiled time."""
    return (
        growth_of(part, "operations"),
        growth_of(part, "seconds_python", BEYOND_THE_CALL),
        growth_of(part, "seconds_compiled", BEYOND_THE_CALL),
    )


def growth_of(part: Table, column: str, beyond: float = 1) -> float | None:
    """Fit the exponent of a column where it is so many times its least value."""
    least = beyond * min(part[column], default=0)
    found = Table(row for row in part.rows if (row.get(column) or -1) >= least)
    return slope(found["size"], found[column])[0] if len(found.values("size")) > 1 else None


def draw(figure: Any, table: Table) -> None:
    """Draw operations and nanoseconds of each routine on one pair of logarithmic axes."""
    grid = figure.subplots(3, 3, sharey=True)  # three of n, three of n², one of n³
    for axes, name in zip(grid.flat, ROUTINES, strict=False):
        draw_routine(axes, table.where(routine=name), name)
    highest = max(table["operations_formula"].max(), 1e9 * table["seconds_compiled"].max())
    grid[0, 0].set_ylim(5, ROOM * highest)
    for axes in grid[2, 1:]:
        axes.remove()
    explain(figure.add_subplot(grid[2, 0].get_gridspec()[2, 1:]), grid[0, 0].get_lines())
    figure.supylabel("operations, or processor time in nanoseconds", fontsize=11)
    figure.supxlabel("size n: entries of a vector, or rows and columns of a matrix", fontsize=11)


def explain(axes: Any, lines: Any) -> None:
    """Say what the lines of all panels are."""
    axes.axis("off")
    words = [
        "operations by the formula",
        "operations counted",
        "time, plain Python numbers",
        "time, compiled",
    ]
    look = {"fontsize": 11, "title_fontsize": 11, "alignment": "left"}
    axes.legend(lines, words, title="Numbers in the panels: fitted slopes", loc="center", **look)


def draw_routine(axes: Any, part: Table, name: str) -> None:
    """Draw one panel, with the fitted exponents as its legend."""
    size, *_, formula = part.spread("size", "operations_formula")
    axes.loglog(size, formula, **BOUND)
    styles = {
        "operations": (1, {"color": BLUE, "marker": "o", "linestyle": ""}),
        "seconds_python": (1e9, {"color": GREEN, "marker": "^"}),
        "seconds_compiled": (1e9, {"color": ORANGE, "marker": "s"}),
    }
    for (column, (scale, style)), exponent in zip(styles.items(), exponents(part), strict=True):
        size, *_, value = part.spread("size", column)
        label = "–" if exponent is None else f"{exponent:.2f}"
        axes.plot(size, scale * value, markersize=4, label=label, **style)
    axes.legend(loc="upper left", fontsize=10, handlelength=1.2, labelspacing=0.2, borderaxespad=0)
    axes.set_title(f"{name}\nO({power(ROUTINES[name].exponent)})", fontsize=10)


def power(exponent: int) -> str:
    """Give n to a power as people write it."""
    return {1: "n", 2: "n²", 3: "n³"}[exponent]


def seen(table: Table) -> str:
    """Tell how far the fitted exponents are from those of the formulas."""
    runs = counted_rows(table)
    differ = sum(row["operations"] != row["operations_formula"] for row in runs)
    sentences = [
        f"Of {len(runs)} instrumented runs, {differ or 'none'} counted another number of "
        "operations than its formula gives."
    ]
    counts, plain, compiled = (farthest(table, which) for which in range(3))
    if counts:
        sentences.append(
            f"The largest distance of an exponent fitted to counts from that of the O() is "
            f"{counts[0]:.2f} ({counts[1]})."
        )
    if plain and compiled:
        sentences.append(
            f"For times it is {plain[0]:.2f} with plain Python numbers ({plain[1]}) and "
            f"{compiled[0]:.2f} with compiled ones ({compiled[1]}): a time also depends on the "
            "caches that the data have outgrown, and on what else the machine does."
        )
    return " ".join(sentences)


def farthest(table: Table, which: int) -> tuple[float, str] | None:
    """Give the largest distance of a kind of exponent from the expected one, and its routine."""
    found = (
        (abs(exponent - ROUTINES[name].exponent), name)
        for name, part in table.groups("routine")
        if (exponent := exponents(part)[which]) is not None
    )
    return max(found, default=None)


def counted_rows(table: Table) -> list[Row]:
    """Give the rows that were counted."""
    return [row for row in table.rows if row.get("operations") is not None]


def more(table: Table, folder: Path) -> str:
    """Give formula, count and exponents of each routine as a table."""
    heads = (
        "routine",
        "formula",
        "counted",
        "exponent of the count",
        "exponent of the time, Python",
        "exponent of the time, compiled",
        "expected",
    )
    lines = [_line(heads, "th")]
    for name, routine in ROUTINES.items():
        part = table.where(routine=name)
        if not len(part):
            continue
        fitted = ("" if e is None else f"{e:.2f}" for e in exponents(part))
        largest = max(counted_rows(part), key=lambda row: row["size"], default=None)
        count = "" if largest is None else f"{largest['operations']:,} at n = {largest['size']:,}"
        lines.append(_line((name, routine.formula, count, *fitted, str(routine.exponent)), "td"))
    return f'<div class="wide"><table>{"".join(lines)}</table></div>'


def _line(cells: tuple[str, ...], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def equal(*pairs: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    """Give the bounds that say that columns are equal."""
    return tuple(bound for pair in pairs for bound in (pair, pair[::-1]))


EXPERIMENT = Experiment(
    name="operations",
    title="Counting operations",
    question="How many operations do the routines take, and does time grow as they do?",
    setup="Each routine is written once for any kind of number. Numbers that count every "
    "multiplication, addition, comparison and square root give the counts; plain Python numbers "
    "and a compiled routine (NumPy, and one pass of Perceptron from zero) give processor times. "
    "Matrices are square, a pass sees n rows of n entries, and a search finds its value last. "
    f"Exponents of times are fitted where the time is at least {BEYOND_THE_CALL} times the "
    "shortest one: below that it is the cost of the call.",
    theorem="D22: a dot product of n entries takes n multiplications and n − 1 additions; all else "
    "follows. A pass with M mistakes takes n·(d + 1) + M·d multiplications and n·(d − 1) + M·d "
    "additions.",
    cases=cases,
    measure=measure,
    draw=draw,
    seen=seen,
    bounds=equal(
        *((kind, f"{kind}_formula") for kind in ("operations", *KINDS)),
        ("mistakes", "learner_mistakes"),
        ("multiply_adds", "learner_multiply_adds"),
    ),
    more=more,
    size=(7.2, 7.4),
)
