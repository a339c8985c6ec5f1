r"""Text in the svmlight (libsvm) format to a sparse matrix and labels.

One example a line::

    label [qid:N] column:value column:value ... [# comment]

The rules
---------
- Spaces and tabs separate words. Lines end in \n or \r\n; the last one needs no end. A UTF-8
  byte-order mark at the very beginning is skipped. A carriage return elsewhere is no separator.
- ``#`` begins a comment wherever it stands. Blank lines and lines with nothing but a comment are
  skipped. A comment may hold any byte but NUL.
- A number is ``[+-] digits [. digits] [e [+-] digits]``: no hexadecimal, no underscore, no nan and
  no inf. It is rounded correctly to a double (`numbers`) and then to the dtype asked for; a number
  that overflows the dtype is an error.
- The label is the first word: a number, or any UTF-8 text without a colon (there the label was
  forgotten) and without control characters. If all labels are numbers, they come back as int64 if
  every one is whole (1.0 and 1e2 are), and as float64 otherwise. If one of them is not, or is a
  whole number that its type would round (beyond 2^63, or beyond 2^53 among fractions), all come
  back as strings, exactly as written. Labels that spell a number that is not
  finite (nan, inf, 1e999) are errors, since they mostly stand for a label that is missing.
- Where the caller wants no labels, they may be anything; if the first row has none, but begins
  with a pair or a query, then no row needs one.
- ``qid:N``, N a run of digits, may stand right after the label; it is checked and ignored.
- A column is a run of digits that stands for a number below 2^31. Columns count from 1 unless the
  caller says that they count from 0; the matrix counts from 0. A width given by the caller bounds
  them; otherwise the largest column sets the width.
- Columns may come in any order and are sorted. Values given for the same column of a row are added
  in the order given, in double precision; a sum that overflows the dtype is an error.
- A zero that is written is stored.
- The first line that breaks a rule is reported, with line and column counted from 1 and in bytes.

How it works
------------
The text is split at line ends into chunks. Their newlines and colons, counted first, bound the
rows and the entries of each, and so the arrays are made once, at their final size. Then the chunks
are parsed at the same time, each into its own slice of the arrays, by a compiled loop (`read_rows`)
that needs no GIL. The bounds are reached unless there are blank lines, or colons in comments or
queries; only then are the rows behind them moved up.

The loop formats no message: it stops at the first offence with its offset and kind, and `explain`
does the rest. What the loop leaves open is settled by the thread that parsed the chunk: *hard*
words by Python, *untidy* rows (columns out of order or repeated) by a sort. Values are rounded as
they are read; since sums are of double precision, a chunk of float32 values in which a row repeats
a column is read a second time, as float64. Labels that are words are gathered in a second scan.

Small texts of plain lines are read without the loop (`svmlight_plain`).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from rosenblatt.data.reading import DEFAULT, Reading
from rosenblatt.data.sources import SEARCH_BYTES, after_line, as_text, without_mark
from rosenblatt.data.strings import coded_strings
from rosenblatt.data.svmlight_chunk import (
    LARGEST_WHOLE_LABEL,
    CsrParts,
    Extent,
    Parsed,
    find_words,
    parse_chunk,
    whole_if_possible,
)
from rosenblatt.data.svmlight_errors import CHUNK_BYTES, LineRange, TextPiece
from rosenblatt.data.svmlight_loop import COLON, NEWLINE, count_marks, read_rows
from rosenblatt.data.svmlight_plain import read_plain
from rosenblatt.data.workers import Apply, ahead, workers
from rosenblatt.errors import EmptyError, InputError
from rosenblatt.loops import pays
from rosenblatt.memory import check_memory

# A pair takes four bytes: the blank before it, a digit, the colon and a digit.
SHORTEST_PAIR = 4

# With more entries SciPy wants 64-bit indices.
ENTRY_LIMIT = (1 << 31) - 1

FIRST_WORD = re.compile(rb"(?:[ \t]*+(?:#[^\n]*+)?\r?\n)*+[ \t]*+([^ \t\r\n]*)")
BLOCK_BYTES = 1 << 24
SMALL = 1 << 17  # bytes of a text that needs no compiled loop if its lines are plain
LONGEST_LINE = 1 << 28

Buffer = bytes | bytearray | memoryview | np.ndarray


def parse_svmlight(data: Buffer, reading: Reading = DEFAULT) -> tuple[csr_matrix, np.ndarray]:
    r"""Parse text in the svmlight format, which is not copied and must not change meanwhile.

    Of the reading, its file, zero_based, width, dtype and threads matter.

    Examples
    --------
    >>> X, y = parse_svmlight(b"+1 1:0.5 3:2\n-1 2:1 # a comment\n")
    >>> X.toarray().tolist(), y.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]], [1, -1])
    """
    text = without_mark(as_text(data))
    with workers(reading.threads) as apply:
        parsed = parse(TextPiece(text, reading, bare=is_bare(text, reading)), apply)
    if parsed.labels.size == 0:
        raise no_examples(reading.file)
    width = parsed.width if reading.width is None else reading.width
    return make_matrix(parsed.table, width), parsed.labels


def svmlight_blocks(
    chunks: Iterable[Buffer],
    reading: Reading = DEFAULT,
    *,
    block_bytes: int = BLOCK_BYTES,
    text_labels: bool = False,
) -> Iterator[tuple[csr_matrix, np.ndarray]]:
    r"""Parse a stream of text in the svmlight format, in memory bounded by the size of a block.

    The chunks are pieces of any size, cut anywhere; about `block_bytes` of them become a block,
    which ends where a line does. Without a width, X is as wide as the largest column so far
    demands. Once labels are strings, which they are from the first block on with `text_labels`,
    they remain so; one that is no number behind blocks of numbers is an error.

    Examples
    --------
    >>> for X, y in svmlight_blocks([b"1 1:0.5\n-1 3", b":2\n1 2:1"], block_bytes=8):
    ...     print(X.shape, y)
    (1, 1) [1]
    (1, 3) [-1]
    (1, 3) [1]
    """
    if block_bytes < 1:
        raise InputError(f"block_bytes must be at least 1, got {block_bytes}")
    source = TextPiece(as_text(b""), reading, words_forced=text_labels)
    # While a block is parsed, one is cut and one waits.
    blocks = ahead(cut_blocks(chunks, block_bytes, reading.file, good=3), room=1)
    return parse_blocks(source, blocks)


def parse_blocks(
    source: TextPiece, blocks: Iterable[np.ndarray]
) -> Iterator[tuple[csr_matrix, np.ndarray]]:
    """Parse one block after the other; the source says what those before it settled."""
    width, found, wanted = source.reading.width or 0, False, source.reading.labels
    with workers(source.reading.threads) as apply:
        for block in blocks:
            text = as_text(block)
            source = source._replace(text=text if source.lines_before else without_mark(text))
            if not found:  # the first row tells for all
                source = source._replace(bare=is_bare(source.text, source.reading))
            parsed = parse(source, apply)
            if parsed.labels.size:
                found = True
                width = max(width, parsed.width)
                yield make_matrix(parsed.table, width), parsed.labels
                worded = parsed.labels.dtype.kind not in "if"
                source = source._replace(words_allowed=worded or not wanted, words_forced=worded)
            source = source._replace(lines_before=source.lines_before + parsed.lines)
    if not found:
        raise no_examples(source.reading.file)


def cut_blocks(
    chunks: Iterable[Buffer], block_bytes: int, file: str, *, good: int = 1
) -> Iterator[np.ndarray]:
    """Join the pieces of a stream and cut them anew, behind line ends.

    The latest `good` blocks may be looked at; the memory of older ones is used again, since
    touching fresh memory takes longer than parsing what is then written there.
    """
    buffers = deque(np.empty(2 * block_bytes, np.uint8) for _ in range(good))
    held = searched = 0
    for chunk in chunks:
        content = as_text(chunk)
        for start in range(0, content.size, block_bytes):
            piece = content[start : start + block_bytes]
            if held + piece.size > buffers[0].size:
                buffers[0] = np.concatenate((buffers[0], np.empty_like(buffers[0])))
            buffers[0][held : held + piece.size] = piece
            held += piece.size
            if held < block_bytes:
                continue
            buffer = buffers[0]
            stop = searched + after_last_line(buffer[searched:held])
            if stop > searched:
                yield buffer[:stop]
                buffers.rotate()
                if buffers[0].size < held - stop:
                    buffers[0] = np.empty_like(buffer)
                buffers[0][: held - stop] = buffer[stop:held]
                held -= stop
            elif held > LONGEST_LINE:
                raise InputError(
                    f"{file} has a line of more than {LONGEST_LINE} bytes; write one example a line"
                )
            searched = held  # no line ends in what is left
    if held:
        yield buffers[0][:held]


def after_last_line(text: np.ndarray) -> int:
    """Give the position after the last newline, or 0 if there is none."""
    for stop in range(text.size, 0, -SEARCH_BYTES):
        start = max(stop - SEARCH_BYTES, 0)
        newlines = np.flatnonzero(text[start:stop] == NEWLINE)
        if newlines.size:
            return start + int(newlines[-1]) + 1
    return 0


def no_examples(file: str) -> InputError:
    """Make the error for a text without examples."""
    return EmptyError(f"{file} holds no examples; write one a line, such as: 1 3:0.5 7:2")


def is_bare(text: np.ndarray, reading: Reading) -> bool:
    """Tell whether the rows of a text, whose labels nobody wants, have none."""
    first = None if reading.labels else FIRST_WORD.match(text.data)
    return first is not None and b":" in first[1]


def parse(source: TextPiece, apply: Apply) -> Parsed:
    """Parse a text, which may hold no example."""
    plain = None if pays(read_rows, source.text.size, SMALL) else read_plain(source)
    return _parse_in_loops(source, apply) if plain is None else plain


def _parse_in_loops(source: TextPiece, apply: Apply) -> Parsed:
    chunks = place(apply(partial(measure, source.text), spans(source.text)))
    table = make_table(chunks, source.reading.dtype, source.reading.file)
    extents = list(apply(partial(parse_chunk, source, table), chunks))
    table = close_gaps(table, chunks, extents)
    worded = source.words_forced or any(extent.words for extent in extents)
    if not source.reading.labels:
        labels = table.labels
    elif worded or np.any(np.abs(table.labels) >= LARGEST_WHOLE_LABEL):
        words = gather_words(source, apply(partial(find_words, source.text), chunks))
        labels = words if worded else large_numbers(source, words, table.labels)
    else:
        labels = whole_if_possible(table.labels)
    width = max((extent.width for extent in extents), default=0)
    return Parsed(table, labels, width, sum(chunk.rows for chunk in chunks))


def spans(text: np.ndarray) -> Iterator[tuple[int, int]]:
    """Split the text at line ends."""
    start = 0
    while start < text.size:
        stop = after_line(text, start + CHUNK_BYTES)
        yield start, stop
        start = stop


def measure(text: np.ndarray, span: tuple[int, int]) -> LineRange:
    """Count what a range of whole lines can hold."""
    start, stop = span
    count = count_marks if pays(count_marks, text.size, SMALL) else marks_by_numpy
    newlines, colons = count(text[start:stop])
    rows = int(newlines) + int(text[stop - 1] != NEWLINE)
    return LineRange(start, stop, rows, min(int(colons), (stop - start) // SHORTEST_PAIR), 0, 0)


def marks_by_numpy(text: np.ndarray) -> tuple[int, int]:
    """Give what `count_marks` does, in two scans."""
    return int(np.count_nonzero(text == NEWLINE)), int(np.count_nonzero(text == COLON))


def place(chunks: Iterable[LineRange]) -> list[LineRange]:
    """Give each chunk its place behind all that the chunks before it can hold."""
    placed, row, entry = [], 0, 0
    for chunk in chunks:
        placed.append(chunk._replace(first_row=row, first_entry=entry))
        row, entry = row + chunk.rows, entry + chunk.entries
    return placed


def make_table(chunks: list[LineRange], dtype: np.dtype[Any], file: str) -> CsrParts:
    """Make the arrays of the result, as large as they can become."""
    rows = sum(chunk.rows for chunk in chunks)
    entries = sum(chunk.entries for chunk in chunks)
    index = np.int32 if entries <= ENTRY_LIMIT else np.int64
    each = np.dtype(index).itemsize
    needed = rows * (8 + each) + entries * (dtype.itemsize + each)
    check_memory(needed, f"the {rows:,} rows of {file}", "give a part of them")
    starts = np.empty(rows + 1, index)
    starts[0] = 0
    return CsrParts(np.empty(rows), starts, np.empty(entries, index), np.empty(entries, dtype))


def close_gaps(table: CsrParts, chunks: list[LineRange], extents: list[Extent]) -> CsrParts:
    """Move up what stands behind a chunk that held less than it could; give the table's sound part.

    The ends of the arrays that remain, never written to, cost no memory.
    """
    row = entry = 0
    for chunk, extent in zip(chunks, extents, strict=True):
        move(table.labels, chunk.first_row, row, extent.rows)
        move(table.starts[1:], chunk.first_row, row, extent.rows)
        move(table.columns, chunk.first_entry, entry, extent.entries)
        move(table.values, chunk.first_entry, entry, extent.entries)
        if chunk.first_entry != entry:
            table.starts[row + 1 : row + 1 + extent.rows] -= chunk.first_entry - entry
        row, entry = row + extent.rows, entry + extent.entries
    return CsrParts(
        table.labels[:row], table.starts[: row + 1], table.columns[:entry], table.values[:entry]
    )


def move(array: np.ndarray, source: int, target: int, count: int) -> None:
    """Move a range of an array to where it belongs, if it is not there already."""
    if source != target:
        array[target : target + count] = array[source : source + count]


def make_matrix(table: CsrParts, width: int) -> csr_matrix:
    """Make the matrix, of the table's own arrays."""
    parts = (table.values, table.columns, table.starts)
    matrix = csr_matrix(parts, shape=(table.labels.size, width))
    matrix.has_canonical_format = True
    return matrix


