"""From a Polars frame to examples: which columns become which features, and the labels.

`tables` states the rules.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from rosenblatt.data.strings import string_array, string_type
from rosenblatt.data.tables_text import NUMBERS, TRUTH, TRUTH_VALUES, WORDS, Text, quoted
from rosenblatt.errors import EmptyError, InputError, MissingExtraError
from rosenblatt.examples import Examples
from rosenblatt.names import Columns, Table, Wanted

if TYPE_CHECKING:
    import polars as pl

# Names that stand for the label, in any case.
LABEL_NAMES = ("label", "class", "target", "y")
ANYTHING = "anything"
LARGEST_WHOLE = 2.0**53
# So many distinct labels are made into strings once each, and copied from there.
FEW_WORDS = 1000


class Options(NamedTuple):
    """The caller's wishes."""

    label: str | int | None
    labels: bool
    categories: str
    missing: str | float
    dtype: np.dtype[Any]
    columns: int
    header: bool | None
    like: Wanted | None
    by_place: bool
    file: str


class Layout(NamedTuple):
    """Which columns of a file become which features.

    Words have the features that are given to each of them; those of a column that is hashed have
    none, but the name that is hashed with them.
    """

    label: str | None
    numbers: list[str]
    words: dict[str, dict[str, int] | str]
    table: Table

    @classmethod
    def of(cls, table: Table, called: dict[str, str], label: str | None) -> Layout:
        """Lay out a table whose columns are called otherwise in this file."""
        numbers, words = table.numbers, dict[str, dict[str, int] | str]()
        place = len(numbers)
        for name, known in table.words.items():
            features = {word: place + k for k, word in enumerate(known)}
            words[called[name]] = name if table.hashed else features
            place += len(known)
        return cls(label, [called[name] for name in numbers], words, table)

    @property
    def columns(self) -> Columns:
        """What the features are."""
        return Columns(self.table.names, self.table)


def polars_module() -> Any:
    """Import Polars, or say how to install it."""
    try:
        import polars
    except ImportError:
        raise MissingExtraError("polars", "files") from None
    return polars


def label_column(names: list[str], options: Options) -> str | None:
    """Give the name of the label's column, None if there is none."""
    label = options.label
    if not names:
        raise InputError(f"{options.file} has no columns; give it columns of features and labels")
    if label is False:
        return None
    if label is None:
        likely = usual_labels(names) or names[-1:]
        if len(likely) > 1:
            some = " and ".join(map(quoted, likely))
            raise InputError(
                f"{options.file} has the columns {some}, each of which could be the label; name "
                "one of them with label="
            )
        return likely[0]
    if isinstance(label, str):
        if label in names:
            return label
        shown = (quoted(name)[1:-1] for name in names[:8])
        some = ", ".join(shown) + (", ..." if len(names) > 8 else "")
        raise InputError(f"{options.file} has no column {label!r}; its columns are {some}")
    if not -len(names) <= label < len(names):
        raise InputError(f"{options.file} has {len(names)} columns, so none at place {label}")
    return names[label]


def usual_labels(names: list[str]) -> list[str]:
    """Give the names that are those of labels."""
    return [name for name in names if name.strip().lower() in LABEL_NAMES]


def float_type(options: Options) -> Any:
    """Give the dtype asked for as Polars calls it."""
    return polars_module().Float32 if options.dtype == np.float32 else polars_module().Float64


def layout_of(lazy: pl.LazyFrame, label: str | None, text: Text | None, options: Options) -> Layout:
    """Decide which columns become which features; those of a text have their kinds already."""
    inputs: list[str] = []
    worded: list[str] = []
    for name, dtype in lazy.collect_schema().items():
        if name == label:
            continue
        inputs.append(name)
        if feature_kind(name, dtype, text, options.file) == WORDS:
            worded.append(name)
    if not inputs:
        raise InputError(f"{options.file} has no column but the label; give it columns of features")
    if worded and options.categories == "refuse":
        raise InputError(
            f"column {quoted(worded[0])} of {options.file} holds words; "
            "pass categories='onehot' or 'hash', or leave it out"
        )
    hashes = options.categories == "hash"
    words = {name: () if hashes else _words_of(name, lazy, options) for name in worded}
    header = text is None or text.header
    hashed = options.columns if hashes and worded else 0
    table = Table(tuple(inputs), words, label, header, hashed)
    return Layout.of(table, {name: name for name in inputs}, label if options.labels else None)


def feature_kind(name: str, dtype: Any, text: Text | None, file: str) -> str:
    """Tell whether a column of features holds numbers or words."""
    kind = _kind(dtype) if text is None else text.kinds[name]
    if kind is None:
        raise InputError(
            f"column {quoted(name)} of {file} holds {dtype}; leave it out, "
            "or turn it into numbers, truth values or words"
        )
    return kind


def _words_of(name: str, lazy: pl.LazyFrame, options: Options) -> tuple[str, ...]:
    polars = polars_module()
    column = polars.col(name).cast(polars.String)
    found = lazy.select(column.unique()).collect().to_series().drop_nulls().sort().to_list()
    if len(found) > options.columns:
        raise InputError(
            f"column {quoted(name)} of {options.file} holds {len(found):,} distinct words, "
            f"more than {options.columns:,}; pass categories='hash', or leave it out"
        )
    return tuple(found)


def _kind(dtype: Any) -> str | None:
    polars = polars_module()
    if dtype.is_numeric() or dtype in (polars.Boolean, polars.Null):
        return NUMBERS
    return WORDS if dtype in (polars.String, polars.Categorical, polars.Enum) else None


