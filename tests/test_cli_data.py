"""Data sets of every format, streams, stores and caches, as a person types them."""

import bz2
import gzip
import json
import lzma
import os
import time
from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.data import cache
from rosenblatt.data.cache import fingerprint
from rosenblatt.data.reading import DEFAULT
from rosenblatt.data.streams import Checkpoint, Place
from rosenblatt.data.write import write_csv, write_parquet, write_svmlight

X, Y, _ = rb.make_separable(400, 6, margin=0.03, seed=4)
X = X.astype(np.float32)


@pytest.fixture
def folder(folder):
    write_svmlight("data.svm", rb.Examples(X, Y))
    return folder


@pytest.fixture
def captured(capfd):
    return capfd


def vowpal_text():
    """Write the examples as Vowpal Wabbit reads them."""
    rows = (" ".join(f"{j}:{value!r}" for j, value in enumerate(x)) for x in X.tolist())
    return "\n".join(f"{y} | {row}" for row, y in zip(rows, Y, strict=True))


def accuracy(shell, model, data, *options):
    return json.loads(shell("evaluate", model, data, "--json", *options)[1])["accuracy"]


def test_every_format_and_compression_gives_the_same_model(shell, folder):
    examples = rb.Examples(X, Y)
    text = (folder / "data.svm").read_bytes()
    (folder / "data.svm.gz").write_bytes(gzip.compress(text))
    (folder / "data.svm.bz2").write_bytes(bz2.compress(text))
    (folder / "data.svm.xz").write_bytes(lzma.compress(text))
    (folder / "data.svm.zst").write_bytes(pytest.importorskip("zstandard").compress(text))
    write_csv("data.csv", examples)
    write_parquet("data.parquet", examples)
    np.savez("data.npz", X=X, y=Y)
    (folder / "data.vw").write_text(vowpal_text())
    names = [path.name for path in folder.glob("data.*")]
    assert len(names) == 9
    for name in names:
        status, shown, complaint = shell("fit", name, "-m", "m", "--json")
        assert status == 0, (name, complaint)
        facts = json.loads(shown)
        assert (facts["rows"], facts["converged"]) == (400, True), name
        np.testing.assert_allclose(rb.load("m").coef_[0, :6], rb.Perceptron().fit(X, Y).coef_[0])
        assert accuracy(shell, "m", name) == 1.0


def test_a_folder_and_a_pattern_are_data_sets(shell, folder):
    (folder / "days").mkdir()
    for day in range(4):
        part = slice(100 * day, 100 * (day + 1))
        write_svmlight(f"days/{day}.svm", rb.Examples(X[part], Y[part]))
    for data in ("days", "days/*.svm"):
        assert shell("fit", data, "-m", "m")[0] == 0
        assert rb.load("m").run_.counts.size == 400


def test_labelled_text_is_hashed_and_learned(shell, folder):
    mails = {1: "spam\tbuy now", -1: "ham\tsee you"}
    lines = [f"{mails[y]} {i}" for i, y in enumerate(Y.tolist())]
    (folder / "mail.tsv").write_text("\n".join(lines))
    assert shell("fit", "mail.tsv", "-m", "m")[0] == 0
    assert accuracy(shell, "m", "mail.tsv") == 1.0
    assert shell("predict", "m", "mail.tsv")[1].split()[0] == lines[0].split("\t")[0]


def test_tables_take_a_label_and_a_number_for_what_is_missing(shell, folder):
    (folder / "t.csv").write_text("kind,size\nyes,1\nno,\nyes,2\nno,-1\n")
    status, _, complaint = shell("fit", "t.csv", "-m", "m", "--label", "kind")
    assert status == 2
    assert "size" in complaint
    for label in ("kind", "0"):
        assert shell("fit", "t.csv", "-m", "m", "--label", label, "--missing", "-3")[0] == 0
        assert rb.load("m").classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize("name", ["data.svm", "data.csv", "data.npz", "data.vw"])
def test_a_streamed_fit_equals_one_in_memory(name, shell, folder, monkeypatch):
    monkeypatch.setattr("rosenblatt.cli.source.STREAM_BYTES", 4000)
    write_csv("data.csv", rb.Examples(X, Y))
    np.savez("data.npz", X=X, y=Y)
    (folder / "data.vw").write_text(vowpal_text())
    assert shell("fit", name, "-m", "whole")[0] == 0
    assert shell("fit", name, "-m", "streamed", "--stream", "--checkpoint", "c")[0] == 0
    assert np.array_equal(rb.load("whole").coef_, rb.load("streamed").coef_)
    assert not (folder / "c").exists()
    whole = shell("predict", "whole", name, "--csv")
    assert shell("predict", "streamed", name, "--csv", "--stream") == whole
    assert accuracy(shell, "streamed", name, "--stream") == 1.0


