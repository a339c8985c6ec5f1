"""Tables that are read for a model: which of their columns are its own.

- Columns are found by name, in whatever order they stand. Where neither the model nor the table has
  names, or the caller says so (*by place*), they are found by place, the label's column left out.
- A column that the model lacks is left out, and told once; one that the table lacks is refused.
- The label is the column that the caller names, else the one that the model was fitted with, else
  one of those that are left: the one with a usual name, or the only one.
"""

from __future__ import annotations

import warnings

from rosenblatt.data.reading import Reading
from rosenblatt.data.tables_layout import Layout, label_column, usual_labels
from rosenblatt.data.tables_text import quoted
from rosenblatt.errors import InputError, UnknownColumnsWarning, levels_inside
from rosenblatt.names import TableColumns

FEW = 5


def matched(names: list[str], header: bool, reading: Reading) -> Layout:
    """Find the columns of a model in a table of such names."""
    wanted = reading.wanted
    assert wanted is not None
    table = wanted.as_table(names)
    by_place = reading.by_place or not (header or table.header)
    if header != table.header and not reading.by_place:
        raise InputError(_unnamed(header, reading))
    label = _label(names, table, by_place, reading)
    rest = [name for name in names if name != label]
    if by_place and len(rest) == len(table.inputs):
        called = dict(zip(table.inputs, rest, strict=True))
    elif reading.by_place:
        raise InputError(
            f"{reading.file} has {len(rest)} columns without the label, but the model has "
            f"{len(table.inputs)}; give it as many"
        )
    else:
        called = _by_name(names, table, reading)
        tell_strangers([name for name in rest if name not in called], reading.file)
    return Layout.of(table, called, label if reading.labels else None)


def _unnamed(header: bool, reading: Reading) -> str:
    if header:
        return (
            f"{reading.file} names its columns, but the model was fitted on columns without names, "
            "so that their order is not known; if they stand in the model's order, pass "
            "by_place=True"
        )
    return (
        f"{reading.file} has no header, but the model was fitted on columns with names; give it a "
        "header, or pass by_place=True if the columns stand in the model's order"
    )


def _label(names: list[str], table: TableColumns, by_place: bool, reading: Reading) -> str | None:
    if reading.label is not None:
        return label_column(names, reading)
    if by_place and len(names) == len(table.inputs):
        return None
    if table.label in names:
        return table.label
    if by_place:
        return label_column(names, reading)
    strangers = [name for name in names if name not in table.inputs]
    likely = usual_labels(strangers) or strangers
    if not reading.labels or not likely:
        return None
    if len(likely) > 1:
        some = ", ".join(map(quoted, likely[:FEW]))
        raise InputError(
            f"{reading.file} has several columns that the model does not know ({some}), and each "
            "could be the label; name it with label="
        )
    return likely[0]


def _by_name(names: list[str], table: TableColumns, reading: Reading) -> dict[str, str]:
    lacking = [name for name in table.inputs if name not in names]
    if lacking:
        raise InputError(
            f"{reading.file} has no column {quoted(lacking[0])}, which the model was fitted with; "
            "add it, or check that the file belongs to the model"
        )
    return {name: name for name in table.inputs}


def tell_strangers(strangers: list[str], file: str) -> None:
    """Tell which columns are left out because a model was not fitted with them."""
    if not strangers:
        return
    several = len(strangers) > 1
    some = ", ".join(map(quoted, strangers[:FEW])) + (", ..." if len(strangers) > FEW else "")
    warnings.warn(
        f"{file} has {f'{len(strangers)} columns' if several else 'a column'} that the "
        f"model was not fitted with, left out: {some}",
        UnknownColumnsWarning,
        stacklevel=levels_inside() + 1,
    )
