"""Tables with named columns: what becomes a feature, what a label, and what is refused."""

import gzip
import io
import lzma
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import rosenblatt as rb
from rosenblatt.data import tables, tables_text
from rosenblatt.data.formats import found_format
from rosenblatt.data.reading import Reading
from rosenblatt.data.tables import read_table, table_blocks

pl = pytest.importorskip("polars")

CSV = b"a,b,label\n1,2.5,1\n-3,1e2,0\n"


def as_bytes(frame, format):
    out = io.BytesIO()
    {
        "csv": frame.write_csv,
        "tsv": lambda file: frame.write_csv(file, separator="\t"),
        "parquet": frame.write_parquet,
        "arrow": frame.write_ipc,
        "jsonl": frame.write_ndjson,
    }[format](out)
    return out.getvalue()


def csv(text, **options):
    """Read a CSV, small ones without Polars as well as with it, and hold both to each other."""
    reading = Reading("csv", **options)
    quick, careful = result_of(text, reading, tables.SMALL), result_of(text, reading, 0)
    assert_same(quick, careful)
    if isinstance(quick, Exception):
        raise quick
    for told in quick[1]:
        warnings.warn(told, stacklevel=2)
    return quick[0]


def result_of(text, reading, small):
    """Give the examples and the warnings of a table, or the error."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        patch.setattr(tables, "SMALL", small)
        try:
            return read_table(text, reading), [each.message for each in told]
        except Exception as error:
            return error


def assert_same(ours, expected):
    if isinstance(expected, Exception):
        assert type(ours) is type(expected)
        assert str(ours) == str(expected)
        return
    (a, told), (b, expected_told) = ours, expected
    assert list(map(str, told)) == list(map(str, expected_told))
    assert type(a.X) is type(b.X)
    assert (a.X.dtype, a.X.shape) == (b.X.dtype, b.X.shape)
    parts = ("data", "indices", "indptr") if sparse.issparse(a.X) else ()
    for part in parts:
        assert getattr(a.X, part).tobytes() == getattr(b.X, part).tobytes()
    if not parts:
        assert a.X.flags.c_contiguous
        assert a.X.tobytes() == b.X.tobytes()
    assert a.columns == b.columns
    assert (a.y is None) == (b.y is None)
    if a.y is not None:
        assert a.y.dtype == b.y.dtype
        assert a.y.tolist() == b.y.tolist()


ODD = (
    *("1", "0", "-1", "007", "+5", ".5", "1.", "-.5e-3", "1e3", "1E+2", "1,5", " 2 ", "1_000"),
    *("inf", "-Infinity", "nan", "", "NA", "?", "True", "false", " TRUE", "16777217", "1e39"),
    *("9007199254740993", "1e-40", "red", "blau", "größer", "١٢", "x y", " red", "2020-01-01"),
    *("0x10", "1f", "1d", "e5", ".", "-", "1 2", "\u00a05", "\t7", "1\r", '"q"', 'a"b', "1;2"),
    *("7.038531e-26", "0.1", "-0", "1e400", "99999999999999999999", "1-", "--1", "infinity"),
)
CELLS = st.one_of(
    st.sampled_from(ODD),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-100, 100).map(str),
)
NAMES = st.sampled_from(["a", "b", "y", "label", "a b", " c", "1", "2", "0", "größe", "", "true"])


@st.composite
def texts(draw):
    """Draw a small table, most columns of one kind, and how to read it."""
    width, height = draw(st.integers(1, 4)), draw(st.integers(0, 5))
    rows = [draw(st.lists(NAMES, min_size=width, max_size=width))]
    kinds = [draw(st.lists(CELLS, min_size=1, max_size=3)) for _ in range(width)]
    rows += [[draw(st.sampled_from(kind)) for kind in kinds] for _ in range(height)]
    rows = rows[draw(st.integers(0, 1)) :]
    separator, end = draw(st.sampled_from(",;\t")), draw(st.sampled_from(["\n", "\r\n"]))
    repeats = draw(st.sampled_from([1, 1, 12]))
    text = end.join(separator.join(row) for row in rows[:1] + rows[1:] * repeats)
    text = draw(st.sampled_from(["", "", "\ufeff"])) + text + draw(st.sampled_from(["", end]))
    options = {
        "separator": separator,
        "decimal": draw(st.sampled_from(".,")) if separator != "," else ".",
        "header": draw(st.sampled_from([None, None, True, False])),
        "label": draw(st.sampled_from([None, None, 0, -1, False])),
        "categories": draw(st.sampled_from(["onehot", "onehot", "hash", "refuse"])),
        "missing": draw(st.sampled_from(["refuse", 0.0])),
        "dtype": draw(st.sampled_from([np.float32, np.float64])),
        "columns": draw(st.sampled_from([2, 50])),
    }
    return text.encode(), options


@settings(max_examples=300, deadline=None)
@given(texts())
def test_a_small_table_is_read_the_same_with_and_without_polars(drawn):
    text, options = drawn
    reading = Reading("csv", **options)
    assert_same(result_of(text, reading, tables.SMALL), result_of(text, reading, 0))


every_format = pytest.mark.parametrize("format", ["csv", "tsv", "parquet", "arrow", "jsonl"])


@every_format
def test_every_format_gives_the_same_examples(format):
    frame = pl.DataFrame({"a": [1.5, 2.0], "b": [3, -4], "c": [True, False], "y": ["u", "v"]})
    found = read_table(as_bytes(frame, format), Reading(format))
    assert found.X.tolist() == [[1.5, 3, 1], [2, -4, 0]]
    assert found.X.dtype == np.float32
    assert found.X.flags.c_contiguous
    assert found.y.tolist() == ["u", "v"]
    assert found.names == ("a", "b", "c")
    X, y = found
    assert X is found.X
    assert y is found.y


@every_format
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_numbers_survive_every_format(format, data):
    kind = data.draw(st.sampled_from([np.float32, np.float64]))
    bits = 8 * np.dtype(kind).itemsize
    floats = st.floats(allow_nan=False, allow_infinity=False, width=bits)
    shape = data.draw(st.tuples(st.integers(1, 5), st.integers(1, 4)))
    cells = data.draw(st.lists(floats, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    X = np.array(cells, kind).reshape(shape)
    y = np.array(data.draw(st.lists(st.integers(-9, 9), min_size=shape[0], max_size=shape[0])))
    frame = pl.DataFrame({f"x{j}": X[:, j] for j in range(shape[1])} | {"label": y})
    found = read_table(as_bytes(frame, format), Reading(format, dtype=kind))
    assert np.array_equal(found.X, X)
    assert np.array_equal(found.y, y)


def test_numbers_are_rounded_once():
    # Through float64 this decimal would become the neighbour of the nearest float32.
    assert csv(b"x,y\n7.038531e-26,1\n").X[0, 0] == 7.038530691851209e-26


@pytest.mark.parametrize(
    ("label", "expected"), [("a", [1, -3]), (0, [1, -3]), (-2, [2.5, 100]), (None, [1, 0])]
)
def test_the_label_is_found_by_name_or_place(label, expected):
    found = csv(CSV, label=label)
    assert found.y.tolist() == expected
    assert found.X.shape == (2, 2)


def test_without_a_label_every_column_is_a_feature():
    found = csv(CSV, label=False)
    assert found.y is None
    assert found.names == ("a", "b", "label")


def test_the_label_is_a_column_of_that_name_or_the_last():
    assert csv(b"Class,b,c\n1,2,3\n").names == ("b", "c")
    with pytest.raises(rb.InputError, match=r"'class' and 'target', each .* with label="):
        csv(b"class,b,target\n1,2,3\n")
    assert csv(b"class,b,target\n1,2,3\n", label="class").names == (
        "b",
        "target",
    )
    assert csv(b"p,q,r\n1,2,3\n").names == ("p", "q")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["+1", "-1"], [1, -1]),
        (["1.0", "2e0"], [1, 2]),
        (["0.5", "1"], [0.5, 1]),
        (["true", "False"], [True, False]),
        (["1", "A"], ["1", "A"]),
        ([" spam", "ham "], ["spam", "ham"]),
    ],
)
def test_labels_of_a_text_are_what_all_of_them_are(words, expected):
    text = "x,y\n" + "".join(f"1,{word}\n" for word in words)
    found = read_table(text.encode(), Reading("csv")).y
    assert found.tolist() == expected
    assert found.dtype.kind == np.array(expected).dtype.kind


def test_a_class_that_comes_late_makes_all_labels_words():
    text = b"x,y\n" + b"1,0\n" * 400_000 + b"1,A\n"
    assert set(csv(text).y.tolist()) == {"0", "A"}


def test_a_header_is_a_first_row_without_values():
    assert csv(b"1,2,3\n4,5,6\n").X.tolist() == [[1, 2], [4, 5]]
    assert csv(b"1,2,3\n4,5,6\n").names is None
    assert csv(b",b,y\n4,5,6\n").X.tolist() == [[4, 5]]
    assert csv(b"0,1,2\n4,5,6\n", header=True).names == ("0", "1")
    assert len(csv(b"red,blue,yes\nred,red,no\n", header=False)) == 2


def test_whole_numbers_beside_a_word_above_numbers_are_a_header():
    for text in (b"0,1,target\n4,5,1\n6,7,0\n", b"5,3,target\n4,5,1\n6,7,0\n"):
        found = csv(text)
        assert found.X.tolist() == [[4, 5], [6, 7]]
        assert found.y.tolist() == [1, 0]
    assert csv(b"0,1,target\n4,5,1\n").names == ("0", "1")
    assert csv(b",0,1,kind\n0,4,5,a\n1,6,7,b\n").names == ("", "0", "1")


def test_a_first_row_whose_word_comes_again_below_is_no_header():
    for text in (b"0,1,yes\n1,0,no\n1,1,yes\n", b"3,1,yes\n1,0,no\n", b"0,1,2\n4,5,6\n"):
        assert csv(text).names is None
        assert len(csv(text)) == text.count(b"\n")


def test_words_become_one_feature_each():
    X, _y = found = csv(b"n,colour,z,y\n1,red,0,1\n2,blue,3,0\n0,red,1,1\n")
    assert found.names == ("n", "z", "colour=blue", "colour=red")
    assert sparse.issparse(X)
    assert X.toarray().tolist() == [[1, 0, 0, 1], [2, 3, 1, 0], [0, 1, 0, 1]]
    assert X.has_canonical_format
    assert X.nnz == 7


def test_categorical_columns_are_words_too():
    frame = pl.DataFrame(
        {"c": ["u", "v", "u"], "y": [1, 2, 3]}, schema_overrides={"c": pl.Categorical}
    )
    assert read_table(as_bytes(frame, "parquet"), Reading("parquet")).names == ("c=u", "c=v")


def test_hashed_words_stand_behind_the_numbers():
    text = b"n,colour,shape,y\n5,red,round,1\n6,blue,round,0\n"
    found = csv(text, categories="hash", columns=16)
    assert found.X.shape == (2, 17)
    assert found.names is None
    assert found.columns.table.words.keys() == {"colour", "shape"}
    assert found.X.sum(axis=1).ravel().tolist() == [[7, 8]]
    crowded = csv(text, categories="hash", columns=1)
    assert crowded.X.toarray().tolist() == [[5, 2], [6, 2]]


def test_hashing_is_the_same_everywhere():
    from rosenblatt.data.tables_layout import hashed

    assert hashed("colour", "red", 2**18) == 92955


MISSING = pl.DataFrame({"a": [1.0, float("nan")], "b": [None, 2], "y": [0, 1]})
UNLABELLED = pl.DataFrame({"a": [1, 2], "y": [1.0, float("nan")]})
DATES = pl.DataFrame({"d": ["2020-01-01"], "x": [2.0], "y": [1]}).with_columns(
    pl.col("d").str.to_date()
)
LATE = b"1,2,0\n" * 300_000  # beyond the sample that settles what a column holds


@pytest.mark.parametrize("cell", ["", "NA", " ? ", "NaN", "null"])
def test_a_number_takes_the_place_of_missing_values(cell):
    text = f"a,b,y\n1,2,0\n3,{cell},1\n".encode()
    with pytest.raises(rb.InputError, match=r"row 2, column 'b' of <bytes> is missing; leave"):
        csv(text)
    assert csv(text, missing=-7).X.tolist() == [[1, 2], [3, -7]]
    filled = read_table(as_bytes(MISSING, "parquet"), Reading("parquet", missing=0))
    assert filled.X.tolist() == [[1, 0], [0, 2]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (MISSING, "row 1, column 'b'"),
        (UNLABELLED, "row 2 of <bytes> has no label"),
        (DATES, "column 'd' of <bytes> holds Date; leave it out"),
        (pl.DataFrame({"a": [[1, 2]], "y": [1]}), r"column 'a' of <bytes> holds List\(Int64\)"),
    ],
)
def test_frames_that_cannot_be_used_are_refused(text, words):
    with pytest.raises(rb.InputError, match=words):
        read_table(as_bytes(text, "parquet"), Reading("parquet"))


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (b"a,y\n1,2\n3,\n", {"missing": 0}, "row 2 of <bytes> has no label in column 'y'"),
        (b"a,b,y\n1,inf,0\n2,-inf,1\n", {"missing": 0}, "row 1, column 'b' .* not finite as flo"),
        (b"y\n1\n", {}, "has no column but the label"),
        (b"a,b,y\n" + LATE + b"3,4x,1\n", {}, "row 300001, column 'b' of <bytes> holds '4x', but"),
        (
            b"a;b;y\n" + LATE.replace(b",", b";") + b"1.500;2;1\n",  # to whoever writes 1,5
            {"decimal": ","},
            r"row 300001, column 'a' .* holds '1\.500'",
        ),
        (
            b"a,b,c\n1,2,3\n,5,\n",  # not blank, since there is something in b
            {"select": ["a"], "label": False},
            "row 2, column 'a' of <bytes> is missing",
        ),
        (
            b"w,y\nu,1\nv,2\n",
            {"categories": "refuse"},
            "column 'w' .* holds words; pass categories=",
        ),
        (b"w,y\nu,1\nv,2\n", {"columns": 1}, "column 'w' of <bytes> holds more than 1 distinct"),
        (CSV, {"label": "z"}, "has no column 'z'; its columns are a, b, label"),
        (CSV, {"label": "lable"}, r"its columns are a, b, label; did you mean 'label'\?"),
        (CSV, {"label": 3}, "has 3 columns, so none at place 3"),
        (CSV, {"categories": "some"}, "categories must be onehot, hash or refuse"),
        (CSV, {"missing": "mean"}, "missing must be 'refuse' or a finite number"),
        (CSV, {"missing": float("nan")}, "missing must be 'refuse' or a finite number"),
        (CSV, {"dtype": int}, "dtype must be float32 or float64"),
        (CSV, {"columns": 0}, "columns must be a whole number from 1 to"),
        (CSV, {"select": ["z"]}, "has no column 'z'; its columns are a, b, label"),
        (CSV, {"select": [7]}, "has 3 columns, so none at place 7"),
        (CSV, {"select": []}, "select names no column"),
        (CSV, {"select": ["a", "label"]}, "column 'label' of <bytes> is taken for the label, but"),
        (
            CSV,
            {"select": ["a"], "like": rb.Examples(np.eye(1), [1])},
            "a model knows which columns",
        ),
        (CSV, {"separator": "ab"}, "separator must be one ASCII character"),
        (CSV, {"separator": ""}, "separator must be one ASCII character"),
        (CSV, {"separator": '"'}, "separator must be one ASCII character, and neither a quote"),
        (CSV, {"separator": ",", "decimal": ","}, "separator and decimal are both ','"),
        (CSV, {"decimal": ";"}, "decimal must be '.' or ',', got ';'"),
    ],
)
def test_texts_and_options_that_cannot_be_used_are_refused(text, options, words):
    with pytest.raises(rb.InputError, match=words):
        csv(text, **options)


def test_missing_words_are_refused_or_set_no_feature():
    text = b"c,y\nred,1\n?,0\nblue,1\n"
    with pytest.raises(rb.InputError, match="row 2, column 'c' of <bytes> is missing"):
        csv(text)
    assert csv(text, missing=0).X.toarray().tolist() == [
        [0, 1],
        [0, 0],
        [1, 0],
    ]
    hashed = csv(text, missing=0, categories="hash", columns=4).X
    assert hashed.sum(axis=1).ravel().tolist() == [[1, 0, 1]]


def test_a_late_missing_value_is_read_with_care():
    text = b"a,b,y\n" + b"1,2,0\n" * 300_000 + b"NA,2,1\n"
    found = csv(text, missing=9)
    assert found.X[-1].tolist() == [9, 2]
    with pytest.raises(rb.InputError, match="row 300001, column 'a'"):
        csv(text)


def test_spellings_of_a_csv_file_do_not_matter():
    expected = csv(CSV)
    for text in (CSV.replace(b",", b" , "), CSV.replace(b"1,2.5", b'"1","2.5"')):
        found = csv(text)
        assert tuple(name.strip() for name in found.names) == expected.names, text
        assert np.array_equal(found.X, expected.X), text
        assert np.array_equal(found.y, expected.y), text


def test_line_ends_inside_quotes_are_no_line_ends(monkeypatch):
    text = b"a,w,y\n" + b'1,"u\nv",2\n' * 50
    monkeypatch.setattr(tables_text, "SAMPLE_BYTES", 101)
    assert csv(text).names == ("a", "w=u\nv")


@pytest.mark.parametrize("text", [CSV.replace(b"1,", b'"1",'), CSV * 5000])
def test_a_table_without_polars_says_how_to_get_it(monkeypatch, text):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(rb.MissingExtraError, match=r"polars is not installed.*rosenblatt\[files\]"):
        csv(text)


def test_a_small_table_of_plain_cells_needs_no_polars(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    X, y = read_table(CSV, Reading("csv"))
    assert X.tolist() == [[1, 2.5], [-3, 100]]
    assert y.tolist() == [1, 0]


def test_files_are_found_compressed_in_folders_and_by_extension(tmp_path):
    (tmp_path / "a.csv").write_bytes(CSV)
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(CSV))
    (tmp_path / "c.csv.xz").write_bytes(lzma.compress(CSV))
    for name in ("a.csv", "b.csv.gz", "c.csv.xz"):
        assert rb.read(tmp_path / name).X.shape == (2, 2)
        assert [len(block) for block in table_blocks(tmp_path / name, Reading("csv"))] == [2]
    assert rb.read(tmp_path).X.shape == (6, 2)
    assert (
        sum(len(block) for block in table_blocks(tmp_path / "*.csv*", Reading("csv"), rows=2)) == 6
    )
    assert found_format("x.PARQUET", b"") == "parquet"
    assert found_format("x.jsonl.zst", b"") == "jsonl"
    assert found_format("x.svm", b"") == "svmlight"
    (tmp_path / "[a].csv").write_bytes(CSV)
    assert len(rb.read(tmp_path / "[a].csv")) == 2
    with pytest.raises(rb.InputError, match="there is no file"):
        rb.read(tmp_path / "none.csv")


@every_format
@pytest.mark.parametrize("categories", ["onehot", "hash"])
def test_blocks_together_are_the_whole(tmp_path, format, categories):
    n = 1000
    random = np.random.default_rng(0)
    frame = pl.DataFrame(
        {"a": random.normal(size=n), "w": random.choice(["u", "v", "w"], n), "y": np.arange(n)}
    )
    path = tmp_path / f"t.{format}"
    path.write_bytes(as_bytes(frame, format))
    options = {"categories": categories, "columns": 64}
    whole = read_table(path, Reading(format, **options))
    blocks = list(table_blocks(path, Reading(format, **options), rows=300))
    assert len(blocks) > 2
    assert max(map(len, blocks)) <= 300
    assert (sparse.vstack([block.X for block in blocks]) != whole.X).nnz == 0
    assert np.concatenate([block.y for block in blocks]).tolist() == list(range(n))
    assert all(block.names == whole.names for block in blocks)


def test_blocks_go_on_with_care_after_a_late_missing_value(tmp_path):
    path = tmp_path / "a.csv"
    rows = 400_000
    path.write_bytes(b"a,y\n" + b"1,0\n" * rows + b"NA,1\n" + b"2,1\n")
    found = np.concatenate(
        [block.X for block in table_blocks(path, Reading("csv", missing=5), rows=50_000)]
    )
    assert found.shape == (rows + 2, 1)
    assert found[-3:].ravel().tolist() == [1, 5, 2]
    with pytest.raises(rb.InputError, match=f"row {rows + 1}, column 'a' of .* is missing"):
        list(table_blocks(path, Reading("csv")))


def test_blocks_keep_to_the_kind_of_label_they_began_with(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"x,y\n1,A\n" + b"1,0\n" * 5)
    assert {block.y.dtype.kind for block in table_blocks(path, Reading("csv"), rows=2)} == {"U"}
    path.write_bytes(b"x,y\n" + b"1,0\n" * 400_000 + b"1,A\n")
    with pytest.raises(rb.InputError, match=r"row 400001 of .* has the label 'A', but the labels"):
        list(table_blocks(path, Reading("csv")))


def test_words_that_look_like_numbers_stay_words_where_the_format_says_so():
    frame = pl.DataFrame({"x": [1, 2], "y": ["1", "2"]})
    assert read_table(as_bytes(frame, "parquet"), Reading("parquet")).y.tolist() == ["1", "2"]
    assert read_table(as_bytes(frame, "csv"), Reading("csv")).y.tolist() == [1, 2]


EUROPEAN = Reading("csv", decimal=",")


def test_a_decimal_comma_goes_with_semicolons():
    X, y = read_table("größe;b;label\n1,5;2;1,0\n 3 ;1,5e3;-2,0\n".encode(), EUROPEAN)
    assert X.tolist() == [[1.5, 2], [3, 1500]]
    assert y.tolist() == [1, -2]
    tabs = read_table(b"1,5\t2\n2,5\t3\n", Reading("tsv", decimal=","))
    assert tabs.X.tolist() == [[1.5], [2.5]]


def test_any_separator_can_stand_between_cells(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"a|b|y\n1|2|0\n3|4|1\n")
    assert rb.read(tmp_path / "a.txt", separator="|").names == ("a", "b")
    (tmp_path / "b.csv").write_bytes(b"a|y\n1|2|0\n")
    with pytest.raises(rb.ParseError, match=r"b\.csv:2:5: .* more fields than the 2"):
        rb.read(tmp_path / "b.csv", separator="|")


def test_columns_are_chosen_by_name_or_place(tmp_path):
    text = b"id,when,size,colour,label\na,2020,1,red,1\nb,2021,2,blue,0\n"
    for select in (["colour", "size"], (2, -2), [3, "size"]):
        found = csv(text, select=select)
        assert found.names == ("size", "colour=blue", "colour=red")
        assert found.y.tolist() == [1, 0]
    (tmp_path / "a.csv").write_bytes(text)
    assert rb.read(tmp_path / "a.csv", select="size").names == ("size",)
    blocks = table_blocks(tmp_path / "a.csv", Reading("csv", select=["size"]), rows=1)
    assert [block.X.tolist() for block in blocks] == [[[1]], [[2]]]


def test_columns_that_were_not_chosen_may_hold_anything():
    found = read_table(as_bytes(DATES, "parquet"), Reading("parquet", select=["x"]))
    assert found.X.tolist() == [[2]]


def test_the_last_column_is_not_taken_for_the_label_in_silence_if_one_other_holds_words():
    letters = b"letter,width,high\nT,2,8\nI,5,12\n"
    with pytest.warns(rb.GuessWarning, match="'high', is taken.* pass label='letter'"):
        assert csv(letters).y.tolist() == [8, 12]
    for text, how in (
        (letters, {"label": "letter"}),
        (letters, {"label": -1}),
        (letters.replace(b"high", b"label"), {}),
        (letters.replace(b"8", b"yes").replace(b"12", b"no"), {}),
    ):
        csv(text, **how)  # without a warning


def test_a_word_among_numbers_is_named_before_it_makes_categories_of_them():
    rows = b"1,0\n2,1\n3,1\nunknown,0\n"
    with pytest.warns(rb.GuessWarning, match="'age' of <bytes> holds 'unknown' among its numbers"):
        assert csv(b"age,label\n" + rows).X.shape == (4, 4)
    read_table(b"age,label\n" + rows.replace(b"2", b"few").replace(b"3", b"many"), Reading("csv"))


def test_words_in_many_columns_are_told_in_one_sentence_that_thinks_of_a_header():
    rows = b"age,size,label\n" + b"1,2,0\n3,4,1\n" * 2
    with pytest.warns(rb.GuessWarning) as told:
        csv(rows, header=False)
    (said,) = [str(each.message) for each in told]
    assert "2 columns of <bytes> hold words among their numbers, such as 'age' in" in said
    assert "if the first row names the columns, pass header=True; else correct" in said
    named = rows.replace(b"1,2,0", b"few,many,0", 1)
    with pytest.warns(rb.GuessWarning, match="such as 'few' in 'age', and .*categories; correct"):
        csv(named)


@pytest.mark.parametrize(
    ("cell", "advice"),
    [
        ("2531,{:02}", r"such as '2531,00'; .* pass decimal=','"),
        ("2026-01-{:02}", "such as '2026-01-00', .* or turn it into numbers"),
    ],
)
def test_a_column_whose_words_hardly_ever_repeat_is_told(cell, advice):
    text = "when;label\n" + "".join(f"{cell.format(k)};{k % 2}\n" for k in range(30))
    with pytest.warns(rb.GuessWarning, match=advice):
        assert csv(text.encode(), separator=";").X.shape == (30, 30)
    csv(text.encode(), separator=";", categories="hash", columns=64)  # without a warning
    repeated = "when;label\n" + "".join(f"day {k % 7};{k % 2}\n" for k in range(30))
    csv(repeated.encode(), separator=";")


def test_a_large_table_that_is_read_twice_is_told(monkeypatch):
    monkeypatch.setattr("rosenblatt.data.tables.LARGE", 1 << 20)
    rows = b"1.5,x\n-1.5,y\n" * 100_000
    text = b"a,label\n" + rows + b"NA,x\n"
    how = Reading(format="csv", missing=0.0)
    with pytest.warns(rb.ReadTwiceWarning, match="read twice, with care .* such as NA"):
        found = read_table(text, how)
    assert found.X.shape == (200_001, 1)
    assert found.X[-1, 0] == 0
    assert read_table(b"a,label\n" + rows, how).X.shape == (200_000, 1)  # without a warning


def test_an_interrupt_within_polars_is_no_fault_of_the_file(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text('"a",label\n1,0\n2,1\n')

    def strike(*_, **__):
        raise pl.exceptions.PanicException("PyErr { type: <class 'KeyboardInterrupt'> }")

    monkeypatch.setattr("rosenblatt.data.tables._origin", strike)
    with pytest.raises(KeyboardInterrupt):
        rb.read(tmp_path / "t.csv")


@pytest.mark.parametrize("first", ["1,5", '"1,5"'])  # read without Polars, and with
def test_few_numbers_with_decimal_commas_are_not_taken_for_words_in_silence(first):
    text = f"length;kind\n3;b\n{first};a\n2,5;b\n2,5;b\n".encode()
    with pytest.warns(rb.GuessWarning, match=r"such as '1,5'; .* numbers, pass decimal=','"):
        assert csv(text, separator=";").X.shape == (4, 3)
    assert csv(text, separator=";", decimal=",").X.shape == (4, 1)