def test_a_stream_reports_examples_scored_and_not_the_rows_of_its_last_block(shell, monkeypatch):
    monkeypatch.setattr("rosenblatt.cli.source.STREAM_BYTES", 4000)
    facts = json.loads(shell("fit", "data.svm", "-m", "m", "--stream", "--json")[1])
    assert facts["rows"] is None
    assert facts["examples_scored"] == 400 * facts["passes"]


@pytest.mark.parametrize("options", [[], ["--output", "averaged"], ["--no-intercept"]])
def test_one_pass_meets_a_file_block_by_block_with_the_same_outcome(options, shell, monkeypatch):
    monkeypatch.setattr("rosenblatt.cli.source.STREAM_BYTES", 3000)
    shell("fit", "data.svm", "-m", "m", "--max-iter", 1, *options)
    learner = rb.load("m")
    whole = rb.Perceptron(**learner.get_params())
    asked = whole.output == "averaged"
    warned = nullcontext() if asked else pytest.warns(ConvergenceWarning)
    with warned:
        whole.fit(*rb.read("data.svm"))
    np.testing.assert_array_equal(learner.coef_, whole.coef_)
    np.testing.assert_array_equal(learner.run_.counts, whole.run_.counts)
    assert learner.run_.mistakes_per_pass == whole.run_.mistakes_per_pass
    assert learner.run_.stop is whole.run_.stop


def test_one_pass_over_labels_that_turn_into_words_reads_the_file_whole(shell, folder, monkeypatch):
    monkeypatch.setattr("rosenblatt.cli.source.STREAM_BYTES", 10)
    (folder / "mixed.svm").write_text("1 1:1\n1 1:2\nham 1:-1\n")
    assert shell("fit", "mixed.svm", "-m", "m", "--max-iter", 1)[0] == 0
    assert rb.load("m").classes_.tolist() == ["1", "ham"]


def test_a_checkpoint_of_a_file_that_has_changed_is_refused(shell, folder):
    Checkpoint(folder / "c", fingerprint("data.svm", DEFAULT)).write(
        rb.Perceptron().fit(X, Y), Place()
    )
    time.sleep(0.01)
    write_svmlight("data.svm", rb.Examples(X[:100], Y[:100]))
    status, _, complaint = shell("fit", "data.svm", "-m", "m", "--stream", "--checkpoint", "c")
    assert status == 2
    assert "checkpoint of other data" in complaint


def test_a_checkpoint_needs_a_stream(shell):
    assert shell("fit", "data.svm", "-m", "m", "--checkpoint", "c")[0] == 2


def test_a_store_holds_the_same_data(shell, folder):
    assert shell("convert", "data.svm", "data.rows")[0] == 0
    found = rb.read("data.rows")
    assert np.array_equal(found.X.toarray(), X)
    assert found.y.tolist() == Y.tolist()
    assert shell("fit", "data.rows", "-m", "m")[0] == 0
    assert accuracy(shell, "m", "data.rows", "--stream") == 1.0


def test_a_damaged_store_is_refused(shell, folder):
    assert shell("convert", "data.svm", "d.rows")[0] == 0
    values = np.load("d.rows/values.npy")
    values[7] += 1
    np.save("d.rows/values.npy", values)
    status, _, complaint = shell("info", "d.rows")
    assert status == 2
    assert "values.npy is damaged: its contents do not match its digest" in complaint
    starts = np.load("d.rows/starts.npy")
    starts[300] = 2**31 - 1
    np.save("d.rows/starts.npy", starts)
    status, _, complaint = shell("convert", "d.rows", "again.svm")
    assert status == 2
    assert "starts.npy does not rise from 0 to the number of entries; the store is" in complaint


def test_convert_writes_text_and_tables_or_says_what_it_can_write(shell, folder):
    for name in ("again.svm", "again.csv", "again.parquet"):
        assert shell("convert", "data.svm", name)[0] == 0
        found = rb.read(name).X
        assert np.array_equal(found.toarray() if name == "again.svm" else found, X)
    status, _, complaint = shell("convert", "data.svm", "again.pdf")
    assert status == 2
    assert ".parquet" in complaint


