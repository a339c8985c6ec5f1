"""What a model knows about its columns, as a person at a terminal meets it."""

import ast
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rosenblatt as rb
from rosenblatt.cli.words import spoken

pytest.importorskip("polars")
TABLE = "size,age,label\n1,0,no\n5,0,yes\n2,9,no\n6,1,yes\n"
FILES = {"t.csv": TABLE}
ANSWERS = ["no", "yes", "no", "yes"]


@pytest.fixture
def told(shell):
    def call(*words):
        status, shown, complaint = shell(*words)
        assert status == 0, complaint
        return shown.split(), " ".join(complaint.split())

    return call


WAYS = {
    "shell": [["fit", "t.csv", "-m", "m"]],
    "stream": [["fit", "t.csv", "-m", "m", "--stream", "--order", "shuffle", "--seed", "1"]],
    "cache": [["fit", "t.csv", "-m", "m", "--cache"]],
    "store": [["convert", "t.csv", "t.rows"], ["fit", "t.rows", "-m", "m"]],
    "svm": [["fit", "t.csv", "-m", "m", "--learner", "svm", "--lam", "0.01"]],
    "kernel": [["fit", "t.csv", "-m", "m", "--kernel", "linear"]],
    "python": [],
    "frame": [],
}


@pytest.mark.parametrize("way", WAYS)
def test_columns_in_another_order_are_answered_whichever_way_the_model_was_made(way, told, folder):
    (folder / "turned.csv").write_text("age,size\n0,1\n0,5\n9,2\n1,6\n")
    for words in WAYS[way]:
        told(*words)
    if way == "python":
        rb.save(rb.Perceptron().fit(*rb.read("t.csv")), "m")
    if way == "frame":
        frame = pytest.importorskip("pandas").read_csv("t.csv")
        rb.save(rb.Perceptron().fit(frame[["size", "age"]], frame["label"]), "m")
    for options in ([], ["--stream"]):
        assert told("predict", "m", "turned.csv", *options) == (ANSWERS, "")
        assert told("predict", "m", "t.csv", *options)[0] == ANSWERS
    assert json.loads(" ".join(told("evaluate", "m", "t.csv", "--json")[0]))["accuracy"] == 1
    assert rb.load("m").feature_names_in_.tolist() == ["size", "age"]


def test_a_model_of_places_refuses_a_table_of_names_unless_told(told, refused, folder):
    X, y = rb.read("t.csv")
    rb.save(rb.Perceptron().fit(X.copy(), y), "m")
    assert "pass --by-place" in refused("predict", "m", "t.csv")
    assert told("predict", "m", "t.csv", "--by-place") == (ANSWERS, "")
    (folder / "pandas.csv").write_text("1,0,target\n0,5,2\n9,2,3\n")
    assert told("predict", "m", "pandas.csv", "--label", "target")[0] == ["yes", "no"]
    (folder / "ours.csv").write_text("x1,x0\n0,5\n9,2\n")
    assert told("predict", "m", "ours.csv")[0] == ["yes", "no"]


def test_a_model_of_names_refuses_places_unless_told(told, refused, folder):
    told("fit", "t.csv", "-m", "m")
    (folder / "t.svm").write_text("1 1:5 3:1\n0 1:2 2:9\n")
    (folder / "bare.csv").write_text("5,0\n2,9\n")
    for name in ("t.svm", "bare.csv"):
        assert "pass --by-place" in refused("predict", "m", name)
        assert told("predict", "m", name, "--by-place")[0] == ["yes", "no"]


def test_tables_without_a_header_match_by_place_with_or_without_the_label(told, folder):
    (folder / "a.csv").write_text("0,1,0\n1,5,0\n0,2,9\n1,6,1\n")
    told("fit", "a.csv", "-m", "m", "--label", "0")
    (folder / "b.csv").write_text("5,0\n2,9\n")
    assert told("predict", "m", "b.csv")[0] == ["1", "0"]
    assert told("predict", "m", "a.csv")[0] == ["0", "1", "0", "1"]
    assert told("evaluate", "m", "a.csv")[0][:4] == ["data", "a.csv", "label", "column"]


