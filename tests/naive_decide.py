"""A slow, obvious twin of `separate`: the three cases of D9 by two linear programs in fractions.

Signed rows z of D numbers, w free. Separable: some w and t > 0 have z·w >= t on every row. Weakly
separable: some w has z·w >= 0 on every row and a sum of all z·w above 0. Both ask for the maximum
of a linear program that is feasible at zero, for which Dantzig's simplex method with Bland's rule
needs no first phase and always ends.
"""

from fractions import Fraction

SEPARABLE, WEAKLY, INSEPARABLE = "separable", "weakly separable", "inseparable"


def signed(X, signs, intercept):
    """Give the rows s·(x, 1), or s·x, as fractions; X is a list of lists of exact numbers."""
    added = [1] if intercept else []
    return [
        [int(s) * exact(value) for value in [*x, *added]] for x, s in zip(X, signs, strict=True)
    ]


def exact(value):
    return Fraction(*map(int, value.as_integer_ratio()))


def verdict(rows):
    """Decide about signed rows."""
    rows = in_units(rows)
    if largest_height(rows) > 0:
        return SEPARABLE
    return WEAKLY if largest_sum(rows) > 0 else INSEPARABLE


def in_units(rows):
    """Divide columns by their largest entry, then rows by theirs; no case depends on either."""
    exactly = [[Fraction(value) for value in row] for row in rows]
    columns = [[value / unit(column) for value in column] for column in zip(*exactly, strict=True)]
    return [[value / unit(row) for value in row] for row in zip(*columns, strict=True)]


def unit(values):
    return max(map(abs, values)) or 1


def largest_height(rows):
    """Give max t subject to z·w >= t for all rows, and t <= 1."""
    constraints = [[*negated(row), 1] for row in split(rows)]
    constraints.append([0] * (len(constraints[0]) - 1) + [1])
    objective = [0] * (len(constraints[0]) - 1) + [1]
    return maximum(objective, constraints, [0] * len(rows) + [1])


def largest_sum(rows):
    """Give max Σ z·w subject to z·w >= 0 for all rows, and Σ z·w <= 1."""
    parts = split(rows)
    total = [sum(column) for column in zip(*parts, strict=True)]
    return maximum(total, [*map(negated, parts), total], [0] * len(rows) + [1])


def split(rows):
    """Write free numbers w as u - m with u >= 0 and one m >= 0: a column more, for m."""
    return [[*row, -sum(row)] for row in rows]


def negated(row):
    return [-value for value in row]


def maximum(objective, constraints, limits):
    """Give max c·x subject to A x <= b and x >= 0, where b >= 0 and the maximum is finite.

    A dictionary holds the variables of its basis in terms of the others, each line as the numbers
    of the others and a constant. Bland: of the variables that may enter or leave, take the first.
    """
    width = len(objective)
    lines = {
        width + i: [*map(Fraction, negated(row)), Fraction(limit)]
        for i, (row, limit) in enumerate(zip(constraints, limits, strict=True))
    }
    goal, outside = [*map(Fraction, objective), Fraction(0)], list(range(width))
    while True:
        rising = [name for k, name in enumerate(outside) if goal[k] > 0]
        if not rising:
            return goal[-1]
        place = outside.index(min(rising))
        room = [(line[-1] / -line[place], name) for name, line in lines.items() if line[place] < 0]
        _, leaving = min(room)
        solved = _solved(lines.pop(leaving), place)
        lines = {name: _substituted(line, place, solved) for name, line in lines.items()}
        goal = _substituted(goal, place, solved)
        lines[outside[place]] = solved
        outside[place] = leaving


def _solved(line, place):
    """Solve the line of a variable for the variable at a place, which it thereby takes."""
    share = line[place]
    solved = [-value / share for value in line]
    solved[place] = 1 / share
    return solved


def _substituted(line, place, solved):
    """Put the solved line in for the variable at a place."""
    share = line[place]
    if not share:
        return line
    moved = [value + share * other for value, other in zip(line, solved, strict=True)]
    moved[place] = share * solved[place]
    return moved


def rank(rows):
    """Give the rank by elimination."""
    rows, found = [[Fraction(value) for value in row] for row in rows], 0
    while rows:
        top = rows.pop()
        place = next((j for j, value in enumerate(top) if value), None)
        if place is not None:
            found += 1
            rows = [_cleared(row, top, place) for row in rows]
    return found


def _cleared(row, top, place):
    share = row[place] / top[place]
    return [value - share * other for value, other in zip(row, top, strict=True)]


def combined(weights, rows):
    """Give Σ weight·row."""
    exact_weights = [Fraction(weight) for weight in weights]
    return [
        sum(y * value for y, value in zip(exact_weights, column, strict=True))
        for column in zip(*rows, strict=True)
    ]


def dots(rows, w):
    """Give z·w of all rows."""
    exact_w = [Fraction(value) for value in w]
    return [sum(a * b for a, b in zip(row, exact_w, strict=True)) for row in rows]


def aliased(rows, intercept):
    """Give the columns that are linear combinations of earlier ones; the intercept comes first."""
    columns = list(zip(*rows, strict=True))
    kept, found = columns[-1:] if intercept else [], []
    for j, column in enumerate(columns[: len(columns) - intercept]):
        if rank([*kept, column]) == len(kept):
            found.append(j)
        else:
            kept.append(column)
    return found


def to_blame(rows, intercept):
    """Give the columns in which a w with z·w >= 0 on all rows, 0 on aliased ones, is not zero."""
    apart = aliased(rows, intercept)
    kept = [j for j in range(len(rows[0])) if j not in apart]
    rows = in_units([[row[j] for j in kept] for row in rows])
    return [j for k, j in enumerate(kept[: len(kept) - intercept]) if can_move(rows, k)]


def can_move(rows, place):
    """Tell whether ±w at a place can be above 0 while z·w >= 0 on all rows."""
    for sign in (1, -1):
        goal = split([[sign * (k == place) for k in range(len(rows[0]))]])[0]
        constraints = [*map(negated, split(rows)), goal]
        if maximum(goal, constraints, [0] * len(rows) + [1]) > 0:
            return True
    return False
