"""Systems of linear inequalities whose answer is known by construction.

A point is planted, and rows are put through it, at it or next to it: they have a solution. Or rows
and bounds that meet in the point are chosen with multipliers under which they add up to zero, one
more row closes the sum, and a right-hand side is raised by a gap: they have none (theory D11). With
a gap of zero they touch: only a strict row among them makes a contradiction.

All of it is computed in whole numbers. Then rows and columns are multiplied by powers of two or
ten, or by fractions, so that floats, decimals and fractions hold the same systems exactly.
"""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from rosenblatt.checker import AT_LEAST, EQUAL, MORE_THAN, Row

Random = np.random.Generator


class PlantedSystem(NamedTuple):
    """What `solve` is given, and the right verdict."""

    A: Any
    b: Any
    strict: np.ndarray
    equal: np.ndarray
    bounds: list[tuple[Any, Any]]
    verdict: str

    def given(self) -> tuple[tuple[Any, Any], dict[str, Any]]:
        """Give arguments and options."""
        return (self.A, self.b), {
            "strict": self.strict, "equal": self.equal, "bounds": self.bounds
        }  # fmt: skip

    def data(self) -> tuple[list[Row], int, list[tuple[Fraction | None, Fraction | None]]]:
        """Give what the checker of the standard library takes."""
        tags = np.where(self.equal, EQUAL, np.where(self.strict, MORE_THAN, AT_LEAST)).tolist()
        A = self.A.toarray() if sparse.issparse(self.A) else np.array(self.A, object)
        entries = [[(j, Fraction(v)) for j, v in enumerate(a) if v] for a in A.tolist()]
        right = map(Fraction, self.b)
        rows = [Row(*each) for each in zip(tags, entries, right, strict=True)]
        ends = [tuple(None if e is None else Fraction(e) for e in pair) for pair in self.bounds]
        return rows, A.shape[1], ends


# ---- patterns of whole numbers


def scattered(random: Random, n: int, d: int, each: int = 4) -> sparse.csr_matrix:
    """Give some entries in each row."""
    rows, columns = np.repeat(np.arange(n), each), random.integers(0, d, n * each)
    return _matrix(rows, columns, _values(random, rows.size), (n, d))


def dense(random: Random, n: int, d: int) -> sparse.csr_matrix:
    """Give rows without zeros, or nearly so."""
    return sparse.csr_matrix(random.integers(-9, 10, (n, d)))


def wide_numbers(random: Random, n: int, d: int) -> sparse.csr_matrix:
    """Give entries of some thirty binary digits."""
    found = scattered(random, n, d)
    found.data = random.integers(-(2**30), 2**30, found.nnz)
    return found


