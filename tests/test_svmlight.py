"""The svmlight parser: the same as its naive twin on everything, and as `float` on every number."""

import io
import re
import tracemalloc
from unittest.mock import ANY

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from rosenblatt import loops
from rosenblatt.data import svmlight
from rosenblatt.data.numbers import EXACT, HARD, MALFORMED, power_of_ten, read_number
from rosenblatt.data.reading import Reading
from rosenblatt.data.sources import as_text, without_mark
from rosenblatt.data.svmlight import is_bare, parse_svmlight
from rosenblatt.data.svmlight_errors import TextPiece
from rosenblatt.data.svmlight_loop import read_rows
from rosenblatt.data.svmlight_plain import read_plain
from rosenblatt.errors import InputError, ParseError
from rosenblatt.loops import exact_loop
from svmlight_texts import (
    ascending,
    assert_equal_to_naive,
    chunks_of,
    comments,
    damaged,
    named_texts,
    numbers,
    queries,
    small_numbers,
    texts,
    texts_of,
)

DTYPES = [np.float32, np.float64]
quickly = settings(deadline=None, max_examples=100)


@pytest.mark.twin_of("data.svmlight_loop.read_rows", "data.svmlight_loop.find_labels")
@quickly
@given(st.one_of(texts, named_texts), st.sampled_from(DTYPES), st.sampled_from([1, 20, 1 << 20]))
def test_texts_parse_as_the_naive_twin_does(data, dtype, size):
    with chunks_of(size):
        assert_equal_to_naive(data, dtype=dtype)


@quickly
@given(damaged(), st.booleans(), st.sampled_from([None, 5]), st.sampled_from([1, 20, 1 << 20]))
@example(b"1 1:3e38 1:3e38\n1 x", False, None, 1 << 20)
@example(b"1 1:3e38 1:3e38 2:1e999\n", False, None, 1 << 20)
@example(b"1e999 x", False, None, 1 << 20)
@example(b"1 1:" + b"9" * 400 + b" x", False, None, 1 << 20)
@example(b"1 1:1 # a\0b\n", False, None, 1 << 20)
@example(b"1 1:1\r\r\n", False, None, 1 << 20)
@example(b"1 1:1\r", False, None, 1 << 20)
@example(b"1 qi", False, None, 1 << 20)
def test_damaged_texts_fail_where_the_naive_twin_does(data, zero_based, width, size):
    with chunks_of(size):
        assert_equal_to_naive(data, zero_based=zero_based, width=width)


@quickly
@given(st.binary(max_size=60))
def test_random_bytes_fail_where_the_naive_twin_does(data):
    assert_equal_to_naive(data)
    with chunks_of(1 << 20):
        assert_equal_to_naive(data)


@settings(deadline=None, max_examples=40)
@given(texts)
def test_indices_of_64_bits_hold_the_same_entries(data):
    with chunks_of(1 << 20), pytest.MonkeyPatch.context() as patch:
        patch.setattr(svmlight, "ENTRY_LIMIT", -1)
        assert_equal_to_naive(data)


# Numbers -----------------------------------------------------------------------------------------


@exact_loop
def number_at_the_start(text):
    return read_number(text, np.uint64(0))


def read(number):
    """Read a number that a newline follows."""
    text = np.frombuffer(number.encode() + b"\n", np.uint8)
    value, stop, kind = number_at_the_start(text)
    return float(value), int(stop), int(kind)


@settings(deadline=None, max_examples=300)
@given(numbers)
@example("9007199254740993")
@example("9007199254740992.9999999999999999999999")
@example("1.7976931348623157e308")
@example("2.2250738585072011e-308")
@example("4.9e-324")
@example("-0")
@example("0e999999999999999999999999")
@example("1e-999999999999999999999999")
@example("0." + 400 * "0" + "1234e401")
@example("1" + 30 * "0" + "e-30")
def test_a_number_is_the_double_that_python_reads_or_is_left_to_python(number):
    value, stop, kind = read(number)
    assert stop == len(number)
    assert kind in (EXACT, HARD)
    if kind == EXACT:
        assert value.hex() == float(number).hex()


