"""From a Polars frame to examples: which columns become which features, and the labels.

`tables` states the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from rosenblatt.data.reading import MOST_COLUMNS, Reading
from rosenblatt.data.strings import coded_strings, string_array
from rosenblatt.data.tables_text import (
    NUMBERS,
    TRUTH,
    TRUTH_VALUES,
    WORDS,
    pointed,
    quoted,
)
from rosenblatt.errors import EmptyError, InputError, optional_module
from rosenblatt.examples import Examples
from rosenblatt.names import Columns, TableColumns

if TYPE_CHECKING:
    import polars as pl

# Names that stand for the label, in any case.
LABEL_NAMES = ("label", "class", "target", "y")
ANYTHING = "anything"
MISSING = "is missing; leave such rows out, or give a number for them with missing="
LARGEST_WHOLE = 2.0**53
# So many distinct labels are made into strings once each, and copied from there.
FEW_WORDS = 1000


class Layout(NamedTuple):
    """Which columns of a file become which features.

    Words have the features that are given to each of them; those of a column that is hashed have
    none, but the name that is hashed with them.
    """

    label: str | None
    numbers: list[str]
    words: dict[str, dict[str, int] | str]
    table: TableColumns

    @classmethod
    def of(cls, table: TableColumns, called: dict[str, str], label: str | None) -> Layout:
        """Lay out a table whose columns are called otherwise in this file."""
        numbers, words = table.numbers, dict[str, dict[str, int] | str]()
        place = len(numbers)
        for name, known in table.words.items():
            features = {word: place + k for k, word in enumerate(known)}
            words[called[name]] = name if table.hashed else features
            place += len(known)
        return cls(label, [called[name] for name in numbers], words, table)

    def features_of(self, column: str, distinct: Iterable[str]) -> dict[str, int]:
        """Give the features that distinct words of a column become."""
        known = self.words[column]
        if not isinstance(known, str):
            return known
        first, room = len(self.numbers), self.table.hashed
        return {word: first + hashed(known, word, room) for word in distinct}

    @property
    def columns(self) -> Columns:
        """What the features are."""
        return Columns(self.table.names, self.table)


def polars_module() -> Any:
    """Import Polars, or say how to install it."""
    return optional_module("polars", "files")


def label_column(names: list[str], reading: Reading) -> str | None:
    """Give the name of the label's column, None if there is none."""
    label = reading.label
    if not names:
        raise InputError(f"{reading.file} has no columns; give it columns of features and labels")
    if label is False:
        return None
    if label is None:
        likely = usual_labels(names) or names[-1:]
        if len(likely) > 1:
            some = " and ".join(map(quoted, likely))
            raise InputError(
                f"{reading.file} has the columns {some}, each of which could be the label; name "
                "one of them with label="
            )
        return likely[0]
    return _column(names, label, reading.file)


def _column(names: list[str], wanted: str | int, file: str) -> str:
    """Find a column by name or place."""
    if isinstance(wanted, str):
        if wanted in names:
            return wanted
        shown = (quoted(name)[1:-1] for name in names[:8])
        some = ", ".join(shown) + (", ..." if len(names) > 8 else "")
        near = get_close_matches(wanted, names, 1)
        advice = f"; did you mean {quoted(near[0])}?" if near else ""
        raise InputError(f"{file} has no column {wanted!r}; its columns are {some}{advice}")
    if not -len(names) <= wanted < len(names):
        raise InputError(f"{file} has {len(names)} columns, so none at place {wanted}")
    return names[wanted]


def selected_columns(names: list[str], label: str | None, reading: Reading) -> list[str]:
    """Give the columns that become features, in the order of the table."""
    if reading.select is None:
        return [name for name in names if name != label]
    chosen = {_column(names, wanted, reading.file) for wanted in reading.select}
    if label in chosen:
        raise InputError(
            f"column {quoted(label)} of {reading.file} is taken for the label, but select= names "
            "it as a feature; name another label with label=, or leave it out"
        )
    return [name for name in names if name in chosen]


