"""Every compiled loop is held to a slow, obvious twin.

A test that does so is marked ``twin_of("room.module.loop")``, wherever it stands. Here are those
of loops that are otherwise reached only from far away, and the count of all of them.
"""

import ast
import re
from fractions import Fraction
from functools import cache
from math import inf, isfinite
from pathlib import Path

import numpy as np
import pytest

import rosenblatt
from layouts import DENSE, LAYOUTS, ROUNDING, SPARSE, close, normal_rows, whole_numbers
from naive import exact_dot
from rosenblatt.data import exactly
from rosenblatt.data.exactly import TOLD, has_long
from rosenblatt.exact.extremes import class_extremes
from rosenblatt.exact.modular import eliminate
from rosenblatt.kernel import walk as walking
from rosenblatt.kernel.voting import count
from rosenblatt.kernel.walk import DONE, DOUBT, UNKNOWN, UNUSABLE_SCORE, Doubt, Found, Within
from rosenblatt.methods.relaxation import relax
from rosenblatt.online.perceptron import CURSOR, LOOKS, UNUSABLE
from rosenblatt.online.plan import Plan
from rosenblatt.rows import favoured, fill_squares, scores

SOURCE, TESTS = Path(rosenblatt.__file__).parent, Path(__file__).parent
COMPILED = {"loop", "exact_loop"}


def listed(names):
    """Look once, for it means to parse all files."""
    return cache(lambda: {*names()})


@listed
def loops():
    """Name all functions that are decorated as loops."""
    for path in SOURCE.rglob("*.py"):
        room = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            decorators = getattr(node, "decorator_list", [])
            if any(isinstance(mark, ast.Name) and mark.id in COMPILED for mark in decorators):
                yield f"{room}.{node.name}"


@listed
def named_twins():
    """Name the loops of all marks on tests."""
    for path in TESTS.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for mark in getattr(node, "decorator_list", []):
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.twin_of":
                    yield from (name.value for name in mark.args)


def test_every_loop_has_a_twin():
    assert sorted(loops() - named_twins()) == []


def test_no_mark_names_a_loop_that_is_gone():
    assert sorted(named_twins() - loops()) == []


def test_collecting_the_tests_compiles_nothing(compiled_early):
    assert compiled_early == []


# ---- scores of kernel learners: D18's rule, on a table of scores


def standing(scores, y):
    """The best wrong class, of equal ones the first, the lead of class y, and that of the rival."""
    wrong = [r for r in range(len(scores)) if r != y]
    best = max(wrong, key=lambda r: scores[r])
    next_best = max((scores[r] for r in wrong if r != best), default=-inf)
    return best, scores[y] - scores[best], scores[best] - next_best


def doubted(lead, gap, slack):
    """Whether errors up to the slack could make another mistake of it, or another rival."""
    return slack > 0 and (abs(lead) <= slack or (lead <= 0 and gap <= slack))


class Table:
    """Examples with the scores of their classes, in whole numbers; K holds the kernel's values."""

    def __init__(self, classes, seed, n=40):
        random = np.random.default_rng(seed)
        self.codes = random.integers(0, classes, n)
        self.scores = random.integers(-6, 7, (n, classes)).astype(float)
        values = random.integers(-3, 4, (n, n)).astype(float)
        self.K = values + values.T

    def learn(self, i, rival, rows):
        """Move the scores of some rows by a mistake on row i."""
        self.scores[rows, self.codes[i]] += self.K[i, rows]
        self.scores[rows, rival] -= self.K[i, rows]

    def standing(self, i):
        return standing(self.scores[i].tolist(), self.codes[i])


def room(n):
    return Found(*(np.full(n, -1) for _ in range(3)))


