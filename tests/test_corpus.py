"""A written corpus of malformed inputs, over every format that is read.

Each is read correctly, or refused in one sentence that says where and what to do; and it is so as a
whole, block by block, and from the shell.
"""

import bz2
import gzip
import io
import lzma
import re
import struct
import sys
import time
import tracemalloc
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import sparse

import rosenblatt as rb
from amount import sampled
from rosenblatt.cli.words import spoken
from rosenblatt.data.read import read_blocks
from rosenblatt.data.reading import FORMATS, Reading
from rosenblatt.data.store import write_store
from rosenblatt.data.text import TextHasher

pl = pytest.importorskip("polars")
zstandard = pytest.importorskip("zstandard")

# Of JSON lines, a line of megabytes is read twice, and that is told.
pytestmark = pytest.mark.filterwarnings("ignore::rosenblatt.errors.ReadTwiceWarning")


class Case(NamedTuple):
    """An input, and what becomes of it.

    Content is that of the file, or of several by their names, or a function that writes them. A
    complaint is what the message says, with FILE for the name and ... for anything; without one,
    the input is read as X (or what that gives when it is called) and y. `unfit` is what learning,
    but not reading, complains about, as the shell says it.
    """

    kind: str
    file: str
    content: bytes | dict[str, bytes] | Callable[[], Any]
    complaint: str = ""
    X: Any = None
    y: Any = None
    unfit: str = ""


MARK = b"\xef\xbb\xbf"
NOISE = np.random.default_rng(0).bytes(4000)
LONG = 10**7
SHORT_BLOCKS, LONG_BLOCKS = 16, 1 << 16
FAR = 10**9
Y = np.array([1, -1])


def rows(*entries, width):
    """Make sparse rows of {column: value}."""
    parts = [(value, i, j) for i, row in enumerate(entries) for j, value in row.items()]
    values, i, j = zip(*parts, strict=True)
    return sparse.csr_matrix((values, (i, j)), shape=(len(entries), width))


def too_wide(columns):
    """Say what becomes of a column whose weights would fill the memory."""
    return (
        f"weights for {columns} columns need about 59.6 GiB, more than this machine can spare; "
        "number the columns densely, or hash them to fewer"
    )


def cases_of(file):
    """Give what makes cases of one file."""
    return lambda kind, content, *more, **read: Case(kind, file, content, *more, **read)


def spelled(case, good, **read):
    """Give a text in other words."""
    ways = {
        "mixed line ends": good.replace(b"\n", b"\r\n", 1),
        "byte-order mark": MARK + good,
        "no final newline": good[:-1],
        "many blank lines": good.replace(b"\n", b"\n" * 60),
    }
    return [case(kind, content, **read) for kind, content in ways.items()]


def utf_16(case, good, *complaints):
    """Give a text in the ways in which UTF-16 is met with."""
    ways = {"": "utf-16", " without a mark": "utf-16-le", " big-endian": "utf-16-be"}
    told = zip(ways.items(), complaints, strict=True)
    return [case(f"UTF-16{how}", good.decode().encode(way), why) for (how, way), why in told]


def each(case, words, text, complaint, kind="WORD"):
    """Give a case for each word that may stand in the place of WORD."""
    parts = [[part.replace("WORD", word) for part in (kind, text, complaint)] for word in words]
    return [case(kind, text.encode(), complaint) for kind, text, complaint in parts]


svm, vw, mail = map(cases_of, ("a.svm", "a.vw", "a.txt"))
npz_file, npy_file, store, folder_of = map(cases_of, ("a.npz", "a.npy", "a.rows", "days"))


# ---- svmlight

SVM = b"1 1:0.5 3:2\n-1 2:1.5\n"
SVM_X = [[0.5, 0, 2], [0, 1.5, 0]]
SVM_READ = {"X": SVM_X, "y": Y}
PAIRS = "write column:value pairs such as 3:0.5"
NOT_TEXT = "are not text; decompress or convert the file first"
LEAVE_OUT = "change it or leave it out"

