"""The svmlight parser on several threads, with labels of any kind, and block by block."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import vstack

from rosenblatt.data import strings, svmlight
from rosenblatt.data.reading import Reading
from rosenblatt.data.svmlight import marks_by_numpy, parse_svmlight, svmlight_blocks
from rosenblatt.data.svmlight_loop import count_marks
from rosenblatt.errors import InputError, ParseError
from svmlight_texts import chunks_of, damaged, named_texts, texts

quickly = settings(deadline=None, max_examples=60)


def outcome(data, **options):
    """Give all that a parse says, or the words of its error."""
    try:
        X, y = parse_svmlight(data, Reading(**options))
    except InputError as error:
        return (str(error),)
    arrays = (X.indptr, X.indices, X.data, y)
    return (X.shape, *((array.dtype, array.tobytes()) for array in arrays))


# Threads -----------------------------------------------------------------------------------------


@quickly
@given(st.one_of(texts, named_texts, damaged()), st.sampled_from([1, 7, 40]))
def test_threads_and_chunks_change_nothing(data, size):
    expected = outcome(data, threads=1)
    with chunks_of(size):
        assert outcome(data, threads=1) == expected
        assert outcome(data, threads=2) == expected
        assert outcome(data, threads=5) == expected


def test_the_first_error_of_the_file_is_reported_whatever_thread_finds_one_first():
    lines = [b"1 1:1 2:2"] * 200
    lines[50] = b"1 " + b" ".join(b"%d:1" % column for column in range(1, 5000)) + b" first"
    for later in range(60, 200, 7):
        lines[later] = b"1 second"
    with chunks_of(30):
        for _ in range(20):
            with pytest.raises(ParseError, match=r"^<bytes>:51:\d+: 'first' is not a pair"):
                parse_svmlight(b"\n".join(lines), Reading(threads=4))


def test_a_text_without_gaps_fills_its_arrays_exactly():
    with chunks_of(1 << 20):
        X, _ = parse_svmlight(b"1 1:1 2:2\n-1 3:1\n" * 1000)
    assert X.data.base.size == X.nnz
    assert X.indices.base.size == X.nnz


def test_threads_are_counted_from_one():
    with pytest.raises(
        InputError, match="threads must be a whole number from 1 to 2147483648, got 0"
    ):
        parse_svmlight(b"1", Reading(threads=0))
    with pytest.raises(
        InputError, match="threads must be a whole number from 1 to 2147483648, got -1"
    ):
        svmlight_blocks([b"1"], Reading(threads=-1))


@pytest.mark.twin_of("data.svmlight_loop.count_marks")
@quickly
@given(st.binary(max_size=600).map(lambda data: data + b"\n:" * (len(data) % 150)))
def test_marks_are_counted_as_bytes_counts_them(data):
    text = np.frombuffer(data, np.uint8)
    marks = data.count(b"\n"), data.count(b":")
    assert tuple(count_marks(text)) == marks_by_numpy(text) == marks


# Labels ------------------------------------------------------------------------------------------


def test_one_long_label_does_not_widen_all_the_others(monkeypatch):
    monkeypatch.setattr(strings, "LARGE_STRINGS", 1000)
    _, y = parse_svmlight(b"a\n" * 1000 + b"b" * 1000)
    assert y.dtype == object
    assert y.tolist() == ["a"] * 1000 + ["b" * 1000]


def test_a_long_word_is_refused_in_no_time():
    with pytest.raises(ParseError, match="the value '1111"):
        parse_svmlight(b"1 1:" + b"1" * 1_000_000 + b"x")


# Blocks ------------------------------------------------------------------------------------------


def pieces(data, cuts):
    """Cut bytes at some places."""
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[i:j] for i, j in pairwise(places)]


def joined(blocks):
    """Put blocks back together."""
    width = blocks[-1][0].shape[1]
    for X, _ in blocks:
        X.resize(X.shape[0], width)
    X = vstack([X for X, _ in blocks], format="csr")
    return X, [label for _, y in blocks for label in y.tolist()]


def assert_blocks_equal_the_whole(data, cuts, size, **options):
    """Parse in blocks and as a whole; the rows or the words of the error must be the same."""
    expected = outcome(data, **options)
    if len(expected) == 1:
        with pytest.raises(InputError) as caught:
            list(
                svmlight_blocks(
                    pieces(data, cuts), Reading(**options), block_bytes=size, text_labels=True
                )
            )
        assert str(caught.value) == expected[0]
        return
    X, y = parse_svmlight(data, Reading(**options))
    words = y.dtype.kind == "U"
    stream = svmlight_blocks(
        pieces(data, cuts), Reading(**options), block_bytes=size, text_labels=words
    )
    found, labels = joined(list(stream))
    assert found.shape == X.shape
    assert found.data.tobytes() == X.data.tobytes()
    assert found.indices.tolist() == X.indices.tolist()
    assert found.indptr.tolist() == X.indptr.tolist()
    assert labels == y.tolist()


@quickly
@given(
    st.one_of(texts, named_texts, damaged()),
    st.lists(st.integers(0, 500), max_size=8),
    st.integers(1, 60),
    st.sampled_from([None, 1000]),
)
@example(b"\xef\xbb\xbf1 1:1\n\xef\xbb\xbf2 1:1\n", [1, 2], 1, None)
@example(b"1\r\n2\r\n", [2], 1, None)
def test_blocks_cut_anywhere_hold_what_the_whole_does(data, cuts, size, width):
    assert_blocks_equal_the_whole(data, cuts, size, width=width)


def test_blocks_grow_as_wide_as_the_largest_column_so_far():
    blocks = list(svmlight_blocks([b"1 3:1\n1 1:1\n1 5:1\n"], block_bytes=6))
    assert [X.shape for X, _ in blocks] == [(1, 3), (1, 3), (1, 5)]
    blocks = list(svmlight_blocks([b"1 3:1\n1 1:1\n"], Reading(width=9), block_bytes=6))
    assert [X.shape for X, _ in blocks] == [(1, 9), (1, 9)]


def test_labels_stay_strings_in_the_blocks_behind_a_word():
    blocks = list(svmlight_blocks([b"spam\n1\n2\n"], block_bytes=1))
    assert [y.tolist() for _, y in blocks] == [["spam"], ["1"], ["2"]]


def test_a_word_behind_blocks_of_numbers_is_refused_unless_strings_were_asked_for():
    message = r"^f:4:2: the label 'spam' is not a number, but those of the blocks before it are;"
    with pytest.raises(ParseError, match=message):
        list(svmlight_blocks([b"1\n2\n\n spam 1:1\n"], Reading(file="f"), block_bytes=1))
    blocks = svmlight_blocks([b"1\n2\n\n spam 1:1\n"], block_bytes=1, text_labels=True)
    assert [y.tolist() for _, y in blocks] == [["1"], ["2"], ["spam"]]


def test_a_word_and_numbers_of_one_block_are_strings():
    blocks = list(svmlight_blocks([b"1\nspam\n"]))
    assert [y.tolist() for _, y in blocks] == [["1", "spam"]]


def test_a_line_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(svmlight, "LONGEST_LINE", 1000)
    endless = (b"1 " for _ in range(10**9))
    with pytest.raises(InputError, match=r"^f has a line of more than 1000 bytes; write one"):
        list(svmlight_blocks(endless, Reading(file="f"), block_bytes=10))
    with pytest.raises(InputError, match="block_bytes must be at least 1, got 0"):
        svmlight_blocks([b"1"], block_bytes=0)


@pytest.mark.parametrize("piece", [1 << 12, 1 << 30])
def test_blocks_take_a_small_multiple_of_their_size(piece):
    line = b"1" + b"".join(b" %d:0.125" % column for column in range(1, 50)) + b"\n"
    data = line * (8_000_000 // len(line))
    list(svmlight_blocks([line]))
    tracemalloc.start()
    stream = (memoryview(data)[i : i + piece] for i in range(0, len(data), piece))
    rows = sum(X.shape[0] for X, _ in svmlight_blocks(stream, block_bytes=1 << 18))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert rows == 8_000_000 // len(line)
    assert peak < 12 * (1 << 18)


def test_a_buffer_may_be_used_again_for_the_next_piece():
    def reads():
        buffer = bytearray(4)
        for piece in pieces(b"1 1:1\n2 2:2\n3 3:3\n4", [4, 8, 12, 16]):
            buffer[: len(piece)] = piece
            yield memoryview(buffer)[: len(piece)]

    _, labels = joined(list(svmlight_blocks(reads(), block_bytes=3)))
    assert labels == [1, 2, 3, 4]
