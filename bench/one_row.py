"""Rows that come one by one: answer, learn, next. Against Vowpal Wabbit and River."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from bench import sets
from bench.race import Contestant, Race, race, ratio
from bench.sets import Row

ROWS, COLUMNS = 20_000, 2**18
PAIRS, DICTS = "rosenblatt, pairs", "rosenblatt, dicts"
TEXT, FEATURES = "Vowpal Wabbit, text", "Vowpal Wabbit, features"
PARSED = "Vowpal Wabbit, parsed before"
RIVER = "River, dicts"
NARROW, WIDE = "rosenblatt, 2^14 columns", "rosenblatt, 2^22 columns"
WABBIT_OPTIONS = "--loss_function hinge --quiet -b 18"


@race
def one_row(scale: float) -> Race:
    """Answer and learn, 50 entries of 2^18 columns."""
    rows = sets.stream(sets.scaled(ROWS, scale), COLUMNS)
    return Race(
        entries={
            PAIRS: lambda: ours(as_pairs(rows), COLUMNS),
            DICTS: lambda: ours(as_dicts(rows), COLUMNS),
            RIVER: lambda: river(as_dicts(rows)),
            TEXT: lambda: wabbit_on_text(rows),
            FEATURES: lambda: wabbit_on_features(rows),
            PARSED: lambda: wabbit_on_parsed(rows),
        },
        figures=[
            ratio(TEXT, PAIRS, at_least=1),
            ratio(RIVER, PAIRS, at_least=3),
            ratio(RIVER, DICTS, at_least=2),
            ratio(FEATURES, PAIRS),
            ratio(PARSED, PAIRS),
        ],
        unit="µs a row",
        factor=1e6 / len(rows),
        note=lambda: f"{len(rows):,} rows; mistakes: {mistake_rate(rows):.1%} of them.",
    )


@race
def wide_row(scale: float) -> Race:
    """Answer and learn, when there are more columns."""
    rows = sets.stream(sets.scaled(ROWS, scale), 2**14)
    return Race(
        entries={
            NARROW: lambda: ours(as_pairs(rows), 2**14),
            WIDE: lambda: ours(as_pairs(spread_out(rows, 2**8, 2**14)), 2**22),
        },
        figures=[ratio(WIDE, NARROW)],
        unit="µs a row",
        factor=1e6 / len(rows),
        note=lambda: (
            "Both learn the same rows. Each narrow column is one of 256 wide ones, the others of "
            "which are never used: only the weights lie farther apart."
        ),
    )


@race
def few_columns_4(scale: float) -> Race:
    """Answer one row of 4 columns by name."""
    return few_columns(4)


@race
def few_columns_20(scale: float) -> Race:
    """Answer one row of 20 columns by name."""
    return few_columns(20)


def few_columns(columns: int) -> Race:
    """Ask both about dicts that they learned, in short rounds, of which most are undisturbed."""
    values = np.random.default_rng(0).normal(size=(1_000, columns)).round(4).tolist()
    names = [f"column {k}" for k in range(columns)]
    stream = [(dict(zip(names, row, strict=True)), int(sum(row) > 0)) for row in values]
    return Race(
        entries={
            DICTS: lambda: answering(ours_named(), stream),
            RIVER: lambda: answering(river_perceptron(), stream),
        },
        figures=[ratio(RIVER, DICTS, at_least=1)],
        unit="µs a row",
        factor=1e6 / len(stream),
        repeats=25,
    )


def answering(learner: Any, stream: list[tuple[Any, Any]]) -> Contestant:
    """Enter the answers of a learner that has learned the stream."""
    answer_and_learn(learner, stream)
    rows = [x for x, _ in stream]

    def run(_: None) -> None:
        for x in rows:
            learner.predict_one(x)

    return Contestant(run)


def ours_named() -> Any:
    """Give rosenblatt's perceptron, which meets names as they come."""
    import rosenblatt as rb

    return rb.Perceptron()


def river_perceptron() -> Any:
    """Give River's perceptron."""
    from river.linear_model import Perceptron

    return Perceptron()


