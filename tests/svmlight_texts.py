"""Texts in the svmlight format, sound and damaged, and the parser held to its naive twin."""

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import strategies as st

import naive_svmlight as naive
from rosenblatt.data import svmlight
from rosenblatt.data.reading import Reading
from rosenblatt.data.svmlight import parse_svmlight
from rosenblatt.errors import InputError, ParseError


@contextmanager
def chunks_of(size):
    """Split texts, even small ones, into chunks of this many bytes and the rest of a line."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(svmlight, "SMALL", -1)
        patch.setattr(svmlight, "CHUNK_BYTES", size)
        patch.setattr(svmlight, "SEARCH_BYTES", 5)
        yield


# Texts -------------------------------------------------------------------------------------------

digits = st.text("0123456789", min_size=1, max_size=25)
signs = st.sampled_from(["", "", "-", "+"])
exponents = st.one_of(
    st.just(""), st.integers(-345, 310).map("e{}".format), st.integers(-9, 9).map("E{:+03d}".format)
)
mantissas = st.one_of(
    digits,
    st.builds("{}.{}".format, digits, digits),
    digits.map("{}.".format),
    digits.map(".{}".format),
)
decimals = st.builds("{}{}{}".format, signs, mantissas, exponents)
doubles = st.floats(allow_nan=False, allow_infinity=False)
numbers = st.one_of(
    decimals, doubles.map(repr), doubles.map("{:.17g}".format), doubles.map("{:.25e}".format)
)
small_numbers = st.one_of(
    st.integers(-3, 3).map(str), st.floats(-9, 9).map(repr), st.sampled_from(["0.10", "-1e-400"])
)

blanks = st.sampled_from([" ", " ", "\t", "  ", " \t "])
pairs = st.builds("{}{}:{}".format, blanks, st.integers(1, 9), small_numbers)
ascending = st.lists(st.tuples(st.integers(1, 999), small_numbers), unique_by=lambda p: p[0]).map(
    lambda row: "".join(f" {column}:{value}" for column, value in sorted(row))
)
comments = st.sampled_from(["", "", " # one: 1:2", "#", "#qid:é"])
queries = st.sampled_from(["", "", " qid:7", "\tqid:00"])
bodies = st.one_of(ascending, st.lists(pairs, max_size=8).map("".join))
words = st.one_of(
    st.sampled_from(
        ["spam", "ham", "+", "-x", "né", "日本", "nano", "1_0", "0x1", "\u0085", "a\r"]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters=" \t\r\n#:\0"), min_size=1, max_size=5),
)
labels = st.one_of(small_numbers, small_numbers, small_numbers, words)
examples = st.builds("{}{}{}{}".format, small_numbers, queries, bodies, comments)
named_examples = st.builds("{}{}{}{}".format, labels, queries, bodies, comments)
lines = st.one_of(examples, examples, examples, st.sampled_from(["", " ", "\t# nothing", "#"]))
ends = st.sampled_from(["\n", "\n", "\r\n"])


def texts_of(lines):
    """Draw lines that make a text, with or without a mark before and an end behind them."""
    return st.builds(
        lambda mark, body, last: (mark + "".join(body) + last).encode(),
        st.sampled_from(["", "", "\ufeff"]),
        st.lists(st.builds("{}{}".format, lines, ends), max_size=12),
        st.sampled_from(["", "1 2:3", "-1\r"]),
    )


texts = texts_of(lines)
named_texts = texts_of(st.one_of(lines, named_examples))
fragments = st.sampled_from(
    [b"\0", b"\r", b"\n", b"#", b":", b" ", b"qid:", b"nan", b"1e39", b"3e38", b"-", b"0:", b"\xff"]
)


@st.composite
def damaged(draw):
    """Draw a text of which a few bytes are replaced."""
    text = draw(st.one_of(texts, named_texts))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        stop = draw(st.integers(start, min(len(text), start + 3)))
        text = text[:start] + draw(st.one_of(fragments, st.binary(max_size=3))) + text[stop:]
    return text


# The naive twin ----------------------------------------------------------------------------------


def assert_equal_to_naive(data, **options):
    """Parse a text both ways; the results or the places of the errors must be the same."""
    try:
        rows, labels = naive.parse(data, **options)
    except naive.NoExamples:
        with pytest.raises(InputError, match="holds no examples"):
            parse_svmlight(data, Reading(**options))
        return
    except naive.Refusal as refusal:
        place = refusal.line, refusal.column
        with pytest.raises(ParseError) as caught:
            parse_svmlight(data, Reading(**options))
        assert (caught.value.line, caught.value.column) == place
        return
    X, y = parse_svmlight(data, Reading(**options))
    dtype = options.get("dtype", np.float32)
    assert X.data.dtype == dtype
    assert X.indices.tolist() == [column for row in rows for column in row]
    assert np.diff(X.indptr).tolist() == [len(row) for row in rows]
    assert X.data.tobytes() == np.array([v for row in rows for v in row.values()], dtype).tobytes()
    assert y.tolist() == labels
    if isinstance(labels[0], str):
        assert y.dtype.kind == "U"
        return
    assert y.dtype == (np.int64 if isinstance(labels[0], int) else np.float64)
