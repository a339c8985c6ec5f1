"""A slow, obvious checker of VIPR 1.0 files, written from the description of the format.

It knows what linear programs need: derivations by linear combinations, and solutions.
"""

from fractions import Fraction
from typing import NamedTuple

SENSES = {"G": 1, "E": 0, "L": -1}


class Wrong(Exception):
    pass


class Constraint(NamedTuple):
    entries: dict
    sense: int
    right: Fraction

    def holds(self, point):
        value = sum(a * point.get(j, 0) for j, a in self.entries.items()) - self.right
        return value == 0 if self.sense == 0 else value * self.sense >= 0

    def is_absurd(self):
        return not self.entries and not self.holds({})

    def dominates(self, other):
        if self.is_absurd():
            return True
        if self.entries != other.entries or self.sense not in (0, other.sense):
            return False
        gap = self.right - other.right
        return gap == 0 if other.sense == 0 else gap * other.sense >= 0


class Reader:
    def __init__(self, text):
        lines = [line for line in text.splitlines() if not line.startswith("%")]
        self.words = iter(" ".join(lines).split())

    def word(self, *expected):
        word = next(self.words)
        need(not expected or word in expected)
        return word

    def whole(self):
        return int(self.word())

    def number(self):
        return Fraction(self.word())

    def entries(self, count=None):
        pairs = [(self.whole(), self.number()) for _ in range(int(count or self.word()))]
        need(len(dict(pairs)) == len(pairs))
        return {j: value for j, value in pairs if value}

    def section(self, name):
        self.word(name)
        return self.whole()

    def constraint(self, objective):
        self.word()
        sense, right, count = SENSES[self.word()], self.number(), self.word()
        return Constraint(objective if count == "OBJ" else self.entries(count), sense, right)


def need(condition):
    if not condition:
        raise Wrong


def accepts(text):
    try:
        check(Reader(text))
    except (Wrong, StopIteration, ValueError, KeyError, ZeroDivisionError):
        return False
    return True


def check(file):
    file.word("VER")
    file.word("1.0")
    names = [file.word() for _ in range(file.section("VAR"))]
    need(len(set(names)) == len(names))
    need(file.section("INT") == 0)
    file.word("OBJ")
    direction = {"min": 1, "max": -1}[file.word()]
    objective = file.entries()
    rows = [file.constraint(objective) for _ in range(counted(file))]
    goal = goals(file)
    check_solutions(file, rows, objective, direction, goal)
    check_derivations(file, rows, objective, direction, goal)
    need(next(file.words, None) is None)


def counted(file):
    count, bounds = file.section("CON"), file.whole()
    need(0 <= bounds <= count)
    return count


def goals(file):
    """What is to be proven: None for infeasibility, else the ends of a range."""
    file.word("RTP")
    if file.word("infeas", "range") == "infeas":
        return None
    ends = file.word(), file.word()
    return tuple(None if end in ("-inf", "inf") else Fraction(end) for end in ends)


def check_solutions(file, rows, objective, direction, goal):
    """A minimum must be reached below the upper end, a maximum above the lower one."""
    values = []
    for _ in range(file.section("SOL")):
        file.word()
        point = file.entries()
        need(all(row.holds(point) for row in rows))
        values.append(sum(c * point.get(j, 0) for j, c in objective.items()) * direction)
    end = None if goal is None else goal[1 if direction > 0 else 0]
    need(end is None or any(value <= end * direction for value in values))


def check_derivations(file, rows, objective, direction, goal):
    for _ in range(file.section("DER")):
        claimed = file.constraint(objective)
        file.word("{")
        file.word("lin")
        need(combined(rows, file.entries()).dominates(claimed))
        file.word("}")
        file.whole()
        rows.append(claimed)
    if goal is None:
        need(rows[-1].is_absurd())
        return
    end = goal[0 if direction > 0 else 1]
    need(end is None or rows[-1].dominates(Constraint(objective, direction, end)))


def combined(rows, weights):
    """A suitable linear combination."""
    senses = {1 if y * rows[i].sense > 0 else -1 for i, y in weights.items() if rows[i].sense}
    need(len(senses) <= 1 and all(0 <= i < len(rows) for i in weights))
    totals = {}
    for i, y in weights.items():
        for j, a in rows[i].entries.items():
            totals[j] = totals.get(j, 0) + y * a
    right = sum((y * rows[i].right for i, y in weights.items()), Fraction(0))
    return Constraint({j: a for j, a in totals.items() if a}, *senses or (0,), right)
