r"""Text to sparse rows without a vocabulary: `TextHasher`.

What a word is, which n-grams are made of it, and how they are hashed into columns is said in
`text_loops`. It depends on nothing but the options: not on the machine, not on the version of
Python, not on other documents.

Documents are joined into batches of bytes, and a compiled loop turns each batch into rows. The
loop holds no lock, so that several threads work on batches at the same time; at most twice as many
batches as threads are under way, whatever the number of documents.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from rosenblatt.blocks import cores
from rosenblatt.data import text_batches, text_loops
from rosenblatt.data.reading import MOST_COLUMNS, checked_whole, float_type, is_whole
from rosenblatt.data.sources import as_text
from rosenblatt.data.text_batches import Batch
from rosenblatt.data.text_loops import HashRoom, HashRules
from rosenblatt.data.transformer import Transformer
from rosenblatt.data.unicode_words import case_steps
from rosenblatt.data.workers import in_order
from rosenblatt.errors import InputError
from rosenblatt.loops import in_python, is_wanted
from rosenblatt.names import Columns, remember
from rosenblatt.options import flag, one_of

# Room for the n-grams of a batch takes some MiB, which is about what a core has of fast memory.
BATCH_GRAMS = 1 << 19
LONGEST_GRAM = 64
FIRST_BYTES = 2048  # of a process: 10 to 70 ms in plain Python; the loop takes a second to compile
MOST_DIGIT_BITS = 11

COUNTS = {
    "linear": text_loops.LINEAR,
    "sublinear": text_loops.SUBLINEAR,
    "binary": text_loops.BINARY,
}


class HashingPlan(NamedTuple):
    """The options of a hasher, checked and in the form that the loop takes."""

    rules: HashRules
    steps: np.ndarray
    dtype: np.dtype[Any]
    jobs: int

    def most_grams(self, size: int, rows: int) -> int:
        """Bound the n-grams in so many bytes of so many documents.

        Two words have a byte between them, and a word of characters gets two blanks more.
        """
        rules = self.rules
        words = int(rules.most_words) and int(rules.most_words - rules.fewest_words) + 1
        spans = int(rules.most_characters - rules.fewest_characters) + 1
        characters = 2 * spans if rules.most_characters else 0
        return words * (size // 2 + rows) + characters * (size + rows)

    def batch_size(self) -> int:
        """Give the number of bytes whose n-grams fill a batch."""
        return BATCH_GRAMS * 1024 // self.most_grams(1024, 0)


class Part(NamedTuple):
    """The rows of a batch: where they end, their columns and values."""

    ends: np.ndarray
    columns: np.ndarray
    values: np.ndarray


class TextHasher(Transformer):
    """Turn documents into sparse features by hashing their words; there is nothing to fit.

    A word is a longest run of letters, marks, numbers (of Unicode 14) and underscores; words of
    one character count. `rosenblatt.data.text_loops` states every rule.

    Parameters
    ----------
    columns : int, default=2**18
        The number of features; n-grams with the same hash share one.
    words : tuple (shortest, longest) or None, default=(1, 1)
        Lengths of the n-grams of words; None for none.
    characters : tuple (shortest, longest) or None, default=None
        Lengths of the n-grams of the characters of each word, with a blank before and after it;
        None for none. A word too short for any counts whole, once.
    lowercase : bool, default=True
        Whether to convert to lower case, one character for one.
    counts : {"linear", "sublinear", "binary"}, default="linear"
        The value of a feature whose signed count is t: t, (1 + log|t|)·sign(t), or sign(t).
        Where t is 0, nothing is stored.
    norm : {"l2", None}, default="l2"
        ``"l2"`` divides each row by its Euclidean norm.
    signed : bool, default=True
        Whether n-grams count +1 or -1, by their hash, so that those that share a feature cancel on
        average; otherwise they all count +1.
    dtype : {float32, float64}, default=float32
        The type of the values.
    n_jobs : int or None, default=None
        The number of threads; None or -1 for one per core. It does not change the result.

    See Also
    --------
    Perceptron : Learns from its rows, in blocks or one by one.
    read : Hashes files of ``label<TAB>text``.

    Notes
    -----
    Documents are str or bytes of UTF-8. Bytes that are not UTF-8, and lone surrogates in a str,
    separate words. A document without words gives an empty row.

    Examples
    --------
    >>> from rosenblatt.data.text import TextHasher
    >>> X = TextHasher(columns=1000, norm=None, signed=False).transform(["To be or not to be", ""])
    >>> X.shape, X.indptr.tolist(), X.data.tolist()
    ((2, 1000), [0, 4, 4], [2.0, 2.0, 1.0, 1.0])
    """

    def __init__(
        self,
        *,
        columns: int = 2**18,
        words: tuple[int, int] | None = (1, 1),
        characters: tuple[int, int] | None = None,
        lowercase: bool = True,
        counts: str = "linear",
        norm: str | None = "l2",
        signed: bool = True,
        dtype: Any = np.float32,
        n_jobs: int | None = None,
    ) -> None:
        self.columns = columns
        self.words = words
        self.characters = characters
        self.lowercase = lowercase
        self.counts = counts
        self.norm = norm
        self.signed = signed
        self.dtype = dtype
        self.n_jobs = n_jobs

    def fit(self, X: Any = None, y: Any = None) -> TextHasher:
        """Check the options; the documents are ignored.

        Parameters
        ----------
        X : ignored, default=None
            Present for scikit-learn's API.
        y : ignored, default=None
            Likewise.

        Returns
        -------
        TextHasher
            The hasher itself.
        """
        make_plan(self)
        return self

    def transform(self, X: Iterable[str | bytes]) -> csr_matrix:
        """Hash documents.

        Parameters
        ----------
        X : iterable of str or bytes
            The documents, at least one; a generator will do, of which few batches are held.

        Returns
        -------
        csr_matrix of shape (n_documents, columns)
            One row for each document.
        """
        plan = make_plan(self)
        rows = stacked(
            plan, text_batches.joined_batches(text_batches.checked_iterable(X), plan.batch_size())
        )
        remember(rows, self._columns())
        return rows

    def transform_bytes(self, buffer: Any, starts: Any, stops: Any) -> csr_matrix:
        r"""Give one row for each document ``buffer[start:stop]``, without copying the text.

        Parameters
        ----------
        buffer : bytes, memory map or ndarray of uint8
            The text; it must not change meanwhile.
        starts : array-like of int
            Where each document begins, in any order.
        stops : array-like of int
            Where each document ends.

        Examples
        --------
        >>> from rosenblatt.data.text import TextHasher
        >>> from rosenblatt.data.text_lines import label_text_lines
        >>> data = b"spam\tbuy now\nham\tsee you\n"
        >>> labels, starts, stops = label_text_lines(data)
        >>> labels, TextHasher().transform_bytes(data, starts, stops).shape
        (['spam', 'ham'], (2, 262144))
        """
        plan = make_plan(self)
        text = as_text(buffer)
        spans = text_batches.checked_spans(text.size, starts, stops)
        rows = stacked(plan, text_batches.cut_batches(text, *spans, plan.batch_size()))
        remember(rows, self._columns())
        return rows

    def transform_one(self, text: str | bytes) -> tuple[np.ndarray, np.ndarray]:
        """Hash one document.

        Parameters
        ----------
        text : str or bytes
            The document.

        Returns
        -------
        tuple of ndarray and ndarray
            Columns and values, as `Perceptron.learn_one` takes them.

        Examples
        --------
        >>> from rosenblatt.data.text import TextHasher
        >>> columns, values = TextHasher(signed=False).transform_one("so so good good")
        >>> columns.dtype, values.round(3).tolist()
        (dtype('int64'), [0.707, 0.707])
        """
        plan = make_plan(self)._replace(dtype=np.dtype(np.float64))
        data = as_text(text_batches.as_utf8(text, "the document"))
        ends = np.array([0, data.size], np.uint64)
        room = make_room(plan, 1, data.size, data.size)
        entries = hash_rows(data.size, data, ends[:1], ends[1:], plan.steps, plan.rules, room)
        return room.columns[:entries].astype(np.int64), room.values[:entries].copy()

    def _columns(self) -> Columns:
        """Tell how documents become columns, so that a model of them knows it."""
        names = ("columns", "words", "characters", "lowercase", "counts", "norm", "signed")
        return Columns(hashing={"format": "text", **{n: _plain(getattr(self, n)) for n in names}})

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        return tags


# ---- options


def _plain(option: Any) -> Any:
    """Give an option as JSON gives it back."""
    if isinstance(option, str | bool | None):
        return option
    return int(option) if isinstance(option, Integral) else [int(each) for each in option]


def make_plan(hasher: TextHasher) -> HashingPlan:
    """Check the options of a hasher."""
    columns = checked_whole("columns", hasher.columns, 1, MOST_COLUMNS - 1)
    words = checked_span("words", hasher.words)
    characters = checked_span("characters", hasher.characters)
    if not words[1] and not characters[1]:
        raise InputError("words and characters are both None; give one of them, as words=(1, 1)")
    lowercase = flag("lowercase", hasher.lowercase)
    bits = (columns - 1).bit_length()
    digits = 2 if bits <= 2 * MOST_DIGIT_BITS else 4
    rules = HashRules(
        columns=np.uint64(columns),
        fewest_words=np.uint64(words[0]),
        most_words=np.uint64(words[1]),
        fewest_characters=np.uint64(characters[0]),
        most_characters=np.uint64(characters[1]),
        small=text_loops.SMALL if lowercase else np.uint64(0),
        sign_bit=np.uint64(flag("signed", hasher.signed)),
        counts=COUNTS[one_of("counts", hasher.counts, COUNTS)],
        normed=hasher.norm is not None and one_of("norm", hasher.norm, ["l2"]) == "l2",
        digit_bits=np.uint64(-(-bits // digits)),
        digits=np.uint64(digits),
    )
    return HashingPlan(
        rules, case_steps(lowercase), float_type(hasher.dtype), jobs_of(hasher.n_jobs)
    )


def checked_span(name: str, span: Any) -> tuple[int, int]:
    """Give the shortest and the longest n-gram, which are 0 for none at all."""
    if span is None:
        return 0, 0
    try:
        shortest, longest = span
        usable = is_whole(longest, 1, LONGEST_GRAM) and is_whole(shortest, 1, longest)
    except (TypeError, ValueError):
        usable = False
    if not usable:
        raise InputError(
            f"{name} must be None or (shortest, longest) with 1 <= shortest <= longest <= "
            f"{LONGEST_GRAM}, got {span!r}"
        )
    return int(shortest), int(longest)


def jobs_of(n_jobs: Any) -> int:
    """Give the number of threads."""
    if n_jobs is None or n_jobs == -1:
        return cores()
    if not is_whole(n_jobs, 1, 2**31):
        raise InputError(
            f"n_jobs must be None or -1 for all cores, or a whole number from 1 on, got {n_jobs!r}"
        )
    return int(n_jobs)


# ---- batches to rows


def stacked(plan: HashingPlan, batches: Iterator[Batch]) -> csr_matrix:
    """Hash batches, on as many threads as planned, and stack their rows."""
    parts = deque(in_order(lambda batch: hash_batch(plan, batch), batches, plan.jobs))
    rows = sum(part.ends.size for part in parts)
    entries = sum(part.columns.size for part in parts)
    if rows == 0:
        raise InputError("there is no document to hash; give at least one")
    ends = np.zeros(rows + 1, np.int32 if entries < 2**31 else np.int64)
    columns, values = np.empty(entries, np.int32), np.empty(entries, plan.dtype)
    row = entry = 0
    while parts:  # each part is let go once it is copied
        part = parts.popleft()
        ends[row + 1 : row + 1 + part.ends.size] = part.ends + np.uint64(entry)
        columns[entry : entry + part.columns.size] = part.columns
        values[entry : entry + part.columns.size] = part.values
        row, entry = row + part.ends.size, entry + part.columns.size
    matrix = csr_matrix((values, columns, ends), shape=(rows, int(plan.rules.columns)))
    matrix.has_canonical_format = True
    return matrix


def hash_batch(plan: HashingPlan, batch: Batch) -> Part:
    """Hash the documents of a batch."""
    lengths = batch.stops - batch.starts
    room = make_room(plan, lengths.size, int(lengths.sum()), int(lengths.max()))
    kept = int(hash_rows(int(lengths.sum()), *batch, plan.steps, plan.rules, room))
    return Part(room.ends, room.columns[:kept].copy(), room.values[:kept].copy())


def hash_rows(size: int, *arguments: Any) -> int:
    """Hash documents of so many bytes in all; give the number of entries written."""
    loop = text_loops.hash_rows
    run = loop if is_wanted(loop, size, FIRST_BYTES) else in_python(loop)
    return int(run(*arguments))


def make_room(plan: HashingPlan, rows: int, size: int, longest: int) -> HashRoom:
    """Make the arrays that documents of so many bytes in all, and at the longest, may fill.

    Where they are not written to, they cost no memory.
    """
    entries, grams = plan.most_grams(size, rows), plan.most_grams(longest, 1)
    spellings = np.empty(LONGEST_GRAM + 1, np.uint64)
    spellings[0] = text_loops.CHARACTER_SEED
    return HashRoom(
        ends=np.empty(rows, np.uint64),
        columns=np.empty(entries, np.int32),
        values=np.empty(entries, plan.dtype),
        keys=np.empty(grams, np.uint32),
        spare_keys=np.empty(grams, np.uint32),
        counters=np.empty(1 << MOST_DIGIT_BITS, np.uint64),
        sums=np.empty(grams, np.float64),
        phrases=np.empty(LONGEST_GRAM + 1, np.uint64),
        spellings=spellings,
    )
