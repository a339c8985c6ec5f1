"""The commands separate, margin, solve and verify, as a person types them."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from commands import alone
from planted import interrupted
from rosenblatt.certificates import Data, Feasible
from rosenblatt.data.systems import read_system, write_system_csv

FILES = {
    "apart.svm": "+1 1:0.5 2:1\n-1 1:-1 2:-0.5\n+1 1:2\n",
    "weak.svm": "1 1:1 2:1\n0 1:1 2:-1\n1 1:2 # on the hyperplane\n0 1:2\n",
    "xor.svm": "0 1:0\n1 2:1\n1 1:1\n0 1:1 2:1\n",
    "three.svm": "1 1:1\n2 1:2\n3 1:3\n1 1:1.5\n",
    "solvable.csv": "x,y,relation,b\n3,0,=,1\n0,1,<,2.5\n1,1,>=,0\n",
    "short.csv": "x,y,relation,b\n1,2,>=,3\n1,0,<=,1\n0,1,<=,1\n",
    "impossible.csv": "x,y,relation,b\n1,2,>=,4\n1,0,<=,1\n0,1,<=,1\n",
    "thin.csv": "x,y,b\n1,1,1\n1,0,1\n1e-9,1,1\n0,-1,1\n",  # takes some 10^18 steps
    "never.csv": "x,b\n1,1\n-1,1\n",
    "program.lp": "min\nst\n r0: z - x >= 0\n r1: x + y >= 5\n"
    "bounds\n x <= 1\n y <= 2\n z free\nend\n",
}


def facts(shell, *words):
    status, shown, complaint = shell(*words, "--json")
    assert complaint == ""
    return status, json.loads(shown)


# ---- separate


@pytest.mark.parametrize(
    ("data", "verdict", "status", "words"),
    [
        ("apart.svm", "separable", 0, "A perceptron converges"),
        ("weak.svm", "weakly separable", 1, "quasi-complete separation"),
        ("xor.svm", "inseparable", 1, "No hyperplane separates"),
    ],
)
def test_a_verdict_is_told_proved_and_checked_by_strangers(data, verdict, status, words, shell):
    found, shown, _ = shell("separate", data, "--certificate", "c.json")
    assert found == status
    assert f"verdict {verdict} classes" in " ".join(shown.split())
    assert words in " ".join(shown.split())
    assert alone("c.json", data)[0] == 0
    status, shown, _ = shell("verify", "c.json", data)
    assert status == 0
    assert shown == alone("c.json", data)[1]
    for other in set(FILES) - {data}:
        if other.endswith(".svm"):
            assert alone("c.json", other)[0] == 1
            status, shown, _ = shell("verify", "c.json", other)
            assert status == 1
            assert shown.startswith("Refused: ")


def test_json_of_separate(shell):
    status, found = facts(shell, "separate", "weak.svm", "--certificate", "c.json")
    assert status == 1
    assert found["seconds"] >= 0
    del found["seconds"]
    explanation = found.pop("explanation")
    assert explanation.startswith("The classes 0 and 1 are weakly separable")
    assert found == {
        "data": "weak.svm",
        "label": None,
        "verdict": "weakly separable",
        "classes": [0, 1],
        "margin": 0.0,
        "largest_margin": [0.0, 0.0],
        "rows": 4,
        "columns": 2,
        "rows_that_matter": [1, 2],
        "columns_that_matter": [1, 2],  # a hyperplane that is a little steeper does as well
        "aliased_columns": [],
        "coefficients": {"intercept": "-inf", "1": "+inf", "2": "+inf"},
        "certificate": "c.json",
    }


def test_advice_names_columns_and_fits(shell):
    status, found = facts(shell, "separate", "weak.svm", "--advice")
    assert status == 1
    assert "Without column" in found["advice"]
    assert "firthmodels.FirthLogisticRegression" in found["advice"]
    assert found["fewest_columns"]["smallest"] is True
    assert "ordinary fit" in facts(shell, "separate", "xor.svm", "--advice")[1]["advice"]
    shown = " ".join(shell("separate", "weak.svm", "--advice")[1].split())
    assert "fewest columns No smaller set of columns separates than column" in shown
    late = shell("separate", "xor.svm", "--advice", "--max-seconds", "1e-9")[1]
    assert "allow more seconds" in late


def test_many_classes_at_once_are_decided_and_checked(shell):
    status, found = facts(shell, "separate", "three.svm", "--joint", "--certificate", "c.json")
    assert (status, found["verdict"], found["classes"]) == (0, "separable", [1, 2, 3])
    assert found["coefficients"].keys() == {"2", "3"}
    status, shown, _ = shell("verify", "c.json", "three.svm")
    assert (status, shown) == (0, alone("c.json", "three.svm")[1])
    assert "of 3 classes at once" in shown


def test_aliased_columns_of_a_table_are_named_and_nobody_else_is_blamed(shell, folder):
    (folder / "t.csv").write_text("age,sex,ill\n1,f,yes\n2,f,no\n1,f,no\n2,f,yes\n3,m,no\n")
    found = facts(shell, "separate", "t.csv")[1]
    assert (found["columns_that_matter"], found["aliased_columns"]) == (["sex=f"], ["sex=m"])
    assert "the intercept and of column sex=f diverge" in found["explanation"]
    shown = " ".join(shell("separate", "t.csv")[1].split())
    assert "columns that matter sex=f aliased columns sex=m coefficients intercept -inf" in shown


def test_that_aliased_columns_are_unknown_is_told(shell, monkeypatch):
    monkeypatch.setattr("rosenblatt.decide.separability.blame.MOST_COLUMNS", 1)
    shown = " ".join(shell("separate", "apart.svm")[1].split())
    assert "aliased columns unknown: exact elimination is for at most 1 columns" in shown
    assert facts(shell, "separate", "apart.svm")[1]["aliased_columns"] is None


def test_columns_of_tables_are_named(shell, folder):
    (folder / "t.csv").write_text("age,given,ill\n1,0,yes\n2,0,no\n1,0,no\n2,0,yes\n3,1,no\n")
    status, found = facts(shell, "separate", "t.csv", "--certificate", "c.json")
    assert (status, found["columns_that_matter"]) == (1, ["given"])
    assert shell("verify", "c.json", "t.csv")[0] == 0
    assert shell("convert", "t.csv", "t.svm", "--float64")[0] == 0
    assert alone("c.json", "t.svm")[0] == 0
    assert shell("verify", "c.json", "t.svm")[0] == 0


def test_numbers_are_those_written_not_their_nearest_float32(shell, folder):
    wide = "1.0000000298023223876953125"
    (folder / "close.svm").write_text(f"+1 1:1 2:{wide}\n-1 1:{wide} 2:1\n")
    assert shell("separate", "close.svm", "--certificate", "c.json")[0] == 0
    assert shell("verify", "c.json", "close.svm")[0] == 0
    assert alone("c.json", "close.svm")[0] == 0


def test_an_intercept_can_be_done_without(shell, folder):
    (folder / "line.svm").write_text("1 1:2\n0 1:1\n")
    assert facts(shell, "separate", "line.svm")[0] == 0
    status, found = facts(shell, "separate", "line.svm", "--no-intercept", "--certificate", "c")
    assert (status, found["verdict"]) == (1, "inseparable")
    assert "without intercept" in shell("verify", "c", "line.svm")[1]


def test_reading_options_reach_the_reader(shell, folder):
    (folder / "zero.svm.gz").write_bytes(gzip.compress(b"1 0:1\n0 0:-1\n"))
    assert shell("separate", "zero.svm.gz", "--zero-based", "--certificate", "c.json")[0] == 0
    assert shell("verify", "c.json", "zero.svm.gz", "--zero-based")[0] == 0
    (folder / "zero.svm").write_text("1 0:1\n0 0:-1\n")
    assert alone("c.json", "zero.svm", "--zero-based")[0] == 0
    (folder / "t.csv").write_text("ill,age\nyes,1\nno,\n")
    assert shell("separate", "t.csv", "--label", "ill", "--missing", "0")[0] == 0
    assert "missing" in shell("separate", "t.csv", "--label", "ill")[2]


@pytest.mark.parametrize(("many", "label"), [("--pairs", 2), ("--rest", 1)])
def test_more_classes_get_a_line_each(many, label, shell):
    status, found = facts(shell, "separate", "three.svm", many)
    assert status == (0 if many == "--pairs" else 1)  # the middle one is not to be told apart
    assert [len(found["answers"]), found["rows"], found["columns"]] == [3, 4, 1]
    assert found["answers"][0]["classes"][1] == label
    assert found["answers"][0]["verdict"] == "separable"
    names = {"classes", "verdict", "margin", "largest_margin", "certificate"}
    assert set(found["answers"][0]) == names
    shown = shell("separate", "three.svm", many)[1]
    assert shown.count("separable") == 3
    assert "1, 2" in shown if many == "--pairs" else "2, the rest" in shown
    status, found = facts(shell, "separate", "three.svm", many, "--max-seconds", "1e-9")
    assert status == 3
    assert {each["verdict"] for each in found["answers"]} == {"undecided"}


@pytest.mark.parametrize("many", ["--pairs", "--rest"])
def test_each_answer_about_more_classes_has_a_proof_of_its_own_for_the_whole_file(many, shell):
    status, found = facts(shell, "separate", "three.svm", many, "--certificate", "c.json")
    paths = [each["certificate"] for each in found["answers"]]
    assert paths == ["c-1.json", "c-2.json", "c-3.json"]
    for path in paths:
        assert alone(path, "three.svm")[0] == 0
        status, shown, _ = shell("verify", path, "three.svm")
        assert (status, shown) == (0, alone(path, "three.svm")[1])
        assert ("two classes of several" in shown) == (many == "--pairs")
        assert shell("verify", path, "apart.svm")[0] == 1
    assert "c-2.json" in shell("separate", "three.svm", many, "--certificate", "c.json")[1]


@pytest.mark.parametrize("place", ["rosenblatt.decide.separability.question.Question.decide", "rb"])
def test_an_interrupt_of_separate_tells_what_is_known_and_has_its_own_status(
    place, shell, monkeypatch
):
    if place == "rb":
        monkeypatch.setattr(rb, "separate", interrupted)
    else:
        monkeypatch.setattr(place, interrupted)
    status, found = facts(shell, "separate", "xor.svm", "--certificate", "c.json")
    assert (status, found["verdict"], found["rows"]) == (130, "undecided", 4)
    assert "it was interrupted" in found["explanation"]
    assert sorted(found["classes"]) == [0, 1]
    assert shell("separate", "three.svm", "--pairs")[0] == 130


# ---- margin


@pytest.mark.parametrize("options", [(), ("--no-intercept",), ("--lift", "0.5"), ("--tol", "1e-9")])
def test_a_margin_is_told_proved_and_checked_by_strangers(options, shell):
    words = ("margin", "apart.svm", "--certificate", "c.json", *options)
    status, shown, _ = shell(*words)
    assert status == 0
    assert "margin 1.0606601717798212 to 1.0606601717798214 relative width 2" in " ".join(
        shown.split()
    )
    assert "exact square 9/8" in " ".join(shown.split())
    assert "The largest margin between the classes -1 and 1" in " ".join(shown.split())
    assert alone("c.json", "apart.svm")[0] == 0
    status, shown, _ = shell("verify", "c.json", "apart.svm")
    assert (status, shown) == (0, alone("c.json", "apart.svm")[1])
    assert ("with lifted rows" in shown) == ("--lift" in options)
    assert shell("verify", "c.json", "xor.svm")[0] == 1


def test_json_of_margin(shell):
    status, found = facts(shell, "margin", "apart.svm", "--certificate", "c.json")
    assert status == 0
    assert found.pop("seconds") >= 0
    assert found.pop("explanation").startswith("The largest margin between the classes -1 and 1")
    assert found == {
        "data": "apart.svm",
        "label": None,
        "verdict": "separable",
        "classes": [-1, 1],
        "margin": [1.0606601717798212, 1.0606601717798214],
        "relative_width": pytest.approx(2.0934566115783665e-16),
        "exact_square": "9/8",
        "rows": 3,
        "columns": 2,
        "rows_that_matter": [1, 2],
        "certificate": "c.json",
    }


@pytest.mark.parametrize(("data", "verdict"), [("weak.svm", "weakly separable"), ("xor.svm", "in")])
def test_without_a_margin_the_verdict_is_proved(data, verdict, shell):
    status, shown, _ = shell("margin", data, "--certificate", "c.json")
    assert status == 1
    assert f"verdict {verdict}" in " ".join(shown.split())
    assert "margin 0.0" in " ".join(shown.split())
    assert "There is no margin" in shown
    assert alone("c.json", data)[0] == 0


def test_a_long_square_is_for_machines(shell, folder):
    (folder / "long.svm").write_text("1 1:0.123456789 2:0.3\n0 1:0.7 2:1.23456789e-9\n")
    assert "exact square" not in shell("margin", "long.svm")[1]
    assert len(facts(shell, "margin", "long.svm")[1]["exact_square"]) > 40


def test_an_interrupt_of_margin_leaves_it_undecided_and_has_its_own_status(shell, monkeypatch):
    monkeypatch.setattr(rb, "max_margin", interrupted)
    status, found = facts(shell, "margin", "apart.svm")
    assert (status, found["verdict"], found["margin"]) == (130, "undecided", [0.0, None])
    assert "it was interrupted" in found["explanation"]


# ---- solve


def test_a_solution_is_exact_printed_and_written(shell, folder):
    words = ("solve", "solvable.csv", "--certificate", "c.json", "--point", "p.csv")
    status, found = facts(shell, *words)
    assert (status, found["verdict"]) == (0, "feasible")
    assert found["solution"]["x"] == "1/3"
    header, x, y = (folder / "p.csv").read_text().splitlines()
    assert (header, x) == ("name,value", "x,1/3")
    value = Fraction(y.partition(",")[2])
    assert Fraction(-1, 3) <= value < Fraction(5, 2)
    assert alone("c.json", "solvable.csv")[0] == 0
    assert shell("verify", "c.json", "solvable.csv")[0] == 0
    assert alone("c.json", "short.csv")[0] == 1
    assert shell("verify", "c.json", "short.csv")[0] == 1
    shown = shell(*words)[1]
    assert "x = 1/3, y = " in shown
    assert "p.csv" in shown


def test_that_there_is_no_solution_is_proved(shell, folder):
    status, found = facts(shell, "solve", "impossible.csv", "--certificate", "c.json")
    assert (status, found["verdict"], found["solution"]) == (1, "infeasible", None)
    assert found["rows_that_matter"] == [1, 2, 3]
    assert alone("c.json", "impossible.csv")[0] == 0
    assert alone("c.json", "short.csv")[0] == 1
    words = ("solve", "impossible.csv", "--point", "p.csv")
    assert "The system has no solution" in " ".join(shell(*words)[1].split())
    assert not (folder / "p.csv").exists()


def test_json_of_solve(shell):
    _, found = facts(shell, "solve", "short.csv", "--point", "p.csv")
    assert found["seconds"] >= 0
    assert found["explanation"].startswith("The system has a solution")
    del found["seconds"], found["explanation"]
    assert found == {
        "system": "short.csv",
        "verdict": "feasible",
        "rows": 3,
        "unknowns": 2,
        "method": "auto",
        "steps": None,
        "rows_that_matter": [1, 2, 3],
        "bounds_that_matter": [],
        "solution": {"x": 1.0, "y": 1.0},
        "certificate": None,
        "point": "p.csv",
        "notes": [],
    }


def test_strictness_can_be_asked_for_and_must_then_be_asked_again(shell):
    assert shell("solve", "short.csv", "--certificate", "weak.json")[0] == 0
    assert shell("solve", "short.csv", "--strict", "--certificate", "strict.json")[0] == 1
    assert shell("verify", "strict.json", "short.csv")[0] == 1
    assert shell("verify", "strict.json", "short.csv", "--strict")[0] == 0
    assert shell("verify", "weak.json", "short.csv", "--strict")[0] == 1
    assert alone("strict.json", "short.csv")[0] == 1


def test_rows_and_bounds_of_a_program_are_named(shell, folder):
    status, found = facts(shell, "solve", "program.lp", "--certificate", "c.json")
    assert (status, found["rows_that_matter"]) == (1, ["r1"])
    assert found["bounds_that_matter"] == ["upper of x", "upper of y"]
    assert shell("verify", "c.json", "program.lp")[0] == 0
    A, b, strict, equal, bounds, names, *_ = read_system("program.lp")
    write_system_csv("program.csv", A, b, strict, equal, bounds, names=names)
    assert alone("c.json", "program.csv")[0] == 1  # the bounds are rows there
    assert shell("solve", "program.csv", "--certificate", "c.json")[0] == 1
    assert alone("c.json", "program.csv")[0] == 0
    assert "r1" in shell("solve", "program.lp")[1]


def test_arrays_are_systems_too(shell):
    np.savez("s.npz", A=np.eye(300, dtype=np.float32), b=0.1, upper=1.0)
    status, shown, _ = shell("solve", "s.npz", "--certificate", "c.json")
    assert status == 0
    assert "300 numbers; --point writes them" in shown
    assert shell("verify", "c.json", "s.npz")[0] == 0


@pytest.mark.parametrize("method", ["perceptron", "rescaled", "smoothed"])
def test_other_methods_can_be_chosen_and_limited(method, shell):
    status, found = facts(shell, "solve", "never.csv", "--method", method, "--max-steps", "100")
    assert (found["method"], found["verdict"] == "undecided") == (method, status == 3)
    assert found["steps"] <= 100
    assert shell("solve", "never.csv", "--max-steps", "100")[0] == 2


def test_a_method_that_cannot_be_used_is_named_as_it_was_typed(shell):
    status, _, complaint = shell("solve", "solvable.csv", "--method", "rescaled")
    assert status == 2
    assert "--method rescaled" in complaint
    assert "--method auto" in complaint


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is POSIX")
def test_an_interrupt_of_solve_leaves_it_undecided_and_has_its_own_status(folder):
    words = ["solve", "thin.csv", "--method", "perceptron", "--certificate", "c.json", "--json"]
    command = [sys.executable, "-m", "rosenblatt", *words]
    for delay in (1.5, 5, 20, 60):  # long enough to be searching by then, on a machine of any speed
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        shown, _ = process.communicate(timeout=60)
        if shown:
            break
    assert process.returncode == 130
    assert json.loads(shown)["verdict"] == "undecided"
    assert not (folder / "c.json").exists()


def test_standard_input_is_a_system(folder):
    words = [sys.executable, "-m", "rosenblatt", "solve", "-", "--json"]
    done = subprocess.run(words, input=FILES["short.csv"].encode(), capture_output=True)
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (0, "feasible")


# ---- verify


def test_json_of_verify(shell):
    shell("separate", "xor.svm", "--certificate", "c.json")
    status, found = facts(shell, "verify", "c.json", "xor.svm")
    reason = found.pop("reason")
    assert status == 0
    assert reason.endswith("no hyperplane separates the classes, not even weakly.")
    names = {"certificate": "c.json", "data": "xor.svm", "kind": "inseparability"}
    assert found == {**names, "holds": True}
    assert facts(shell, "verify", "c.json", "apart.svm")[1]["holds"] is False


def test_certificates_that_are_changed_are_refused(shell, folder):
    shell("separate", "xor.svm", "--certificate", "c.json")
    text = (folder / "c.json").read_text()
    for old, new in (
        ('"1/4", "1/4"', '"1/3", "1/6"'),
        ('"inseparability"', '"separability"'),
        ('"unused": []', '"unused": [], "more": 1'),
        ('"unused": []', '"unused": [], "unused": []'),
        ('"1/4"', '"0.25"'),
    ):
        assert old in text
        (folder / "d.json").write_text(text.replace(old, new, 1))
        status, shown, _ = shell("verify", "d.json", "xor.svm")
        assert (status, shown[:9]) == (1, "Refused: "), new
        assert alone("d.json", "xor.svm")[0] == 1


def test_what_is_no_certificate_is_bad_input(shell, folder):
    (folder / "cut.json").write_text('{"format": ')
    (folder / "deep.json").write_text("[" * 100_000)
    (folder / "noise.json").write_bytes(np.random.default_rng(0).bytes(100))
    for name in ("cut.json", "deep.json", "noise.json", "none.json", "."):
        status, shown, complaint = shell("verify", name, "xor.svm")
        assert (status, shown) == (2, ""), name
        assert complaint.startswith("rosenblatt: ")
    (folder / "list.json").write_text("[]")
    assert shell("verify", "list.json", "xor.svm")[0] == 1


def test_columns_that_are_zero_at_the_end_count(shell):
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0]]), [1, 0]
    found = rb.separate(X, y)
    assert isinstance(found, rb.Separation)
    Path("c.json").write_text(found.certificate.to_json())
    Path("narrow.svm").write_text("1 1:1\n0 1:-1\n")
    assert alone("c.json", "narrow.svm")[0] == 0
    assert shell("verify", "c.json", "narrow.svm")[0] == 0


def test_numbers_are_read_as_the_certificate_says(shell):
    Path("tenth.svm").write_text("1 1:0.1\n0 1:-0.1\n")
    for X, other in (
        (np.array([[0.1], [-0.1]], np.float32), '"float64"'),
        ([[Fraction(1, 10)], [Fraction(-1, 10)]], '"float32"'),
    ):
        certificate = rb.separate(X, [1, 0]).certificate
        text = certificate.to_json()
        Path("c.json").write_text(text)
        Path("d.json").write_text(text.replace(f'"{certificate.data.numbers}"', other))
        for name, status in (("c.json", 0), ("d.json", 1)):
            assert alone(name, "tenth.svm")[0] == status
            assert shell("verify", name, "tenth.svm")[0] == status
    np.savez("tenth.npz", X=[[0.1], [-0.1]], y=[1, 0])
    assert "svmlight text only" in shell("verify", "c.json", "tenth.npz")[2]


def test_systems_of_exact_numbers_are_read_exactly(shell):
    Path("s.csv").write_text("x,b\n0.1,0.3\n")
    solved = rb.solve([[Fraction(1, 10)]], [Fraction(3, 10)], strict=True)
    Path("c.json").write_text(solved.certificate.to_json())
    assert shell("verify", "c.json", "s.csv", "--strict")[0] == 0
    assert shell("verify", "c.json", "s.csv")[0] == 1
    Path("bad.csv").write_text("x,b\n0.1,three\n")
    assert "line 2" in shell("verify", "c.json", "bad.csv")[2]


def test_strict_is_for_systems(shell):
    shell("separate", "xor.svm", "--certificate", "c.json")
    assert shell("verify", "c.json", "xor.svm", "--strict")[0] == 2


# ---- all of them


@pytest.mark.parametrize("words", [("separate", "xor.svm"), ("margin", "apart.svm")], ids=" ".join)
def test_out_of_time_is_undecided_and_writes_nothing(words, shell, folder):
    words = (*words, "--certificate", "c.json", "--max-seconds", "1e-9")
    status, found = facts(shell, *words)
    assert (status, found["verdict"], found["certificate"]) == (3, "undecided", None)
    assert "Undecided" in shell(*words)[1]
    assert not (folder / "c.json").exists()


def test_bad_input_gets_one_sentence_status_2_and_leaves_nothing(shell, folder):
    (folder / "letters.svm").write_text("1 1:1\n0 1:abc\n")
    (folder / "one.svm").write_text("1 1:1\n1 1:2\n")
    (folder / "letters.csv").write_text("x,b\n1,abc\n")
    np.savez("unlabelled.npz", X=np.eye(2))
    np.savez("infinite.npz", X=[[1.0], [np.inf]], y=[0, 1])
    data = Data(rows=1, columns=1, digest="0" * 16)
    (folder / "point.json").write_text(Feasible(data=data, w=[1.0]).to_json())
    before = sorted(os.listdir(folder))
    for words, complaint in {
        ("separate", "letters.svm"): "letters.svm:2:5",
        ("separate", "one.svm"): "must be two classes, got 1",
        ("separate", "three.svm"): "give --pairs to decide each pair",
        ("separate", "unlabelled.npz"): "has no labels",
        ("separate", "infinite.npz"): "infinity",
        ("separate", "none.svm"): "no file none.svm",
        ("separate", "xor.svm", "--max-seconds", "-1"): "--max-seconds must be",
        ("separate", "xor.svm", "--format", "pdf"): "the format must be",
        ("margin", "letters.svm"): "letters.svm:2:5",
        ("margin", "three.svm"): "must be two classes, got 3",
        ("margin", "unlabelled.npz"): "has no labels",
        ("margin", "apart.svm", "--tol", "2"): "tol must be a number between 0 and 1",
        ("margin", "apart.svm", "--lift", "-1"): "lift must be a positive number",
        ("margin", "apart.svm", "--max-seconds", "-1"): "--max-seconds must be",
        ("solve", "letters.csv"): "letters.csv:2: 'abc'",
        ("solve", "none.csv"): "no file none.csv",
        ("solve", "xor.svm"): "xor.svm:1: the first line names",
        ("verify", "point.json", "letters.csv"): "letters.csv:2: 'abc'",
        ("verify", "point.json", "none.csv"): "no file none.csv",
    }.items():
        out = () if words[0] == "verify" else ("--certificate", "c.json")
        status, shown, said = shell(*words, *out)
        assert (status, shown) == (2, ""), words
        assert said.startswith("rosenblatt: ")
        assert complaint in said, words
        assert said.count("\n") == 1
    assert sorted(os.listdir(folder)) == before


def test_outputs_are_checked_before_the_work(shell, folder, monkeypatch):
    def never(*words, **options):
        raise AssertionError("the work has begun")

    monkeypatch.setattr(rb, "separate", never)
    monkeypatch.setattr(rb, "max_margin", never)
    monkeypatch.setattr(rb, "solve", never)
    (folder / "inside").mkdir()
    separate, solve = ("separate", "xor.svm"), ("solve", "short.csv")
    for words, complaint in {
        (*separate, "--certificate", "xor.svm"): "what the command reads",
        (*separate, "--certificate", "inside"): "is a folder",
        (*separate, "--certificate", "nowhere/c.json"): "no folder",
        ("margin", "xor.svm", "--certificate", "xor.svm"): "what the command reads",
        ("margin", "xor.svm", "--lift", "1", "--no-intercept"): "--lift stands for an intercept",
        (*solve, "--certificate", "short.csv"): "what the command reads",
        (*solve, "--point", "./short.csv"): "what the command reads",
        (*solve, "--point", "nowhere/p.csv"): "no folder",
        (*solve, "--point", "p", "--certificate", "./p"): "cannot hold both",
        ("separate", "three.svm", "--pairs", "--certificate", "inside"): "is a folder",
        ("separate", "three.svm", "--pairs", "--rest"): "exclude each other",
        ("separate", "three.svm", "--pairs", "--joint"): "exclude each other",
        ("separate", "three.svm", "--pairs", "--advice"): "--advice is about one answer",
    }.items():
        status, shown, said = shell(*words)
        assert (status, shown) == (2, ""), words
        assert complaint in " ".join(said.replace("│", " ").split())
    assert (folder / "short.csv").read_text() == FILES["short.csv"]