@pytest.mark.parametrize("stream", [[], ["--stream"]])
def test_the_label_is_remembered_and_its_empty_cells_do_not_matter(stream, told, refused, folder):
    (folder / "a.csv").write_text("kind,size,label\nno,1,7\nyes,5,8\n")
    shown, _ = told("fit", "a.csv", "-m", "m", "--label", "kind", *stream, "--json")
    assert json.loads(" ".join(shown))["label"] == "kind"
    (folder / "b.csv").write_text("size,label,kind\n5,8,\n1,7,no\n")
    assert told("predict", "m", "b.csv", *stream) == (["yes", "no"], "")
    assert "has no label in column 'kind'" in refused("evaluate", "m", "b.csv", *stream)
    assert "--label" in refused("evaluate", "m", "b.csv", *stream)


def test_a_model_without_a_label_finds_it_among_the_columns_that_it_does_not_know(
    told, refused, folder
):
    frame = pytest.importorskip("pandas").read_csv("t.csv")
    rb.save(rb.Perceptron().fit(frame[["size", "age"]], frame["label"]), "m")
    (folder / "a.csv").write_text("kind,age,size\nno,0,1\nyes,0,5\n")
    assert json.loads(" ".join(told("evaluate", "m", "a.csv", "--json")[0]))["right"] == 2
    (folder / "b.csv").write_text("kind,age,size,more\nno,0,1,1\n")
    assert "name it with --label" in refused("evaluate", "m", "b.csv")
    shown = told("evaluate", "m", "b.csv", "--label", "kind", "--json")[0]
    assert json.loads(" ".join(shown))["right"] == 1


def test_fit_and_others_tell_the_label_and_the_training_error(told, folder):
    for words in (["fit", "-m", "m"], ["info"], ["separate"], ["margin"], ["bound"]):
        shown, _ = told(words[0], "t.csv", *words[1:])
        assert "label column 'label'" in " ".join(shown), words
    (folder / "a.csv").write_text("kind,size\nno,1\nno,1\nyes,1\nyes,9\nno,2\n")
    for learner in ("perceptron", "svm", "kernel"):
        words = ["fit", "a.csv", "-m", "m", "--label", "kind", "--learner", learner]
        facts = json.loads(" ".join(told(*words, "--json")[0]))
        right = rb.load("m").score(*rb.read("a.csv", label="kind"))
        assert facts["misclassified"] == round(5 * (1 - right)) > 0
        assert facts["training_error"] == pytest.approx(1 - right)
        assert f"training error {1 - right:.2%}" in " ".join(told(*words)[0])
    shown = " ".join(told("fit", "a.csv", "-m", "m", "--max-iter", "3")[0])
    assert "column 'size', the last; --label names another" in shown
    for output, said in (("last", "0.00%"), ("averaged", "the training error of a stream")):
        shown = " ".join(told("fit", "t.csv", "-m", "m", "--stream", "--output", output)[0])
        assert f"training error {said}" in shown


def test_convert_keeps_names_and_tells_the_label(told, folder):
    (folder / "a.csv").write_text("kind,size\nno,1\nyes,5\n")
    for out in ("b.csv", "b.parquet", "b.rows", "b.svm"):
        assert told("convert", "a.csv", out)[1].endswith(
            "column 'size', the last; --label names another"
        )
        assert told("convert", "a.csv", out, "--label", "kind")[1].endswith("is column 'kind'")
        expected = None if out == "b.svm" else ("size",)
        assert rb.read(out, label=None if out in ("b.rows", "b.svm") else "kind").names == expected