def large_numbers(source: TextPiece, words: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Give labels that are numbers, some of them large, so that none of them is rounded."""
    written, codes = np.unique(words, return_inverse=True)
    values = list(map(Decimal, written.tolist()))
    whole = {
        word: v
        for word, v in zip(written.tolist(), values, strict=True)
        if v == v.to_integral_value()
    }
    if len(whole) == len(values) and all(-(2**63) <= value < 2**63 for value in values):
        return np.array(list(map(int, values)), np.int64)[codes]
    # One with an exponent was a double before it was written down.
    rounded = [word for word, v in whole.items() if v != float(v) and "e" not in word.lower()]
    if not rounded:
        return labels
    if not source.words_allowed:
        raise InputError(
            f"{source.reading.file} has the label {rounded[0]}, which would be rounded, behind "
            "labels that are smaller numbers; read it as a whole, or give it first"
        )
    return words


def gather_words(
    source: TextPiece, places: Iterable[tuple[LineRange, np.ndarray, np.ndarray]]
) -> np.ndarray:
    """Give all labels as they are written; equal ones are decoded once."""
    known: dict[bytes, int] = {}
    codes = [np.empty(0, np.int64)]
    for chunk, starts, stops in places:
        content = source.text[chunk.start : chunk.stop].tobytes()
        written = (content[i:j] for i, j in zip(starts.tolist(), stops.tolist(), strict=True))
        codes.append(np.array([known.setdefault(word, len(known)) for word in written], np.int64))
    return coded_strings([word.decode() for word in known], np.concatenate(codes))
