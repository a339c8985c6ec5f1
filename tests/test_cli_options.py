"""Options of the shell: each is written down once, and means what its argument means."""

import json
from dataclasses import fields
from inspect import signature

import pytest

import rosenblatt as rb
from rosenblatt.cli import options, training
from rosenblatt.cli.main import app
from rosenblatt.data.reading import CATEGORIES, Reading

GOOD = "+1 1:0.5 2:1\n-1 1:-1 2:-0.5\n+1 1:2\n"


FILES = {
    "a.svm": GOOD,
    "b.svm": "-1 1:-3\n",
    "semi.csv": "a;b;c;label\n1,5;2;7;x\n2,5;1;7;y\n",
    "t.txt": "x\thello world\ny\tbye now\n",
}


def test_options_of_reading_are_fields_of_the_one_description():
    groups = (options.EVERYWHERE, options.TO_LEARN, options.FOR_A_MODEL)
    names = {name for group in groups for name in group}
    assert names <= {field.name for field in fields(Reading)}
    fit = {option.name: option for option in training.fit.params}
    assert tuple(fit["categories"].type.choices) == CATEGORIES


def test_each_learner_knows_some_option_of_the_shell():
    taken = {option.name for option in training.fit.params}
    for kind in training.LEARNERS.values():
        assert taken & set(signature(getattr(rb, kind)).parameters)


@pytest.mark.parametrize("name", app.commands)
def test_every_command_has_short_and_long_help_with_a_first_line_that_is_not_cut(shell, name):
    status, shown, _ = shell(name, "-h")
    assert status == 0
    assert shell(name, "--help")[1] == shown
    assert "..." not in app.commands[name].get_short_help_str(62)


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_completion_is_printed_for_a_shell(shell, shell_name, monkeypatch):
    monkeypatch.setattr("click.shell_completion.BashComplete._check_version", lambda *_: None)
    status, shown, _ = shell("completion", shell_name)
    assert status == 0
    assert "_ROSENBLATT_COMPLETE" in shown


def test_options_and_their_words_are_completed(shell, monkeypatch):
    monkeypatch.setenv("_ROSENBLATT_COMPLETE", "bash_complete")
    for words, place, found in (
        ("rosenblatt ev", 1, "plain,evaluate"),
        ("rosenblatt fit --cat", 2, "plain,--categories"),
        ("rosenblatt fit --order sh", 3, "plain,shuffle"),
    ):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(place))
        assert found in shell()[1].splitlines()


def test_wrong_usage_is_one_sentence_that_names_the_help(shell):
    for words, said in (
        (["fit"], "missing argument 'DATA...'"),
        (["fit", "a.svm"], "missing option '--model' / '-m'"),
        (
            ["fit", "a.svm", "-m", "m", "--ordre", "x"],
            "no such option '--ordre' (did you mean one of",
        ),
        (["fitt"], "no such command 'fitt'"),
        (["evalute"], "'evalute' (did you mean 'evaluate'?); `rosenblatt --help`"),
        (["fit", "t.txt", "-m", "m", "--bits", "99"], "99 is not a whole number from 1 to 30"),
    ):
        status, shown, complaint = shell(*words)
        assert (status, shown) == (2, "")
        assert said in complaint
        assert complaint.count("\n") == 1
        assert "--help` tells more" in complaint


def test_several_files_are_one_data_set_in_the_order_of_their_names(shell, folder):
    status, shown, _ = shell("fit", "a.svm", "b.svm", "-m", "m", "--json")
    facts = json.loads(shown)
    assert (status, facts["data"], facts["rows"]) == (0, "a.svm b.svm", 4)
    assert shell("predict", "m", "b.svm", "a.svm")[1] == "-1\n1\n-1\n1\n"
    assert len(rb.read(["a.svm", folder / "b.svm"])) == 4
    assert "give it alone" in shell("fit", "a.svm", "-", "-m", "m")[2]
    shell("convert", "a.svm", "a.rows")
    assert "give it alone" in shell("fit", "a.svm", "a.rows", "-m", "m")[2]
    assert shell("fit", "a.svm", "b.svm", "-m", "b.svm")[0] == 2


