"""All experiments as people run them: what theory promises holds on the rows that were written."""

import json

import pytest

from browser import needs_browser, visit
from experiments import rows_of
from rosenblatt.lab.catalogue import NAMES, find
from rosenblatt.lab.experiment import slope
from rosenblatt.lab.style import look, new_figure

WITHOUT_BOUND = {"outputs"}  # no theorem bounds test errors
every_experiment = pytest.mark.parametrize("name", NAMES)


def with_both(table, low, high):
    return [r for r in table.rows if r.get(low) is not None and r.get(high) is not None]


@every_experiment
def test_no_case_failed(tables, name):
    assert tables[name]["failed"].size == 0
    assert len(tables[name]) >= len(find(name).cases(True))


@every_experiment
def test_no_written_row_lies_above_its_bound(tables, name):
    found = find(name)
    assert bool(found.bounds) == (name not in WITHOUT_BOUND)
    for low, high in found.bounds:
        rows = with_both(tables[name], low, high)
        assert rows, (low, high)
        assert all(row[low] <= row[high] for row in rows), (low, high)


def test_mistakes_grow_no_faster_than_the_square_of_the_inverse_margin(tables):
    steepness, error = slope(tables["margin"]["inverse_margin"], tables["margin"]["mistakes"])
    assert 0.5 < steepness + 2 * error <= 2


@every_experiment
def test_figures_have_data_and_named_axes(tables, name, laboratory):
    found = find(name)
    figure = new_figure(*found.size)
    with look():
        found.draw(figure, tables[name])
        figure.draw_without_rendering()
    assert all(axes.has_data() or not axes.axison for axes in figure.axes)
    assert any([figure.get_supxlabel(), *(axes.get_xlabel() for axes in figure.axes)])
    assert any([figure.get_supylabel(), *(axes.get_ylabel() for axes in figure.axes)])
    assert (laboratory / name / "figure.svg").stat().st_size < 400_000


@every_experiment
def test_what_is_seen_is_told_in_sentences_with_numbers(tables, name):
    told = find(name).seen(tables[name])
    assert told.endswith(".")
    assert any(letter.isdigit() for letter in told)
    assert "nan" not in told
    assert "inf" not in told.replace("infin", "")


@every_experiment
@pytest.mark.parametrize("quick", [True, False])
def test_cases_are_plain_and_different_and_have_seeds_from_0(name, quick):
    assert find(name).name == name
    assert find(name).question.endswith("?")
    assert len(find(name).cases(True)) <= len(find(name).cases(False))
    cases = list(find(name).cases(quick))
    texts = [json.dumps(case, sort_keys=True) for case in cases]
    assert [json.loads(text) for text in texts] == cases
    assert len(set(texts)) == len(texts)
    seeds = {case.get("seed", 0) for case in cases}
    assert seeds == set(range(len(seeds)))


@every_experiment
def test_rows_do_not_repeat_their_case(name):
    case = find(name).cases(True)[0]
    measured = find(name).measure(**case)
    for row in [measured] if isinstance(measured, dict) else measured:
        assert not set(row) & set(case)
    assert rows_of(find(name), case)


@needs_browser
def test_the_report_shows_every_figure_in_a_browser(laboratory):
    figures = "[...document.querySelectorAll('figure img')]"
    seen = visit(
        laboratory / "report.html", f"return {figures}.filter(i => i.naturalWidth > 300).length"
    )
    assert seen.errors == []
    assert seen.value == len(NAMES)