def naive_walk(table, known, doubt, allowed):
    """Present rows in turn; give where it stopped, the mistakes, and why."""
    n, mistakes = len(table.codes), []
    for t in range(n):
        rival, lead, gap = table.standing(t)
        if len(mistakes) == allowed:
            return t, mistakes, DONE
        if doubted(lead, gap, doubt.slack[t]):
            return t, mistakes, DOUBT
        if not isfinite(lead):
            return t, mistakes, UNUSABLE_SCORE
        if lead <= 0:
            if t not in known:
                return t, mistakes, UNKNOWN
            mistakes.append((t, rival))
            later = np.arange(t + 1, n)
            table.learn(t, rival, later)
            moved = doubt.relative[later] * np.abs(table.K[t, later]) + doubt.absolute[later]
            doubt.slack[later] += 2 * moved
    return n, mistakes, DONE


# In each case something else ends the walk; None: all rows are presented.
WALKS = {"all": {}, "few": {"allowed": 3}, "unknown": {"known": range(9)}, "doubt": {"slack": 0.5}}


@pytest.mark.twin_of("kernel.walk.walk")
@pytest.mark.parametrize("case", [*WALKS, "unusable"])
@pytest.mark.parametrize("classes", [2, 5])
def test_a_walk_through_a_block_is_the_naive_one(classes, case):
    options = WALKS.get(case, {})
    for seed in range(10):
        one, other = Table(classes, seed), Table(classes, seed)
        n = len(one.codes)
        if case == "unusable":
            for table in (one, other):
                table.scores[n // 2, table.codes[n // 2]] = np.nan
        slack = np.full(n, options.get("slack", 0.0))
        errors = slack / 8, slack / 4
        known = options.get("known", range(n))
        within = Within(one.K[list(known)], np.array([t if t in known else -1 for t in range(n)]))
        found, allowed = room(n), options.get("allowed", n)
        doubts = [Doubt(slack.copy(), *errors) for _ in range(2)]
        stop = walking.walk(one.codes, one.scores, within, doubts[0], 0, 0, allowed, found)
        at, mistakes, why = naive_walk(other, known, doubts[1], allowed)
        assert stop == (at, len(mistakes), why)
        made = [*zip(found.place.tolist(), found.rival.tolist(), strict=True)][: len(mistakes)]
        assert made == mistakes
        np.testing.assert_array_equal(one.scores, other.scores)
        np.testing.assert_array_equal(doubts[0].slack, doubts[1].slack)


@pytest.mark.twin_of(
    "kernel.walk.doubtful", "kernel.walk.leads", "kernel.walk.worst_mistake", "kernel.walk.judge"
)
@pytest.mark.parametrize("classes", [2, 5])
def test_what_a_table_of_scores_says_is_what_each_row_says(classes):
    for seed in range(10):
        table = Table(classes, seed)
        n, begin, slack = len(table.codes), 7, np.linspace(0, 4, 40)
        rows = [table.standing(i) for i in range(n)]
        places, out = np.empty(n, np.int64), np.empty(n - begin)
        doubt = Doubt(slack, np.zeros(n), np.zeros(n))
        size = walking.doubtful(table.codes, table.scores, doubt, begin, places)
        unsure = [i for i in range(begin, n) if doubted(*rows[i][1:], slack[i])]
        assert places[:size].tolist() == unsure
        walking.leads(table.codes, table.scores, begin, out)
        assert out.tolist() == [lead for _, lead, _ in rows[begin:]]
        worst = min(range(n), key=lambda i: rows[i][1])
        wrong = rows[worst][1] <= 0
        expected = (worst, rows[worst][0]) if wrong else (-1, -1)
        assert walking.worst_mistake(table.codes, table.scores) == expected
        for i, (rival, lead, _) in enumerate(rows):
            judged = walking.judge(table.scores[i : i + 1], table.codes[i])
            assert judged == (rival, lead, lead <= 0)


def naive_run_through(table, order, looks, restart):
    """Look at examples in an order, again from its beginning after each mistake if told so."""
    mistakes, cursor = [], 0
    for look in range(looks):
        if cursor == len(order):
            break
        i = order[cursor]
        rival, lead, _ = table.standing(i)
        cursor += 1
        if lead <= 0:
            mistakes.append((i, rival, look))
            table.learn(i, rival, np.arange(len(order)))
            cursor = 0 if restart else cursor
    return mistakes, cursor


@pytest.mark.twin_of("kernel.walk.run_through", "kernel.walk.move")
@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("classes", [2, 4])
def test_running_through_a_table_of_scores_is_presenting_one_after_the_other(classes, restart):
    for seed in range(10):
        one, other = Table(classes, seed), Table(classes, seed)
        order = np.random.default_rng(seed).permutation(40)
        plan = Plan(order.astype(np.uint32), restart, False, np.zeros(1, np.uint64))
        tally, found = np.zeros(16, np.int64), room(100)
        made = walking.run_through(one.codes, one.scores, one.K, plan, tally, 60, found)
        mistakes, cursor = naive_run_through(other, order, 60, restart)
        assert [*zip(*(part[:made].tolist() for part in found), strict=True)] == mistakes
        assert tally[CURSOR] == cursor
        assert tally[LOOKS] <= 60
        np.testing.assert_array_equal(one.scores, other.scores)


def test_a_score_beyond_the_floats_ends_the_run_and_names_its_row():
    table, tally = Table(2, 0), np.zeros(16, np.int64)
    table.codes[:], table.scores[:], table.K[:] = 0, (0.0, 1e308), -1e308
    plan = Plan(np.empty(0, np.uint32), False, False, np.zeros(1, np.uint64))
    assert walking.run_through(table.codes, table.scores, table.K, plan, tally, 60, room(100)) == 1
    assert tally[UNUSABLE] == 1


@pytest.mark.twin_of("kernel.voting.count")
@pytest.mark.parametrize("classes", [2, 4])
def test_all_expansions_vote_for_their_best_class(classes):
    random = np.random.default_rng(1)
    values = random.integers(-2, 3, (12, 20)).astype(float)
    place, code = random.integers(0, 20, 30), random.integers(0, classes, 30)
    rival = (code + 1 + random.integers(0, classes - 1, 30)) % classes
    weight, held = random.integers(1, 4, (2, 30)).astype(float)
    votes, expected = np.zeros((12, classes)), np.zeros((12, classes))
    count(values, place, code, rival, weight, held, np.zeros((12, classes)), votes)
    for row, votes_of_row in zip(values, expected, strict=True):
        scores = np.zeros(classes)
        for m in range(30):
            scores[code[m]] += weight[m] * row[place[m]]
            scores[rival[m]] -= weight[m] * row[place[m]]
            best = np.flatnonzero(scores == scores.max())
            if best.size == 1:
                votes_of_row[best[0]] += held[m]
    np.testing.assert_array_equal(votes, expected)


# ---- rows of several classes


@pytest.mark.twin_of("rows.scores", "rows.fill_squares")
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_scores_of_classes_and_squares_are_those_of_numpy(layout):
    A, _ = whole_numbers()
    lifted = np.column_stack([A, np.full(len(A), 3.0)])
    W = np.random.default_rng(2).integers(-4, 5, (5, lifted.shape[1])).astype(float)
    rows, out, squares = layout.rows(A, 3.0), np.empty((len(A), 5)), np.empty(len(A))
    scores(rows, favoured(rows, W), out)
    np.testing.assert_array_equal(out, lifted @ W.T)
    fill_squares(rows, squares)
    np.testing.assert_array_equal(squares, (lifted**2).sum(axis=1))


@pytest.mark.twin_of("exact.extremes.class_extremes")
@pytest.mark.parametrize("layout", [DENSE, SPARSE], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_extremes_of_classes_enclose_the_exact_ones_tightly(layout, weighted):
    A, _ = normal_rows(layout)
    random = np.random.default_rng(5)
    codes, W = random.integers(0, 3, len(A)), random.standard_normal((3, 6))
    weights = np.linspace(0.5, 3.0, len(A)) if weighted else np.empty(0)
    found = class_extremes(layout.rows(A, 2.0), codes, weights, W)
    factors = [Fraction(float(c)) for c in (weights if weighted else np.ones(len(A)))]
    products = [[exact_dot(np.append(x, 2.0), w) for w in W] for x in A]
    leads = [
        min(p[y] - p[r] for r in range(3) if r != y) for p, y in zip(products, codes, strict=True)
    ]
    squares = [exact_dot(np.append(x, 2.0), np.append(x, 2.0)) for x in A]
    radius = max(c * c * square for c, square in zip(factors, squares, strict=True))
    margins = [c * lead for c, lead in zip(factors, leads, strict=True)]
    right = [k for k in range(len(A)) if leads[k] > 0]
    steepest = max(factors[k] * squares[k] / leads[k] for k in right)
    slack = Fraction(ROUNDING)
    assert radius <= Fraction(found.radius) ** 2 <= radius * (1 + slack)
    assert min(margins) - slack <= Fraction(found.margin) <= min(margins)
    assert margins[found.where] == min(margins)
    assert abs(Fraction(found.steepest) / steepest - 1) <= Fraction(1e-9)


# ---- elimination


@pytest.mark.twin_of("exact.modular.eliminate")
def test_elimination_modulo_a_prime_keeps_rows_as_plain_integers_do():
    random, prime = np.random.default_rng(0), 2**26 - 5
    for _ in range(30):
        n, d, rank = random.integers(1, 7, 3)
        rows = random.integers(-9, 9, (n, rank)) @ random.integers(-9, 9, (rank, d)) % prime
        kept, leading = np.zeros((2, n), np.int64)
        found = rows.astype(np.float64)
        half = eliminate(found, float(prime), kept, leading, 0, 0, n // 2)
        count = eliminate(found, float(prime), kept, leading, half, n // 2, n)
        echelon = []  # rows that begin with 1, by the column in which they do
        for i, row in enumerate(rows.tolist()):
            for column, other in echelon:
                row = [(a - row[column] * b) % prime for a, b in zip(row, other, strict=True)]
            first = next((j for j, value in enumerate(row) if value), None)
            if first is not None:
                inverse = pow(row[first], -1, prime)
                assert (kept[len(echelon)], leading[len(echelon)]) == (i, first)
                echelon.append((first, [value * inverse % prime for value in row]))
        assert count == len(echelon)
        assert found[kept[:count]].tolist() == [row for _, row in echelon]


# ---- relaxation


@pytest.mark.twin_of("methods.relaxation.relax")
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_a_pass_of_relaxation_carries_each_row_to_the_right_side(layout):
    A, signs = normal_rows(layout)
    Z = signs[:, None] * np.column_stack([A, np.full(len(A), 3.0)])
    squares, w, twin = (Z**2).sum(axis=1), np.zeros(6), np.zeros(6)
    squares[4] = 0.0  # such a row is looked at and left alone
    steps, expected = np.zeros((2, len(A)))
    for _ in range(3):
        wrong = 0
        for k, z in enumerate(Z):
            score = z @ twin
            wrong += score <= 0
            if score < 1 and squares[k]:
                expected[k] += (1 - score) / squares[k]
                twin = twin + (1 - score) / squares[k] * z
        assert relax(layout.rows(A, 3.0), signs, squares, w, steps) == wrong
        close(w, twin)
        close(steps, expected)


# ---- long numbers in a text


def naive_has_long(text, point):
    """Whether a word has more digits than a float tells, or an exponent of three digits."""
    runs = re.findall(rb"[0-9%s]+" % point, text)
    told = all(len(run.replace(point, b"").lstrip(b"0")) <= TOLD for run in runs)
    return not told or re.search(rb"[eE][+-]?[0-9]{3}", text) is not None


@pytest.mark.twin_of("data.exactly.has_long")
@pytest.mark.parametrize("point", [b".", b","])
def test_long_numbers_are_seen_wherever_they_stand(point):
    random, seen = np.random.default_rng(0), set()
    signs = np.frombuffer(b"0000123456789987654321..,,eE+- \n", np.uint8)
    for size in random.integers(0, 60, 2000):
        text = random.choice(signs, size)
        text[random.random(size) < 0.5] = random.choice(signs[:22])
        found = has_long(text, np.uint8(ord(point)))
        assert found == exactly._is_long(text, point.decode())
        assert found == naive_has_long(text.tobytes(), point), text.tobytes()
        seen.add(found)
    assert seen == {False, True}
