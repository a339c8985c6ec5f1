"""The text hasher: the same as its naive twin on everything, and the same columns for ever."""

import math
import pickle
import re
import tracemalloc
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.pipeline import make_pipeline

import naive_text as naive
import rosenblatt as rb
from rosenblatt import TextHasher, loops
from rosenblatt.data import text as text_module
from rosenblatt.data.text_lines import label_text_lines
from rosenblatt.data.unicode_words import NOT_IN_WORDS, UNICODE_VERSION, case_steps
from rosenblatt.errors import InputError, ParseError

quickly = settings(deadline=None, max_examples=60)

# Documents ---------------------------------------------------------------------------------------

# Letters whose case changes their number of bytes, marks, and the ends of the ranges of UTF-8.
odd = "aZ_09 \n.-'İKȺẞΣςé\u0301ß\u07ff\u0800中\uffff\U00010000𝐀\U0010ffff\ud800\udfff\0\x7f\u2019"
letters = st.one_of(st.sampled_from(odd), st.characters(exclude_categories=()))
ascii_words = st.text("abcXYZ019_", min_size=1, max_size=20)
sentences = st.lists(ascii_words, max_size=30).map(" ".join)
broken = st.lists(
    st.one_of(
        st.sampled_from(
            [b"\xc3", b"\xa9", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"a"]
        ),
        st.sampled_from([b"\xe2\x82", b"\xf0\x9f\x98", b"\xff", b"word", "été".encode(), b" "]),
        st.binary(max_size=4),
    ),
    max_size=12,
).map(b"".join)
documents = st.one_of(st.text(letters, max_size=40), sentences, broken, st.binary(max_size=40))


def spans(most):
    pairs = st.tuples(st.integers(1, most), st.integers(1, most))
    return st.one_of(st.none(), pairs.map(lambda pair: (min(pair), max(pair))))


options = st.fixed_dictionaries(
    {
        "columns": st.sampled_from([1, 2, 5, 64, 1000, 2**18, 2**22 + 1, 2**31 - 1]),
        "words": spans(4),
        "characters": spans(6),
        "lowercase": st.booleans(),
        "counts": st.sampled_from(["linear", "sublinear", "binary"]),
        "norm": st.sampled_from(["l2", None]),
        "signed": st.booleans(),
    }
).filter(lambda chosen: chosen["words"] or chosen["characters"])


def naive_matrix(texts, dtype=np.float64, **chosen):
    rows = [naive.row(text, **chosen) for text in texts]
    ends = np.cumsum([0] + [len(columns) for columns, _ in rows])
    columns = np.array([c for found, _ in rows for c in found], np.int32)
    values = np.array([v for _, found in rows for v in found], dtype)
    return sparse.csr_matrix(
        (values, columns, ends), shape=(len(texts), chosen.get("columns", 2**18))
    )


def assert_same(found, expected, tolerance):
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    assert found.indices.dtype == np.int32
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.data, expected.data, rtol=tolerance)


def assert_equal(found, expected):
    assert_same(found, expected, 0.0)


# Logarithms of two libraries, and sums in two orders, differ in their last bits.
LOGARITHMS = 1e-13


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(text_module, "BATCH_GRAMS", 16)


def english(documents, words, seed=0):
    """Make documents of made-up words, some of them much more frequent than others."""
    random = np.random.default_rng(seed)
    alphabet = np.array(list("etaoinshrdlucmfwypvbgkjqxzETAÉ"))
    sizes = random.integers(1, 12, 3000)
    vocabulary = np.array(["".join(random.choice(alphabet, size)) for size in sizes], object)
    picks = np.minimum(random.zipf(1.3, (documents, words)), 3000) - 1
    return [" ".join(vocabulary[row]) for row in picks]


# The twin ----------------------------------------------------------------------------------------


@pytest.mark.twin_of("data.text_loops.hash_rows")
@quickly
@given(texts=st.lists(documents, min_size=1, max_size=6), chosen=options)
def test_every_document_gives_the_row_of_the_naive_twin(texts, chosen):
    found = TextHasher(**chosen, dtype=np.float64).transform(texts)
    assert_same(found, naive_matrix(texts, **chosen), LOGARITHMS)


