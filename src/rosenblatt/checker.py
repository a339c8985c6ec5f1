"""Check a certificate against data, exactly, trusting nothing that the certificate says.

Alone, ``python checker.py certificate.json data.svm [--zero-based]`` prints what is proven and
exits with 0, or prints why it is refused and exits with 1; with 2 if an input cannot be read. The
data of a system are CSV. Every claim is about vectors z, a coordinate longer than the rows:
s·(x, c) for a labelled row (c is the lift: 1 with an intercept, 0 without, or one that the
certificate names), (a, b) for a row of a system, and those of `joint_rows` for many classes.
"""

import csv
import json
import math
import re
import struct
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache, partial
from hashlib import sha256
from typing import Any, NamedTuple, TextIO

Number = int | float | Fraction
Bounds = Sequence[tuple[Number | None, Number | None]] | None
Vector = tuple[dict[int, int], int]  # integers by coordinate, zeros left out; their denominator

FORMAT = "rosenblatt certificate 1"
POSITIVE, NEGATIVE, AT_LEAST, MORE_THAN, EQUAL, LOWER, UPPER, LEFT_OUT = range(1, 9)
CLASS = 16  # the tag of the first of many classes
RELATIONS = {">=": (1, AT_LEAST), ">": (1, MORE_THAN), "=": (1, EQUAL), "==": (1, EQUAL)}
RELATIONS |= {"<=": (-1, AT_LEAST), "<": (-1, MORE_THAN)}
RATIONAL = re.compile(r"(-?)([0-9]+)(?:/(0*[1-9][0-9]*))?")
HEX_FLOAT = re.compile(r"-?0x[01](?:\.[0-9a-f]{1,13})?p([+-][0-9]{1,4})")
DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?")
WHOLE = re.compile(r"[+-]?[0-9]{1,300}")
NUMBERS = ("float64", "float32", "decimal", "exact")
OTHERS = {"negative": " of one class against all others", "left out": " of two classes of several"}
MASK = 2**64 - 1
# More digits than 50,000 take minutes where a certificate has many such numbers, and no proof needs
# them: solving for a thousand rows of doubles in exact arithmetic takes some twenty thousand.
DIGITS = 50_000
TOO_LARGE = 10**DIGITS
TOO_LONG = f"more than {DIGITS} digits, which would take too long to check"


class Refused(Exception):  # noqa: N818, the name says what happened
    """The certificate is not accepted, and this is why."""


class Row(NamedTuple):
    """A row of the data: its tag in the digest, its entries and, in a system, b."""

    tag: int
    entries: Sequence[tuple[int, Number]]
    right: Number = 0


def require(condition: object, reason: str) -> None:
    """Refuse the certificate unless a condition holds."""
    if not condition:
        raise Refused(reason)


def require_fields(given: Any, where: str, names: str, optional: str = "") -> None:
    """Refuse all but an object with these fields."""
    require(isinstance(given, dict), f"{where} is not an object")
    missing = set(names.split()) - given.keys()
    require(not missing, f"{where} lacks {', '.join(sorted(missing))}")
    unknown = sorted(map(ascii, given.keys() - {*names.split(), *optional.split()}))
    require(not unknown, f"{where} has the unknown field {''.join(unknown[:1])[:40]}")


def as_number(text: Any, where: str = "the text") -> Fraction:
    """Read a number as certificates write it."""
    require(isinstance(text, str), f"{where} is not a string")
    if (match := HEX_FLOAT.fullmatch(text)) and -1022 <= int(match[1]) <= 1023:
        return Fraction(float.fromhex(text))
    match = RATIONAL.fullmatch(text)
    if not match:
        raise Refused(f"{where} is neither a hexadecimal float nor a fraction")
    brief = max(len(match[2]), len(match[3] or "")) <= DIGITS
    require(brief, f"{where} has {TOO_LONG}")
    value = Fraction(whole(match[2]), whole(match[3] or "1"))
    return -value if match[1] else value