@quickly
@given(numbers)
@example("10000000000000000001e0")
def test_values_and_labels_are_what_python_reads(number):
    for size in (svmlight.SMALL, -1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(svmlight, "SMALL", size)
            assert_equal_to_naive(f"{number} 2:{number}".encode(), dtype=np.float64)
            assert_equal_to_naive(f"1 2:{number}".encode(), dtype=np.float32)


@pytest.mark.parametrize("compiled", [False, True])
def test_middling_texts_wait_for_no_loop_to_be_compiled(monkeypatch, compiled):
    sizes, read_plain = [], svmlight.read_plain
    monkeypatch.setattr(loops, "is_compiled", lambda loop: compiled)
    monkeypatch.setattr(loops, "_done_without", {})
    monkeypatch.setattr(
        svmlight, "read_plain", lambda source: sizes.append(source.text.size) or read_plain(source)
    )
    text = b"1 1:0.5 7:2\n-1 2:3\n" * 20_000
    assert svmlight.SMALL < len(text) < loops.AT_ONCE * svmlight.SMALL
    assert_equal_to_naive(text, dtype=np.float64)
    assert sizes == ([] if compiled else [len(text)])


@settings(deadline=None, max_examples=200)
@given(st.floats(2.3e-308, 8.9e307), st.integers(17, 25))
def test_no_double_written_with_17_to_25_digits_is_left_to_python(value, count):
    assert read(f"{value:.{count - 1}e}") == (value, ANY, EXACT)


@pytest.mark.parametrize("word", ["", "+", ".", "-.", "e5", ".e5", "1e", "1e+", "nan", "inf", "é"])
def test_a_word_without_the_digits_of_a_number_is_malformed(word):
    assert read(word)[2] == MALFORMED


def test_powers_of_ten_are_tabulated_by_their_leading_128_bits():
    for q in range(-342, 309):
        t, k = power_of_ten(q)
        assert 2**127 <= t < 2**128
        numerator = 10 ** max(q, 0) * 2 ** max(-k, 0)
        assert numerator // (10 ** max(-q, 0) * 2 ** max(k, 0)) == t


# Small texts ------------------------------------------------------------------------------------

plain_labels = st.one_of(small_numbers, st.sampled_from(["spam", "ham", "b.1", "nano", "e5"]))
plain_texts = texts_of(
    st.builds("{}{}{}{}".format, plain_labels, queries, ascending, comments)
    | st.sampled_from(["", " ", "\t# nothing"])
)


@settings(deadline=None, max_examples=300)
@given(
    st.one_of(plain_texts, texts, named_texts, damaged()),
    st.builds(
        Reading,
        labels=st.booleans(),
        zero_based=st.booleans(),
        width=st.sampled_from([None, 9, 999]),
        dtype=st.sampled_from(DTYPES),
        exact=st.booleans(),
    ),
    st.booleans(),
    st.booleans(),
)
@example(b"1 1:2\n2:1\n", Reading(labels=False), True, False)
@example(b"1:2\n2 1:1\n", Reading(labels=False), True, False)
@example(b"9007199254740992 1:1\n9007199254740993 1:1", Reading(), True, False)
@example(b"spam 1:1\n-1e999 1:1", Reading(), True, False)
@example(b"1 1:3.4028236e38 2:1e-46", Reading(), True, False)
@example(b"1 1:0 3:-0\n\n2 0:1", Reading(), True, False)
def test_small_texts_are_read_as_the_loops_read_them(data, reading, allowed, forced):
    text = without_mark(as_text(data))
    source = TextPiece(text, reading, 0, allowed, forced, bare=is_bare(text, reading))
    plain = read_plain(source)
    if plain is not None:
        expected = svmlight._parse_in_loops(source, map)
        assert (plain.width, plain.lines) == (expected.width, expected.lines)
        for ours, theirs in zip(
            (*plain.table, plain.labels), (*expected.table, expected.labels), strict=True
        ):
            assert (ours.dtype, ours.tobytes()) == (theirs.dtype, theirs.tobytes())


@pytest.mark.parametrize(
    "text",
    [
        b"+1 1:0.5 3:2\n-1 2:1 # a comment\n",
        b"spam qid:7 1:.5\t2:1.e-3\r\nham\n\n# nothing\n",
        b"0 1:1e-400 2:-0",
    ],
)
def test_small_texts_of_plain_lines_need_no_loop(monkeypatch, text):
    monkeypatch.delattr(svmlight, "_parse_in_loops")
    parse_svmlight(text)


@pytest.mark.parametrize(
    "line", [b"1 2:1 1:1", b"1 1:1 1:2", b"2e16 1:1", b"1 1:1e39", b"nano 1:1", b"1 0:1", b"1 x"]
)
def test_small_texts_with_unusual_lines_are_left_to_the_loops(line):
    assert read_plain(TextPiece(as_text(b"1 1:1\n" + line), Reading())) is None


# The format --------------------------------------------------------------------------------------


def test_all_that_the_format_allows_is_read():
    text = b"\xef\xbb\xbf# head\r\n\n+1 qid:3 2:.5\t1:1e1 # tail\r\n \t\n-1.0 4:2.#x\n3"
    X, y = parse_svmlight(text)
    assert X.toarray().tolist() == [[10, 0.5, 0, 0], [0, 0, 0, 2], [0, 0, 0, 0]]
    assert y.tolist() == [1, -1, 3]
    assert (y.dtype, X.dtype, X.indices.dtype) == (np.int64, np.float32, np.int32)
    assert isinstance(X, csr_matrix)


def test_repeated_columns_are_added_in_double_precision_before_rounding():
    X, _ = parse_svmlight(b"1 3:16777216 1:5 3:1 3:1 2:7\n")
    assert X.toarray().tolist() == [[5, 7, 16777218]]
    X, _ = parse_svmlight(b"1 1:3e38 1:3e38 1:-3e38")
    assert X.toarray().tolist() == [[np.float32(3e38)]]


def test_the_width_is_the_largest_column_or_as_told():
    assert parse_svmlight(b"1 3:1\n1 2:1")[0].shape == (2, 3)
    assert parse_svmlight(b"1 3:1\n1 2:1", Reading(zero_based=True))[0].shape == (2, 4)
    assert parse_svmlight(b"1 3:1\n1 2:1", Reading(width=9))[0].shape == (2, 9)
    assert parse_svmlight(b"1\n2")[0].shape == (2, 0)
    assert parse_svmlight(b"1 2147483647:1")[0].shape == (1, 2**31 - 1)


def test_any_buffer_of_bytes_is_taken_and_left_as_it_was():
    text = b"1 2:3 1:2\n-1 1:5"
    writable = np.frombuffer(text, np.uint8).copy()
    strided = np.repeat(writable, 2)[::2]
    for data in (text, bytearray(text), memoryview(text), writable, strided):
        X, y = parse_svmlight(data)
        assert X.toarray().tolist() == [[2, 3], [5, 0]]
        assert y.tolist() == [1, -1]
    assert writable.flags.writeable
    assert len(read_rows.signatures) <= 4  # values and, in another test, indices of 32 and 64 bits


def test_scikit_learn_reads_the_same():
    sklearn_datasets = pytest.importorskip("sklearn.datasets")
    random = np.random.default_rng(3)
    values = random.standard_normal((200, 40)) * (random.random((200, 40)) < 0.3)
    target = io.BytesIO()
    sklearn_datasets.dump_svmlight_file(
        values, random.integers(0, 3, 200), target, zero_based=False
    )
    X, y = parse_svmlight(target.getvalue(), Reading(dtype=np.float64, width=40))
    target.seek(0)
    expected, labels = sklearn_datasets.load_svmlight_file(target, n_features=40, zero_based=False)
    assert (expected != X).nnz == 0
    assert y.tolist() == labels.tolist()


def test_a_text_of_nothing_but_hard_numbers_takes_a_small_multiple_of_its_size():
    line = b"1" + b"".join(b" %d:2e-310" % column for column in range(1, 50)) + b"\n"
    data = line * (2_000_000 // len(line))
    tracemalloc.start()
    X, _ = parse_svmlight(data, Reading(dtype=np.float64))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.unique(X.data).tolist() == [2e-310]
    assert peak < 8 * len(data)


# Errors ------------------------------------------------------------------------------------------

PAIRS = "write column:value pairs such as 3:0.5"
LABELS = "begin each line with a label such as 1, -1 or spam"
CONVERT = "decompress or convert the file first"


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        (b"1\n  2:1 3:1", 2, 3, f"the label is missing before '2:1'; {LABELS}"),
        (b"a\n b:1", 2, 2, f"the label is missing before 'b:1'; {LABELS}"),
        (b"a\nb\xff", 2, 1, r"the label 'b\xff' is not UTF-8 text; convert the file to UTF-8"),
        (b"1 qid:-1 3:1", 1, 7, "the query '-1' is not a whole number; write it as in qid:7"),
        (b"1 1:1 qid:1", 1, 7, "qid stands in the wrong place; write it once, right after"),
        (b"1\n\n-1 12:abc 1:1", 3, 7, f"the value 'abc' is not a number; {PAIRS}"),
        (b"1 3:0x1p3", 1, 5, f"the value '0x1p3' is not a number; {PAIRS}"),
        (b"1 3:1_000", 1, 5, f"the value '1_000' is not a number; {PAIRS}"),
        (b"1 3:1:2", 1, 5, f"the value '1:2' is not a number; {PAIRS}"),
        (b"1 3: 2", 1, 5, f"the value is missing; {PAIRS}"),
        (b"1 3:#2", 1, 5, f"the value is missing; {PAIRS}"),
        (b"1 3:3.5e38", 1, 5, "the value '3.5e38' is not finite as float32; change it or"),
        (b"1 3", 1, 3, f"'3' is not a pair; {PAIRS}"),
        (b"1 +3:1", 1, 3, f"the column '+3' is not a whole number; {PAIRS}"),
        (b"1 :1", 1, 3, f"the column '' is not a whole number; {PAIRS}"),
        (
            b"1 0:1",
            1,
            3,
            "column 0 comes before the first column, 1; if columns count from 0, pass",
        ),
        (b"1 " + b"9" * 5000 + b":1", 1, 3, f"the column '{'9' * 30}...' is too large; keep"),
        (
            b"1 2:3e38 2:3e38",
            1,
            1,
            "the values of column 2 add up to more than float32 holds; give",
        ),
        (b"1 2:3\r-1 2:4\r", 1, 5, r"a carriage return stands inside '3\x0d-1'; end lines in \n"),
        (b"1 2:3 # \0", 1, 9, rf"the bytes '\x00' are not text; {CONVERT}"),
        (b"\x1f\x8b\x08\0", 1, 1, rf"the bytes '\x1f\x8b\x08\x00' are not text; {CONVERT}"),
        ("1 3:½".encode(), 1, 5, f"the value '½' is not a number; {PAIRS}"),
        (b"1 3:\xff\xfe", 1, 5, rf"the value '\xff\xfe' is not a number; {PAIRS}"),
        (b"\xef\xbb\xbf1 x", 1, 3, f"'x' is not a pair; {PAIRS}"),
        (b"spam\n+iNF", 2, 1, "the label '+iNF' is not finite; change it or leave it out"),
    ],
)
def test_an_error_names_the_place_and_what_to_do(text, line, column, message):
    pattern = "^" + re.escape(f"train.svm:{line}:{column}: {message}")
    with pytest.raises(ParseError, match=pattern) as caught:
        parse_svmlight(text, Reading(file="train.svm"))
    error = caught.value
    assert (error.file, error.line, error.column) == ("train.svm", line, column)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            b"1 12:1",
            {"width": 10},
            "column 12 is beyond the width 10 (columns count from 1); give a larger width",
        ),
        (b"1 10:1", {"width": 10, "zero_based": True}, "column 10 is beyond the width 10 (columns"),
        (b"1 0:1", {}, "if columns count from 0, pass zero_based=True"),
        (b"1 1:1e999", {"dtype": np.float64}, "the value '1e999' is not finite as float64"),
        (b"", {}, "train.svm holds no examples; write one a line, such as: 1 3:0.5 7:2"),
        (b"# only\n\n \t", {}, "train.svm holds no examples"),
        (b"1", {"width": -1}, "width must be a whole number from 0 to 2147483648, got -1"),
        (
            b"1",
            {"dtype": np.float16},
            "dtype must be float32 or float64, got <class 'numpy.float16'>",
        ),
        (np.zeros((2, 2)), {}, "text must be one dimension of uint8, got 2 dimensions of float64"),
    ],
)
def test_options_that_do_not_fit_are_refused(text, options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        parse_svmlight(text, Reading(file="train.svm", **options))


def test_an_error_far_into_a_text_has_the_right_line():
    data = b"1 1:1\n" * 400_000 + b"1 1:1 x\n"
    with pytest.raises(ParseError, match=r"^<bytes>:400001:7: 'x' is not a pair"):
        parse_svmlight(data)