def usual_labels(names: list[str]) -> list[str]:
    """Give the names that are those of labels."""
    return [name for name in names if name.strip().lower() in LABEL_NAMES]


def float_type(reading: Reading) -> Any:
    """Give the dtype asked for as Polars calls it."""
    return polars_module().Float32 if reading.dtype == np.float32 else polars_module().Float64


def layout_of(
    kinds: dict[str, str],
    words_of: Callable[[list[str]], dict[str, tuple[str, ...]]],
    label: str | None,
    header: bool,
    reading: Reading,
) -> Layout:
    """Decide which columns become which features, by what those hold and by their words."""
    inputs = list(kinds)
    worded = [name for name, kind in kinds.items() if kind == WORDS]
    if not inputs:
        raise InputError(
            f"{reading.file} has no column but the label; give it columns of features, or say with "
            "separator= what stands between them"
        )
    if worded and reading.categories == "refuse":
        raise InputError(
            f"column {quoted(worded[0])} of {reading.file} holds words; "
            "pass categories='onehot' or 'hash', or leave it out"
        )
    hashes = reading.categories == "hash"
    nothing: dict[str, tuple[str, ...]] = dict.fromkeys(worded, ())
    words = nothing if hashes or not worded else words_of(worded)
    hashed = reading.columns if hashes and worded else 0
    table = TableColumns(tuple(inputs), words, label, header, hashed)
    if table.width >= MOST_COLUMNS:
        raise InputError(
            f"columns must be less than {MOST_COLUMNS - len(table.numbers)} beside the "
            f"{len(table.numbers)} columns of numbers of {reading.file}, got {hashed}"
        )
    return Layout.of(table, {name: name for name in inputs}, label if reading.labels else None)


def feature_kind(name: str, dtype: Any, file: str) -> str:
    """Tell whether a column of features holds numbers or words."""
    kind = _kind(dtype)
    if kind is None:
        raise InputError(
            f"column {quoted(name)} of {file} holds {dtype}; leave it out, "
            "or turn it into numbers, truth values or words"
        )
    return kind


def words_of(lazy: pl.LazyFrame, reading: Reading, names: list[str]) -> dict[str, tuple[str, ...]]:
    """Give the distinct words of columns, in one pass over them and in bounded memory."""
    polars = polars_module()
    found: dict[str, set[str]] = {name: set() for name in names}
    for frame in lazy.select(polars.col(names).cast(polars.String)).collect_batches():
        for name, words in found.items():
            words.update(frame[name].unique().drop_nulls().to_list())
            refuse_many(name, words, reading)
    return {name: tuple(sorted(words)) for name, words in found.items()}


def refuse_many(name: str, words: set[str], reading: Reading) -> None:
    """Refuse a column of more words than may become a feature each."""
    if len(words) > reading.columns:
        raise InputError(
            f"column {quoted(name)} of {reading.file} holds more than "
            f"{reading.columns:,} distinct words; pass categories='hash', or leave it out"
        )


def _kind(dtype: Any) -> str | None:
    polars = polars_module()
    if dtype.is_numeric() or dtype in (polars.Boolean, polars.Null):
        return NUMBERS
    return WORDS if dtype in (polars.String, polars.Categorical, polars.Enum) else None


def examples_of(
    frame: pl.DataFrame, layout: Layout, reading: Reading, row: int, labels: str | None
) -> Examples:
    """Turn a frame into examples; `row` rows came before it.

    `labels` says what labels that are words stand for: what all of them are (`ANYTHING`), what the
    labels of a text begin with, or nothing but words (None).
    """
    refuse_empty(frame.height, reading)
    y = None if layout.label is None else labels_of(frame[layout.label], reading, row, labels)
    X = numbers_of(frame, layout.numbers, reading, row)
    if layout.words:
        X = with_words(X, _codes(frame, layout, reading, row), layout)
    return Examples(X, y, columns=layout.columns)