def staircase(random: Random, n: int, d: int, periods: int = 8) -> sparse.csr_matrix:
    """Give rows of one period of time each, on columns of this period and of the next one."""
    period = np.arange(n) * periods // n
    rows = np.repeat(np.arange(n), 5)
    later = random.integers(0, 4, rows.size) == 0
    first = (period[rows] + later) % periods * d // periods
    columns = first + random.integers(0, max(1, d // periods), rows.size)
    return _matrix(rows, np.minimum(columns, d - 1), _values(random, rows.size), (n, d))


def network(random: Random, n: int, d: int) -> sparse.csr_matrix:
    """Give a node in each row and an arc in each column."""
    tails, steps = random.integers(0, n, d), random.integers(1, max(2, n), d)
    ends, arcs = np.concatenate([tails, (tails + steps) % n]), np.tile(np.arange(d), 2)
    return _matrix(ends, arcs, np.repeat([1, -1], d), (n, d))


def blending(random: Random, n: int, d: int) -> sparse.csr_matrix:
    """Give contents of products, in hundredths of what is allowed, and rows that count amounts."""
    found = scattered(random, n, d, 6)
    found.data = random.integers(-300, 1000, found.nnz)
    found.data[np.repeat(random.random(n) < 0.3, np.diff(found.indptr))] = 1
    return found


def repeated(random: Random, n: int, d: int) -> sparse.csr_matrix:
    """Give rows that are sums of a few: every vertex is degenerate."""
    few = scattered(random, max(1, n // 3), d)
    return sparse.csr_matrix(scattered(random, n, few.shape[0], 2).sign() @ few)


PATTERNS: list[Callable[[Random, int, int], sparse.csr_matrix]] = [
    scattered, dense, wide_numbers, staircase, network, blending, repeated
]  # fmt: skip


def _values(random: Random, count: int) -> np.ndarray:
    return random.choice([-9, -5, -3, -2, -1, -1, 1, 1, 2, 3, 4, 7], count)


def _matrix(
    rows: np.ndarray, columns: np.ndarray, values: np.ndarray, shape: tuple[int, int]
) -> sparse.csr_matrix:
    found = sparse.csr_matrix((values, (rows, columns)), shape=shape, dtype=np.int64)
    found.eliminate_zeros()
    return found


# ---- answers


class Whole(NamedTuple):
    """A system in whole numbers through a point, and what is added to its right-hand sides."""

    A: sparse.csr_matrix
    b: np.ndarray
    raised: np.ndarray
    tags: np.ndarray
    lower: np.ndarray  # NaN for none
    upper: np.ndarray
    feasible: bool


def through_a_point(random: Random, A: sparse.csr_matrix, tight: float, gap: int) -> Whole:
    """Put rows through a point, or next to it: strict ones by a gap at least, or by some whole."""
    n, d = A.shape
    point = random.integers(-4, 5, d) * (random.random(d) < 0.6)
    tags = random.choice([AT_LEAST, AT_LEAST, MORE_THAN, EQUAL], n)
    loose = (random.random(n) > tight) & (tags != EQUAL)
    b = A @ point - loose * random.integers(1, 5, n)
    raised = -gap * ((tags == MORE_THAN) & ~loose)
    return Whole(A, b, raised, tags, *_ends(random, point, random.random(d) < 0.3), True)


def contradictory(random: Random, A: sparse.csr_matrix, closed: float, gap: int) -> Whole:
    """Let rows and bounds through a point add up to 0 >= gap, closed by one row in some columns."""
    n, d = A.shape
    point = random.integers(-4, 5, d) * (random.random(d) < 0.6)
    tags = random.choice([AT_LEAST, AT_LEAST, MORE_THAN, EQUAL], n)
    shares = random.integers(1, 4, n) * (random.random(n) < min(1.0, 60 / n))
    shares[random.integers(n)] = 1
    shares *= np.where(tags == EQUAL, random.choice([-1, 1], n), 1)
    left = shares @ A
    by_row = random.random(d) < closed
    last = sparse.csr_matrix(np.where(by_row, -left, 0))
    A, shares = sparse.csr_matrix(sparse.vstack([A, last])), np.append(shares, 1)
    tags = np.append(tags, random.choice([AT_LEAST, EQUAL]))
    strict = (tags == MORE_THAN) & (shares > 0)
    loose = (shares == 0) & (tags != EQUAL)
    b = A @ point - loose * random.integers(1, 5, n + 1)
    raised = np.zeros(n + 1, np.int64)
    raised[-1] = gap
    needed = ~by_row & (left != 0)
    lower, upper = _ends(random, point, random.random(d) < 0.3)
    lower = np.where(needed & (left < 0), point, lower)
    upper = np.where(needed & (left > 0), point, upper)
    return Whole(A, b, raised, tags, lower, upper, gap == 0 and not strict.any())


def _ends(random: Random, point: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give bounds at the point or around it, some of them only on one side, or none."""
    lower = np.where(free, np.nan, point - random.choice([0, 0, 1, 5], point.size))
    upper = np.where(random.random(point.size) < 0.4, point + random.integers(0, 4), np.nan)
    return lower, np.where(free, np.nan, upper)


# ---- numbers


def in_floats(random: Random, system: Whole, digits: int, spread: int) -> PlantedSystem:
    """Multiply rows and columns by powers of two; gaps count 2^-digits, or what floats can hold."""
    n, d = system.A.shape
    rows, columns = (random.integers(-spread, spread + 1, size) for size in (n, d))
    A = system.A.astype(np.float64).tocoo()
    A = sparse.csr_matrix(
        (np.ldexp(A.data, rows[A.row] + columns[A.col]), (A.row, A.col)), shape=(n, d)
    )
    longest = int(np.abs(system.b).max(initial=1)).bit_length()
    b = np.ldexp(system.b + np.ldexp(system.raised, -min(digits, 52 - longest)), rows)
    ends = (np.ldexp(side, -columns).tolist() for side in (system.lower, system.upper))
    bounds = [tuple(None if e != e else e for e in pair) for pair in zip(*ends, strict=True)]
    return _planted(system, A, b, bounds)


def in_decimals(random: Random, system: Whole, digits: int, spread: int) -> PlantedSystem:
    """Multiply rows and columns by powers of ten."""
    return _scaled(random, system, digits, spread // 3, lambda top: Decimal(10).scaleb(int(top)))


def in_fractions(random: Random, system: Whole, digits: int, spread: int) -> PlantedSystem:
    """Multiply rows and columns by fractions."""
    return _scaled(random, system, digits, spread, lambda top: Fraction(3 + int(top) ** 2, 7))


def _scaled(
    random: Random, system: Whole, digits: int, spread: int, factor: Callable[[int], Any]
) -> PlantedSystem:
    n, d = system.A.shape
    rows, columns = (
        [factor(top) for top in random.integers(-spread, spread + 1, size)] for size in (n, d)
    )
    one = type(rows[0])(1)
    dense = system.A.toarray().tolist()
    A = [
        [r * v * c for v, c in zip(a, columns, strict=True)]
        for r, a in zip(rows, dense, strict=True)
    ]
    gap = one / 2 ** (digits // 3) / 5 ** (digits // 3)
    pairs = zip(rows, system.b.tolist(), system.raised.tolist(), strict=True)
    b = [r * (value + gap * more) for r, value, more in pairs]
    bounds = [
        tuple(None if e != e else Fraction(int(e)) / Fraction(c) for e in pair)
        for *pair, c in zip(system.lower.tolist(), system.upper.tolist(), columns, strict=True)
    ]
    return _planted(system, A, b, bounds)


def _planted(system: Whole, A: Any, b: Any, bounds: list[Any]) -> PlantedSystem:
    verdict = "feasible" if system.feasible else "infeasible"
    return PlantedSystem(A, b, system.tags == MORE_THAN, system.tags == EQUAL, bounds, verdict)


def nearly_feasible(seed: int, n: int, d: int, blocks: int = 8, each: int = 12) -> PlantedSystem:
    """Give decimals of all sizes in blocks: rows and bounds that miss a common point by 1e-7.

    Like models of energy: bases are nearly singular, and it takes hundreds of rows and bounds to
    contradict each other.
    """
    random = np.random.default_rng(seed)
    A = np.full((n, d), Decimal(0))
    for i in range(n):
        block = (i * blocks // n + (random.random(each) < 0.25)) % blocks
        columns = block * d // blocks + random.integers(0, d // blocks, each)
        for j, sign in zip(columns.tolist(), random.choice([-1, 1], each).tolist(), strict=True):
            digits, power = random.integers(10**5, 10**6), random.integers(-10, -1)
            A[i, j] = sign * Decimal(int(digits)).scaleb(int(power))
    amounts = random.integers(1, 1000, d) * (random.random(d) < 0.5)
    point = np.array([Decimal(int(amount)) / 10 for amount in amounts])
    equal = random.random(n) < 0.7
    shares = random.integers(1, 9, n) * (random.random(n) < 0.5)
    shares = np.where(equal & (random.random(n) < 0.5), -shares, shares)
    left, b = shares.astype(object) @ A, A @ point
    raised = int(np.flatnonzero(shares)[0])
    b[raised] += Decimal("1e-7") * int(np.sign(shares[raised])) * max(1, abs(b[raised]))
    bounds = [
        (x if pull < 0 else Decimal(0), x if pull > 0 else None)
        for x, pull in zip(point, left, strict=True)
    ]
    return PlantedSystem(A, b, np.zeros(n, bool), equal, bounds, "infeasible")


def drawn(seed: int, most_rows: int = 30, most_columns: int = 24) -> PlantedSystem:
    """Draw a small system of any pattern, answer and sort of numbers."""
    random = np.random.default_rng(seed)
    n, d = int(random.integers(1, most_rows)), int(random.integers(1, most_columns))
    pattern = PATTERNS[seed % len(PATTERNS)](random, n, d)
    gap = int(random.choice([0, 1, 1, 1]))
    if random.random() < 0.5:
        whole = through_a_point(random, pattern, float(random.choice([0.0, 0.5, 1.0])), max(1, gap))
    else:
        whole = contradictory(random, pattern, float(random.choice([0.0, 0.3, 1.0])), gap)
    numbers = [in_floats, in_floats, in_decimals, in_fractions][random.integers(4)]
    digits, spread = int(random.choice([0, 12, 30, 40])), int(random.choice([0, 0, 3, 20]))
    return numbers(random, whole, digits, spread)