def examples_of(
    frame: pl.DataFrame, layout: Layout, options: Options, row: int, labels: str | None
) -> Examples:
    """Turn a frame into examples; `row` rows came before it.

    `labels` says what labels that are words stand for: what all of them are (`ANYTHING`), what the
    labels of a text begin with, or nothing but words (None).
    """
    refuse_empty(frame.height, options)
    y = None if layout.label is None else labels_of(frame[layout.label], options, row, labels)
    X = numbers_of(frame, layout.numbers, options, row)
    if layout.words:
        X = _with_words(X, frame, layout, options, row)
    return Examples(X, y, columns=layout.columns)


def refuse_empty(height: int, options: Options) -> None:
    """Refuse a table without rows."""
    if not height:
        raise EmptyError(f"{options.file} holds no examples; it has no rows, so give it some")


def numbers_of(frame: pl.DataFrame, names: list[str], options: Options, row: int) -> np.ndarray:
    """Give columns of numbers as a C-order array."""
    polars = polars_module()
    if not names:
        return np.empty((frame.height, 0), options.dtype)
    floats, wanted = frame.select(names), float_type(options)
    if any(dtype != wanted for dtype in floats.dtypes):
        floats = floats.cast(wanted)
    X = np.ascontiguousarray(floats.to_numpy(order="c"))  # NaN for what is absent
    with np.errstate(invalid="ignore", over="ignore"):
        sound = np.isfinite(X.sum())  # far cheaper than a look at each
    if sound:
        return X
    _refuse_infinite(floats.select(polars.all().is_infinite().fill_null(False)), options, row)
    if options.missing == "refuse":
        _refuse_missing(floats.select(polars.all().is_null() | polars.all().is_nan()), options, row)
        return X  # the sum was too large, not what was added up
    X = X if X.flags.writeable else X.copy()
    X[np.isnan(X)] = options.missing
    return X


def _refuse_missing(absent: pl.DataFrame, options: Options, row: int) -> None:
    number = "give a number for them with missing="
    advice = f"leave such rows out, or {number}"
    _refuse_first(absent, options, row, f"is missing; {advice}")


def _refuse_infinite(infinite: pl.DataFrame, options: Options, row: int) -> None:
    advice = "change it or leave the row out"
    _refuse_first(infinite, options, row, f"is not finite as {options.dtype}; {advice}")


def _refuse_first(marked: pl.DataFrame, options: Options, row: int, complaint: str) -> None:
    """Refuse the first cell that is marked, if any is; `row` rows came before."""
    first = {name: marked[name].arg_max() or 0 for name in marked.columns if marked[name].any()}
    if first:
        name = min(first, key=lambda name: first[name])
        place = f"row {row + first[name] + 1}, column {quoted(name)} of {options.file}"
        raise InputError(f"{place} {complaint}")


def _with_words(
    X: np.ndarray, frame: pl.DataFrame, layout: Layout, options: Options, row: int
) -> csr_matrix:
    """Give numbers and words as one CSR matrix without zeros."""
    polars = polars_module()
    rows, numbers = X.shape
    width = numbers + len(layout.words)
    places = np.empty((rows, width), np.int32)
    places[:, :numbers] = np.arange(numbers)
    values = np.ones((rows, width), options.dtype)
    values[:, :numbers] = X
    for j, (name, known) in enumerate(layout.words.items(), numbers):
        words = frame[name].cast(polars.String)
        if options.missing == "refuse" and words.null_count():
            _refuse_missing(words.is_null().to_frame(), options, row)
        if isinstance(known, str):
            distinct, room = words.unique().drop_nulls().to_list(), layout.table.hashed
            known = {word: numbers + hashed(known, word, room) for word in distinct}
        codes = words.replace_strict(
            list(known), list(known.values()), default=-1, return_dtype=polars.Int32
        )
        places[:, j] = codes.to_numpy()
    kept = (values != 0) & (places >= 0)
    starts = np.concatenate(([0], np.cumsum(kept.sum(axis=1))))
    matrix = csr_matrix((values[kept], places[kept], starts), shape=(rows, layout.table.width))
    matrix.sum_duplicates()  # words that were hashed may meet
    return matrix


def hashed(column: str, word: str, columns: int) -> int:
    """Give the feature that a word of a column is hashed to, the same on every machine."""
    digest = blake2b(f"{column}={word}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") % columns


def labels_of(labels: pl.Series, options: Options, row: int, meant: str | None) -> np.ndarray:
    """Give labels as an array; `examples_of` says what `row` and `meant` are."""
    file = options.file
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
        _refuse_strangers(labels, file, row, str(meant))
    parsed = None if meant in (None, WORDS) else _parsed(labels)
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
    distinct = labels.unique()
    if distinct.len() > FEW_WORDS:
        return string_array(labels.to_list())
    polars = polars_module()
    words = distinct.to_list()
    total = int(labels.str.len_chars().sum())
    kind = string_type(labels.len(), max(map(len, words)), total)
    codes = labels.replace_strict(words, list(range(len(words))), return_dtype=polars.UInt32)
    return np.asarray(np.array(words, kind)[codes.to_numpy()])


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


def _refuse_strangers(labels: pl.Series, file: str, row: int, meant: str) -> None:
    """Refuse labels that are not what those before them are."""
    if meant == NUMBERS:
        strange = labels.cast(polars_module().Float64, strict=False).is_null()
    else:
        strange = ~labels.str.to_lowercase().is_in(TRUTH)
    if strange.any():
        place = strange.arg_max() or 0
        raise InputError(
            f"row {row + place + 1} of {file} has the label {quoted(labels[place])}, but "
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
