"""Whole numbers beyond 2^53 as labels: no format, model or proof takes two of them for one."""

import json
from decimal import Decimal

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.data.read import read_blocks
from rosenblatt.data.store import open_store, write_store

FIRST = 2**53
X = np.array([[1.0, 2.0], [-1.0, 1.0], [1.0, 0.5], [-1.0, 3.0]])


def svmlight(labels):
    rows = (f"{label} 1:{x[0]} 2:{x[1]}" for label, x in zip(labels, X.tolist(), strict=True))
    return "\n".join(rows)


def csv(labels):
    rows = (f"{x[0]},{x[1]},{label}" for label, x in zip(labels, X.tolist(), strict=True))
    return "u,v,label\n" + "\n".join(rows)


def jsonl(labels):
    rows = zip(labels, X.tolist(), strict=True)
    return "\n".join(json.dumps({"u": x[0], "v": x[1], "label": label}) for label, x in rows)


WRITERS = {"svm": svmlight, "csv": csv, "jsonl": jsonl}
each_text = pytest.mark.parametrize("kind", WRITERS)


@each_text
@pytest.mark.parametrize("sign", [1, -1])
def test_every_format_tells_large_labels_apart(tmp_path, kind, sign):
    labels = [sign * (FIRST + place) for place in (0, 1, 0, 1)]
    path = tmp_path / f"d.{kind}"
    path.write_text(WRITERS[kind](labels))
    found = rb.read(path)
    assert found.y.tolist() == labels
    assert found.y.dtype == np.int64
    blocks = read_blocks(path, block_bytes=20)
    assert [label for block in blocks for label in block.y.tolist()] == labels
    write_store(tmp_path / "d.rows", [(found.X, found.y)])
    assert open_store(tmp_path / "d.rows").y.tolist() == labels


@each_text
def test_labels_beyond_64_bits_are_words(tmp_path, kind):
    labels = [2**64 + place for place in (0, 1, 0, 1)]
    (tmp_path / f"d.{kind}").write_text(WRITERS[kind](labels))
    assert rb.read(tmp_path / f"d.{kind}").y.tolist() == list(map(str, labels))


@pytest.mark.parametrize("kind", ["svm", "csv"])
def test_large_labels_among_fractions_are_words(tmp_path, kind):
    labels = [FIRST + 1, FIRST, 0.5, FIRST]
    (tmp_path / f"d.{kind}").write_text(WRITERS[kind](labels))
    assert rb.read(tmp_path / f"d.{kind}").y.tolist() == list(map(str, labels))
    numbers = ["1e300", "0.5", "1e300", "0.5"]  # nothing is rounded here
    (tmp_path / f"d.{kind}").write_text(WRITERS[kind](numbers))
    assert rb.read(tmp_path / f"d.{kind}").y.tolist() == list(map(float, numbers))


def test_decimals_that_are_whole_are_not_rounded_either(tmp_path):
    (tmp_path / "d.svm").write_text(svmlight([f"{FIRST + 1}.0", FIRST, 1, "1e3"]))
    assert rb.read(tmp_path / "d.svm").y.tolist() == [FIRST + 1, FIRST, 1, 1000]


def test_a_stream_of_numbers_refuses_a_label_that_it_would_round(tmp_path):
    (tmp_path / "d.svm").write_text(svmlight([1, 2, 1, 2**64 + 1]))
    with pytest.raises(rb.InputError, match=r"has the label 18446744073709551617, which would be"):
        list(read_blocks(tmp_path / "d.svm", block_bytes=8))
    (tmp_path / "d.csv").write_text(csv([2**64, 2**64 + 1, 1, 2]))
    with pytest.raises(rb.InputError, match=r"beyond 2\^63, or beyond 2\^53 among fractions"):
        list(read_blocks(tmp_path / "d.csv"))


def test_columns_of_decimals_are_not_rounded(tmp_path):
    polars = pytest.importorskip("polars")
    labels = polars.Series([Decimal(FIRST + place) for place in (0, 1, 0, 1)])
    frame = polars.DataFrame({"u": X[:, 0], "label": labels})
    frame.write_parquet(tmp_path / "d.parquet")
    assert rb.read(tmp_path / "d.parquet").y.tolist() == [FIRST, FIRST + 1] * 2


def test_vowpal_refuses_labels_that_doubles_do_not_tell_apart(tmp_path):
    (tmp_path / "d.vw").write_text(f"{FIRST + 1} | a\n{FIRST} | b\n")
    with pytest.raises(rb.ParseError, match=r"d\.vw:1:1: the label 9007199254740993 would be"):
        rb.read(tmp_path / "d.vw")


@pytest.mark.parametrize("labels", [[FIRST, FIRST + 1], [-1, 2**63], [2**70, 2**70 + 1]])
def test_models_and_proofs_tell_large_labels_apart(tmp_path, labels):
    y = [labels[0], labels[1]] * 2
    rb.save(rb.Perceptron().fit(X, y), tmp_path / "m")
    assert rb.load(tmp_path / "m").predict(X).tolist() == y
    proof = rb.separate(X, y).certificate
    assert rb.verify(proof.to_json(), X, y).ok
    assert not rb.verify(proof.to_json(), X, y[::-1]).ok
