"""Runs that make no progress end early, and answer by averages: the everyday case."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from planted import noisy
from rosenblatt.data.streams import fit_stream
from rosenblatt.examples import Examples
from rosenblatt.learners.perceptron import Perceptron
from rosenblatt.online.growth import Length, stalled


def overlapping(k, n=900, d=5, seed=0):
    """Give k classes whose clouds overlap."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    return rng.normal(size=(n, d)) + rng.normal(size=(k, d))[y], y


PROBLEMS = [noisy(), overlapping(4)]


@pytest.mark.parametrize("margin", [0.1, 0.03, 0.01, 0.003])
def test_runs_that_can_converge_are_not_taken_for_stalled(margin):
    for seed in range(10):
        X, y, _ = rb.make_separable(300, 10, margin, seed)
        learner = rb.Perceptron().fit(X, y)
        assert learner.run_.converged
        assert learner.score(X, y) == 1


@pytest.mark.parametrize("order", ["cycle", "shuffle"])
@pytest.mark.parametrize(("X", "y"), PROBLEMS)
def test_a_run_without_progress_ends_early_in_a_sentence_of_its_own(X, y, order):
    run = rb.Perceptron(order=order, random_state=0).fit(X, y).run_
    assert run.stop is rb.Stop.STALLED
    assert not run.converged
    assert 10 <= run.passes < 100
    assert "patience" in str(run.stop)
    assert "rosenblatt.separate" in str(run.stop)


@pytest.mark.parametrize(("X", "y"), PROBLEMS)
def test_a_stalled_run_is_the_beginning_of_a_patient_one(X, y):
    early = rb.Perceptron().fit(X, y).run_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        late = rb.Perceptron(patience=None, max_iter=200).fit(X, y).run_
    assert late.stop is rb.Stop.PASSES
    assert late.mistakes_per_pass[: early.passes] == early.mistakes_per_pass


def test_few_points_with_a_thin_margin_are_not_taken_for_stalled():
    assert rb.Perceptron().fit([[10.0], [8.0]], [1, -1]).run_.converged
    for K in (5, 10, 20):  # theory F10
        X, y = [[1, 1], [1, 0], [1 / K, 1], [0, 1]], [1, 1, 1, -1]
        assert rb.Perceptron(fit_intercept=False).fit(X, y).run_.converged


@pytest.mark.parametrize("patience", [1, 2, 7])
def test_patience_counts_the_passes_looked_back_on(patience):
    X = np.array([[-1.0, -1], [-1, 1], [1, -1], [1, 1]])  # exclusive or: w only jumps about
    run = rb.Perceptron(patience=patience).fit(X, [0, 1, 1, 0]).run_
    assert (run.stop, run.passes) == (rb.Stop.STALLED, 2 * patience)


@pytest.mark.parametrize("options", [{"max_iter": None}, {"renormalize": True}, {"order": "worst"}])
def test_runs_whose_progress_cannot_be_judged_go_on_to_their_limits(options):
    X, y = noisy(60)
    with pytest.warns(ConvergenceWarning):
        run = rb.Perceptron(max_updates=700, **options).fit(X, y).run_
    assert run.stop in (rb.Stop.UPDATES, rb.Stop.PASSES)


@pytest.mark.parametrize("bad", [0, -1, 2.5, "5", True])
def test_patience_must_be_a_whole_number(bad):
    with pytest.raises(rb.InputError, match="patience must be None or a whole number from 1 on"):
        rb.Perceptron(patience=bad).fit(*noisy(20))