def test_two_columns_that_could_be_the_label_are_refused(told, refused, folder):
    (folder / "a.csv").write_text("label,size,target\n0,1,0\n1,5,1\n")
    complaint = refused("fit", "a.csv", "-m", "m")
    assert "'label' and 'target'" in complaint
    assert "name one of them with --label" in complaint
    told("fit", "a.csv", "-m", "m", "--label", "target")
    assert rb.load("m").feature_names_in_.tolist() == ["label", "size"]


def test_headers_can_be_told(told, folder):
    (folder / "a.csv").write_text("red,x\nblue,y\nred,x\n")
    for options, rows in (([], 2), (["--no-header"], 3)):
        facts = json.loads(" ".join(told("info", "a.csv", "--json", *options)[0]))
        assert facts["rows"] == rows
    told("fit", "a.csv", "-m", "m", "--no-header")
    assert told("predict", "m", "a.csv")[0] == ["x", "y", "x"]
    (folder / "b.csv").write_text("0,1\n2,3\n4,5\n")
    shown = told("info", "b.csv", "--header", "--json")[0]
    assert json.loads(" ".join(shown))["label"] == "1"


def test_a_header_alone_gets_no_answers_and_a_word(told, refused, folder):
    told("fit", "t.csv", "-m", "m")
    (folder / "a.csv").write_text("age,size\n")
    for options in ([], ["--stream"]):
        assert told("predict", "m", "a.csv", *options) == (
            [],
            "rosenblatt: a.csv has no rows, so that there is nothing to predict",
        )
        assert told("predict", "m", "a.csv", "--csv", *options)[0] == ["label,score"]
    (folder / "b.csv").write_text("age\n")
    assert "has no column 'size'" in refused("predict", "m", "b.csv")
    assert "holds no examples" in refused("evaluate", "m", "a.csv")


def test_wider_svmlight_rows_are_answered_and_told_once(told, folder, monkeypatch):
    monkeypatch.setattr("rosenblatt.cli.source.STREAM_BYTES", 8)
    (folder / "a.svm").write_text("1 1:1\n-1 2:1\n")
    (folder / "b.svm").write_text("1 1:1 7:9\n-1 2:1 8:1\n-1 2:1 7:1\n")
    (folder / "bare.svm").write_text("1:1 7:9\n2:1 8:1\n2:1 7:1\n")
    told("fit", "a.svm", "-m", "m")
    for name in ("b.svm", "bare.svm"):
        for options in ([], ["--stream"]):
            shown, complaint = told("predict", "m", name, *options)
            assert shown == ["1", "-1", "-1"]
            assert complaint.count("2 columns beyond the 2 of the model, with 3 entries") == 1
    told("evaluate", "m", "b.svm")


def test_hashed_models_refuse_other_columns_and_take_their_own_without_labels(
    told, refused, folder
):
    (folder / "mail.tsv").write_text("spam\tbuy now\nham\tsee you\nspam\tbuy\nham\tsee\n")
    (folder / "a.vw").write_text("1 | buy now\n-1 | see you\n")
    (folder / "a.svm").write_text("1 1:1 3:2\n-1 2:1\n")
    (folder / "lines.txt").write_text("see you, now | later\nbuy\n")
    (folder / "lines.vw").write_text("| see you\n| buy\n")
    for name, others, own, answers in (
        ("mail.tsv", ("a.vw", "a.svm", "t.csv"), "lines.txt", ["ham", "spam"]),
        ("a.vw", ("mail.tsv", "a.svm", "t.csv"), "lines.vw", ["-1", "1"]),
    ):
        told("fit", name, "-m", "m")
        for other in others:
            complaint = refused("predict", "m", other)
            assert "the model was fitted on" in complaint
            assert "hashed" in complaint
        for options in ([], ["--stream"]):
            assert told("predict", "m", own, *options) == (answers, "")
    told("convert", "a.vw", "a.rows")
    assert told("predict", "m", "a.rows")[0] == ["1", "-1"]
    assert "hashed" in " ".join(told("info", "m")[0])
    told("fit", "a.svm", "-m", "m")
    for other in ("mail.tsv", "a.vw"):
        assert "columns without names" in refused("predict", "m", other)


