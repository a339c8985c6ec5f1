"""Every compiled loop does what its naive twin does, in every memory layout.

The data are small whole numbers, so sums are exact in any order and equality can be asked for.
Where numbers are divided (renormalisation), rows are normal variates, on which no score comes
near 0, and agreement is asked up to the rounding of a few hundred operations.
"""

import subprocess
import sys
from contextlib import closing
from importlib import import_module, invalidate_caches
from typing import Any, NamedTuple

import numpy as np
import pytest

import naive
from layouts import DENSE, LAYOUTS, ROUNDING, close, normal_rows, whole_numbers, whole_weights
from naive import Draws, run
from rosenblatt import loops
from rosenblatt.loops import Index, loop
from rosenblatt.matrices import as_rows
from rosenblatt.online import perceptron, plan
from rosenblatt.online.averaging import replay, steps, vote
from rosenblatt.online.perceptron import (
    CLOCK,
    CURSOR,
    LOGGED,
    LOOKS,
    MISTAKES,
    SEEN,
    UNUSABLE,
    UPDATES,
    WORK,
    Allowance,
    Log,
    Rule,
    State,
)
from rosenblatt.online.plan import Plan
from rosenblatt.rows import favoured

PLAIN = Rule(1.0, np.ones(2), False)


@pytest.fixture(params=LAYOUTS, ids=str)
def layout(request):
    return request.param


@pytest.fixture(params=[0.0, 3.0], ids=["plain", "lifted"])
def lift(request):
    return request.param


class Problem(NamedTuple):
    """Rows and their classes: as the twin knows them (signs, if there are two), and as codes."""

    A: np.ndarray
    y: np.ndarray
    codes: np.ndarray
    start: np.ndarray
    classes: int | None

    @classmethod
    def of(cls, rows: tuple[np.ndarray, np.ndarray], classes: int) -> Any:
        A, signs = rows
        if classes == 2:
            w = whole_weights(A.shape[1])
            return cls(A, signs, (signs > 0).astype(np.int8), w, None)
        random = np.random.default_rng(7)
        w = random.integers(-4, 5, (classes, A.shape[1] + 1)).astype(float)
        codes = np.append(np.arange(classes), random.integers(0, classes, len(A) - classes))
        return cls(A, codes, codes, w, classes)

    def twin(self, start=None, **options):
        if self.classes:
            options.pop("tie", None)
        twin = naive.learner(self.A.shape[1], None, self.classes, **options)
        twin.w = twin.w if start is None else start.copy()
        return twin

    def rows_and_state(self, layout, twin, averaging=True):
        rows = layout.rows(self.A, twin.lift)
        return rows, State.start(favoured(rows, twin.w.copy()), averaging)


@pytest.fixture(params=[2, 6], ids="{} classes".format)
def problem(request):
    return Problem.of(whole_numbers(), request.param)


@pytest.fixture(params=[2, 3], ids="{} normal classes".format)
def classes(request):
    return request.param


# ---- random numbers


@loop
def draw_below_1000(seed):
    return plan.draw(seed, 1000)


def test_draws_are_the_published_splitmix64():
    words = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    draws = Draws(1234567)
    assert [draws.word() for _ in words] == words
    seed = np.array([1234567], np.uint64)
    assert [draw_below_1000(seed) for _ in words] == [word % 1000 for word in words]
    with pytest.raises(TypeError, match="draw is called from compiled loops"):
        plan.draw(seed, 1000)


@pytest.mark.twin_of("online.plan.shuffle")
@pytest.mark.parametrize("seed", [0, 1, 2**31 - 2, 2**64 - 1])
@pytest.mark.parametrize("n", [1, 2, 3, 50, *range(plan.AT_ONCE, plan.AT_ONCE + 3), 1300])
def test_shuffle_is_the_naive_one_again_and_again(n, seed):
    sequence, state, draws = np.arange(n, dtype=np.uint32), np.array([seed], np.uint64), Draws(seed)
    expected = list(range(n))
    for _ in range(3):
        plan.shuffle(sequence, state)
        assert sequence.tolist() == draws.shuffle(expected)
    assert int(state[0]) == draws.state


