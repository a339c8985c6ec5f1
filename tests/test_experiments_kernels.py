"""Experiments on cost, kernels and classes: what theory promises holds on the rows they write."""

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.lab import counting
from rosenblatt.lab.experiment import Table, at_most
from rosenblatt.lab.experiments import budgets, classes, kernels, operations, primal_dual
from rosenblatt.lab.style import look, new_figure

# ---- operations


def test_counts_grow_with_the_exponents_of_the_formulas(tables):
    for name, routine in operations.ROUTINES.items():
        found, *_ = operations.exponents(tables["operations"].where(routine=name))
        assert found == pytest.approx(routine.exponent, abs=0.1)


def test_the_largest_sizes_are_timed_but_not_counted(tables):
    rows = tables["operations"].rows
    assert any(row.get("operations") is None for row in rows)
    assert all(row["seconds_compiled"] > 0 for row in rows)
    limit = operations.QUICK_COUNT
    assert all((row["operations_formula"] <= limit) == ("operations" in row) for row in rows)


def test_the_table_of_operations_names_each_routine_and_escapes(tables, tmp_path, monkeypatch):
    given = operations.more(tables["operations"], tmp_path)
    assert given.count("<tr>") == len(operations.ROUTINES) + 1
    assert all(routine.formula in given for routine in operations.ROUTINES.values())
    assert "32,768 at n = 128" in given  # the Frobenius norm
    monkeypatch.setitem(operations.ROUTINES, "a<b", operations.ROUTINES["norm"])
    rows = [{**row, "routine": "a<b"} for row in tables["operations"].where(routine="norm").rows]
    assert "a&lt;b" in operations.more(Table(rows), tmp_path)


def test_time_is_that_of_a_call_after_the_first():
    waits = iter([0.05] + [0.0] * 10_000)

    def call():
        until = counting.time.process_time() + next(waits)
        while counting.time.process_time() < until:
            pass

    assert 0 < counting.seconds_of(call, 0.001) < 0.01


# ---- primal and dual


def test_repeated_columns_change_no_mistake(tables):
    for (n, seed), rows in grouped(tables["primal-dual"], "n", "seed").items():
        assert len({row["mistakes"] for row in rows}) == 1, (n, seed)
        assert len({row["d"] for row in rows}) == 3


def test_the_dual_form_gains_on_the_primal_one_as_columns_are_added(tables):
    for rows in grouped(tables["primal-dual"], "n", "seed").values():
        ratios = [r["ratio_of_multiply_adds"] for r in sorted(rows, key=lambda r: r["d"])]
        assert ratios == sorted(ratios, reverse=True)


def test_primal_and_dual_learn_from_the_same_examples():
    X, y, w = primal_dual.planted(32, 16, seed=0)
    primal = rb.Perceptron(fit_intercept=False, max_iter=None).fit(X, y)
    dual = rb.KernelPerceptron("linear", fit_intercept=False, max_iter=None).fit(X, y)
    assert primal.run_.counts.tolist() == dual.run_.counts.tolist()
    assert (y * (X @ w)).tolist() == [2.0] * 32


def test_a_change_of_the_cheaper_form_is_told():
    def told(ratios):
        rows = [{"n": n, "ratio": r} for n, r in zip((10, 100, 1000), ratios, strict=True)]
        return primal_dual.verdict(Table(rows), "ratio")

    assert told((0.1, 0.2, 0.5)) == "dual throughout"
    assert told((1, 2, 5)) == "primal throughout"
    assert told((0.1, 0.1, 10)) == "dual at first, changing near n = 316"
    assert told((2, 0.5, 2)) == "primal at first, changing near n = 32 and n = 316"


def grouped(table, *names):
    found = {}
    for row in table.rows:
        found.setdefault(tuple(row[name] for name in names), []).append(row)
    return found


# ---- kernels


def test_shapes_are_separated_from_the_degree_on_that_they_need(tables):
    """A conic section separates circles and quadrants; three boundaries need three roots."""
    needed = {"circles": 2, "stripes": 3, "XOR": 2}
    for row in tables["kernels"].rows:
        degree = kernels.DEGREES.get(row["kernel"])
        able = degree is None or degree >= needed[row["data"]]
        assert row["converged"] == able
        assert (row["errors"] == 0) == able
        assert ("bound" in row) == able


def test_stored_examples_are_those_misclassified(tables):
    for row in tables["kernels"].rows:
        assert 0 < row["stored"] <= min(row["mistakes"], row["n"])


@pytest.mark.parametrize("kernel", [rb.Polynomial(2, 1.0), rb.Gaussian(4.0)])
def test_the_bound_in_feature_space_is_that_of_a_separator_with_its_margin(kernel):
    """F13, by the definition of γ; the separator that the run found has a smaller margin."""
    X, y = kernels.circles(80, np.random.default_rng(0))
    own = rb.KernelPerceptron(kernel, fit_intercept=False).fit(X, y)
    assert own.run_.mistakes <= kernels.bound(kernel, X, y) <= own.bound(X, y).value
    counts = rb.cheapest_counts(X, y, kernel=kernel).counts
    values = kernel(X, X)
    margin = (y * (values @ (counts * y))).min() / np.sqrt((counts * y) @ values @ (counts * y))
    assert kernels.bound(kernel, X, y) == pytest.approx(values.max() / margin**2, rel=1e-6)