def test_separators_decimal_commas_and_columns_are_read_and_remembered(shell):
    how = ("--sep", ";", "--decimal", ",")
    status, _shown, _ = shell("fit", "semi.csv", "-m", "m", *how, "--columns", "a,2", "--json")
    assert status == 0
    assert rb.load("m").feature_names_in_.tolist() == ["a", "c"]
    assert shell("predict", "m", "semi.csv")[1] == "x\ny\n"


@pytest.mark.parametrize("word", ["tab", r"\t", "\t"])
def test_a_tab_is_a_separator_by_its_name(word, shell, folder):
    (folder / "wide.csv").write_text("a\tkind\n1\tx\n2\ty\n")
    assert shell("fit", "wide.csv", "-m", "m", "--sep", word)[0] == 0
    assert rb.load("m").feature_names_in_.tolist() == ["a"]


def test_text_is_hashed_to_as_many_bits_as_are_asked_for(shell):
    assert shell("fit", "t.txt", "-m", "m", "--bits", "10")[0] == 0
    assert rb.load("m").n_features_in_ == 1024
    assert shell("predict", "m", "t.txt")[1] == "x\ny\n"


def test_an_option_that_is_given_wins_over_what_a_model_remembers(shell, folder):
    assert shell("fit", "semi.csv", "-m", "m", "--sep", ";", "--decimal", ",")[0] == 0
    (folder / "plain.csv").write_text("a,b,c\n1.5,2,7\n2.5,1,7\n")
    status, shown, said = shell("predict", "m", "plain.csv", "--sep", ",", "--decimal", ".")
    assert (status, shown.split()) == (0, ["x", "y"]), said


def test_columns_are_chosen_of_tables_only(shell):
    status, _, said = shell("fit", "a.svm", "-m", "m", "--columns", "1,2")
    assert status == 2
    assert "--columns chooses columns of a table by name, and a.svm is svmlight" in said


def test_another_separator_is_named_where_a_table_has_one_column(shell, folder):
    assert "if ';' separates the cells, pass --sep ';'" in shell("fit", "semi.csv", "-m", "m")[2]
    (folder / "points.csv").write_text("a;b;label\n1;2;x\n2;1;y\n")
    assert "say with --sep what stands between them" in shell("fit", "points.csv", "-m", "m")[2]


def test_a_perceptron_goes_on_as_a_perceptron(shell):
    assert shell("fit", "a.svm", "-m", "m")[0] == 0
    status, _, said = shell("fit", "a.svm", "-m", "n", "--from", "m", "--learner", "svm")
    assert (status, said) == (
        2,
        "rosenblatt: --from goes on with the perceptron m; leave out --learner\n",
    )


def test_data_without_a_model_are_cross_validated_or_refused(shell):
    said = shell("evaluate", "a.svm")[2]
    assert "evaluate takes a model and data, and got a.svm alone" in said
    assert "--folds 10" in said


def test_a_model_tells_the_format_of_its_data(shell):
    for name, format in (("a.svm", "svmlight"), ("t.txt", "text")):
        assert shell("fit", name, "-m", "m")[0] == 0
        assert json.loads(shell("info", "m", "--json")[1])["format"] == format


def test_a_table_of_words_that_is_read_twice_is_told(shell, folder, monkeypatch):
    monkeypatch.setattr("rosenblatt.data.tables.LARGE", 16)
    (folder / "words.csv").write_text("colour,label\nred,x\nblue,y\n")
    (folder / "rows.jsonl").write_text('{"a": 1, "label": "x"}\n{"a": -1, "label": "y"}\n')
    said = shell("fit", "words.csv", "-m", "m", "--stream", "--order", "shuffle")[2]
    assert said.count("words.csv is read twice, first to find the words of its text columns") == 1
    assert "read twice" not in shell("predict", "m", "words.csv", "--stream")[2]
    said = shell("fit", "words.csv", "-m", "m", "--stream", "--categories", "hash")[2]
    assert "read twice" not in said
    said = shell("fit", "rows.jsonl", "-m", "m", "--stream")[2]
    assert "rows.jsonl is read twice, first to find its columns" in said
    for words in (("info", "rows.jsonl"), ("separate", "rows.jsonl")):
        assert shell(*words)[2] == (
            "rosenblatt: rows.jsonl is read twice, first to find its columns\n"
        )
