"""The harness of the races: statistics on a clock that we set, tables, and the record."""

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import naive_decide
from bench import __main__ as command
from bench import machine, regressions, report, separability, sets, summary, systems
from bench.harness import Outcome, admit, compete
from bench.race import (
    Contestant,
    Course,
    MissingError,
    Race,
    Verdict,
    courses,
    difference,
    itself,
    ratio,
)


class FakeClock:
    """A clock that stands still until a contestant says how long it took."""

    def __init__(self):
        self.now = 0.0
        self.calls = []

    def __call__(self):
        return self.now

    def contestant(self, name, *seconds):
        durations = iter(seconds)

        def run(_):
            self.calls.append(name)
            self.now += next(durations)

        return lambda: Contestant(run, self.prepare)

    def prepare(self):
        self.now += 1000.0


def course_of(race):
    return Course("duel", "topic", "A duel", lambda scale: race)


def absent():
    raise ImportError("No module named 'peer'")


@pytest.fixture
def outcome():
    clock = FakeClock()
    race = Race(
        entries={
            "rosenblatt": clock.contestant("rosenblatt", 9.0, 1.0, 2.0, 4.0),
            "slow": clock.contestant("slow", 8.0, 6.0, 8.0, 10.0),
            "peer": absent,
        },
        figures=[
            ratio("slow", "rosenblatt", at_least=3),
            ratio("slow", "rosenblatt", at_least=5),
            difference("slow", "rosenblatt", at_most=6),
            itself("slow"),
            ratio("peer", "rosenblatt", at_least=2),
        ],
        unit="ms",
        factor=1e3,
        note=lambda: f"order: {' '.join(name[0] for name in clock.calls)}",
    )
    return compete(course_of(race), scale=1.0, repeats=3, clock=clock)


def test_contestants_take_turns_after_a_warm_up(outcome):
    assert outcome.notes[0] == "order: r s r s r s r s"


def test_warm_up_is_reported_but_not_counted(outcome):
    ours = outcome.samples["rosenblatt"]
    assert (ours.first, ours.rounds, ours.median) == (9000, (1000, 2000, 4000), 2000)


def test_ratio_is_of_medians_and_its_spread_of_rounds(outcome):
    found = outcome.findings[0]
    assert (found.value, found.low, found.high) == (4.0, 2.5, 6.0)


def test_figures_are_held_against_their_bars(outcome):
    assert [found.verdict for found in outcome.findings] == [
        Verdict.MET,
        Verdict.NOT_MET,
        Verdict.NOT_MET,  # a difference of 6 s, in ms
        Verdict.REPORTED,
        Verdict.NOT_RUN,
    ]
    assert not outcome.passed


def test_missing_peer_is_one_sentence(outcome):
    assert outcome.notes[1] == "peer did not take part: No module named 'peer'."


def test_missing_peer_alone_misses_no_bar():
    race = Race({"peer": absent}, [itself("peer", at_most=1)])
    assert compete(course_of(race), 1.0, 1).passed


@pytest.mark.parametrize("error", [ImportError, FileNotFoundError, MissingError])
def test_only_rosenblatt_must_take_part(error):
    def entry():
        raise error("no file news.svm")

    assert admit({"peer": entry}) == ({}, ["peer did not take part: no file news.svm."])
    with pytest.raises(error):
        admit({"rosenblatt, dicts": entry})


def test_counted_races_take_the_number_given_back():
    race = Race({"a": lambda: Contestant(lambda _: 40)}, [itself("a", at_least=40)], timed=False)
    outcome = compete(course_of(race), 1.0, 1)
    assert outcome.samples["a"].rounds == (40.0,)
    assert outcome.samples["a"].first is None
    assert outcome.passed


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (40, "40"),
        (0.12345, "0.123"),
        (123.4, "123"),
        (1234.5, "1,234"),
        (0.5, "0.500"),
        (float("inf"), "∞"),
    ],
)
def test_numbers_have_three_digits_that_matter(value, text):
    assert report.number(value) == text


def test_tables_show_contestants_figures_and_notes(outcome):
    console = Console(width=100, record=True, file=io.StringIO())
    report.show(outcome, console)
    text = console.export_text()
    assert "duel: A duel" in text
    assert "contestant, ms" in text
    assert "1,000 .. 4,000" in text
    assert "≥ 5" in text
    assert "not met" in text
    assert "peer did not take part" in text


def record():
    return {"scale": 1.0, "repeats": 3, "machine": machine.describe(), "limits": {"sum": 9.5}}