def test_the_medians_told_and_the_problem_drawn_are_named(tables):
    assert "medians of 2 problems of each shape" in kernels.seen(tables["kernels"])
    figure = new_figure(*kernels.EXPERIMENT.size)
    with look():
        kernels.draw(figure, tables["kernels"])
    assert figure.get_supxlabel().startswith("the first of 2 problems")


# ---- budgets


def test_a_budget_that_is_never_used_up_changes_nothing():
    for target in budgets.TARGETS:
        free = budgets.measure(target, "none", None, 500, seed=0)
        for forget in ("oldest", "random"):
            roomy = budgets.measure(target, forget, 256, 500, seed=0)
            assert free["mistakes"] <= 256
            assert roomy["mistakes"] == free["mistakes"] == roomy["stored"]


def test_all_quick_budgets_are_used_up(tables):
    for row in tables["budgets"].rows:
        assert row["budget"] is None or row["stored"] == row["budget"]


def test_the_best_budget_is_one_that_was_used_up_and_ties_are_told():
    def told(*rows):
        names = ("forget", "budget", "stored", "late_rate")
        return budgets.best(Table(dict(zip(names, row, strict=True)) for row in rows))

    full, tied = ("oldest", 16, 16, 0.2), ("random", 16, 16, 0.2)
    roomy, sometimes = ("oldest", 256, 100, 0.1), ("oldest", 256, 256, 0.1)
    assert told(full, roomy).endswith("every run, B = 16 (oldest) made fewest: 20.0%.")
    assert told(full, tied).endswith("B = 16 (oldest) and B = 16 (random) made fewest: 20.0%.")
    assert "256" in told(full, sometimes)
    assert "256" not in told(full, sometimes, roomy)
    assert told(roomy) == "No budget was used up in every run."


def test_small_budgets_cost_mistakes(tables):
    for row in tables["budgets"].where(budget=16).rows:
        (free,) = tables["budgets"].where(target=row["target"], forget="none").rows
        assert row["mistakes"] > free["mistakes"]


def test_a_turning_target_turns():
    still, y = budgets.stream("still", 100, seed=0)
    turned, same = budgets.stream("turning", 100, seed=0)
    assert (y == same).all()
    assert (np.sign(still[:, 0] * still[:, 1]) == y).all()
    np.testing.assert_allclose(np.linalg.norm(turned, axis=1), np.linalg.norm(still, axis=1))
    angle = 2 * np.pi * 99 / budgets.TURN
    across = np.cos(angle) * still[99, 0] - np.sin(angle) * still[99, 1]
    assert turned[99, 0] == pytest.approx(across)


# ---- classes


def test_two_classes_are_their_own_groups(tables):
    for data in ("planted", "digits"):
        part = tables["classes"].where(data=data, k=2)
        for seed in part.values("seed"):
            one, other = part.where(seed=seed).rows
            assert one["mistakes"] == other["mistakes"]
            assert one["test_error"] == other["test_error"]


def test_planted_rows_have_the_leads_they_were_given():
    X, y = classes.planted_rows(200, 6, np.random.default_rng(0))
    leads = np.sort(X[:, 1:7], axis=1)
    assert (X[:, 1:7].argmax(axis=1) == y).all()
    assert (leads[:, -1] - leads[:, -2]).min() >= classes.LEAD
    assert np.where(y < 3, -X[:, 0], X[:, 0]).min() >= classes.LEAD / np.sqrt(2)


@pytest.mark.parametrize("labels", classes.LABELS)
def test_the_bound_of_discriminators_is_that_of_the_package(labels):
    """F15 for the classes, F5 for the groups; and primal discriminators make the same mistakes."""
    X, y, _, _, planted = classes.planted_problem(4, labels, 100, seed=0)
    learner = rb.Perceptron(fit_intercept=False).fit(X, y)
    comparator = planted if labels == "classes" else planted[1]
    found = classes.bound(X, y, planted)
    assert found == pytest.approx(learner.bound(X, y, comparator).value, rel=1e-8)
    dual = rb.KernelPerceptron("linear", fit_intercept=False).fit(X, y)
    assert learner.run_.mistakes == dual.run_.mistakes <= found


def test_more_classes_cost_more_mistakes_on_planted_data(tables):
    part = tables["classes"].where(data="planted", labels="classes")
    _, _, middle, _ = part.spread("k", "mistakes")
    assert (np.diff(middle) > 0).all()


def test_shares_of_both_bounds_are_told_and_each_kind_is_drawn_beside_its_own(tables):
    planted = tables["classes"].where(data="planted")
    told = classes.seen(tables["classes"])
    parts = {labels: planted.where(labels=labels) for labels in classes.LABELS}
    for labels, words in (("classes", "k classes used"), ("groups", "two groups")):
        share = np.max(parts[labels]["mistakes"] / parts[labels]["bound"])
        assert f"{words} more than {at_most(share)}" in told
    figure = new_figure(*classes.EXPERIMENT.size)
    with look():
        classes.draw(figure, tables["classes"])
    for axes, labels in zip(figure.axes, classes.LABELS, strict=False):
        above, below = (line.get_ydata() for line in axes.get_lines())
        assert (above == parts[labels].spread("k", "bound")[3]).all()
        assert (below == parts[labels].spread("k", "mistakes")[2]).all()
        assert (below < above).all()