@quickly
@given(texts=st.lists(documents, min_size=1, max_size=6), chosen=options)
def test_the_first_bytes_of_a_process_are_hashed_in_python_alike(texts, chosen):
    hasher = TextHasher(**chosen, dtype=np.float64)
    found = hasher.transform(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "is_compiled", lambda loop: False)
        patch.setattr(loops, "_done_without", {})
        assert_equal(hasher.transform(texts), found)
        assert sum(loops._done_without.values()) <= text_module.FIRST_BYTES


def test_later_bytes_wait_for_the_loop(monkeypatch):
    loop = text_module.text_loops.hash_rows
    monkeypatch.setattr(loops, "is_compiled", lambda loop: False)
    monkeypatch.setattr(loops, "_done_without", {loop: text_module.FIRST_BYTES})
    monkeypatch.setattr(text_module, "in_python", None)
    assert TextHasher().transform(["some words"]).nnz == 2


@pytest.mark.parametrize("columns", [1, 3, 2000, 2**18, 2**22, 2**22 + 1, 2**31 - 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_long_documents_give_the_rows_of_the_naive_twin(columns, dtype):
    texts = ["", *english(3, 60), *english(2, 1500), "x"]
    found = TextHasher(columns=columns, words=(1, 2), dtype=dtype).transform(texts)
    assert_equal(found, naive_matrix(texts, dtype, columns=columns, words=(1, 2)))


@quickly
@given(texts=st.lists(documents, min_size=1, max_size=6), chosen=options)
def test_one_document_at_a_time_gives_the_same_rows(texts, chosen):
    hasher = TextHasher(**chosen, dtype=np.float64)
    pairs = [hasher.transform_one(text) for text in texts]
    assert {(c.dtype, v.dtype) for c, v in pairs} == {(np.dtype(np.int64), np.dtype(np.float64))}
    found = hasher.transform(texts)
    np.testing.assert_array_equal(found.indices, np.concatenate([c for c, _ in pairs]))
    np.testing.assert_array_equal(found.data, np.concatenate([v for _, v in pairs]))
    np.testing.assert_array_equal(np.diff(found.indptr), [c.size for c, _ in pairs])


@quickly
@given(data=broken | sentences.map(str.encode), cuts=st.data())
def test_parts_of_a_buffer_are_hashed_as_if_cut_out(data, cuts):
    places = st.integers(0, len(data))
    pairs = cuts.draw(st.lists(st.tuples(places, places).map(sorted), min_size=1, max_size=6))
    starts, stops = np.array(pairs).T
    hasher = TextHasher(characters=(1, 3))
    found = hasher.transform_bytes(data, starts, stops)
    assert_equal(found, hasher.transform([data[start:stop] for start, stop in pairs]))


# Fixed for ever ----------------------------------------------------------------------------------

GOLDEN = [
    ("perceptron", {}, [95495], [-1]),
    ("The the THE", {}, [85773], [-3]),
    ("Straße ΣΟΦΟΣ İstanbul", {}, [9687, 164388, 260938], [1, -1, -1]),
    (
        "to be or not",
        {"words": (2, 3)},
        [53673, 193065, 195190, 206738, 236917],
        [1, -1, -1, -1, -1],
    ),
    ("日本", {"words": None, "characters": (2, 2)}, [890, 105347, 118209], [1, -1, 1]),
    (
        "mark i perceptron",
        {"columns": 1000, "words": None, "characters": (5, 5)},
        [7, 206, 252, 326, 672, 687, 908, 925, 944, 946, 977],
        [1, -1, -1, 1, -1, 1, 1, 1, -1, 1, 1],
    ),
]


@pytest.mark.parametrize(("text", "chosen", "columns", "signs"), GOLDEN)
def test_columns_and_signs_are_the_same_on_every_machine_for_ever(text, chosen, columns, signs):
    found, values = TextHasher(**chosen, norm=None).transform_one(text)
    assert found.tolist() == columns
    assert values.tolist() == signs


@pytest.mark.skipif(unicodedata.unidata_version != UNICODE_VERSION, reason="another Unicode")
def test_the_table_is_that_of_its_version_of_unicode():
    for code, step in enumerate(case_steps().tolist()):
        letter = chr(code)
        if unicodedata.category(letter)[0] not in "LMN" and letter != "_":
            assert step == NOT_IN_WORDS
        else:
            assert chr(code + step) == ("i" if letter == "İ" else letter.lower())


def test_lower_case_words_are_made_of_word_characters():
    steps = case_steps()
    words = np.flatnonzero(steps != NOT_IN_WORDS)
    assert (steps[words + steps[words]] == 0).all()
    np.testing.assert_array_equal(case_steps(False) != NOT_IN_WORDS, steps != NOT_IN_WORDS)
    assert set(case_steps(False).tolist()) == {0, NOT_IN_WORDS}


def test_columns_and_signs_are_evenly_spread():
    words = [f"{stem}{number}" for stem in ("", "a", "word_", "étés") for number in range(25_000)]
    X = TextHasher(columns=1000, norm=None).transform(words)
    counts = np.bincount(X.indices, minlength=1000)
    # Chi-squared has 999 degrees of freedom; 6 standard deviations of it are never seen.
    assert abs(((counts - 100) ** 2 / 100).sum() - 999) < 6 * math.sqrt(2 * 999)
    assert abs(X.data.sum()) < 6 * math.sqrt(len(words))


# Rules in words ----------------------------------------------------------------------------------


def counts_of(text, **chosen):
    hasher = TextHasher(columns=2**31 - 1, norm=None, signed=False, **chosen)
    return sorted(hasher.transform_one(text)[1].tolist())


def same(one, other, **chosen):
    return (
        TextHasher(**chosen).transform([one]) != TextHasher(**chosen).transform([other])
    ).nnz == 0


def test_words_of_one_character_count():
    assert counts_of("a I 7 _ é - .") == [1.0] * 5


def test_capitals_count_as_small_letters_only_if_asked():
    assert same("ÉTÉ Zoo İ", "été zoo i")
    assert not same("Zoo", "zoo", lowercase=False)
    assert not same("ÉTÉ", "été", lowercase=False)


def test_invalid_bytes_and_surrogates_separate_words():
    assert same(b"one\xfftwo\xe2\x82three", "one two three")
    assert same("one\ud800two", "one two")
    assert same("one two", b"one two")


def test_word_n_grams_keep_the_order_of_the_words():
    assert not same("dog bites man", "man bites dog", words=(2, 2))
    assert same("dog, bites: man!", "dog bites man", words=(1, 3))


def test_character_n_grams_are_those_of_scikit_learn():
    text = "a bc def ghij klmnopqrst " * 2
    for span in [(1, 1), (2, 4), (3, 3), (5, 8)]:
        peer = HashingVectorizer(analyzer="char_wb", ngram_range=span).build_analyzer()(text)
        grams = [gram for word in text.split() for gram in peer_grams(word, span)]
        assert sorted(peer) == sorted(grams)
        expected = sorted(float(grams.count(gram)) for gram in set(grams))
        assert counts_of(text, words=None, characters=span) == expected


def peer_grams(word, span):
    return naive.grams(f" {word} ", span) or [f" {word} "]


def test_a_count_is_weighed_as_asked():
    text = "so so so good"
    assert counts_of(text) == [1.0, 3.0]
    assert counts_of(text, counts="binary") == [1.0, 1.0]
    assert counts_of(text, counts="sublinear") == pytest.approx([1.0, 1 + math.log(3)])


def test_signs_that_cancel_leave_no_entry():
    words = [str(number) for number in range(20)]
    signs = [TextHasher(columns=1, norm=None).transform_one(word)[1][0] for word in words]
    plus, minus = words[signs.index(1.0)], words[signs.index(-1.0)]
    columns, values = TextHasher(columns=1).transform_one(f"{plus} {minus}")
    assert columns.size == values.size == 0


def test_rows_have_norm_one_or_are_empty():
    X = TextHasher().transform(["one two two", "", " .,;"])
    assert sparse.linalg.norm(X, axis=1) == pytest.approx([1.0, 0.0, 0.0])


# Threads, batches and memory ---------------------------------------------------------------------


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("n_jobs", [None, -1, 1, 2, 5])
def test_threads_and_batches_change_no_result(n_jobs):
    texts = [*english(40, 5), "", "", *english(3, 200), *(["a"] * 50)]
    hasher = TextHasher(n_jobs=n_jobs)
    expected = naive_matrix(texts, np.float32)
    assert_equal(hasher.transform(text for text in texts), expected)
    joined = "".join(texts).encode()
    stops = np.cumsum([len(text.encode()) for text in texts])
    starts = np.concatenate(([0], stops[:-1]))
    assert_equal(hasher.transform_bytes(np.frombuffer(joined, np.uint8), starts, stops), expected)


def test_memory_does_not_grow_with_the_documents_that_have_been_read():
    words = " ".join(english(1, 3000))
    hasher = TextHasher(columns=64, n_jobs=2)
    hasher.transform([words])  # compiles
    tracemalloc.start()
    hasher.transform(words + str(number) for number in range(2500))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < len(words) * 2500 / 2  # bytes of text; measured: a third


# scikit-learn ------------------------------------------------------------------------------------


def test_a_pipeline_learns_from_text():
    texts = ["buy cheap pills", "meet at noon", "cheap cheap deal", "noon is fine"] * 5
    labels = ["spam", "ham", "spam", "ham"] * 5
    pipeline = make_pipeline(TextHasher(characters=(2, 4)), rb.Perceptron())
    pipeline.fit(texts, labels)
    assert pipeline.predict(["cheap pills", "at noon"]).tolist() == ["spam", "ham"]


def test_a_stream_of_texts_is_learned_one_at_a_time():
    hasher, learner = TextHasher(), rb.Perceptron()
    for _ in range(3):
        learner.learn_one(hasher.transform_one("buy cheap pills"), "spam")
        learner.learn_one(hasher.transform_one("meet at noon"), "ham")
    assert learner.predict_one(hasher.transform_one("cheap")) == "spam"
    assert learner.predict_one(hasher.transform_one("noon")) == "ham"


def test_a_hasher_is_cloned_and_pickled_with_its_options():
    hasher = TextHasher(columns=99, words=(1, 3), characters=(2, 5), counts="binary")
    for copy in (clone(hasher), pickle.loads(pickle.dumps(hasher))):
        assert copy.get_params() == hasher.get_params()
        assert_equal(copy.transform(["some text"]), hasher.transform(["some text"]))


def test_the_tags_say_that_it_takes_strings_and_needs_no_fit():
    tags = TextHasher().__sklearn_tags__()
    assert tags.input_tags.string
    assert not tags.input_tags.two_d_array
    assert not tags.requires_fit
    hasher = TextHasher()
    assert hasher.fit() is hasher


# Refusals ----------------------------------------------------------------------------------------

BAD_OPTIONS = {
    "columns must be a whole number from 1 to 2147483647": ("columns", [0, 2**31, 10.0, True]),
    "words must be None or (shortest, longest) with 1": ("words", [(0, 1), (2, 1), 2, (1, 65)]),
    "characters must be None or (shortest, longest)": ("characters", [(1.0, 2), "ab"]),
    "words and characters are both None": ("words", [None]),
    "lowercase must be True or False, got 'yes'": ("lowercase", ["yes"]),
    "counts must be one of 'linear', 'sublinear', 'binary', got 'log'": ("counts", ["log"]),
    "norm must be one of 'l2', got 'l1'": ("norm", ["l1"]),
    "signed must be True or False, got 2": ("signed", [2]),
    "dtype must be float32 or float64, got": ("dtype", [int, None, "nonsense"]),
    "n_jobs must be None or -1 for all cores, or a whole number from 1": ("n_jobs", [0, 1.5]),
}


@pytest.mark.parametrize("message", BAD_OPTIONS)
def test_options_that_cannot_be_used_are_refused_in_a_sentence(message):
    name, values = BAD_OPTIONS[message]
    for hasher in (TextHasher(**{name: value}) for value in values):
        for act in (hasher.fit, hasher.transform, hasher.transform_one):
            with pytest.raises(InputError, match=f"^{re.escape(message)}"):
                act("a" if act == hasher.transform_one else ["a"])


@pytest.mark.parametrize("place", [0, 5, 99])
@pytest.mark.parametrize("stranger", [None, 3, math.nan, ["a"], bytearray(b"a")])
def test_what_is_no_text_is_refused_with_its_position(place, stranger):
    texts = ["a"] * place + [stranger] + ["b"] * 3
    message = f"^document {place} is of type {type(stranger).__name__}; documents must be str or"
    with pytest.raises(InputError, match=message):
        TextHasher().transform(texts)
    with pytest.raises(InputError, match=r"^the document is of type"):
        TextHasher().transform_one(stranger)


def test_no_documents_at_all_are_refused():
    with pytest.raises(InputError, match=r"^there is no document to hash; give at least one$"):
        TextHasher().transform([])
    with pytest.raises(InputError, match=r"^there is no document"):
        TextHasher().transform_bytes(b"abc", [], [])


@pytest.mark.parametrize("single", ["a text", b"bytes", 7])
def test_a_single_text_is_not_taken_for_documents(single):
    with pytest.raises(InputError, match=r"^documents must be an iterable of str or bytes, got"):
        TextHasher().transform(single)


@pytest.mark.parametrize(
    ("starts", "stops", "message"),
    [
        ([0], [1, 2], "starts and stops must be two arrays of equal length"),
        ([[0]], [[1]], "starts and stops must be two arrays of equal length"),
        ([0.0], [1.0], "starts and stops must be whole numbers, got float64 and float64"),
        ([0, -1], [1, 2], "document 1 goes from -1 to 2, outside a text of 3 bytes"),
        ([0, 2], [3, 4], "document 1 goes from 2 to 4, outside a text of 3 bytes"),
        ([2], [1], "document 0 goes from 2 to 1"),
    ],
)
def test_spans_outside_the_buffer_are_refused(starts, stops, message):
    with pytest.raises(InputError) as caught:
        TextHasher().transform_bytes(b"abc", starts, stops)
    assert str(caught.value).startswith(message)


# Labelled lines ----------------------------------------------------------------------------------

pieces = st.sampled_from([b"a", "é".encode(), b"\t", b"\t", b"\n", b"\r\n", b"\r", b" ", b"spam\t"])
lines = st.tuples(
    st.sampled_from([b"", b"", b"\xef\xbb\xbf"]), st.lists(pieces, max_size=25).map(b"".join)
).map(b"".join)


@quickly
@given(data=lines)
def test_labelled_lines_are_those_of_the_naive_twin(data):
    expected = naive.labelled_lines(data)
    if not expected:
        with pytest.raises(InputError, match=r"^box\.tsv holds no examples; write one a line"):
            label_text_lines(data, file="box.tsv")
    elif isinstance(expected, tuple):
        with pytest.raises(ParseError, match=r"(there is no tab|is missing); write:") as caught:
            label_text_lines(data, file="box.tsv")
        assert (caught.value.line, caught.value.column) == expected
    else:
        labels, starts, stops = label_text_lines(data, file="box.tsv")
        texts = [data[start:stop] for start, stop in zip(starts, stops, strict=True)]
        assert list(zip(labels, texts, strict=True)) == expected


def test_labelled_lines_are_hashed_without_making_strings():
    data = np.frombuffer(b"spam\tBuy now\r\nham\tsee\tyou\n\nham\t", np.uint8)
    labels, starts, stops = label_text_lines(data)
    assert labels == ["spam", "ham", "ham"]
    found = TextHasher().transform_bytes(data, starts, stops)
    assert_equal(found, TextHasher().transform(["buy now", "see you", ""]))


def test_text_that_is_no_array_of_bytes_is_refused():
    with pytest.raises(InputError, match=r"^text must be one dimension of uint8, got 1 dimensions"):
        label_text_lines(np.zeros(3))
    with pytest.raises(InputError, match=r"^text must be bytes or an array of uint8, got str$"):
        TextHasher().transform_bytes("text", [0], [1])