def refuse_empty(height: int, reading: Reading) -> None:
    """Refuse a table without rows."""
    if not height:
        raise EmptyError(f"{reading.file} holds no examples; give a table that has rows")


def numbers_of(frame: pl.DataFrame, names: list[str], reading: Reading, row: int) -> np.ndarray:
    """Give columns of numbers as a C-order array."""
    polars = polars_module()
    if not names:
        return np.empty((frame.height, 0), reading.dtype)
    floats, wanted = frame.select(names), float_type(reading)
    if any(dtype != wanted for dtype in floats.dtypes):
        floats = floats.cast(wanted)
    X = np.ascontiguousarray(floats.to_numpy(order="c"))  # NaN for what is absent
    with np.errstate(invalid="ignore", over="ignore"):
        sound = np.isfinite(X.sum())  # far cheaper than a look at each
    if sound:
        return X
    infinite = floats.select(polars.all().is_infinite().fill_null(False))
    advice = "change it or leave the row out"
    _refuse_first(infinite, reading, row, f"is not finite as {reading.dtype}; {advice}")
    if reading.missing == "refuse":
        absent = floats.select(polars.all().is_null() | polars.all().is_nan())
        _refuse_first(absent, reading, row, MISSING)
        return X  # the sum was too large, not what was added up
    X = X if X.flags.writeable else X.copy()
    X[np.isnan(X)] = reading.missing
    return X


def _refuse_first(marked: pl.DataFrame, reading: Reading, row: int, complaint: str) -> None:
    """Refuse the first cell that is marked, if any is; `row` rows came before."""
    first = {name: marked[name].arg_max() or 0 for name in marked.columns if marked[name].any()}
    if first:
        name = min(first, key=lambda name: first[name])
        place = f"row {row + first[name] + 1}, column {quoted(name)} of {reading.file}"
        raise InputError(f"{place} {complaint}")


def _codes(frame: pl.DataFrame, layout: Layout, reading: Reading, row: int) -> Iterator[np.ndarray]:
    """Give the words of each column by the features that they become, -1 if by none."""
    polars = polars_module()
    for name, known in layout.words.items():
        words = frame[name].cast(polars.String)
        if reading.missing == "refuse" and words.null_count():
            _refuse_first(words.is_null().to_frame(), reading, row, MISSING)
        distinct = words.unique().drop_nulls().to_list() if isinstance(known, str) else ()
        features = layout.features_of(name, distinct)
        yield words.replace_strict(
            list(features), list(features.values()), default=-1, return_dtype=polars.Int32
        ).to_numpy()


def with_words(X: np.ndarray, codes: Iterable[Any], layout: Layout) -> csr_matrix:
    """Give numbers and words, by the features that they become, as one CSR matrix without zeros."""
    rows, numbers = X.shape
    width = numbers + len(layout.words)
    places = np.empty((rows, width), np.int32)
    places[:, :numbers] = np.arange(numbers)
    values = np.ones((rows, width), X.dtype)
    values[:, :numbers] = X
    for j, column in enumerate(codes, numbers):
        places[:, j] = column
    kept = (values != 0) & (places >= 0)
    starts = np.concatenate(([0], np.cumsum(kept.sum(axis=1))))
    matrix = csr_matrix((values[kept], places[kept], starts), shape=(rows, layout.table.width))
    matrix.sum_duplicates()  # words that were hashed may meet
    return matrix


def hashed(column: str, word: str, columns: int) -> int:
    """Give the feature that a word of a column is hashed to, the same on every machine."""
    digest = blake2b(f"{column}={word}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") % columns