def whole(digits: str) -> int:
    """Read digits in pieces, since int() refuses many at once and is slow on them."""
    half = len(digits) // 2
    if half < 300:
        return int(digits)
    shifted: int = whole(digits[:-half]) * 10**half
    return shifted + whole(digits[-half:])


def as_numbers(given: Any, where: str, length: int) -> list[Fraction]:
    """Read a vector."""
    good = isinstance(given, list) and len(given) == length
    require(good, f"{where} is not a list of {length} numbers")
    numbers = [as_number(item, f"{where}[{k}]") for k, item in enumerate(given)]
    require_brief(numbers, where)
    return numbers


def require_brief(values: Iterable[Number], where: str) -> None:
    """Refuse numbers that are long, or whose sums are, over their common denominator."""
    ratios, common = [value.as_integer_ratio() for value in values], 1
    require(all(abs(p) < TOO_LARGE for p, _ in ratios), f"{where} has a number of {TOO_LONG}")
    for q in {q for _, q in ratios}:
        common = math.lcm(common, q)
        require(common < TOO_LARGE, f"{where} has a common denominator of {TOO_LONG}")


def as_indices(given: Any, where: str, limit: int) -> list[int]:
    """Read distinct numbers of rows or columns."""
    good = isinstance(given, list) and all(type(i) is int and 0 <= i < limit for i in given)
    require(good, f"{where} is not a list of integers from 0 to {limit - 1}")
    require(len(set(given)) == len(given), f"{where} holds an integer twice")
    return list(given)