@pytest.mark.parametrize(("X", "y"), PROBLEMS)
def test_stalled_runs_answer_by_averages_without_a_warning(X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = rb.Perceptron().fit(X, y)
        averaged = rb.Perceptron(output="averaged").fit(X, y)
    assert found.coef_.tolist() == averaged.coef_.tolist()
    assert found.intercept_.tolist() == averaged.intercept_.tolist()
    with pytest.warns(ConvergenceWarning, match="made little or no progress"):
        last = rb.Perceptron(output="last").fit(X, y)
    assert found.score(X, y) > last.score(X, y)


@pytest.mark.parametrize("learner", [rb.Perceptron, rb.KernelPerceptron])
def test_automatic_output_is_the_last_of_a_converged_run_else_the_average(learner):
    X, y, _ = rb.make_separable(100, 4, margin=0.05, seed=1)
    found, last = (learner(output=o).fit(X, y) for o in ("auto", "last"))
    assert found.run_.converged
    assert found.decision_function(X).tolist() == last.decision_function(X).tolist()
    X, y = noisy(80)
    with pytest.warns(ConvergenceWarning, match="limit on passes"):
        found = learner(max_iter=3).fit(X, y)
    averaged = learner(max_iter=3, output="averaged").fit(X, y)
    assert found.decision_function(X).tolist() == averaged.decision_function(X).tolist()


def test_stalled_runs_answer_by_the_last_weights_where_averages_come_late():
    rng = np.random.default_rng(0)  # a column of great scale, and an offset that is learned slowly
    X = np.column_stack([rng.exponential(300, 800), rng.normal(size=(800, 3))])
    y = X[:, 1] + 0.3 * rng.normal(size=800) > 0.8
    found = rb.Perceptron().fit(X, y)
    averaged = rb.Perceptron(output="averaged").fit(X, y)
    assert found.run_.stop is rb.Stop.STALLED
    assert found.score(X, y) >= averaged.score(X, y)


def test_streams_answer_by_the_last_weights_as_the_protocol_has_it():
    X, y = noisy(50)
    single, last = rb.Perceptron(), rb.Perceptron(output="last")
    for learner in (single, last):
        for row, label in zip(X, y, strict=True):
            learner.learn_one(row, label)
    assert single.coef_.tolist() == last.coef_.tolist()
    parts = rb.Perceptron().partial_fit(X, y)
    assert parts.coef_.tolist() == last.coef_.tolist()


def test_streams_go_on_with_what_fit_chose():
    X, y = noisy()
    found = rb.Perceptron().fit(X, y)
    averaged = rb.Perceptron(output="averaged").fit(X, y)
    for learner in (found, averaged):
        learner.partial_fit(X[:50], y[:50])
        learner.learn_one(X[50], y[50])
    assert found.coef_.tolist() == averaged.coef_.tolist()


@pytest.mark.parametrize(("X", "y"), PROBLEMS)
def test_passes_over_blocks_stall_and_choose_as_passes_over_all_of_them(X, y):
    whole = rb.Perceptron().fit(X, y)
    blocks = [Examples(X[i : i + 90], y[i : i + 90]) for i in range(0, len(y), 90)]
    found = fit_stream(Perceptron(), lambda: iter(blocks))
    assert found.run_.stop is whole.run_.stop is rb.Stop.STALLED
    assert found.run_.mistakes_per_pass == whole.run_.mistakes_per_pass
    assert found.coef_.tolist() == whole.coef_.tolist()


@pytest.mark.parametrize(("X", "y"), PROBLEMS)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_models_of_stalled_runs_come_back_as_they_were(X, y, make, tmp_path):
    found = rb.Perceptron().fit(make(X), y)
    rb.save(found, tmp_path / "model")
    back = rb.load(tmp_path / "model")
    assert back.predict(X).tolist() == found.predict(X).tolist()
    assert back.run_.stop is rb.Stop.STALLED
    assert back.output == "auto"


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"eta0": 0.3, "class_weight": "balanced"}])
def test_what_mistakes_take_and_bring_adds_up_to_the_length_of_the_weights(classes, options):
    X, y = overlapping(classes, n=60)
    learner = Perceptron(max_iter=4, output="last", **options).train(X, y)
    square, lost = learner.length()
    steps = np.array([1.0] * classes)
    if options:
        steps = 0.3 * y.size / (classes * np.bincount(y))
    brought = (
        (1 if classes == 2 else 2)
        * learner.run_.counts
        @ (steps[y] ** 2 * ((X**2).sum(axis=1) + 1))
    )
    assert square + lost == pytest.approx(brought, rel=1e-12)


