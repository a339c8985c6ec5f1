"""The laboratory's runner, table, report and command."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars
import pytest

import rosenblatt as rb
from browser import needs_browser, visit
from rosenblatt.lab import catalogue, runner
from rosenblatt.lab.experiment import Experiment, Table, slope
from rosenblatt.lab.report import write_report
from rosenblatt.lab.runner import Schedule, run

OWN = Path(__file__).parent.parent / "docs" / "own_experiment.py"
LAB = [sys.executable, "-m", "rosenblatt", "lab"]


def remembered(folder):
    """Give the files of the cases that are remembered."""
    return list((folder / runner.MEMORY).rglob("output.pkl"))


@pytest.fixture(scope="module")
def margin(tmp_path_factory):
    out = tmp_path_factory.mktemp("lab")
    plan = Schedule(("margin",), out, quick=True, seed=3)
    outcomes = run(plan)
    return plan, outcomes, write_report(plan, outcomes, 1.0)


def test_rows_are_the_same_as_csv_as_parquet_and_in_memory(margin):
    plan, (outcome,), _ = margin
    folder = plan.out / "margin"
    with (folder / "rows.csv").open() as file:
        texts = list(csv.DictReader(file))
    frame = polars.read_parquet(folder / "rows.parquet").to_dicts()
    assert frame == outcome.rows
    assert [{k: str(v) for k, v in row.items()} for row in outcome.rows] == texts


def test_seeds_are_moved(margin):
    _, (outcome,), _ = margin
    assert {row["seed"] for row in outcome.rows} == {3000, 3001, 3002}
    X, y, _ = rb.make_separable(500, 10, margin=0.25, seed=3001)
    again = rb.Perceptron(fit_intercept=False, max_iter=None).fit(X, y).run_.mistakes
    (row,) = (row for row in outcome.rows if row["seed"] == 3001 and row["margin"] == 0.25)
    assert row["mistakes"] == again


def test_pictures_are_pictures(margin):
    plan, _, _ = margin
    assert (plan.out / "margin/figure.png").read_bytes().startswith(b"\x89PNG")
    assert b"</svg>" in (plan.out / "margin/figure.svg").read_bytes()


def test_a_finished_run_is_not_run_again(margin, monkeypatch):
    plan, (outcome,), _ = margin
    seen = []
    (again,) = run(plan, lambda progress: seen.append(progress.found))
    assert set(seen) == {len(outcome.rows)}
    assert again.rows == outcome.rows
    assert again.seconds == pytest.approx(outcome.seconds, abs=1e-4)


def test_another_seed_or_another_source_starts_anew(margin, monkeypatch):
    plan, _, _ = margin
    work = runner._works("margin", plan)[0]
    assert runner._remembered(work).check_call_in_cache(*runner._call(work))
    other = runner._works("margin", replace(plan, seed=9))[0]
    assert not runner._remembered(other).check_call_in_cache(*runner._call(other))
    monkeypatch.setattr(rb, "__version__", "another")
    assert not runner._remembered(work).check_call_in_cache(*runner._call(work))


def test_a_result_that_was_cut_off_is_measured_again(margin):
    plan, (outcome,), _ = margin
    path = remembered(plan.out / "margin")[0]
    path.write_bytes(path.read_bytes()[:-20])
    (again,) = run(plan)
    assert again.rows == outcome.rows


def test_a_figure_that_cannot_be_written_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr(runner, "find", lambda name: small())
    (tmp_path / "figure.svg").mkdir()
    with pytest.raises(rb.InputError, match=r"figure\.svg is a folder"):
        runner._finished("margin", tmp_path, [([{"a": 1, "b": 2.0}], 0.1)])


FAILURE = "ValueError: out of chalk"


def failing(**_):
    raise ValueError("out of chalk")


def small(name="margin", **changed):
    given = {
        "name": name,
        "title": "A <title>",
        "question": "Why?",
        "setup": "None.",
        "theorem": "F5.",
        "cases": lambda quick: [{"a": 1}, {"a": 2}],
        "measure": lambda a: {"b": np.float64(a), "c": a},
        "draw": lambda figure, table: figure.add_subplot().plot(table["a"], table["b"]),
        "seen": lambda table: f"{len(table)} rows & more.",
    }
    return Experiment(**{**given, **changed})


def test_a_failure_is_a_row_and_is_tried_again(monkeypatch, tmp_path):
    work = runner._Work("margin", tmp_path, 0, {"a": 7})
    monkeypatch.setattr(runner, "find", lambda name: small(measure=failing))
    key, measured = runner._measured(work)
    assert (key, measured) == (("margin", 0), ([{"a": 7, "failed": FAILURE}], 0.0))
    outcome = runner._finished("margin", tmp_path, [measured])
    assert "failed" in outcome.seen
    assert (outcome.more, outcome.above, outcome.drawn) == ("", 0, False)
    assert "out of chalk" in (tmp_path / "rows.csv").read_text()
    monkeypatch.setattr(runner, "find", lambda name: small())
    _, (rows, _) = runner._measured(work)
    assert json.dumps(rows) == '[{"a": 7, "b": 7.0, "c": 7}]'  # without NumPy's numbers


def test_what_cannot_be_drawn_does_not_stop_the_others(monkeypatch, tmp_path):
    monkeypatch.setattr(runner, "find", lambda name: small(seen=failing, bounds=(("b", "a"),)))
    outcome = runner._finished("margin", tmp_path, [([{"a": 1, "b": 2.0}], 0.1)])
    assert outcome.seen.startswith("The rows could not be drawn: TypeError")
    assert (outcome.above, outcome.drawn) == (1, False)


def test_a_row_above_its_bound_is_found():
    experiment = small(bounds=(("b", "c"),))
    fine = Table([{"b": 1, "c": 1}, {"b": 1}, {"b": None, "c": 0}])
    assert experiment.above(fine) == []
    wrong = {"b": 1.5, "c": 1}
    assert experiment.above(Table([*fine.rows, wrong])) == [wrong]


def test_slope_of_a_power_law_with_noise():
    rng = np.random.default_rng(0)
    x = np.geomspace(1, 1000, 200)
    s, error = slope(x, 5 * x**1.5 * np.exp(rng.normal(0, 0.1, 200)))
    assert abs(s - 1.5) < 4 * error < 0.05


# ---- the page


def test_the_report_tells_everything_and_needs_no_network(margin):
    _, (outcome,), path = margin
    page = path.read_text()
    experiment = catalogue.find("margin")
    for text in (experiment.title, experiment.question, outcome.seen, "M ≤ (R/γ)²", "--seed 3"):
        assert text in page
    assert "http" not in page
    assert "nothing lies above its bound" in page


@needs_browser
def test_the_report_opens_in_a_browser(margin):
    _, _, path = margin
    seen = visit(path, "return [...document.images].map(i => i.naturalWidth > 300)")
    assert seen.errors == []
    assert seen.value == [True]
    assert all(request.startswith("data:") for request in seen.requests)


@needs_browser
def test_the_animation_steps_inside_the_report(laboratory):
    assert (laboratory / "proof/animation.gif").read_bytes().startswith(b"GIF89a")
    script = """
      await wait(100);
      const image = one('.animation img'), first = image.src;
      click('button[title="Next frame"]');
      return [image.src == first, image.naturalWidth > 300];
    """
    seen = visit(laboratory / "report.html", script)
    assert (seen.errors, seen.value) == ([], [False, True])


# ---- the command


def test_without_names_the_experiments_are_listed(shell):
    status, told, _ = shell("lab")
    assert status == 0
    assert all(name in told for name in catalogue.NAMES)
    listed = json.loads(shell("lab", "--json")[1])
    assert [entry["name"] for entry in listed] == list(catalogue.NAMES)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["margn"], "there is no experiment 'margn'"),
        (["margin", "margn"], "there is no experiment 'margn'"),
        (["all", "margn"], "there is no experiment 'margn'"),
        (["mine.py", "./mine.py"], "two experiments are called 'own-experiment'"),
        (["margin", "--out", "file/in"], "cannot make the folder"),
    ],
)
def test_bad_usage_is_one_sentence(tmp_path, shell, arguments, sentence):
    (tmp_path / "file").write_text("")
    shutil.copy(OWN, tmp_path / "mine.py")
    status, _, complaint = shell("lab", *arguments)
    assert status == 2
    assert sentence in complaint
    assert complaint.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} - {"__pycache__"} == {"file", "mine.py"}


def test_a_file_of_ones_own_is_an_experiment_and_the_seed_is_told(tmp_path):
    shutil.copy(OWN, tmp_path / "mine.py")
    words = ["mine.py", "margin", "--quick", "--seed", "5", "--out", "a/b"]
    done = subprocess.run([*LAB, *words], capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 experiments" in done.stdout
    assert "seed 5" in done.stdout
    page = (tmp_path / "a/b/report.html").read_text()
    assert 'id="own-experiment"' in page
    assert "rosenblatt lab mine.py --quick --seed 5" in page
    assert polars.read_parquet(tmp_path / "a/b/own-experiment/rows.parquet").height == 18


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "cannot be read: FileNotFoundError"),
        ("EXPERIMENT = 1 / 0", "cannot be read: ZeroDivisionError"),
        ("cases = []", "defines no EXPERIMENT"),
        ("own.name = 'margin'", "take a name"),
        ("own.name = '../up'", "take a name"),
    ],
)
def test_a_file_that_is_no_experiment_is_refused_in_a_sentence(tmp_path, text, sentence):
    if text is not None:
        if text.startswith("own.name"):
            name = text.split(" = ")[1].strip("'")
            text = OWN.read_text().replace('"own-experiment"', repr(name))
        (tmp_path / "mine.py").write_text(text)
    with pytest.raises(rb.InputError, match=sentence):
        catalogue.find(str(tmp_path / "mine.py"))


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_case_that_was_interrupted_is_not_remembered(monkeypatch, tmp_path):
    def measure(a):
        with suppress(KeyboardInterrupt):  # as learners do, which keep what they have
            signal.raise_signal(signal.SIGINT)
        return {"b": 1.0}

    monkeypatch.setattr(runner, "find", lambda name: small(measure=measure))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            runner._measured(runner._Work("margin", tmp_path, 0, {"a": 7}))
    finally:
        signal.signal(signal.SIGINT, before)
    assert not remembered(tmp_path)


def test_an_interrupt_keeps_what_was_measured(tmp_path):
    process = subprocess.Popen([*LAB, "margin", "--out", str(tmp_path)], stderr=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and len(remembered(tmp_path / "margin")) < 2:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on from there" in told.decode()
    assert 2 <= len(remembered(tmp_path / "margin")) < len(catalogue.find("margin").cases(False))