def test_json_holds_every_measurement(outcome, tmp_path):
    report.write(tmp_path, record(), [outcome])
    kept = json.loads((tmp_path / "results.json").read_text("utf-8"))
    (run,) = kept["runs"]
    assert set(run) == {"scale", "repeats", "machine", "limits"}
    assert {"date", "cpu", "cores", "python", "versions"} <= set(run["machine"])
    assert kept["races"][0]["run"] == run["machine"]["date"]
    (race,) = kept["races"]
    slow, figure = race["contestants"][1], race["figures"][0]
    times = {"first": 8e3, "median": 8e3, "min": 6e3, "max": 1e4, "rounds": [6e3, 8e3, 1e4]}
    assert slow == {"name": "slow", **times}
    bars = {"at_least": 3, "at_most": None, "verdict": "met"}
    assert figure == {"what": "slow / rosenblatt", "value": 4.0, "min": 2.5, "max": 6.0, **bars}
    assert race["passed"] is False


def test_races_that_are_not_run_again_stay_with_their_run(outcome, tmp_path):
    first, second, third = (record() for _ in range(3))
    for number, run in enumerate((first, second, third)):
        run["machine"] = {**run["machine"], "date": f"day {number}"}
    other = replace(outcome, course=replace(outcome.course, name="other"))
    report.write(tmp_path, first, [outcome])
    report.write(tmp_path, second, [other])
    report.write(tmp_path, third, [outcome])
    kept = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert {race["name"]: race["run"] for race in kept["races"]} == {
        "duel": "day 2",
        "other": "day 1",
    }
    assert [run["machine"]["date"] for run in kept["runs"]] == ["day 1", "day 2"]


@pytest.mark.parametrize("text", ["", "{", '{"schema": 1, "races": []}'])
def test_results_of_another_kind_are_written_over(text, outcome, tmp_path):
    (tmp_path / "results.json").write_text(text)
    report.write(tmp_path, record(), [outcome])
    assert len(json.loads((tmp_path / "results.json").read_text("utf-8"))["races"]) == 1


def test_markdown_holds_the_tables(outcome, tmp_path):
    report.write(tmp_path, record(), [outcome])
    page = (tmp_path / "results.md").read_text("utf-8")
    assert "### A duel" in page
    assert "| slow / rosenblatt | 4 | 2.50 .. 6 | ≥ 3 | met |" in page


def in_short(*figures, **results):
    """Give the rows of the summary of a race with these results."""
    entries = {name: lambda k=k: Contestant(lambda _: k) for name, k in results.items()}
    race = Race(entries, figures, unit="ms", timed=False)
    return list(summary.rows_of(report.as_record(compete(course_of(race), 1.0, 1))))


def test_summary_has_ours_the_other_and_their_ratio():
    times = {"rosenblatt, joint": 2, "peer, joint": 6}
    figures = [ratio("peer, joint", "rosenblatt, joint", at_least=2), itself("rosenblatt, joint")]
    assert in_short(*figures, **times) == [
        ("A duel (`duel`)", "peer / rosenblatt (joint)", "2 ms", "6 ms", "3", "≥ 2, met"),
        ("", "rosenblatt (joint)", "2 ms", "", "", ""),
    ]


def test_figures_that_compare_the_same_share_a_row_of_the_summary():
    times = {"a, x, 1": 8, "rosenblatt, x, 1": 2, "a, x, 2": 3, "rosenblatt, x, 2": 3}
    times |= {"a, y, 1": 9, "rosenblatt, y, 1": 4}
    cases = ("x, 1", "y, 1", "x, 2")
    figures = [ratio(f"a, {case}", f"rosenblatt, {case}", at_least=2) for case in cases]
    ((_, *row),) = in_short(*figures, **times)
    values = "x: 4 (1), 1 (2); y: 2.25 (1)"
    assert row == ["a / rosenblatt", "2 .. 4 ms", "3 .. 9 ms", values, "≥ 2, 2 of 3 met"]


def test_summary_tells_what_was_not_run():
    ((_, *row),) = in_short(ratio("peer", "rosenblatt", at_least=2), rosenblatt=2)
    assert row == ["peer / rosenblatt", "2 ms", "", "–", "≥ 2, not run"]
    lost = Outcome(course_of(None), "", {}, [], ["The race was not run: no file."])
    assert list(summary.rows_of(report.as_record(lost))) == [
        ("A duel (`duel`)", "not run", "", "", "", "")
    ]