SVMLIGHT = [
    svm("truncated", SVM[:-4], f"FILE:2:6: the value is missing; {PAIRS}"),
    svm("truncated in a column", SVM[:-5], f"FILE:2:4: '2' is not a pair; {PAIRS}"),
    svm("empty", b"", "FILE holds no examples; write one a line, such as: 1 3:0.5 7:2"),
    svm("blank", b"\n \r\n\n", "FILE holds no examples; write one a line"),
    svm("binary", NOISE, f"FILE:1:1: the bytes '...' {NOT_TEXT}"),
    Case("binary without a name", "a", NOISE, f"FILE:1:1: the bytes '...' {NOT_TEXT}"),
    *utf_16(svm, SVM, *[f"FILE:1:1: the bytes '...' {NOT_TEXT}"] * 3),
    svm(
        "latin-1",
        b"1 1:1\ncaf\xe9 1:1\n",
        r"FILE:2:1: the label 'caf\xe9' is not UTF-8 text; convert the file to UTF-8",
    ),
    svm("latin-1 in a comment", SVM.replace(b"2\n", b"2 # \xe9\n"), **SVM_READ),
    *each(
        *(svm, ("nan", "inf", "-inf", "1e999", "1e39"), "1 1:1\n-1 1:WORD\n"),
        f"FILE:2:6: the value 'WORD' is not finite as float32; {LEAVE_OUT}",
    ),
    *each(
        *(svm, ("nan", "inf", "1e999"), "1 1:1\nWORD 1:1\n"),
        f"FILE:2:1: the label 'WORD' is not finite; {LEAVE_OUT}",
        "label WORD",
    ),
    svm(
        "empty label",
        b"1 1:1\n 1:1\n",
        "FILE:2:2: the label is missing before '1:1'; begin each line with a label such as 1, -1",
    ),
    *spelled(svm, SVM, **SVM_READ),
    svm(
        "carriage returns",
        SVM.replace(b"\n", b"\r"),
        r"FILE:1:11: a carriage return stands inside '...'; end lines in \n or \r\n",
    ),
    Case("a tab behind the label", "a", SVM.replace(b"1 ", b"1\t"), X=SVM_X, y=Y),
    svm(
        "far column",
        f"1 1:1\n-1 {FAR}:1\n".encode(),
        X=rows({0: 1}, {FAR - 1: 1}, width=FAR),
        y=Y,
        unfit=too_wide("1,000,000,000"),
    ),
    svm(
        "column beyond all",
        b"1 1:1\n-1 3000000000:1\n",
        "FILE:2:4: the column '3000000000' is too large; keep columns below 2147483648",
    ),
    svm("long line", lambda: b"1 1:0.5 3:2 #" + b"x" * LONG + SVM[11:], X=SVM_X, y=Y),
    svm(
        "long line of pairs",
        lambda: b"1" + b"".join(b" %d:1" % j for j in range(1, LONG // 10)) + b"\n-1 2:1\n",
        X=lambda: rows(dict.fromkeys(range(LONG // 10 - 1), 1), {1: 1}, width=LONG // 10 - 1),
        y=Y,
    ),
    svm("long value", lambda: b"1 1:0.5" + b"0" * LONG + b" 3:2" + SVM[11:], X=SVM_X, y=Y),
    svm(
        "long word",
        lambda: b"1 1:1\n-1 " + b"x" * LONG + b"\n",
        f"FILE:2:4: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...' is not a pair; {PAIRS}",
    ),
]


# ---- Vowpal Wabbit

VW = b"1 | 0:0.5 2:2\n-1 | 1:1.5\n"
VW_X = rows({0: 0.5, 2: 2}, {1: 1.5}, width=2**18)
NO_BAR = "the line has no |; write a label, a bar and features, such as: 1 | height:1.5 red"
NUL = "a NUL byte is not text; decompress or convert the file first"

VOWPAL = [
    vw(
        "truncated",
        VW[:-4],
        "FILE:2:8: the value of feature '1', '', is not a number; write lines such as: 1 | height",
    ),
    vw("truncated in a label", VW[:-10], f"FILE:2:1: {NO_BAR}"),
    vw("empty", b"", "FILE holds no examples; write one a line, such as: 1 | height:1.5"),
    vw("blank", b"\n \r\n\n" * 9, "FILE holds no examples; write one a line"),
    vw("binary", NOISE, f"FILE:1:1: {NO_BAR}"),
    *utf_16(vw, VW, *(f"FILE:1:{place}: {NUL}" for place in (4, 2, 1))),
    vw(
        "latin-1",
        b"1 | 1\ncaf\xe9 | 2\n",
        r"FILE:2:1: the label, 'caf\xe9', is not a number; write lines such as: 1 | height:1.5",
    ),
    *each(
        *(vw, ("nan", "inf", "-inf", "1e999"), "1 | a\n-1 | b:WORD\n"),
        f"FILE:2:8: the value of feature 'b', 'WORD', is not finite; {LEAVE_OUT}",
    ),
    vw(
        "1e39",
        b"1 | a\n-1 | b:1e39\n",
        f"FILE:2:8: the value of feature 'b' is too large; {LEAVE_OUT}",
    ),
    *each(
        *(vw, ("nan", "inf", "1e999"), "1 | a\nWORD | b\n"),
        f"FILE:2:1: the label, 'WORD', is not finite; {LEAVE_OUT}",
        "label WORD",
    ),
    vw(
        "empty label",
        VW + b" | 2:1\n",
        "FILE:3:1: the line has no label, but lines before have one; give every line a label and a "
        "blank before |",
    ),
    vw(
        "no labels",
        VW.replace(b"-1 ", b"").replace(b"1 |", b"|"),
        X=VW_X,
        unfit="a.vw has no labels; learning and evaluating need one for each row",
    ),
    *spelled(vw, VW, X=VW_X, y=Y),
    vw(
        "carriage returns",
        VW.replace(b"\n", b"\r"),
        r"FILE:1:14: a carriage return alone ends no line; end lines in \n or \r\n",
    ),
    vw(
        "fault behind blank lines",
        VW.replace(b"\n", b"\n" * 60) + b"1 | a:x\n",
        "FILE:121:7: the value of feature 'a', 'x', is not a number; write lines such as",
    ),
    vw(
        "far column",
        f"1 | 1\n-1 | {FAR}:2\n".encode(),
        X=rows({1: 1}, {FAR % 2**18: 2}, width=2**18),
        y=Y,
    ),
    vw("long line", lambda: b"1 '" + b"x" * LONG + VW[1:], X=VW_X, y=Y),
    vw("long value", lambda: b"1 | 0:0.5" + b"0" * LONG + VW[9:], X=VW_X, y=Y),
    vw("long word", lambda: b"1 | a\n" + b"x" * LONG + b"\n", f"FILE:2:1: {NO_BAR}"),
]


# ---- label<TAB>text

MAIL = b"spam\tbuy now\nham\tsee you\n"
MAIL_Y = ["spam", "ham"]
WRITE_LABEL = "write: label, tab, text"


def hashed(*documents):
    return lambda: TextHasher().transform(documents)


MAIL_READ = {"X": hashed("buy now", "see you"), "y": MAIL_Y}
NO_TEXT = "is not text; decompress or convert the file first"

TEXT = [
    mail("truncated", MAIL[:-10], f"FILE:2:3: there is no tab; {WRITE_LABEL}"),
    mail("empty", b"", "FILE holds no examples; write one a line"),
    mail("binary", b"\x7fELF\x02\x01\x01\0\tx\n", f"FILE:1:1: the label '...' {NO_TEXT}"),
    mail(
        "binary behind text",
        MAIL + b"\0\x01\x02\tsee you\n",
        rf"FILE:3:1: the label '\x00\x01\x02' {NO_TEXT}",
    ),
    *utf_16(mail, MAIL, *(f"FILE:1:{place}: the label '...' {NO_TEXT}" for place in (4, 2, 1))),
    mail(
        "latin-1",
        b"spam\tbuy now\ncaf\xe9\tsee you\n",
        "FILE:2:4: the label is not UTF-8; write the file in UTF-8",
    ),
    mail(  # a byte that belongs to no character separates words
        "latin-1 in the words",
        b"spam\tcaf\xe9 now\nham\tsee you\n",
        X=hashed("caf now", "see you"),
        y=MAIL_Y,
    ),
    *(
        mail(
            word, MAIL.replace(b"buy", word.encode()), X=hashed(f"{word} now", "see you"), y=MAIL_Y
        )
        for word in ("nan", "inf", "1e999")
    ),
    mail(
        "empty label",
        MAIL + b"\tno label\n",
        f"FILE:3:1: the label before the tab is missing; {WRITE_LABEL}",
    ),
    *spelled(mail, MAIL, **MAIL_READ),
    mail(
        "fault behind blank lines",
        MAIL.replace(b"\n", b"\n" * 60) + b"no tab\n",
        f"FILE:121:7: there is no tab; {WRITE_LABEL}",
    ),
    mail(
        "long line",
        lambda: b"spam\tbuy now" + b" now" * (LONG // 4) + MAIL[12:],
        X=hashed("buy now" + " now" * (LONG // 4), "see you"),
        y=MAIL_Y,
    ),
    mail(
        "long label among many",
        lambda: MAIL * 2000 + b"x" * LONG + b"\tword\n",
        X=hashed(*["buy now", "see you"] * 2000, "word"),
        y=[*MAIL_Y * 2000, "x" * LONG],
    ),
    mail(
        "long word",
        lambda: MAIL + b"x" * LONG + b"\n",
        f"FILE:3:10000001: there is no tab; {WRITE_LABEL}",
    ),
]


# ---- tables as text

CSV = "a,b,label\n1,2.5,1\n-3,100,-1\n"
CSV_X = [[1, 2.5], [-3, 100]]
ROW_OUT = "change it or leave the row out"
NO_LABEL = "has no label in column 'label'; leave the row out, or name another column with label="
CONVERT = "convert the file to UTF-8"


def separated(file, separator):
    """Write the cases of CSV with another separator, and perhaps in another encoding."""

    case = cases_of(file)

    def text(content, encoding="utf-8"):
        return content.replace(",", separator).encode(encoding)

    def last_row(row):
        return text(f"a,b,label\n1,2.5,1\n{row}\n")

    cannot = f"this cannot be read as {file[-3:]}"
    good = text(CSV)
    return [
        case("truncated", text(CSV[:-6]), f"row 2 of FILE {NO_LABEL}"),
        case("empty", b"", "FILE holds no examples; give a file that is not empty"),
        case("blank", b"\n\n", "FILE holds no examples; give a file that is not empty"),
        case("header", good[:10], "FILE holds no examples; give a table that has rows"),
        case("binary", NOISE, f"FILE:1:2: {cannot}: invalid utf-8, '\\x82'; {CONVERT}"),
        case("NUL", last_row("-3,\0,-1"), f"FILE:3:4: {cannot}: {NUL}"),
        *utf_16(case, good, *(f"FILE:1:{place}: {cannot}: {NUL}" for place in (4, 2, 1))),
        case(
            "latin-1",
            text("a,b,label\n1,café,1\n-3,tea,-1\n", "latin-1"),
            f"FILE:2:6: {cannot}: invalid utf-8, '\\xe9'; {CONVERT}",
        ),
        *(
            case(
                word,
                last_row(f"-3,{word},-1"),
                f"row 2, column 'b' of FILE is not finite as float32; {ROW_OUT}",
            )
            for word in ("inf", "-inf", "1e999", "1e39")
        ),
        *(
            case(
                word or "empty cell",
                last_row(f"-3,{word},-1"),
                "row 2, column 'b' of FILE is missing; leave such rows out, or give a number",
            )
            for word in ("nan", "")
        ),
        *(
            case(
                f"label {word}",
                last_row(f"-3,100,{word}"),
                f"the label in row 2, column 'label' of FILE is not finite; {ROW_OUT}",
            )
            for word in ("inf", "1e999")
        ),
        case("label nan", last_row("-3,100,nan"), f"row 2 of FILE {NO_LABEL}"),
        case("empty label", last_row("-3,100,"), f"row 2 of FILE {NO_LABEL}"),
        *spelled(case, good, X=CSV_X, y=Y),
        case(
            "carriage returns",
            good.replace(b"\n", b"\r"),
            rf"FILE:1:10: {cannot}: a carriage return alone ends no line; end lines in \n",
        ),
        case("two columns", MARK + text("label,b\n1,2.5\n-1,100\n"), X=[[2.5], [100]], y=Y),
        case(
            "too many cells",
            last_row("-3,100,-1,7"),
            f"FILE:3:11: {cannot}: found more fields than the 3 of the first row; put cells that",
        ),
        case(
            "open quote",
            text('a,b,label\n1,"2.5,1\n-3,100,-1\n'),
            f"FILE:2:3: {cannot}: a quote opens a cell here and never closes it; close it, or",
        ),
        case(
            "long line",
            lambda: text("a,b,label\n1,2.5" + "0" * LONG + ",1\n-3,100,-1\n"),
            X=CSV_X,
            y=Y,
        ),
    ]


LARGE_CSV = [
    Case(
        "stray quote far behind",
        "a.csv",
        lambda: (CSV + CSV[10:] * 60_000 + '1,2"5,1\n' + CSV[10:]).encode(),
        "FILE:120004:4: this cannot be read as csv: a quote stands inside a cell; put the whole",
    ),
    Case(
        "long cell",
        "a.csv",
        lambda: b"a,b,label\n1," + b"x" * LONG + b",1\n-3,word,-1\n",
        X=[[1, 0, 1], [-3, 1, 0]],
        y=Y,
    ),
    Case(
        "long label among many",
        "a.csv",
        lambda: b"a,b,label\n" + b"1,2,u\n3,4,v\n" * 2000 + b"5,6," + b"x" * LONG,
        X=[*[[1, 2], [3, 4]] * 2000, [5, 6]],
        y=[*["u", "v"] * 2000, "x" * LONG],
    ),
]


def json_lines(file):
    """Write the cases of JSON lines."""
    case = cases_of(file)
    good = b'{"a": 1, "b": 2.5, "label": 1}\n{"a": -3, "b": 100, "label": -1}\n'
    cannot = "this cannot be read as jsonl"
    one = 'write one object a line, such as {"height": 1.5, "label": 1}'
    return [
        case(
            "truncated",
            good[:-8],
            f"FILE:2:21: {cannot}: not JSON (unterminated string starting at); {one}",
        ),
        case("empty", b"", f"FILE:1:1: {cannot}: there is no object; {one}"),
        case("blank", b"\n \r\n", f"FILE:1:1: {cannot}: there is no object; {one}"),
        case("binary", NOISE, f"FILE:1:2: {cannot}: invalid utf-8, '\\x82'; {CONVERT}"),
        *utf_16(case, good, *(f"FILE:1:{place}: {cannot}: {NUL}" for place in (4, 2, 1))),
        case(
            "latin-1",
            good.replace(b"100", b'"\xe9"'),
            f"FILE:2:17: {cannot}: invalid utf-8, '\\xe9'; {CONVERT}",
        ),
        *each(
            *(case, ("nan", "NaN", "inf", "-inf", "Infinity", "1e999")),
            good.decode().replace("100", "WORD"),
            f"FILE:2:16: {cannot}: the value 'WORD' is not finite; {LEAVE_OUT}",
        ),
        case(
            "1e39",
            good.replace(b"100", b"1e39"),
            f"row 2, column 'b' of FILE is not finite as float32; {ROW_OUT}",
        ),
        case(
            "null",
            good.replace(b"100", b"null"),
            "row 2, column 'b' of FILE is missing; leave such rows out, or give a number",
        ),
        *(
            case(kind, good.replace(b', "label": -1', label), f"row 2 of FILE {NO_LABEL}")
            for kind, label in {"no label": b"", "label null": b', "label": null'}.items()
        ),
        case(
            "empty label",
            good.replace(b": -1}", b': ""}').replace(b": 1}", b': "u"}'),
            f"row 2 of FILE {NO_LABEL}",
        ),
        *spelled(case, good, X=CSV_X, y=Y),
        case(
            "carriage returns",
            good.replace(b"\n", b"\r"),
            f"FILE:1:32: {cannot}: not JSON (extra data); {one}",
        ),
        case("no object", good + b"[1, 2]\n", f"FILE:3:1: {cannot}: this is not an object; {one}"),
        case(
            "long line",
            lambda: good.replace(b'"b"', b'"c": "' + b"x" * LONG + b'", "b"'),
            X=[[1, 2.5, 1], [-3, 100, 1]],
            y=Y,
        ),
        case(
            "long line cut",
            lambda: good + b'{"c": "' + b"x" * LONG,
            f"FILE:3:7: {cannot}: not JSON (unterminated string starting at); {one}",
        ),
        case(
            "deep",
            b'{"a": ' + b"[" * 100_000,
            f"FILE:1:1: {cannot}: values are nested too deeply; {one}",
        ),
    ]


# ---- tables as frames


def frames(file, write):
    """Write the cases of a binary format of tables."""

    case = cases_of(file)

    def table(**columns):
        out = io.BytesIO()
        write(pl.DataFrame(columns), out)
        return out.getvalue()

    a, b = [1.0, -3.0], [2.5, 100.0]
    good = table(a=a, b=b, label=Y)
    cannot = f"FILE cannot be read as {file[2:]}: ...; check the format, or write the file again"
    missing = "row 2, column 'b' of FILE is missing; leave such rows out, or give a number"
    return [
        case("whole", good, X=CSV_X, y=Y),
        case("truncated", good[: len(good) // 2], cannot),
        case("truncated at the end", good[:-4], cannot),
        case("binary", NOISE, cannot),
        case("binary behind its beginning", good[:8] + NOISE, cannot),
        case("empty", b"", "FILE holds no examples; give a file that is not empty"),
        case("nan", table(a=a, b=[2.5, np.nan], label=Y), missing),
        case("null", table(a=a, b=[2.5, None], label=Y), missing),
        *(
            case(
                str(value),
                table(a=a, b=[2.5, value], label=Y),
                f"row 2, column 'b' of FILE is not finite as float32; {ROW_OUT}",
            )
            for value in (np.inf, 1e300)
        ),
        case("empty label", table(a=a, label=["u", ""]), f"row 2 of FILE {NO_LABEL}"),
        case("no label", table(a=a, label=["u", None]), f"row 2 of FILE {NO_LABEL}"),
        case("label nan", table(a=a, label=[1.0, np.nan]), f"row 2 of FILE {NO_LABEL}"),
        case(
            "label inf",
            table(a=a, label=[1.0, np.inf]),
            f"the label in row 2, column 'label' of FILE is not finite; {ROW_OUT}",
        ),
        case(
            "no rows",
            table(a=a[:0], label=a[:0]),
            "FILE holds no examples; give a table that has rows",
        ),
        case("no columns", table(), "FILE has no columns; give it columns of features and"),
        case("labels only", table(label=Y), "FILE has no column but the label; give it"),
        case(
            "bytes",
            table(a=[b"u", b"v"], label=Y),
            "column 'a' of FILE holds Binary; leave it out, or turn it into numbers",
        ),
    ]


# ---- arrays

X = np.array([[1.0, 2.0], [3.0, -4.0]])
BROKEN = {"nan": np.array([[1, 2], [3, np.nan]]), "inf": np.array([[1, 2], [3, np.inf]])}
CONTAINS = {"nan": "NaN", "inf": "infinity"}
DROP = "(row 2, column 2); drop such rows or fill them in first"


def npz(**arrays):
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def csr(matrix, **others):
    return npz(
        data=matrix.data, indices=matrix.indices, indptr=matrix.indptr, shape=matrix.shape, **others
    )


FAR_X = rows({0: 1.0}, {FAR: 1.0}, width=FAR + 1)
TOO_WIDE = too_wide("1,000,000,001")
NPZ = npz(X=X, y=Y)
NPZ_ANEW = "FILE is not a usable .npz file: ...; write it again with numpy.savez"
NPY_ANEW = "FILE is not a usable .npy file: ...; write it again with numpy.save"
EACH_ROW = "give one for each row"

NPZ_CASES = [
    npz_file("truncated", NPZ[: len(NPZ) // 2], NPZ_ANEW),
    npz_file("truncated early", NPZ[:20], NPZ_ANEW),
    npz_file("binary", NOISE, NPZ_ANEW),
    npz_file("binary behind its beginning", NPZ[:4] + NOISE, NPZ_ANEW),
    npz_file("flipped byte", NPZ.replace(X.tobytes(), X[::-1].tobytes()), NPZ_ANEW),
    npz_file("empty", b"", NPZ_ANEW),
    *(
        npz_file(kind, npz(X=array, y=Y), X=array, y=Y, unfit=f"X contains {CONTAINS[kind]} {DROP}")
        for kind, array in BROKEN.items()
    ),
    npz_file(
        "label nan",
        npz(X=X, y=[1, np.nan]),
        X=X,
        y=[1, np.nan],
        unfit="...y contains NaN or infinity; every row needs a label",
    ),
    npz_file("empty label", npz(X=X, y=[]), f"FILE: X has 2 rows but y has 0 la...; {EACH_ROW}"),
    npz_file("few labels", npz(X=X, y=[1]), f"FILE: X has 2 rows but y has 1 la...; {EACH_ROW}"),
    npz_file("wide labels", npz(X=X, y=X), f"FILE: ... y has the shape (2, 2); {EACH_ROW}"),
    npz_file("no labels", npz(X=X), X=X, unfit="a.npz has no labels; learning and evaluating"),
    npz_file("no rows", npz(X=X[:0], y=Y[:0]), "FILE holds no examples: ...; write some of"),
    npz_file("no columns", npz(X=X[:, :0], y=Y), "FILE holds no examples: ...; write some of"),
    *(
        npz_file(
            f"{array.ndim} axes",
            npz(X=array, y=Y),
            "FILE: Expected 2D array, got ...D array instead; write one row of numbers for each",
        )
        for array in (np.float64(1), X[0], X[None])
    ),
    npz_file("objects", npz(X=X, y=np.array([{}, 1])), NPZ_ANEW),
    npz_file("complex numbers", npz(X=X + 1j, y=Y), NPZ_ANEW),
    npz_file("far column", csr(FAR_X, y=Y), X=FAR_X, y=Y, unfit=TOO_WIDE),
    *(
        npz_file(kind, npz(data=[1.0], indices=indices, indptr=indptr, shape=(2, 2), y=Y), NPZ_ANEW)
        for kind, indices, indptr in [
            ("column outside", [9], [0, 1, 1]),
            ("negative column", [-1], [0, 1, 1]),
            ("falling starts", [1], [0, 9, 1]),
        ]
    ),
]

NPY = npy(X)

NPY_CASES = [
    npy_file("whole", {"a.npy": NPY, "y.npy": npy(Y)}, X=X, y=Y),
    npy_file("truncated", NPY[:-5], NPY_ANEW),
    npy_file("truncated early", NPY[:20], NPY_ANEW),
    npy_file("too long", NPY + b"more", NPY_ANEW),
    npy_file("binary", NOISE, NPY_ANEW),
    npy_file("empty", b"", NPY_ANEW),
    *(
        npy_file(
            kind,
            {"a.npy": npy(array), "y.npy": npy(Y)},
            X=array,
            y=Y,
            unfit=f"X contains {CONTAINS[kind]} {DROP}",
        )
        for kind, array in BROKEN.items()
    ),
    npy_file(
        "empty label",
        {"a.npy": NPY, "y.npy": npy(Y[:0])},
        "FILE holds 2 rows, but y.npy labels of shape (0,); give one label for each row",
    ),
    npy_file(
        "labels truncated", {"a.npy": NPY, "y.npy": npy(Y)[:-5]}, NPY_ANEW.replace("FILE", "y.npy")
    ),
    npy_file("one axis", npy(X[0]), "FILE: Expected 2D array, got 1D array instead; write"),
    npy_file("no rows", npy(X[:0]), "FILE holds no examples: ...; write some of each"),
]


def idx(array):
    head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.astype(np.uint8).tobytes()


IMAGES, LABELS = "t-images-idx3-ubyte", "t-labels-idx1-ubyte"
PIXELS, DIGITS = np.arange(8).reshape(2, 2, 2), np.array([7, 3])
FETCH = "it is truncated or damaged, so fetch it again"

ENDS_EARLY = "FILE ends inside its header; it is truncated, so fetch it again"
PROMISES = "the header of FILE promises"
FEW = f"FILE holds 2 rows, but {LABELS} labels of shape (1,); give one label for each row"
FEW_BYTES = f"the header of {LABELS} promises 2 elements of 1 bytes, but 1 bytes follow; {FETCH}"

IDX_CASES = [
    Case(kind, IMAGES, {IMAGES: images, LABELS: labels}, complaint)
    for kind, images, labels, complaint in [
        *(
            (kind, images, idx(DIGITS), complaint)
            for kind, images, complaint in [
                (
                    "truncated",
                    idx(PIXELS)[:-3],
                    f"{PROMISES} 2 by 2 by 2 ... 5 bytes follow; {FETCH}",
                ),
                ("truncated early", idx(PIXELS)[:9], ENDS_EARLY),
                ("too long", idx(PIXELS) + b"x", f"{PROMISES} ...; {FETCH}"),
                ("huge", idx(PIXELS)[:4] + b"\xff" * 13, f"{PROMISES} 4294967295 by ...; {FETCH}"),
                ("binary", NOISE, f"FILE:1:1: the bytes '...' {NOT_TEXT}"),
                ("empty", b"", "FILE holds no examples; write one a line"),
                ("no rows", idx(PIXELS[:0]), "FILE holds no examples; its header promises"),
            ]
        ),
        ("empty label", idx(PIXELS), b"", f"{LABELS} does not begin like an idx file; check what"),
        ("labels truncated", idx(PIXELS), idx(DIGITS)[:-1], FEW_BYTES),
        ("few labels", idx(PIXELS), idx(DIGITS[:1]), FEW),
    ]
]


# ---- stores


def stored(X=X, y=("spam", "ham"), **damage):
    """Write a store, and give a function that damages its files: {file: new content}."""

    def write():
        write_store("a.rows", [rb.Examples(X, np.array(y))])
        return {f"a.rows/{name.replace('_', '.')}": content for name, content in damage.items()}

    return write


STORE_ANEW = "the store is damaged, so write it again"
NOT_THAT = f"is not the array that the header describes; {STORE_ANEW}"
NO_JSON = (
    "a.rows/header.json is not the header of a store: it is not a JSON object; write the store"
)

STORE_CASES = [
    store("whole", stored(), X=X, y=["spam", "ham"]),
    store("truncated", stored(header_json=b'{"format": "rosen'), NO_JSON),
    store("binary", stored(header_json=NOISE), NO_JSON),
    store("empty", stored(header_json=b""), NO_JSON),
    store(
        "foreign header",
        stored(header_json=b'{"format": "other"}'),
        "a.rows/header.json is not the header of a store that this version reads ...; write the",
    ),
    store("values truncated", stored(values_npy=npy(X)[:-3]), f"a.rows/values.npy {NOT_THAT}"),
    store("empty label", stored(labels_npy=b""), f"a.rows/labels.npy {NOT_THAT}"),
    store(
        "binary labels",
        stored(labels_npy=npy(np.array([0, 7], np.int32))),
        f"a.rows/labels.npy has codes for more than the 2 names of the header; {STORE_ANEW}",
    ),
    *(
        store(
            kind,
            stored(array),
            X=array,
            y=["spam", "ham"],
            unfit=f"X contains {CONTAINS[kind]} {DROP}",
        )
        for kind, array in BROKEN.items()
    ),
    store("far column", stored(FAR_X), X=FAR_X, y=["spam", "ham"], unfit=TOO_WIDE),
]


# ---- compression

PACKERS = {
    "gz": ("gzip", gzip.compress),
    "bz2": ("bzip2", bz2.compress),
    "xz": ("xz", lzma.compress),
    "zst": ("zstandard", zstandard.compress),
}


def packed(extension, name, pack):
    """Write the cases of a compression."""
    content, case = pack(SVM * 50), cases_of(f"a.svm.{extension}")
    cut = f"FILE ends in the middle of its {name} stream; it is truncated, so fetch it again"
    return [
        case("truncated", content[:-3], cut),
        case("truncated in the middle", content[: len(content) // 2], cut),
        Case("truncated table", f"a.csv.{extension}", pack(CSV.encode())[:-3], cut),
        Case("truncated array", f"a.npz.{extension}", pack(NPZ)[:-3], cut),
        case("followed by binary", content + NOISE, f"FILE ...{name} ...fetch it again"),
        case("empty", pack(b""), "FILE holds no examples; write one a line"),
        case("twice", pack(content), "FILE:1:...; decompress or convert the file first"),
        case("nan", pack(b"1 1:1\n-1 2:nan\n"), "FILE:2:6: the value 'nan' ...; change it"),
        Case(
            "latin-1",
            f"a.csv.{extension}",
            pack(CSV.replace("100", "é").encode("latin-1")),
            f"FILE:3:4: this cannot be read as csv: invalid utf-8, '\\xe9'; {CONVERT}",
        ),
        case("byte-order mark", pack(MARK + SVM), X=SVM_X, y=Y),
        Case(
            "mark and mixed line ends",
            f"a.jsonl.{extension}",
            pack(MARK + b'{"a": 1, "y": 1}\r\n{"a": -3, "y": -1}'),
            X=[[1], [-3]],
            y=Y,
        ),
    ]


# ---- folders of files

FOLDERS = [
    folder_of(
        "fault in the second file",
        {"days/1.svm": SVM[:-1], "days/2.svm": b"", "days/3.svm": SVM + b"1 1:x\n"},
        f"days/3.svm:3:5: the value 'x' is not a number; {PAIRS}",
    ),
    folder_of(
        "fault in the second text",
        {"days/1.txt": MAIL, "days/2.txt": MAIL + b"no tab"},
        f"days/2.txt:3:7: there is no tab; {WRITE_LABEL}",
    ),
    folder_of(
        "fault in the second table",
        {"days/1.csv": CSV.encode(), "days/2.csv": CSV.encode() + b'1,"2,1\n'},
        "days/2.csv:4:3: this cannot be read as csv: a quote opens a cell here ...; close it, or",
    ),
    folder_of(
        "byte-order mark in each",
        {"days/1.svm": MARK + SVM[:-1], "days/2.svm": MARK + SVM},
        X=SVM_X * 2,
        y=[*Y, *Y],
    ),
    folder_of(
        "truncated",
        {"days/1.svm": SVM, "days/2.svm": gzip.compress(SVM)[:-3]},
        "days/2.svm ends in the middle of its gzip stream; it is truncated, so fetch it again",
    ),
]


CORPUS = {
    "svmlight": SVMLIGHT,
    "vowpal": VOWPAL,
    "text": TEXT,
    "csv": [*separated("a.csv", ","), *LARGE_CSV],
    "tsv": separated("a.tsv", "\t"),
    "jsonl": json_lines("a.jsonl"),
    "parquet": frames("a.parquet", pl.DataFrame.write_parquet),
    "arrow": frames("a.arrow", pl.DataFrame.write_ipc),
    "npz": NPZ_CASES,
    "npy": NPY_CASES,
    "idx": IDX_CASES,
    "store": STORE_CASES,
    **{extension: packed(extension, *packer) for extension, packer in PACKERS.items()},
    "folder": FOLDERS,
}
EVERYWHERE = ["truncated", "binary", "empty", "empty label"]
IN_TEXTS = [
    *("latin-1", "UTF-16", "nan", "inf", "1e999", "long line"),
    *("mixed line ends", "byte-order mark", "no final newline"),
]
EVERY_CASE = [
    pytest.param(case, id=f"{name}: {case.kind}")
    for name, cases in CORPUS.items()
    for case in cases
]
every_case = pytest.mark.parametrize("case", EVERY_CASE)
# Other formats, and what is compressed, become blocks of one of these.
STREAMED = ("svmlight", "vowpal", "text", "csv", "jsonl", "npz", "gz", "folder")
STREAMED_CASES = [
    pytest.param(case, id=f"{name}: {case.kind}")
    for name in STREAMED
    for case in CORPUS[name]
    if not callable(case.content) and not case.unfit
]


@pytest.fixture
def folder(folder, monkeypatch):
    monkeypatch.setattr("rosenblatt.memory.memory", lambda: 16 << 30)
    return folder


@pytest.fixture
def written(case, folder):
    """Write the files of a case; give the case."""
    content = case.content() if callable(case.content) else case.content
    for name, part in content.items() if isinstance(content, dict) else [(case.file, content)]:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(part)
    return case


@pytest.fixture
def captured(capfd):
    return capfd


@pytest.fixture(autouse=True)
def within_seconds():
    began = time.process_time()
    yield
    assert time.process_time() - began < 20


def says(message, complaint, file):
    """Tell whether a message begins with a complaint."""
    parts = complaint.replace("FILE", file).split("...")
    return re.match(".*".join(map(re.escape, parts)), message) is not None


def assert_refused(message, case):
    assert says(message, case.complaint, case.file), message
    assert "\n" not in message
    assert len(message) < 400


def assert_refused_in_the_shell(message, case):
    message = re.sub(r"^ .*\n", "", message, flags=re.MULTILINE)  # the table of a stream's errors
    message = message.removeprefix("rosenblatt: ").rstrip()
    assert_refused(message, case._replace(complaint=spoken(case.complaint)))


def assert_same(found, expected):
    if not sparse.issparse(found) and not sparse.issparse(expected):
        np.testing.assert_array_equal(found, np.asarray(expected, found.dtype))
        return
    found, expected = sparse.csr_matrix(found), sparse.csr_matrix(expected, dtype=found.dtype)
    assert found.shape == expected.shape
    assert (found != expected).nnz == 0


def assert_examples(X, y, case):
    assert_same(X, case.X() if callable(case.X) else case.X)
    if case.y is None:
        assert y is None
    else:
        np.testing.assert_equal(list(y), list(case.y))


def joined(blocks):
    """Join blocks, the later of which may be wider."""
    width = max(block.X.shape[1] for block in blocks)
    if sparse.issparse(blocks[0].X):
        for block in blocks:
            block.X.resize(block.X.shape[0], width)
        X = sparse.vstack([block.X for block in blocks])
    else:
        X = np.concatenate([block.X for block in blocks])
    if blocks[0].y is None:
        return X, None
    return X, [label for block in blocks for label in block.y.tolist()]


@every_case
def test_an_input_is_read_or_refused_as_a_whole_and_block_by_block(written):
    size = LONG_BLOCKS if callable(written.content) else SHORT_BLOCKS
    for read in (rb.read, lambda file: joined(list(read_blocks(file, block_bytes=size)))):
        if written.complaint:
            with pytest.raises(rb.InputError) as caught:
                read(written.file)
            assert_refused(str(caught.value), written)
        else:
            assert_examples(*read(written.file), written)


@pytest.mark.parametrize("case", sampled(EVERY_CASE, 3))
def test_an_input_is_learned_or_refused_from_the_shell(written, folder, shell):
    status, shown, complaint = shell("fit", written.file, "--model", "m", "--max-iter", "5")
    complaint = re.sub(r"^rosenblatt: a.jsonl is read twice, .*\n", "", complaint)
    assert complaint.count("\n") == (status == 2)
    if written.complaint:
        assert_refused_in_the_shell(complaint, written)
    if written.unfit:
        assert says(complaint, f"rosenblatt: {written.unfit}", written.file), complaint
    learned = not written.complaint and not written.unfit
    assert (status, bool(shown)) == ((0, True) if learned else (2, False))
    assert (folder / "m").exists() == learned


@pytest.mark.parametrize("case", sampled(STREAMED_CASES, 3))
def test_an_input_is_learned_or_refused_as_a_stream(written, folder, shell, monkeypatch):
    monkeypatch.setattr("rosenblatt.cli.source.STREAM_BYTES", SHORT_BLOCKS)
    words = ("fit", written.file, "--model", "m", "--max-iter", "5", "--stream")
    status, _, complaint = shell(*words)
    assert status == (2 if written.complaint else 0)
    if written.complaint:
        assert_refused_in_the_shell(complaint, written)
    assert (folder / "m").exists() == (status == 0)


def test_every_format_has_its_cases():
    assert set(FORMATS) <= set(CORPUS)
    texts = ("svmlight", "vowpal", "text", "csv", "tsv", "jsonl")
    wanted = {*product(FORMATS, EVERYWHERE), *product(texts, IN_TEXTS)}
    assert wanted <= {(name, case.kind) for name, cases in CORPUS.items() for case in cases}


@pytest.mark.parametrize("name", ["svmlight", "vowpal", "text", "csv", "tsv", "jsonl"])
def test_complaints_about_text_name_the_place_and_a_remedy(name):
    line = r"FILE(:\d+:\d+: | holds no examples)"
    row = r"(the label in )?row \d+(, column '\w+')? of FILE"
    for case in CORPUS[name]:
        assert not case.complaint or re.match(f"({line}|{row}).*[;,] ", case.complaint), case


def test_complaints_about_other_files_name_them_and_a_remedy():
    for case in (case for cases in CORPUS.values() for case in cases):
        named = ("FILE", case.file, LABELS, "y.npy")
        assert not case.complaint or any(name in case.complaint for name in named), case
        assert not case.complaint or re.search(r"; \w+|, so \w+|\.\.\.fetch", case.complaint), case


@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize(
    ("format", "good", "wrong", "place"),
    [
        ("csv", CSV.encode(), b'1,"2,1\n', "4:3: this cannot be read as csv"),
        ("svmlight", SVM, b"1 1:x\n", "3:5: the value 'x'"),
        ("vowpal", VW, b"1 | a:x\n", "3:7: the value of feature 'a', 'x'"),
    ],
)
def test_standard_input_is_read_from_its_beginning_on(
    format, good, wrong, place, blocks, monkeypatch
):
    def read(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        if blocks:
            return joined(list(read_blocks("-", Reading(format=format), block_bytes=SHORT_BLOCKS)))
        return rb.read("-", format=format)

    X, y = read(good)
    assert X.shape[0] == 2
    assert list(y) == list(Y)
    with pytest.raises(rb.ParseError, match=f"^standard input:{place}"):
        read(good + wrong)


@pytest.mark.parametrize("file", ["a.svm", "a.npz", "a.rows"])
def test_a_far_column_takes_little_memory(file, folder, shell):
    cases = (case for cases in CORPUS.values() for case in cases if case.kind == "far column")
    case = next(case for case in cases if case.file == file)
    content = case.content() if callable(case.content) else case.content
    if isinstance(content, bytes):
        (folder / file).write_bytes(content)
    tracemalloc.start()
    rb.read(file)
    list(read_blocks(file, block_bytes=16))
    assert shell("fit", file, "--model", "m")[0] == 2
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**26