def test_a_cache_is_made_once_and_made_anew_when_the_file_changes(shell, folder):
    for _ in range(2):
        assert shell("fit", "data.svm", "-m", "m", "--cache")[0] == 0
        assert len(list(folder.glob("data.svm.*.rows"))) == 1
    time.sleep(0.01)
    write_svmlight("data.svm", rb.Examples(X[:100], Y[:100]))
    assert shell("fit", "data.svm", "-m", "m", "--cache")[0] == 0
    assert rb.load("m").run_.counts.size == 100
    assert len(list(folder.glob("data.svm.*.rows"))) == 2


def test_a_cache_of_other_content_is_not_believed_whatever_the_date(shell, folder):
    assert shell("fit", "data.svm", "-m", "m", "--cache")[0] == 0
    before, date = rb.load("m").coef_, (folder / "data.svm").stat().st_mtime_ns
    text = (folder / "data.svm").read_bytes()
    (folder / "data.svm").write_bytes(text.replace(b":0.1", b":0.7"))
    os.utime("data.svm", ns=(date, date))
    assert shell("fit", "data.svm", "-m", "m", "--cache")[0] == 0
    assert not np.array_equal(rb.load("m").coef_, before)


@pytest.mark.parametrize("size", [63, 640, 641, 12_345])
def test_every_end_of_a_file_changes_its_digest(folder, monkeypatch, size):
    monkeypatch.setattr(cache, "DIGESTED", 640)
    found = set()
    for place in (None, 0, size // 2 if size <= 640 else 0, size - 1):
        content = bytearray(size)
        if place is not None:
            content[place] = 1
        (folder / "f").write_bytes(content)
        os.utime("f", (0, 0))
        found.add(fingerprint("f", DEFAULT))
    assert len(found) == (4 if size <= 640 else 3)


STRANGERS = {
    "b.csv": "1,2,3\n",
    "README": "These files were made by hand.\n",
    "notes.md": "# Notes\n\nall of it is new\n",
    "c.jsonl": '{"x": 1, "y": 2}\n',
}


@pytest.mark.parametrize("name", STRANGERS)
def test_files_of_another_format_are_not_read_along(shell, folder, name):
    (folder / "days").mkdir()
    write_svmlight("days/a.svm", rb.Examples(X, Y))
    (folder / f"days/{name}").write_text(STRANGERS[name])
    status, _, complaint = shell("info", "days")
    assert status == 2
    assert "days stands for files of different formats" in complaint
    assert "days/a.svm is svmlight" in complaint
    assert f"days/{name} is" in complaint
    assert shell("info", "days/*.svm")[0] == 0


def test_files_of_one_format_may_be_named_and_filled_in_many_ways(shell, folder):
    (folder / "days").mkdir()
    for name, text in {
        "a.svm": "1 1:1\n",
        "b.svm.gz": gzip.compress(b"# of tuesday\n-1 2:0.5 # fine\n"),
        "c.03": "1\n",
        "d": "",
        "e.txt": "\ufeff-1 qid:3 4:1e-3\n",
    }.items():
        content = text if isinstance(text, bytes) else text.encode()
        (folder / f"days/{name}").write_bytes(content)
    assert json.loads(shell("info", "days", "--json")[1])["rows"] == 4


def test_predictions_are_written_as_a_whole_or_not_at_all(shell, folder):
    shell("fit", "data.svm", "-m", "m")
    (folder / "answers").write_text("old")
    (folder / "broken.svm").write_text("1 1:1\n1 x\n")
    assert shell("predict", "m", "broken.svm", "--out", "answers", "--stream")[0] == 2
    assert (folder / "answers").read_text() == "old"
    assert shell("predict", "m", "data.svm", "--out", "answers")[0] == 0
    assert len((folder / "answers").read_text().splitlines()) == 400


def test_tables_are_known_by_their_first_line(shell, folder):
    (folder / "plain.data").write_text("a,b,label\n1,2,x\n-1,-2,y\n")
    (folder / "lines").write_text('{"a": 1, "label": "x"}\n{"a": -1, "label": "y"}\n')
    for name, columns in (("plain.data", 2), ("lines", 1)):
        assert json.loads(shell("info", name, "--json")[1])["columns"] == columns


def test_info_claims_no_contradiction_that_rounding_made(shell, folder):
    (folder / "near.svm").write_text("1 1:1.00000001\n0 1:1\n")
    assert json.loads(shell("info", "near.svm", "--json")[1])["contradiction"] is None