@loop
def fill_remainders(numbers, bounds, out):
    for k in range(out.size):
        out[k] = plan.remainder(numbers[k], bounds[k])


def test_remainders_are_exact_wherever_quotients_are_rounded():
    random, most = np.random.default_rng(0), 2**64 - 1
    few = [1, 2, 3, 7, 581_012, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 2, 2**32 - 1]
    bounds = np.array(few + random.integers(1, 2**32, 300).tolist(), np.uint64)
    for begin in (0, 2**32, 2**33 + 1, 2**53, 2**63, most, *random.integers(0, 2**63, 20).tolist()):
        # A multiple of the bound, the number below, and the one above, if they are small enough.
        multiples = [begin // int(b) * int(b) for b in bounds]
        for step in (-1, 0, 1):
            numbers = np.array([min(max(m + step, 0), most) for m in multiples], np.uint64)
            out = np.zeros_like(numbers)
            fill_remainders(numbers, bounds, out)
            assert out.tolist() == (numbers % bounds).tolist()


# ---- presenting examples

PLANS = {"cycle": (False, False), "first": (True, False), "random": (True, True)}
WEIGHTS = (2.0, 3.0, 0.5, 1.0, 4.0, 0.25)
RULES = {
    "plain": {},
    "weighted": {"eta": 0.5, "weights": WEIGHTS},
    "weighted examples": {"weights": WEIGHTS, "samples": (1.0, 0.5, 4.0) * 7 + (2.0, 1.0)},
    "margin": {"eta": 0.5, "weights": WEIGHTS, "margin": 3.0},
    "zero is positive": {"eta": 2.0, "tie": "positive"},  # if there are two classes
}


def rule_of(twin):
    weights = np.array(twin.weights or np.ones(6))
    positive, samples = twin.tie == "positive", np.array(twin.samples)
    return Rule(twin.eta, weights, twin.renormalize, positive, samples, twin.margin)


def plan_of(order, n, seed):
    sequence = np.arange(n if order in ("shuffle", "random") else 0, dtype=np.uint32)
    state = np.array([seed], np.uint64)
    if order == "shuffle":
        plan.shuffle(sequence, state)
    return Plan(sequence, *PLANS.get(order, (False, False)), state)


def assert_same_state(state, twin, exact=True):
    same = np.testing.assert_array_equal if exact else close
    same(state.w, twin.w)
    same(state.tally[CLOCK] * state.w - state.drift, sum(twin.held, np.zeros(twin.w.shape)))
    assert_same_counts(state, twin)


def assert_same_counts(state, twin):
    tally = state.tally[[LOOKS, MISTAKES, UPDATES, WORK, SEEN]].tolist()
    counted = [twin.looks, twin.mistakes, len(twin.log), twin.multiply_adds, len(twin.held)]
    assert tally == counted


def assert_same_log(log, used, twin, exact=True):
    same = np.testing.assert_array_equal if exact else close
    assert used == len(twin.log)
    for column, expected in zip(log, ("example", "lead", "norm", "seen", "rival"), strict=True):
        same(column[: int(used)], [getattr(entry, expected) for entry in twin.log])


@pytest.mark.twin_of("online.perceptron.present")
@pytest.mark.parametrize("noted", [True, False], ids=["noted", "not noted"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("order", ["cycle", "shuffle", "first", "random"])
def test_present_does_what_the_twin_does(problem, layout, lift, order, rule, noted):
    twin = problem.twin(problem.start, lift=lift, sparse=layout.sparse, **RULES[rule])
    rows, state = problem.rows_and_state(layout, twin, averaging=noted)
    n, log, codes = len(problem.A), Log.empty(100 if noted else 0), problem.codes
    counts, arrangement, allowance = np.zeros(n, np.uint32), plan_of(order, n, 7), Allowance(n, 100)
    perceptron.present(rows, codes, arrangement, rule_of(twin), state, counts, log, allowance)
    ran = run(twin, problem.A, problem.y, order, seed=7, max_looks=n)
    assert counts.tolist() == ran.counts
    np.testing.assert_array_equal(state.w, twin.w)
    assert_same_counts(state, twin)
    if noted:
        assert_same_state(state, twin)
        assert_same_log(log, state.tally[LOGGED], twin)


@pytest.mark.parametrize("order", ["cycle", "first"])
def test_present_renormalises_like_the_twin(classes, layout, lift, order):
    problem = Problem.of(normal_rows(layout), classes)
    twin = problem.twin(lift=lift, renormalize=True, sparse=layout.sparse)
    (rows, state), log = problem.rows_and_state(layout, twin), Log.empty(100)
    counts, arrangement, rule = np.zeros(40, np.uint32), plan_of(order, 40, 0), rule_of(twin)
    allowance = Allowance(40, 100)
    perceptron.present(rows, problem.codes, arrangement, rule, state, counts, log, allowance)
    run(twin, problem.A, problem.y, order, max_looks=40)
    assert_same_state(state, twin, exact=False)
    assert_same_log(log, state.tally[LOGGED], twin, exact=False)
    assert abs(np.linalg.norm(state.w) - 1) < ROUNDING


def present_whole_numbers(allowance, capacity=0, times=1):
    """Present the same rows in stored order, in portions; without a log if it has no room."""
    A, signs = whole_numbers()
    state, counts = State.start(np.zeros(8), True), np.zeros(len(A), np.uint32)
    rows, arrangement = as_rows(A, 1.0), plan_of("cycle", len(A), 0)
    log, codes = Log.empty(capacity), (signs > 0).astype(np.int8)
    for _ in range(times):
        perceptron.present(rows, codes, arrangement, PLAIN, state, counts, log, allowance)
    return A, signs, state


@pytest.mark.parametrize("looks", [0, 1, 10])
def test_present_comes_back_after_the_looks_it_was_allowed_and_goes_on_from_there(looks):
    A, signs, state = present_whole_numbers(Allowance(looks, 100), times=2)
    twin = naive.learner(7, lift=1.0)
    for i in range(2 * looks):
        twin.present(A[i], signs[i], i)
    assert_same_state(state, twin)
    assert state.tally[CURSOR] == 2 * looks


def test_present_makes_exactly_the_updates_it_was_allowed():
    A, signs, state = present_whole_numbers(Allowance(100, 3))
    twin = naive.learner(7, lift=1.0)
    run(twin, A, signs, max_updates=3)
    assert_same_state(state, twin)


def test_present_comes_back_when_the_log_is_full():
    _, _, state = present_whole_numbers(Allowance(100, 100), capacity=2)
    assert state.tally[[MISTAKES, LOGGED]].tolist() == [2, 2]


def test_present_comes_back_at_the_end_of_the_sequence():
    _, signs, state = present_whole_numbers(Allowance(100, 100))
    assert state.tally[[CURSOR, LOOKS]].tolist() == [signs.size] * 2


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_present_and_most_wrong_name_the_row_that_cannot_be_used(layout, bad):
    A = np.array([[1.0, 2], [0, bad], [3, 4]])
    rows, codes = layout.rows(A, 0.0), np.ones(3, np.int8)
    counts, arrangement, log = np.zeros(3, np.uint32), plan_of("cycle", 3, 0), Log.empty(0)
    state = State.start(np.array([1.0, 1.0, 0.0]), False)
    perceptron.present(rows, codes, arrangement, PLAIN, state, counts, log, Allowance(3, 3))
    assert state.tally[[UNUSABLE, LOOKS, CURSOR]].tolist() == [2, 1, 1]
    state = State.start(np.array([1.0, 1.0, 0.0]), False)
    assert perceptron.most_wrong(rows, codes, PLAIN, state) == -1
    assert state.tally[UNUSABLE] == 2


@pytest.mark.twin_of("online.perceptron.most_wrong", "online.perceptron.correct_one")
@pytest.mark.parametrize("rule", RULES)
def test_most_wrong_and_correct_one_do_what_the_twin_does(problem, layout, lift, rule):
    twin = problem.twin(problem.start, lift=lift, sparse=layout.sparse, **RULES[rule])
    (rows, state), log = problem.rows_and_state(layout, twin), Log.empty(20)
    counts, rule_used = np.zeros(len(problem.A), np.uint32), rule_of(twin)
    for _ in range(10):
        i = perceptron.most_wrong(rows, problem.codes, rule_used, state)
        assert i == twin.most_wrong(problem.A, problem.y)
        perceptron.correct_one(rows, i, problem.codes[i], rule_used, state, counts, log)
        twin.update(problem.A[i], problem.y[i], i)
        twin.held.append(twin.w)
    assert counts.tolist() == np.bincount([m.example for m in twin.log], minlength=23).tolist()
    assert_same_state(state, twin)
    assert_same_log(log, state.tally[LOGGED], twin)


def test_most_wrong_gives_minus_one_when_every_example_is_right(layout):
    rows, codes = layout.rows(np.array([[1.0], [2.0]]), 0.0), np.ones(2, np.int8)
    state = State.start(np.array([1.0, 0.0]), False)
    assert perceptron.most_wrong(rows, codes, PLAIN, state) == -1
    assert state.tally[[LOOKS, WORK]].tolist() == [2, 2]


# ---- single rows


def sparse_row(x):
    columns = np.flatnonzero(x)
    return columns, x[columns]


@pytest.mark.twin_of("online.perceptron.learn_row")
@pytest.mark.parametrize("margin", [0.0, 3.0])
@pytest.mark.parametrize("averaging", [True, False])
def test_learn_row_does_what_the_twin_does(problem, lift, averaging, margin):
    twin = problem.twin(lift=lift, eta=0.5, weights=WEIGHTS, sparse=True, margin=margin)
    state = State.start(twin.w.copy(order="F"), averaging)
    for x, y, code in zip(problem.A, problem.y, problem.codes.tolist(), strict=True):
        given = code, twin.eta * WEIGHTS[code], lift, margin
        outcome, learned = perceptron.learn_row(*sparse_row(x), given, *state), twin.present(x, y)
        if learned:
            latest = twin.log[-1]
            assert outcome == (latest.rival if latest.lead <= 0 else -2 - latest.rival)
        else:
            assert outcome == -1
    np.testing.assert_array_equal(state.w, twin.w)
    if averaging:
        assert_same_state(state, twin)


@pytest.mark.twin_of("online.perceptron.score_row", "online.perceptron.score_class_row")
def test_scores_of_single_rows_equal_dot_products(problem, lift):
    for x in problem.A:
        row, expected, out = sparse_row(x), problem.start @ np.append(x, lift), np.empty(6)
        if problem.classes:
            out = out[: problem.classes]
            perceptron.score_class_row(*row, lift, problem.start, out)
            assert out.tolist() == expected.tolist()
        else:
            assert perceptron.score_row(*row, lift, problem.start) == expected


@pytest.mark.parametrize(("column", "value"), [(7, 1.0), (-1, 1.0), (2**40, 1.0), (0, np.nan)])
def test_a_row_that_cannot_be_used_changes_nothing(problem, column, value):
    w = np.ones_like(problem.start)
    state, row = State.start(w, True), (np.array([2, column]), np.array([1.0, value]))
    assert np.isnan(perceptron.learn_row(*row, (1, 1.0, 1.0, 0.0), *state))
    assert (state.w == 1.0).all()
    assert not state.tally.any()
    if not problem.classes:
        assert np.isnan(perceptron.score_row(*row, 1.0, state.w))


@pytest.mark.parametrize("averaging", [True, False])
def test_a_row_that_would_make_weights_infinite_changes_nothing(problem, averaging):
    w = np.zeros_like(problem.start)
    w[..., 0] = -1.7e308
    state = State.start(w, averaging)
    state.tally[CLOCK] = 2.0
    before, row = [part.copy() for part in state], (np.array([0]), np.array([1e308]))
    # A positive push stays finite on one side alone, one of the other sign on none.
    code = 0 if not problem.classes else 1
    assert np.isnan(perceptron.learn_row(*row, (code, 1.0, 0.0, 0.0), *state))
    for part, kept in zip(state[:3], before, strict=False):
        np.testing.assert_array_equal(part, kept)


# ---- replaying and voting


def logged_run(problem, **options):
    """A naive run of two passes, its log as arrays, and the steps."""
    twin = problem.twin(**options)
    run(twin, problem.A, problem.y, max_looks=2 * len(problem.A))
    *columns, _ = (np.array(column) for column in zip(*twin.log, strict=True))
    log = Log(*columns)._replace(norm=columns[2].astype(float))
    return twin, log, steps(log, problem.codes, rule_of(twin))


def replayed(problem, rows, log, factors, comparator):
    projection, square = np.empty((2, factors.size))
    replay(rows, log, problem.codes, factors, comparator, (0.0, 0.0), projection, square)
    return projection, square


@pytest.mark.twin_of("online.averaging.replay")
def test_replay_gives_the_quantities_of_the_proof_after_each_mistake(problem, layout, lift):
    twin, log, factors = logged_run(problem, lift=lift, weights=WEIGHTS)
    rows, w = layout.rows(problem.A, lift), problem.start
    projection, square = replayed(problem, rows, log, factors, w)
    np.testing.assert_array_equal(projection, [np.vdot(entry.w, w) for entry in twin.log])
    np.testing.assert_array_equal(square, [np.vdot(entry.w, entry.w) for entry in twin.log])


def test_replay_follows_a_renormalised_run(classes, layout, lift):
    problem = Problem.of(normal_rows(layout), classes)
    twin, log, factors = logged_run(problem, lift=lift, renormalize=True)
    w = problem.start / 8
    projection, square = replayed(problem, layout.rows(problem.A, lift), log, factors, w)
    close(projection, [np.vdot(entry.w, w) for entry in twin.log])
    close(square, np.ones(len(twin.log)))


@pytest.mark.twin_of("online.averaging.vote")
@pytest.mark.parametrize("renormalize", [False, True])
def test_vote_counts_the_votes_of_all_weights_held(classes, lift, renormalize):
    problem = Problem.of(whole_numbers() if not renormalize else normal_rows(DENSE), classes)
    twin, log, factors = logged_run(problem, lift=lift, renormalize=renormalize)
    products = problem.A @ problem.A.T + lift**2
    held = np.diff([0, *log.seen, len(twin.held)]).astype(float)
    out = np.zeros((len(problem.A), *twin.w.shape[:-1]))
    code = problem.codes[log.example].astype(np.int64)
    mistakes = log.example, factors, log.norm, code, log.rival
    vote(products, np.zeros(out.shape), mistakes, held, out)
    # Whole numbers of votes; their mean in the twin is one division away.
    np.testing.assert_allclose(out / len(twin.held), twin.voted(problem.A), rtol=1e-15)


def test_each_signature_has_a_file_of_its_own_and_those_of_earlier_sources_go(tmp_path):
    assert type(plan.shuffle._cache._cache_file) is Index
    for name in (
        "room.loop-7.1.nbc",
        "room.loop-7.nbi",
        "room.loop-5.1.nbc",
        "room.looped-7.1.nbc",
    ):
        (tmp_path / name).touch()
    index, other = (Index(str(tmp_path), "room.loop-7", None) for _ in range(2))
    index.loop = other.loop = plan.shuffle
    with closing(index):
        assert not index.any_kept()
        assert index.load("a signature") is None
        index.save("a signature", "compiled")
    other.save("another", "compiled, too")
    assert [index.load(key) for key in ("a signature", "another")] == ["compiled", "compiled, too"]
    assert index.any_kept()
    assert len(list(tmp_path.iterdir())) == 3
    assert (tmp_path / "room.looped-7.1.nbc").exists()


@pytest.mark.parametrize("compiled", [False, True])
def test_a_loop_pays_for_more_than_a_few_or_if_it_must_be_compiled_for_many(monkeypatch, compiled):
    monkeypatch.setattr(loops, "is_compiled", lambda loop: compiled)
    monkeypatch.setattr(loops, "_done_without", {})
    assert not loops.pays(plan.shuffle, 10, few=10)
    assert loops.pays(plan.shuffle, 10 * loops.AT_ONCE + 1, few=10)
    found = [loops.pays(plan.shuffle, 10 * loops.AT_ONCE, few=10) for _ in range(9)]
    assert found == [compiled] * (loops.ALL_IN_ALL // loops.AT_ONCE) + [True]
    assert not loops.pays(plan.shuffle, 10, few=10)


def test_a_loop_is_compiled_anew_when_a_part_in_another_file_changes(tmp_path, monkeypatch):
    names = [f"{part}_{tmp_path.name}" for part in ("inner", "outer")]
    inner, outer = (tmp_path / f"{name}.py" for name in names)
    inner.write_text(
        "from rosenblatt.loops import part\n"
        "from rosenblatt.rows import primitive\n"
        "FACTOR = 1\n"
        "@part\n"
        "def twice(x):\n    return 2 * x\n"
        "@primitive\n"
        "def thrice(x):\n    return lambda x: 3 * x\n"
    )
    outer.write_text(
        "from rosenblatt.loops import loop\n"
        f"from {names[0]} import FACTOR, thrice, twice\n"
        "@loop\n"
        "def total(x):\n    return FACTOR * (twice(x) + thrice(x))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    def in_a_new_process():
        for name in names:
            sys.modules.pop(name, None)
        invalidate_caches()
        total = import_module(names[1]).total
        return total(1), sum(total.stats.cache_hits.values())

    assert in_a_new_process() == (5, 0)
    assert in_a_new_process() == (5, 1)
    for old, new in [("2 * x", "20 * x"), ("3 * x", "300 * x"), ("FACTOR = 1", "FACTOR = -10")]:
        inner.write_text(inner.read_text().replace(old, new))
        value, hits = in_a_new_process()
        assert hits == 0
    assert value == -3200


def test_one_process_compiles_a_loop_and_others_run_it_without_all_that_numba_knows(tmp_path):
    source = """
import sys, numpy as np
from rosenblatt.loops import loop

@loop
def double(a):
    for k in range(a.size):
        a[k] += a[k]

def doubled(dtype):
    a = np.ones(3, dtype)
    double(a)
    return a.tolist()

print(doubled(float), "numba.cpython.unicode" in sys.modules, end=" ")
if "more" in sys.argv:
    print(doubled(np.float32), doubled(float), end="")
"""
    (tmp_path / "doubling.py").write_text(source)

    def begun(*arguments):
        command = [sys.executable, "doubling.py", *arguments]
        return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE)

    # One of two processes compiles, and the other waits for it.
    both = [process.communicate()[0] for process in [begun(), begun()]]
    assert sorted(both) == [b"[2.0, 2.0, 2.0] False ", b"[2.0, 2.0, 2.0] True "]
    third, _ = begun("more").communicate()
    assert third == b"[2.0, 2.0, 2.0] False [2.0, 2.0, 2.0] [2.0, 2.0, 2.0]"