def integers(values: Iterable[Number]) -> tuple[list[int], int]:
    """Give numbers as integers over their common denominator."""
    ratios = [value.as_integer_ratio() for value in values]
    common = math.lcm(*{q for _, q in ratios})
    return [p * (common // q) for p, q in ratios], common


def dot(z: dict[int, int], w: Sequence[int]) -> int:
    """Multiply a sparse and a dense vector."""
    return sum(p * w[j] for j, p in z.items())


def rank_reaches(needed: int, vectors: Sequence[dict[int, int]]) -> bool:
    """Tell whether the rank modulo some prime, which is never above the rank, is large enough."""
    for prime in (2**61 - 1, 2**89 - 1, 2**107 - 1, 2**127 - 1):
        pivots: dict[int, dict[int, int]] = {}
        for vector in vectors:
            row = dict(vector)
            for column, pivot in pivots.items():
                factor = row.get(column, 0) % prime
                for j, p in pivot.items() if factor else ():
                    row[j] = row.get(j, 0) - factor * p
            row = {j: p % prime for j, p in row.items() if p % prime}
            if row:
                column, first = row.popitem()
                inverse = pow(first, -1, prime)
                pivots[column] = {j: p * inverse % prime for j, p in row.items()} | {column: 1}
        if len(pivots) >= needed:
            return True
    return False


def shown(value: Number, rounding: str) -> str:
    """Write six digits, rounded so that what is said of them stays true."""
    p, q = value.as_integer_ratio()
    short = max(p, q).bit_length() < 10**5
    return str(Context(6, rounding).divide(p, q)) if short else "the number given"


class Claim:
    """A certificate and the data in hand, bounds behind the rows; a method checks each kind."""

    def __init__(self, given: dict[str, Any], rows: list[Row], columns: int, lift: Number | None):
        self.given, self.rows, self.columns = given, rows, columns
        self.dimension = columns + bool(lift)
        self.measured = columns if given.get("lift") is None else self.dimension  # by lengths
        if given["kind"] in JOINT:
            self.measured = (len(given["classes"]) - 1) * given["data"]["columns"]
        self.z = [self.vector(row, row.right if lift is None else lift) for row in rows]

    def vector(self, row: Row, added: Number) -> Vector:
        """Give z of a row."""
        entries = [(j, value) for j, value in (*row.entries, (self.columns, added)) if value]
        values, common = integers(value for _, value in entries)
        sign = -1 if row.tag in (NEGATIVE, UPPER) else 1
        return {j: sign * p for (j, _), p in zip(entries, values, strict=True)}, common

    def combined(self, named: list[int], weights: list[Fraction]) -> Vector:
        """Sum rows times weights."""
        scales, common = integers(y / self.z[i][1] for i, y in zip(named, weights, strict=True))
        total = Counter[int]()
        for i, scale in zip(named, scales, strict=True):
            for j, p in self.z[i][0].items():
                total[j] += scale * p
        return total, common

    def w(self, length: int) -> tuple[list[int], int]:
        """Read w as integers over a denominator."""
        return integers(as_numbers(self.given["w"], "w", length))

    def mean(self, zero: bool = False) -> tuple[list[int], Vector]:
        """Give the named rows and their weighted mean, which may have to be zero."""
        named = as_indices(self.given["rows"], "rows", len(self.rows))
        weights = as_numbers(self.given["weights"], "weights", len(named))
        require(all(y > 0 for y in weights), "a weight is not positive")
        require(sum(weights) == 1, "the weights do not sum to 1")
        total, common = self.combined(named, weights)
        require(not (zero and any(total.values())), "the weighted rows do not sum to zero")
        return named, (total, common)

    def margin(self, name: str) -> str:
        """Check that w has the margin of that name on every row."""
        p, q = as_number(self.given[name], name).as_integer_ratio()
        w, _ = self.w(self.dimension)
        square = p * p * sum(v * v for v in w[: self.measured])
        require(p > 0 and square, f"{name} is not positive, or w is zero")
        for i, (z, common) in enumerate(self.z):
            product = dot(z, w)
            enough = product > 0 and (product * q) ** 2 >= square * common**2
            require(enough, f"the margin of w on row {i} is below {name}")
        return shown(Fraction(p, q), ROUND_FLOOR)

    def separator(self) -> str:
        """Check that w separates."""
        return f"w separates with a margin of at least {self.margin('margin')}"

    def non_separability(self) -> str:
        """Check that a mean is zero and that w, if there is one, separates weakly."""
        self.mean(zero=True)
        if self.given.get("w") is None:
            return "no hyperplane separates the classes"
        w, _ = self.w(self.dimension)
        products = [dot(z, w) for z, _ in self.z]
        require(min(products) >= 0, f"w is wrong on row {products.index(min(products))}")
        require(any(products), "w is orthogonal to every row")
        return "no hyperplane separates the classes, but w does weakly"

    def inseparability(self) -> str:
        """Check that a mean is zero, and that its rows span all rows."""
        named, _ = self.mean(zero=True)
        unused = set(as_indices(self.given["unused"], "unused", self.dimension))
        given, width = self.given["complement"], self.dimension
        require(isinstance(given, list), "complement is not a list")
        vectors = [as_numbers(v, f"complement[{k}]", width) for k, v in enumerate(given)]
        complement = [integers(v)[0] for v in vectors]
        clear = not any(v[j] for v in complement for j in unused)
        require(clear, "the complement is not zero in an unused coordinate")
        independent = rank_reaches(len(given), [dict(enumerate(v)) for v in complement])
        require(independent, "the complement is linearly dependent")
        for i, (z, _) in enumerate(self.z):
            require(unused.isdisjoint(z), f"row {i} is not zero in an unused coordinate")
            orthogonal = not any(dot(z, v) for v in complement)
            require(orthogonal, f"row {i} is not orthogonal to the complement")
        rows = [self.z[i][0] for i in named]
        spanning = rank_reaches(width - len(given) - len(unused), rows)
        require(spanning, "the named rows do not span all rows")
        return "no hyperplane separates the classes, not even weakly"

    def feasible_point(self) -> str:
        """Check that w satisfies every row and every bound."""
        w, common = self.w(self.columns)
        w.append(-common)
        for i, (z, _) in enumerate(self.z):
            tag, excess = self.rows[i].tag, dot(z, w)
            good = excess == 0 if tag == EQUAL else excess >= (tag == MORE_THAN)
            require(good, f"w violates row {i}, bounds counted on behind the rows")
        return "w satisfies the system"

    def infeasibility(self) -> str:
        """Check that a combination of rows and bounds says 0 >= v for v > 0, or 0 > 0."""
        named = as_indices(self.given["rows"], "rows", self.given["data"]["rows"])
        weights = as_numbers(self.given["weights"], "weights", len(named))
        for side, tag in (("lower", LOWER), ("upper", UPPER)):
            part = self.given[side]
            require_fields(part, side, "columns weights")
            columns = as_indices(part["columns"], f"{side} columns", self.columns)
            bounds = {row.entries[0][0]: i for i, row in enumerate(self.rows) if row.tag == tag}
            require(bounds.keys() >= set(columns), f"{side} names a column without such a bound")
            named += [bounds[j] for j in columns]
            weights += as_numbers(part["weights"], f"{side} weights", len(columns))
        tags = [self.rows[i].tag for i in named]
        signs = (y > 0 or (y < 0 and tag == EQUAL) for y, tag in zip(weights, tags, strict=True))
        require(all(signs), "a weight is zero, or negative on something else than an equation")
        total, _ = self.combined(named, weights)
        right = total.pop(self.columns, 0)
        require(not any(total.values()), "the weighted rows and bounds do not sum to zero")
        require(right > 0 or (right == 0 and MORE_THAN in tags), "there is no contradiction")
        return "no point satisfies the system"

    def margin_interval(self) -> str:
        """Check the margin of w, and the length of a mean in which the classes are balanced."""
        lower, upper = self.margin("lower"), as_number(self.given["upper"], "upper")
        _, (total, common) = self.mean()
        balanced = self.measured > self.columns or total.pop(self.columns, 0) == 0
        require(balanced, "the weights of each class do not sum to 1/2")
        square = Fraction(sum(v * v for v in total.values()), common**2)
        require(upper > 0 and square <= upper**2, "upper is not positive, or the mean is longer")
        return f"the largest margin is at least {lower}, at most {shown(upper, ROUND_CEILING)}"

    def mistake_bound(self) -> str:
        """Check the hinge-loss bound by w."""
        bound, passes = as_number(self.given["bound"], "bound"), self.given["passes"]
        counted = type(passes) is int and passes > 0
        require(counted or passes is None, "passes is not a positive integer")
        w, scale = self.w(self.columns + 1)
        require(self.dimension > self.columns or w[-1] == 0, "w must end in 0, since lift is 0")
        radius = max(Fraction(sum(p * p for p in z.values()), q * q) for z, q in self.z)
        losses = (1 - Fraction(dot(z, w), q * scale) for z, q in self.z)
        loss = sum((loss for loss in losses if loss > 0), Fraction(0))
        require(counted or not loss, "w has a hinge loss, which counts in every pass")
        value = radius * Fraction(sum(v * v for v in w), scale**2) + 2 * (passes or 0) * loss
        require(value <= bound, "bound is below the bound by w")
        most, times = shown(bound, ROUND_CEILING), shown(passes, ROUND_FLOOR) if counted else "any"
        return f"no perceptron from zero makes more than {most} mistakes (passes: {times})"


JOINT = ("joint separator", "joint non-separability", "joint inseparability")
KINDS = {
    JOINT[0]: (Claim.separator, "classes intercept w margin"),
    JOINT[1]: (Claim.non_separability, "classes intercept rows weights"),
    JOINT[2]: (Claim.inseparability, "classes intercept rows weights complement unused"),
    "separator": (Claim.separator, "classes intercept w margin"),
    "non-separability": (Claim.non_separability, "classes intercept rows weights"),
    "inseparability": (Claim.inseparability, "classes intercept rows weights complement unused"),
    "feasible point": (Claim.feasible_point, "w"),
    "infeasibility": (Claim.infeasibility, "rows weights lower upper"),
    "margin interval": (Claim.margin_interval, "classes intercept w rows weights lower upper"),
    "mistake bound": (Claim.mistake_bound, "classes lift w passes bound"),
}


def check(certificate: Any, rows: Sequence[Row], columns: int, bounds: Bounds = None) -> str:
    """Say what a certificate proves about data, or raise `Refused`."""
    require_shape(certificate)
    labelled, data = "classes" in certificate, certificate["data"]
    decimal = data["numbers"] == "decimal"
    identity = digest(rows, columns, bounds, decimal)
    found = {"rows": len(rows), "columns": columns, "digest": identity}
    for name, value in found.items():
        fault = f"the certificate is for other data: for these, its {name} would be {value}"
        require(data[name] == value, fault)
    joint, count = certificate["kind"] in JOINT, len(certificate.get("classes", ()))
    tags = {POSITIVE, NEGATIVE} if labelled else {AT_LEAST, MORE_THAN, EQUAL}
    tags = {*range(CLASS, CLASS + count)} if joint else tags
    sort = all(row.tag in tags for row in rows) and not (labelled and bounds)
    require(sort, "the certificate is for data of another sort")
    require(rows or not labelled, "the data have no rows")
    lift = Fraction(certificate.get("intercept", 0)) if labelled else None
    if "passes" in certificate or certificate.get("lift") is not None:
        lift = as_number(certificate["lift"], "lift")
        require(lift >= 0, "lift is negative")
        alone = "passes" in certificate or (lift > 0 and not certificate["intercept"])
        require(alone, "lift is not positive, or there is an intercept besides it")
    size = columns
    if joint:
        rows, size = joint_rows(rows, columns, count, bool(lift)), columns + bool(lift)
        size, lift = size * (count - 1), Fraction(0)
    claim = Claim(certificate, [*rows, *bound_rows(bounds)], size, lift)
    proven = KINDS[certificate["kind"]][0](claim)
    how = ""
    if "intercept" in certificate:
        how = " with an intercept" if certificate["intercept"] else " without intercept"
        how = how if certificate.get("lift") is None else " with lifted rows"
    how = OTHERS.get(certificate.get("others"), "") + how
    kind = "decimals" if decimal else "data"
    how = f" of {count} classes at once{how}" if joint else how
    return f"Proven for {data['rows']} x {columns} {kind} {identity}{how}: {proven}."


def joint_rows(rows: Sequence[Row], columns: int, count: int, intercept: bool) -> list[Row]:
    """Give a row of w_y·x - w_c·x for each row of class y and each other class c.

    The weights of all classes but the first, whose weights are zero, stand one behind the other,
    their intercepts behind all of them.
    """
    made = []
    for row in rows:
        own = row.tag - CLASS
        for other in [c for c in range(count) if c != own]:
            parts = [(c - 1, sign) for c, sign in ((own, 1), (other, -1)) if c]
            entries = [(c * columns + j, sign * v) for c, sign in parts for j, v in row.entries]
            added = [((count - 1) * columns + c, sign) for c, sign in parts if intercept]
            made.append(Row(POSITIVE, [*entries, *added]))
    return made


def require_shape(certificate: Any) -> None:
    """Refuse a certificate without the fields of its kind, and check those that all kinds share."""
    require(isinstance(certificate, dict), "the certificate is not an object")
    require(certificate.get("format") == FORMAT, f"the format is not {FORMAT}")
    kind = certificate.get("kind")
    require(isinstance(kind, str) and kind in KINDS, "the kind is unknown")
    may = {"margin interval": "lift", "non-separability": "w others", JOINT[1]: "w"}
    optional = (may | dict.fromkeys(("separator", "inseparability"), "others")).get(kind, "")
    require_fields(certificate, "the certificate", f"format kind data {KINDS[kind][1]}", optional)
    data = certificate["data"]
    require_fields(data, "data", "rows columns digest numbers")
    require(type(data["rows"]) is type(data["columns"]) is int, "rows or columns is not an integer")
    require(data["numbers"] in NUMBERS, "numbers is of an unknown type")
    require(type(certificate.get("intercept", True)) is bool, "intercept is neither true nor false")
    if kind in JOINT:
        classes = certificate["classes"]
        require(isinstance(classes, list) and len(classes) > 1, "classes is not a list of labels")
        labels = {class_key(label) for label in classes}
        require(len(labels) == len(classes), "two classes have the same label")
    elif "classes" in certificate:
        require_fields(certificate["classes"], "classes", "negative positive")
        labels = {class_key(label) for label in certificate["classes"].values()}
        require(len(labels) == 2, "both classes have the same label")
        known = certificate.get("others") in (None, *OTHERS)
        require(known, f"others is not one of {', '.join(OTHERS)}")


def class_key(label: Any) -> float | str:
    """Give labels of the same class the same key: integers and doubles, others as text."""
    if type(label) in (int, float) and abs(label) < 2**1023:
        return label  # type: ignore[no-any-return]
    require(isinstance(label, str | bool), "a label is of no usual type")
    text = str(label)
    if WHOLE.fullmatch(text):
        return int(text)
    return float(text) if DECIMAL.fullmatch(text) else text


def bound_rows(bounds: Bounds) -> Iterator[Row]:
    """Give the finite bounds as rows."""
    for j, ends in enumerate(bounds or ()):
        for tag, end in zip((LOWER, UPPER), ends, strict=True):
            if end is not None:
                yield Row(tag, [(j, 1)], end)


def digest(rows: Iterable[Row], columns: int, bounds: Bounds = None, decimal: bool = False) -> str:
    """Identify data, decimals by the nearest doubles; refuse rows that are not well-formed."""
    require(bounds is None or len(bounds) == columns, "there are not as many bounds as columns")
    total = count = 0
    for i, row in enumerate((*rows, *bound_rows(bounds))):
        named = [j for j, _ in row.entries if 0 <= j < columns]
        good = len(set(named)) == len(row.entries)
        require(good, f"row {i} of the data has a column twice, or one that is out of range")
        count, hashed = i + 1, row.tag
        for j, value in (*row.entries, (columns, row.right)):
            if value:
                b = bits(float(value) if decimal else value, i)
                hashed += (b ^ b >> 32) * (mix(j) | 1)
        total += mix(hashed & MASK) * (mix(i ^ 0x5851F42D4C957F2D) | 1)
    return f"{mix(mix((total ^ count) & MASK) ^ columns):016x}"


@lru_cache(1 << 16)
def mix(k: int) -> int:
    """Scramble 64 bits."""
    k = (k + 0x9E3779B97F4A7C15) & MASK
    k = ((k ^ k >> 30) * 0xBF58476D1CE4E5B9) & MASK
    k = ((k ^ k >> 27) * 0x94D049BB133111EB) & MASK
    return k ^ k >> 31


def bits(value: Number, i: int) -> int:
    """Give the bits of the double that equals a number in row i, else those of a hash."""
    if isinstance(value, float) and not math.isfinite(value):
        raise Refused(f"row {i} of the data has a value that is not finite")
    with suppress(OverflowError):
        if float(value) == value:
            return int.from_bytes(struct.pack("<d", float(value)), "little")
    p, q = map(Decimal, value.as_integer_ratio())  # unlike int, it writes any number of digits
    return int.from_bytes(sha256(f"{p}/{q}".encode()).digest()[:8], "little")


def as_value(texts: list[str], numbers: str) -> Number:
    """Add up numbers of the data as doubles, or exactly, and round the sum to their type."""
    total: Number = 0
    for text in texts:
        match = DECIMAL.fullmatch(text)
        exact = numbers in ("decimal", "exact")
        if not match or (exact and (len(match[1] or "") > 5 or len(text) > DIGITS)):
            raise ValueError(f"{text[:40]!a} is not a number that can be used")
        total += Fraction(Decimal(text)) if exact else float(text)
    return struct.unpack("<f", struct.pack("<f", total))[0] if numbers == "float32" else total


def labelled_row(
    line: str, tags: dict[float | str, int], others: int, first: int, numbers: str
) -> Row | None:
    """Read a line of svmlight text, in which columns count from `first`; None for one left out."""
    words = re.findall(r"[^ \t\r\n]+", line.partition("#")[0])
    if not words:
        return None
    tag = tags.get(class_key(words[0]), others)
    require(tag, "the label belongs to neither class")
    entries: dict[int, list[str]] = {}
    for place, word in enumerate(words[1:]):
        match = re.fullmatch(r"([0-9]{1,10}):(.*)", word)
        if match and int(match[1]) >= first:
            entries.setdefault(int(match[1]) - first, []).append(match[2])
        elif place > 0 or not re.fullmatch("qid:[0-9]+", word):
            raise ValueError(f"{word[:40]!a} is not a column from {first} on and its value")
    row = Row(tag, [(j, as_value(texts, numbers)) for j, texts in entries.items()])
    return None if tag == LEFT_OUT else row


def system_row(line: str, header: list[str], numbers: str) -> Row | None:
    """Read a line of CSV."""
    cells = csv_cells(line)
    if not any(cells):
        return None
    if len(cells) != len(header):
        raise ValueError(f"the number of cells is {len(cells)} and not {len(header)}")
    named = dict(zip(header, cells, strict=True))
    relation = named.pop("relation", ">=")
    if relation not in RELATIONS:
        raise ValueError(f"{relation[:40]!a} is not a relation")
    sign, tag = RELATIONS[relation]
    values = {name: sign * as_value([cell], numbers) for name, cell in named.items()}
    right = values.pop("b")
    return Row(tag, list(enumerate(values.values())), right)


def csv_cells(line: str) -> list[str]:
    """Split a line of CSV."""
    return [cell.strip() for cell in next(csv.reader([line], strict=True), [])]


def read_rows(file: TextIO, given: dict[str, Any], first: int) -> tuple[list[Row], int]:
    """Read the data that a certificate is about, and count their columns."""
    numbers, columns = given["data"]["numbers"], given["data"]["columns"]
    parse: Callable[[str], Row | None]
    if "classes" in given:
        if given["kind"] in JOINT:
            tags = {class_key(label): CLASS + c for c, label in enumerate(given["classes"])}
        else:
            labels = {name: class_key(label) for name, label in given["classes"].items()}
            tags = {labels["positive"]: POSITIVE, labels["negative"]: NEGATIVE}
        others = {"negative": NEGATIVE, "left out": LEFT_OUT}.get(given.get("others") or "", 0)
        parse = partial(labelled_row, tags=tags, others=others, first=first, numbers=numbers)
    else:
        header = csv_cells(file.readline())
        if "b" not in header or len(set(header)) < len(header):
            raise ValueError("the header of the data does not name b, or names something twice")
        columns = len({*header} - {"b", "relation"})
        parse = partial(system_row, header=header, numbers=numbers)
    rows = []
    for number, line in enumerate(file, start=1 if "classes" in given else 2):
        try:
            rows.append(parse(line))
        except (Refused, ValueError, OverflowError, csv.Error) as fault:
            raise type(fault)(f"line {number} of the data: {fault}") from None
    return [row for row in rows if row], columns


def object_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that has a field twice."""
    require(len(dict(pairs)) == len(pairs), "the certificate has a field twice")
    return dict(pairs)


def main(arguments: list[str]) -> int:
    """Check a file against a file, and give the code to exit with."""
    paths = [argument for argument in arguments if argument != "--zero-based"]
    try:
        if len(paths) != 2:
            raise ValueError("usage: checker.py certificate.json data [--zero-based]")
        with open(paths[0], encoding="utf-8-sig") as file:
            certificate = json.load(file, object_pairs_hook=object_once)
        require_shape(certificate)
        with open(paths[1], encoding="utf-8-sig", newline="\n") as file:
            rows, columns = read_rows(file, certificate, int(len(paths) == len(arguments)))
        print(check(certificate, rows, columns))
    except Refused as reason:
        print(f"Refused: {reason}.")
        return 1
    except (OSError, ValueError, OverflowError, RecursionError, csv.Error) as fault:
        print(f"Unreadable: {fault}.", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