def test_the_rule_looks_at_lengths_and_mistakes():
    n = (10_000, 10)
    grown = [Length(10.0 * k, 5.0 * k) for k in range(4)]
    bounded = [Length(10.0 + k, 50.0 * k) for k in range(4)]
    cycling = [Length(10.0, 50.0 * k) for k in range(4)]
    shrinking = [Length(400.0 - 100 * k, 150.0 * k) for k in range(4)]
    assert not stalled([99, 99, 99, 99], grown, n, 2)
    assert stalled([99, 99, 99, 99], bounded, n, 2)
    assert not stalled([99, 99, 99], bounded, n, 2)  # too early to tell
    assert not stalled([9, 9, 9, 9], bounded, (10, 10), 2)  # too few looks to tell
    assert stalled([9, 9, 9, 9], cycling, (10, 10), 2)
    assert not stalled([99, 99, 55, 55], bounded, n, 2)  # mistakes become fewer
    assert not stalled([99, 99, 99, 99], shrinking, n, 2)  # a start that was far off
    rare = [900, 40, 2, *[3] * 8]
    lengths = [Length(10.0 * k, 5.0 * k) for k in range(11)]
    assert stalled(rare, lengths, (100_000, 10), 2)
    assert not stalled(rare, lengths, (1_000, 10), 2)
    assert not stalled([*rare[:-1], 1], lengths, (100_000, 10), 2)


@pytest.mark.parametrize(
    ("mistakes", "shape", "ends"),
    [
        ([999, 999, 600, 600], (2**16, 2**16), True),
        ([999, 999, 600, 600], (2**16, 2**16 - 1), False),  # separating them means something
        ([999, 999, 499, 499], (2**16, 2**16), False),  # mistakes are halved
        ([999, 999, 600, 600], (2**15, 2**16), False),  # passes cost next to nothing
        ([99, 99, 60, 60], (2**16, 2**16), False),  # the end may be near
    ],
)
def test_with_as_many_columns_as_examples_mistakes_are_to_be_halved(mistakes, shape, ends):
    grown = [Length(10.0 * k, 5.0 * k) for k in range(4)]
    assert stalled(mistakes, grown, shape, 2) is ends


def wide(n=16_000, flipped=0.1, seed=0):
    """Give rows of some 40 entries in n columns, with planted labels, some of them flipped."""
    rng = np.random.default_rng(seed)
    columns = (n * rng.random((n, 40)) ** 3).astype(int)  # some are common, most are rare
    X = sparse.csr_matrix((np.ones(n * 40), (np.repeat(np.arange(n), 40), columns.ravel())), (n, n))
    signs = np.where(X @ rng.normal(size=n) > 0, 1, -1)
    return X, np.where(rng.random(n) < flipped, -signs, signs)


def test_wide_data_end_soon_by_averages_that_do_no_worse_on_new_rows():
    X, y = wide()
    train, test = slice(14_000), slice(14_000, None)
    found = rb.Perceptron().fit(X[train], y[train])
    assert found.run_.stop is rb.Stop.STALLED
    patient = rb.Perceptron(patience=None).fit(X[train], y[train])
    assert found.run_.passes < patient.run_.passes / 2
    assert found.score(X[test], y[test]) >= patient.score(X[test], y[test])
    blocks = [Examples(X[i : i + 2_000], y[i : i + 2_000]) for i in range(0, 14_000, 2_000)]
    streamed = fit_stream(Perceptron(), lambda: iter(blocks))
    assert streamed.run_.mistakes_per_pass == found.run_.mistakes_per_pass