def spread_out(rows: list[Row], factor: int, columns: int) -> list[Row]:
    """Move each column to a random place among `factor` times as many, the same in all rows."""
    offsets = np.random.default_rng(0).integers(0, factor, columns)
    return [row._replace(columns=row.columns * factor + offsets[row.columns]) for row in rows]


def as_pairs(rows: list[Row]) -> list[tuple[Any, int]]:
    """Give each row as a pair of arrays, and its label."""
    return [((row.columns.copy(), row.values.copy()), row.label) for row in rows]


def as_dicts(rows: list[Row]) -> list[tuple[Any, int]]:
    """Give each row as a dict from column to value, and its label."""
    return [
        (dict(zip(row.columns.tolist(), row.values.tolist(), strict=True)), row.label)
        for row in rows
    ]


def answer_and_learn(learner: Any, stream: list[tuple[Any, Any]]) -> None:
    """Present a stream to a learner, asking for its answer first."""
    for x, y in stream:
        learner.predict_one(x)
        learner.learn_one(x, y)


def ours(stream: list[tuple[Any, int]], columns: int) -> Contestant:
    """Enter rosenblatt's perceptron, told the number of columns as Vowpal Wabbit is."""
    import rosenblatt as rb

    def fresh() -> Any:
        return rb.Perceptron().partial_fit(sparse.csr_matrix((1, columns)), [1], classes=[-1, 1])

    return Contestant(lambda learner: answer_and_learn(learner, stream), fresh)


def river(stream: list[tuple[Any, int]]) -> Contestant:
    """Enter River's perceptron."""
    river_perceptron()
    labelled = [(x, y > 0) for x, y in stream]
    return Contestant(lambda learner: answer_and_learn(learner, labelled), river_perceptron)


def wabbit_on_text(rows: list[Row]) -> Contestant:
    """Enter Vowpal Wabbit, parsing lines of text. Its `learn` answers first, too."""
    from vowpalwabbit import Workspace

    lines = as_lines(rows)

    def run(workspace: Any) -> None:
        for line in lines:
            workspace.learn(line)

    return Contestant(run, lambda: Workspace(WABBIT_OPTIONS))


def wabbit_on_features(rows: list[Row]) -> Contestant:
    """Enter Vowpal Wabbit, building examples from lists of (column, value)."""
    from vowpalwabbit import Example, Workspace

    stream = [
        (list(zip(row.columns.tolist(), row.values.tolist(), strict=True)), str(row.label))
        for row in rows
    ]

    def run(workspace: Any) -> None:
        for features, label in stream:
            example = Example(workspace, {"x": features})
            example.set_label_string(label)
            workspace.learn(example)
            workspace.finish_example(example)

    return Contestant(run, lambda: Workspace(WABBIT_OPTIONS))


def wabbit_on_parsed(rows: list[Row]) -> Contestant:
    """Enter Vowpal Wabbit on examples that were parsed before: learning alone."""
    from vowpalwabbit import Example, Workspace

    lines = as_lines(rows)

    def fresh() -> tuple[Any, list[Any]]:
        workspace = Workspace(WABBIT_OPTIONS)
        return workspace, [Example(workspace, line) for line in lines]

    def run(prepared: tuple[Any, list[Any]]) -> None:
        workspace, examples = prepared
        for example in examples:
            workspace.learn(example)
            workspace.finish_example(example)

    return Contestant(run, fresh)


def as_lines(rows: list[Row]) -> list[str]:
    """Write each row as Vowpal Wabbit reads it."""
    return [
        f"{row.label} | "
        + " ".join(
            f"{column}:{value}"
            for column, value in zip(row.columns.tolist(), row.values.tolist(), strict=True)
        )
        for row in rows
    ]


def mistake_rate(rows: list[Row]) -> float:
    """Give the share of rows that rosenblatt answers wrongly before it learns them."""
    import rosenblatt as rb

    learner = rb.Perceptron()
    return sum(learner.learn_one(x, y) for x, y in as_pairs(rows)) / len(rows)