def labels_of(labels: pl.Series, reading: Reading, row: int, meant: str | None) -> np.ndarray:
    """Give labels as an array; `examples_of` says what `row` and `meant` are."""
    file = reading.file
    _refuse_absent(labels, file, row)
    kind = _kind(labels.dtype)
    if kind is None:
        raise InputError(
            f"the label column {quoted(labels.name)} of {file} holds {labels.dtype}; "
            "labels are numbers, truth values or words"
        )
    if kind != WORDS:
        return _label_numbers(labels, file, row)
    labels = labels.cast(polars_module().String)
    if meant in (NUMBERS, TRUTH_VALUES):
        _refuse_strangers(labels, reading, row, str(meant))
    parsed = None if meant in (None, WORDS) else _parsed(pointed(labels, reading.decimal))
    if parsed is None and meant == NUMBERS:
        raise InputError(
            f"the labels of {file} are whole numbers beyond 2^63, or beyond 2^53 among fractions, "
            "which would be rounded; read the table as a whole, or write them as words"
        )
    return _label_words(labels) if parsed is None else _label_numbers(parsed, file, row)


def _refuse_absent(labels: pl.Series, file: str, row: int) -> None:
    absent = labels.is_null()
    if labels.dtype.is_float():
        absent |= labels.is_nan().fill_null(True)
    if labels.dtype == polars_module().String:
        absent |= (labels == "").fill_null(True)
    if absent.any():
        place = row + (absent.arg_max() or 0) + 1
        raise InputError(
            f"row {place} of {file} has no label in column {quoted(labels.name)}; "
            "leave the row out, or name another column with label="
        )


def _label_words(labels: pl.Series) -> np.ndarray:
    words = labels.unique().to_list()
    if len(words) > FEW_WORDS:
        return string_array(labels.to_list())
    places = list(range(len(words)))
    codes = labels.replace_strict(words, places, return_dtype=polars_module().UInt32)
    return coded_strings(words, codes.to_numpy())


def _label_numbers(labels: pl.Series, file: str, row: int) -> np.ndarray:
    if labels.dtype.is_decimal() or labels.dtype == polars_module().Int128:
        parsed = _parsed(labels.cast(polars_module().String).str.replace(r"\.0*$", ""))
        if parsed is None:
            return _label_words(labels.cast(polars_module().String))
        labels = parsed
    found = labels.to_numpy()
    if labels.dtype.is_float() and not np.isfinite(found).all():
        place = row + int(np.argmin(np.isfinite(found))) + 1
        raise InputError(
            f"the label in row {place}, column {quoted(labels.name)} of {file} is not finite; "
            "change it or leave the row out"
        )
    if labels.dtype.is_float() and (np.abs(found) <= LARGEST_WHOLE).all():
        whole = found.astype(np.int64)
        return whole if np.array_equal(whole, found) else found
    return found


def _refuse_strangers(labels: pl.Series, reading: Reading, row: int, meant: str) -> None:
    """Refuse labels that are not what those before them are."""
    if meant == NUMBERS:
        strange = (
            pointed(labels, reading.decimal).cast(polars_module().Float64, strict=False).is_null()
        )
    else:
        strange = ~labels.str.to_lowercase().is_in(TRUTH)
    if strange.any():
        place = strange.arg_max() or 0
        raise InputError(
            f"row {row + place + 1} of {reading.file} has the label {quoted(labels[place])}, but "
            f"the labels begin with {meant}; mend it, or read the table as a whole"
        )


def _rounds(labels: pl.Series, parsed: pl.Series) -> bool:
    """Tell whether whole numbers are rounded, so that some could no longer be told apart."""
    if not parsed.dtype.is_float():
        return False
    large = labels.filter(parsed.abs() >= LARGEST_WHOLE)
    return bool(large.str.contains(r"^[+-]?[0-9]+$").any())


def _parsed(labels: pl.Series) -> pl.Series | None:
    """Give words as what they all are, whole numbers, numbers or truth values, if they are."""
    polars = polars_module()
    for dtype in (polars.Int64, polars.Float64):
        # Most labels are words, and the first ones say so at little cost.
        if not labels.head(1).cast(dtype, strict=False).null_count():
            parsed = labels.cast(dtype, strict=False)
            if not parsed.null_count():
                return None if _rounds(labels, parsed) else parsed
    lower = labels.str.to_lowercase()
    return lower == "true" if lower.is_in(TRUTH).all() else None