def test_summary_names_each_run_and_the_races_that_miss_a_bar(outcome, tmp_path):
    report.write(tmp_path, record(), [outcome])
    page = (tmp_path / "summary.md").read_text("utf-8")
    assert "1 of 3 bars are met. Missed in `duel`." in page
    assert "| slow − rosenblatt | 2,000 ms | 8,000 ms | 6,000 ms | ≤ 6, not met | 1 |" in page
    assert page.count(record()["machine"]["cpu"]) == 1


def test_pages_of_measurements_are_those_of_the_results():
    folder = Path(__file__).parent.parent / "docs" / "measured"
    results = report.earlier(folder)
    assert (folder / "results.md").read_text("utf-8") == report.markdown(results)
    assert (folder / "summary.md").read_text("utf-8") == summary.page(results)


@pytest.fixture
def short_limits(monkeypatch):
    monkeypatch.setattr(machine, "limits", lambda scale, repeats: {"sum": 9.5})


@pytest.mark.parametrize(("bar", "status"), [(39, 0), (41, 1)])
def test_exit_status_tells_whether_bars_are_met(bar, status, short_limits, monkeypatch, tmp_path):
    entries = {"a": lambda: Contestant(lambda _: 40)}
    race = Race(entries, [itself("a", at_least=bar)], timed=False)
    monkeypatch.setattr(command, "courses", lambda names: [course_of(race)])
    assert command.main(["--out", str(tmp_path)]) == status
    assert (tmp_path / "results.md").exists()


def test_unknown_race_is_bad_usage(capsys):
    with pytest.raises(SystemExit) as stopped:
        command.main(["marathon"])
    assert stopped.value.code == 2
    assert "there is no race 'marathon'" in capsys.readouterr().err


def test_summary_counts_what_was_not_run(outcome):
    assert command.summary([outcome]) == "1 bars met, 2 not met, 1 figures not run. See duel."


def test_broken_race_costs_only_itself(short_limits, monkeypatch, tmp_path, capsys):
    def break_off(scale):
        raise ZeroDivisionError("nothing to divide")

    sound = Race({"a": lambda: Contestant(lambda _: 1)}, [itself("a")], timed=False)
    both = [Course("broken", "topic", "Broken", break_off), course_of(sound)]
    monkeypatch.setattr(command, "courses", lambda names: both)
    assert command.main(["--out", str(tmp_path)]) == 1
    races = json.loads((tmp_path / "results.json").read_text("utf-8"))["races"]
    assert [race["passed"] for race in races] == [False, True]
    assert "ZeroDivisionError: nothing to divide" in races[0]["notes"][0]
    assert "break_off" in capsys.readouterr().err


def test_races_are_found_by_name_and_by_topic():
    assert {course.topic for course in courses()} >= {"one_pass", "one_row", "startup"}
    assert [course.name for course in courses(["dense_pass"])] == ["dense_pass"]
    names = ["sparse_pass", "dense_pass", "rcv1_pass", "a9a_pass", "shuffled_pass"]
    assert [course.name for course in courses(["one_pass"])] == names
    with pytest.raises(LookupError, match=r"there is no race 'marathon'; there are .*dense_pass"):
        courses(["marathon"])


def test_topics_are_those_of_most_words():
    X, y = sets.topics(2000, classes=7)
    assert X.has_sorted_indices
    assert X.dtype == np.float32
    np.testing.assert_allclose(np.sqrt(X.multiply(X).sum(axis=1)), 1, rtol=1e-4)
    assert np.bincount(y, minlength=7).min() > 200


def test_text_like_rows_are_sorted_and_of_norm_one():
    X, y = sets.text_like(1000)
    assert (X.dtype, X.indices.dtype, X.shape) == (np.float32, np.int32, (1000, 47_236))
    assert X.has_canonical_format
    assert np.allclose(X.power(2).sum(axis=1), 1, atol=1e-5)  # float32 sums of a few hundred terms
    assert set(y.tolist()) == {-1, 1}


def test_stream_rows_have_different_columns_and_exact_values():
    rows = sets.stream(200, 2**14)
    assert all(np.unique(row.columns).size == 50 for row in rows)
    assert all(row.columns.max() < 2**14 for row in rows)
    assert all(len(f"{value}") <= 6 for value in rows[0].values.tolist())


def test_sets_are_the_same_for_the_same_seed():
    first, second = sets.dense(50, 7), sets.dense(50, 7)
    assert np.array_equal(first[0], second[0])
    assert np.array_equal(first[1], second[1])
    assert (sets.text_like(50)[0] != sets.text_like(50)[0]).nnz == 0


