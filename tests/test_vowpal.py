"""Vowpal Wabbit's format: the compiled loop against the slow reader, and every complaint."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import rosenblatt as rb
from rosenblatt.data import vowpal
from rosenblatt.data.reading import Reading
from rosenblatt.data.vowpal import column_of, hashed, parse_vowpal

FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=32)
NAMES = st.one_of(
    st.integers(0, 10**25).map(str),
    st.text(st.characters(codec="utf-8", exclude_characters=" \t\n\r|:\0"), min_size=1, max_size=8),
)


def naive_row(namespaces, columns):
    """Add up the features of a line, given as (namespace, scale, [(name, value)])."""
    row = np.zeros(columns)
    for namespace, scale, features in namespaces:
        for name, value in features:
            place = column_of(namespace.encode(), name.encode(), columns)
            row[place] += value * scale
    return row


@st.composite
def written(draw):
    """Draw an example and a way to write it."""
    label = draw(FLOATS)
    weight = draw(st.none() | st.floats(0, 1e6))
    tag = draw(st.sampled_from(["", "'tag", "'t ", "word"]))
    blank = draw(st.sampled_from([" ", "\t", "  "]))
    text = f"{label!r}{blank}" + (f"{weight!r}{blank}" if weight is not None else "") + tag
    namespaces = []
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.just("") | NAMES)
        scale = draw(st.none() | st.floats(-100, 100, width=16)) if name else None
        features = draw(st.lists(st.tuples(NAMES, st.none() | FLOATS), max_size=4))
        text += f"|{name}" + (f":{scale!r}" if scale is not None else "")
        for feature, value in features:
            text += f"{blank}{feature}" + (f":{value!r}" if value is not None else "")
        text += draw(st.sampled_from(["", " "]))
        given = [(feature, 1.0 if value is None else value) for feature, value in features]
        namespaces.append((name, 1.0 if scale is None else scale, given))
    return text, label, 1.0 if weight is None else weight, namespaces


@pytest.mark.twin_of("data.vowpal_loop.read_lines")
@settings(max_examples=60, deadline=None)
@given(examples=st.lists(written(), min_size=1, max_size=4), end=st.sampled_from(["\n", "\r\n"]))
def test_what_was_written_is_read(examples, end):
    text = end.join(line for line, *_ in examples).encode()
    found = parse_vowpal(text, Reading(columns=64, dtype=np.float64))
    rows = [naive_row(namespaces, 64) for *_, namespaces in examples]
    # Features that share a column may be added up in another order: a rounding each at most.
    scale = max(1.0, *(abs(v * s) for *_, ns in examples for _, s, fs in ns for _, v in fs), 1.0)
    assert np.allclose(found.X.toarray(), rows, rtol=0, atol=scale * 1e-14)
    assert found.y.tolist() == [label for _, label, *_ in examples]
    assert found.weights.tolist() == [weight for _, _, weight, _ in examples]


def test_the_parts_of_a_line_are_told_apart():
    found = parse_vowpal(
        b"1 2 'tag| 3:0.5 5\n-1 word|a:2 7:3 |b x\n0 | 1 1:4 |\n", Reading(columns=16)
    )
    assert found.y.tolist() == [1, -1, 0]
    assert found.weights.tolist() == [2, 1, 1]
    X = found.X.toarray()
    assert X[0].nonzero()[0].tolist() == [3, 5]
    assert X[0, [3, 5]].tolist() == [0.5, 1]
    assert X[1, column_of(b"a", b"7", 16)] == 6
    assert X[1, column_of(b"b", b"x", 16)] == 1
    assert X[2].tolist() == [0, 5] + [0] * 14
    assert found.X.has_canonical_format
    assert found.X.dtype == np.float32


def test_numbers_in_the_anonymous_namespace_are_columns():
    found = parse_vowpal(b"1 | 0 17 33:2 007:3\n", Reading(columns=16))
    assert found.X.toarray()[0].tolist() == [1, 3, 0, 0, 0, 0, 0, 3] + [0] * 8


def test_numbers_in_a_namespace_are_shifted_by_its_hash():
    base = column_of(b"n", b"0", 1000)
    assert [column_of(b"n", str(i).encode(), 1000) for i in range(3)] == [
        (base + i) % 1000 for i in range(3)
    ]


def test_hashing_is_the_same_everywhere():
    assert hashed(0, b"") == 0xEFD01F60BA992926
    assert hashed(0, b"price") == 0xFA830A7AE9DAD76B
    assert column_of(b"house", b"price", 2**18) == 111187


def test_hashing_spreads_evenly():
    places = np.array([column_of(b"", f"w{i}".encode(), 256) for i in range(25_600)])
    counts = np.bincount(places, minlength=256)
    # 100 each is expected; chi-square with 255 degrees of freedom stays below 370 but for 1e-6.
    assert ((counts - 100) ** 2 / 100).sum() < 370


def test_lines_without_labels_have_none():
    assert parse_vowpal(b"| 1\n'tag| 2\n", Reading(columns=4)).y is None


def test_pieces_make_no_difference(monkeypatch):
    lines = b"".join(b"%d 2 |a:0.5 w%d:%d |b z\n" % (i % 3, i, i) for i in range(300))
    whole = parse_vowpal(lines)
    monkeypatch.setattr(vowpal, "PIECE_BYTES", 64)
    found = parse_vowpal(lines)
    assert (found.X != whole.X).nnz == 0
    assert np.array_equal(found.y, whole.y)
    with pytest.raises(rb.ParseError, match="f:301:7: "):
        parse_vowpal(lines + b"1 | a:x\n", Reading(file="f"))


def test_hard_numbers_are_rounded_by_python():
    hard = "0.1000000000000000055511151231257827021181583404541015625000000000001"
    found = parse_vowpal(
        f"{hard} {hard} |a:{hard} x:{hard} y\n".encode(), Reading(dtype=np.float64)
    )
    assert found.y.tolist() == [0.1]
    assert found.weights.tolist() == [0.1]
    assert sorted(found.X.data.tolist()) == sorted([0.1 * 0.1, 0.1])


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("1 a b", "1:1", r"the line has no \|; write a label, a bar"),
        ("1 | a\n  2 3 ", "2:3", r"the line has no \|"),
        ("x | a", "1:1", "the label, 'x', is not a number"),
        ("1:2:3 | a", "1:1", "the label, '1:2:3', is not a number"),
        ("1 x | a", "1:3", "the importance, 'x', is not a number"),
        ("1 -2 | a", "1:3", "the importance '-2' is negative; give 0 or more"),
        ("1 -2 tag| a", "1:3", "the importance '-2' is negative"),
        ("1 2 0.5 | a", "1:5", "'0.5' stands where an initial prediction does"),
        ("1 'tag 2 | a", "1:3", "the tag ''tag' must come right before the bar"),
        ("1 | a:", "1:7", "the value of feature 'a', '', is not a number"),
        ("1 | a:b", "1:7", "the value of feature 'a', 'b', is not a number"),
        ("1 | a:1:2", "1:7", "the value of feature 'a', '1:2', is not a number"),
        ("1 | :3", "1:5", "':3' has no name before the colon"),
        ("1 |n:x a", "1:6", "the scale of namespace 'n', 'x', is not a number"),
        ("1 | a\0b", "1:6", "a NUL byte is not text"),
        ("1 'a\0|b", "1:5", "a NUL byte is not text"),
        ("1 | a\n2| b", "2:1", r"a blank before \|"),
        ("| a\n1 | b", "2:1", "the line has a label, but none before"),
    ],
)
def test_broken_lines_are_refused_by_line_and_column(text, place, words):
    with pytest.raises(rb.ParseError, match=f"^f:{place}: .*{words}"):
        parse_vowpal(text.encode(), Reading(file="f"))


def test_lines_may_count_from_elsewhere():
    with pytest.raises(rb.ParseError, match=r"^f:6:1: "):
        parse_vowpal(b"1 | a\nx | a", Reading(file="f"), first_line=5)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=40) | st.text("01 |:'ae.-\t\r\n", max_size=25).map(str.encode))
@example(b"1 |a:\x00")
def test_any_bytes_are_read_or_refused_in_one_sentence(data):
    problem, found = "", None
    try:
        found = parse_vowpal(data, Reading(columns=8, dtype=np.float64))
    except rb.InputError as error:
        problem = str(error)
    assert "cannot be read" not in problem  # the slow reader always knows why
    assert "\n" not in problem
    if found is not None:
        assert found.X.shape == (found.weights.size, 8)
        assert all(map(math.isfinite, found.X.data))