def test_a_model_remembers_how_its_columns_count(told, folder):
    (folder / "a.svm").write_text("1 0:1\n-1 1:1\n")
    told("fit", "a.svm", "-m", "m", "--zero-based")
    assert told("predict", "m", "a.svm") == (["1", "-1"], "")


def test_rows_count_from_one(told, refused, folder):
    (folder / "a.svm").write_text("1 1:1\n0 2:1\n0 1:1\n")
    shown = json.loads(" ".join(told("info", "a.svm", "--json")[0]))
    assert shown["contradiction"] == [1, 3]
    np.savez("a.npz", X=np.array([[1.0], [2.0], [np.nan]]), y=[0, 1, 0])
    assert "row 3, column 1" in refused("fit", "a.npz", "-m", "m")


ARGUMENT = re.compile(
    r"\b[a-z_]{3,}=(?=[A-Z'{ ,;)]|$)|\b[a-z]+_[a-z]+\b|rosenblatt\.(?!data)[a-z]+"
)


def messages(path):
    """Give what the errors of a file say, with a word for each value in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and str(ast.unparse(node.func)).endswith("Error"):
            for part in node.args:
                pieces = part.values if isinstance(part, ast.JoinedStr) else [part]
                yield "".join(
                    str(piece.value) if isinstance(piece, ast.Constant) else "VALUE"
                    for piece in pieces
                )


def test_advice_about_data_is_given_in_options_of_the_shell():
    folder = Path(rb.__file__).parent / "data"
    left_out = {"synthetic.py", "text.py", "polynomials.py"}  # which no command has options for
    said = [
        m
        for path in sorted(folder.glob("*.py"))
        if path.name not in left_out
        for m in messages(path)
    ]
    assert len(said) > 100
    said += map(str, rb.Stop)
    spelled = [text for text in map(spoken, said) if not text.startswith("block_bytes must")]
    assert [text for text in spelled if ARGUMENT.search(text)] == []


def test_names_that_look_like_arguments_are_shown_as_they_are():
    assert spoken("has no column 'label=red'; pass by_place=True") == (
        "has no column 'label=red'; pass --by-place"
    )
    assert spoken("give many='pairs', method='auto' or max_seconds=3") == (
        "give --pairs, --method auto or --max-seconds 3"
    )
    assert spoken("in column 'label'; name another column with label=") == (
        "in column 'label'; name another column with --label"
    )


@pytest.mark.parametrize("more", [[], ["--by-place"], ["--header"]])
def test_the_names_of_the_model_are_a_header_though_they_are_numbers(shell, folder, more):
    (folder / "d.csv").write_text("0,1,target\n1,2,no\n2,1,yes\n3,0,yes\n0,3,no\n")
    (folder / "new.csv").write_text("0,1\n1,2\n2,1\n")  # as pandas writes it
    assert shell("fit", "d.csv", "-m", "m")[0] == 0
    assert shell("predict", "m", "new.csv", *more)[:2] == (0, "no\nyes\n")


def test_the_names_of_the_model_are_found_in_any_order_though_they_are_numbers(shell, folder):
    X = np.array([[1.0, 2], [2, 1], [3, 0], [0, 3]])
    rb.save(rb.Perceptron().fit(pd.DataFrame(X, columns=["0", "1"]), [0, 1, 1, 0]), "m")
    (folder / "new.csv").write_text("1,0\n2,1\n1,2\n")
    assert shell("predict", "m", "new.csv")[:2] == (0, "0\n1\n")
    rb.save(rb.Perceptron().fit(X, [0, 1, 1, 0]), "m")  # its columns have no names
    assert shell("predict", "m", "new.csv")[:2] == (0, "1\n1\n0\n")