def test_real_data_are_found_where_the_variable_says(monkeypatch, tmp_path):
    (tmp_path / "iris.csv").touch()
    monkeypatch.setenv("ROSENBLATT_DATA", str(tmp_path))
    assert sets.found("iris.csv") == tmp_path / "iris.csv"
    with pytest.raises(MissingError, match=r"^wine.csv is not in .*; name the folder of the data"):
        sets.found("wine.csv")


def test_real_data_are_otherwise_found_beside_the_project(monkeypatch, tmp_path):
    monkeypatch.delenv("ROSENBLATT_DATA", raising=False)
    monkeypatch.setattr(sets, "ROOT", tmp_path / "project")
    (tmp_path / "shared" / "data").mkdir(parents=True)
    (tmp_path / "shared" / "data" / "iris.csv").touch()
    assert sets.found("iris.csv") == tmp_path / "shared" / "data" / "iris.csv"


@pytest.mark.parametrize("race", [systems.netlib, separability.separate_small])
def test_race_without_its_data_is_skipped_with_a_word(
    race, short_limits, monkeypatch, tmp_path, capsys
):
    monkeypatch.setenv("ROSENBLATT_DATA", str(tmp_path))
    monkeypatch.setattr(command, "courses", lambda _: [Course("real", "topic", "Real", race)])
    assert command.main(["--out", str(tmp_path)]) == 0
    assert "The race was not run" in capsys.readouterr().out


BOX = """NAME box
ROWS
 N cost
 G least
COLUMNS
 x cost -1 least 1
RHS
 rhs least {least}
BOUNDS
 UP bound x 2
ENDATA
"""


@pytest.fixture
def programs(monkeypatch, tmp_path):
    for kind, least in (("feasible", 1), ("infeasible", 3)):
        (tmp_path / "netlib" / kind).mkdir(parents=True)
        (tmp_path / "netlib" / kind / f"{kind[:2]}.mps").write_text(BOX.format(least=least))
    monkeypatch.setenv("ROSENBLATT_DATA", str(tmp_path))
    return tmp_path / "netlib"


def test_programs_are_decided_by_both(programs):
    outcome = compete(course_of(systems.netlib(1.0)), 1.0, 1)
    names = ["rosenblatt, fe", "HiGHS, fe", "rosenblatt, in", "HiGHS, in"]
    assert list(outcome.samples) == names
    assert outcome.passed


def test_commands_decide_programs_and_check_the_proof(programs):
    systems.our_commands(programs / "infeasible" / "in.mps").run(None)


@pytest.mark.parametrize(
    "enter", [systems.our_answer, systems.peer_answer, systems.our_commands, systems.peer_command]
)
def test_wrong_answer_about_a_program_breaks_the_race_off(enter, programs):
    (programs / "feasible" / "fe.mps").write_text(BOX.format(least=3))
    contestant = enter(programs / "feasible" / "fe.mps")
    with pytest.raises(AssertionError, match="fe is feasible, not infeasible"):
        contestant.run(None)


@pytest.mark.parametrize(
    ("X", "verdict"),
    [
        ([[0.0], [1.0], [2.0], [3.0]], "separable"),
        ([[0.0], [1.0], [1.0], [3.0]], "weakly separable"),
        ([[0.0], [2.0], [1.0], [3.0]], "inseparable"),
    ],
)
def test_real_data_are_decided_alike(X, verdict):
    race = separability.duel({"x": lambda: (np.array(X), np.array([-1, -1, 1, 1]))}, repeats=1)
    (note,) = compete(course_of(race), 1.0, 1).notes
    strict = "separable" if verdict == "separable" else "not separable"
    assert note == f"x: rosenblatt {verdict}, three-way {verdict}, strict {strict}"


def test_undecided_data_count_as_endless(monkeypatch):
    monkeypatch.setattr(separability, "SECONDS", 1e-9)
    X, y = np.random.default_rng(0).normal(size=(2000, 20)), np.resize([-1, 1], 2000)
    contestant = separability.our_decision(lambda: (X, y), "x")
    assert contestant.run(None) == np.inf
    assert separability.answers["x"] == "undecided"


@pytest.mark.parametrize("gap", [1e-4, 1e-12])
@pytest.mark.parametrize("kind", regressions.KINDS)
def test_designs_are_of_the_kind_that_is_planted(kind, gap, monkeypatch):
    monkeypatch.setattr(regressions, "ROWS", 20)
    monkeypatch.setattr(regressions, "COLUMNS", 2)
    X, y, _ = regressions.planted(0, kind, gap)
    signed = naive_decide.signed(X.tolist(), np.where(y, 1, -1), True)
    assert naive_decide.verdict(signed) == kind
