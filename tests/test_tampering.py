"""Tampered certificates are refused with a reason, and whatever is accepted is true.

Certificates that hold are changed at random. Both checks must agree with a judge that is
written here from the definition of the format and of the claims, in plain fractions.
"""

import copy
import json
import re
from collections import Counter
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

import rosenblatt as rb
from amount import amount
from naive_certificates import KINDS, MAKERS, forms, hashed
from naive_decide import combined, rank
from naive_margins import dot
from rosenblatt import checker

FORMAT = "rosenblatt certificate 1"
TAMPERINGS = amount(2_000, 10_000)
AT_LEAST, MORE_THAN, EQUAL, LOWER, UPPER = 3, 4, 5, 6, 7


# ---- data in hand


class Labelled(NamedTuple):
    """Rows and their labels."""

    X: list[list[Any]]
    y: list[Any]

    def tags(self, classes):
        """Give 1 for the positive class, 2 for the negative one, and 0 for strangers."""
        labels = classes if isinstance(classes, dict) else {}
        known = {1: labels.get("positive"), 2: labels.get("negative")}
        return [next((tag for tag, name in known.items() if name == y), 0) for y in self.y]

    def digest(self, classes):
        rows = [list(enumerate(x)) for x in self.X]
        return hashed(list(zip(self.tags(classes), rows, strict=True)), len(self.X[0]))

    def check(self, certificate):
        classes = certificate.get("classes") if isinstance(certificate, dict) else None
        pairs = zip(self.tags(classes), self.X, strict=True)
        rows = [checker.Row(tag, list(enumerate(x))) for tag, x in pairs]
        return checker.check(certificate, rows, len(self.X[0]))

    def verify(self, certificate, X):
        return rb.verify(certificate, X, self.y)


class System(NamedTuple):
    """Rows a·w >= b, > b or = b by their tags, and bounds."""

    X: list[list[Any]]
    b: list[Any]
    relations: list[int]
    bounds: list[tuple[Any, Any]] | None

    def ends(self):
        """Give the bounds that there are: their tags, columns and numbers."""
        pairs = enumerate(self.bounds or [])
        ends = [(tag, j, pair[tag - LOWER]) for j, pair in pairs for tag in (LOWER, UPPER)]
        return [end for end in ends if end[-1] is not None]

    def digest(self, classes=None):
        d = len(self.X[0])
        rows = [[*enumerate(a), (d, b)] for a, b in zip(self.X, self.b, strict=True)]
        tagged = list(zip(self.relations, rows, strict=True))
        return hashed([*tagged, *((tag, [(j, 1), (d, end)]) for tag, j, end in self.ends())], d)

    def check(self, certificate):
        triples = zip(self.relations, self.X, self.b, strict=True)
        rows = [checker.Row(tag, list(enumerate(a)), b) for tag, a, b in triples]
        return checker.check(certificate, rows, len(self.X[0]), self.bounds)

    def verify(self, certificate, X):
        strict, equal = ([tag == kind for tag in self.relations] for kind in (MORE_THAN, EQUAL))
        options = {"strict": strict, "equal": equal, "bounds": self.bounds}
        return rb.verify(certificate, X, self.b, **options)


# ---- the judge


class Untrue(Exception):
    """The certificate is not well-formed, not about these data, or its claim is false."""


def need(condition):
    if not condition:
        raise Untrue


def is_true(certificate, data):
    """Tell whether a certificate is well-formed and its claim about the data true."""
    try:
        judge(certificate, data)
    except Untrue:
        return False
    return True


def judge(certificate, data):
    need(isinstance(certificate, dict))
    kind = certificate.get("kind")
    need(isinstance(kind, str) and kind in CLAIMS)
    claim, sort, fields = CLAIMS[kind]
    optional = {"non-separability": {"w"}, "margin interval": {"lift"}}.get(kind, set())
    wanted = {"format", "kind", "data", *fields.split()}
    need(wanted <= certificate.keys() <= wanted | optional)
    need(certificate["format"] == FORMAT and isinstance(data, sort))
    judge_data(certificate["data"], data, certificate.get("classes"))
    if sort is Labelled:
        judge_classes(certificate["classes"])
        need(type(certificate.get("intercept", True)) is bool)
    claim(certificate, data)


def judge_data(named, data, classes):
    need(isinstance(named, dict) and named.keys() == {"rows", "columns", "digest", "numbers"})
    need(type(named["rows"]) is type(named["columns"]) is int)
    need((named["rows"], named["columns"]) == np.shape(data.X))
    need(named["numbers"] in ("float64", "float32", "exact"))
    need(named["digest"] == data.digest(classes))


def judge_classes(classes):
    need(isinstance(classes, dict) and classes.keys() == {"negative", "positive"})
    need(not any(isinstance(label, dict | list) for label in classes.values()))
    need(classes["negative"] != classes["positive"])
    for label in classes.values():
        need(isinstance(label, str | int) or (label is not None and abs(label) < float("inf")))


def number(text):
    """Read a number from its definition."""
    need(isinstance(text, str))
    match = re.fullmatch(r"(-?)0x([01])(?:\.([0-9a-f]{1,13}))?p([+-][0-9]+)", text)
    if match:
        sign, head, digits, power = match.groups()
        need(-1022 <= int(power) <= 1023)
        digits = digits or ""
        size = int(head + digits, 16) * Fraction(2) ** (int(power) - 4 * len(digits))
        return -size if sign else size
    match = re.fullmatch(r"(-?[0-9]+)(?:/([0-9]+))?", text)
    need(match and int(match[2] or 1) > 0)
    return Fraction(int(match[1]), int(match[2] or 1))


def numbers(given, size):
    need(isinstance(given, list) and len(given) == size)
    return [number(text) for text in given]


def places(given, limit):
    need(isinstance(given, list) and all(type(i) is int and 0 <= i < limit for i in given))
    need(len(set(given)) == len(given))
    return given


def signed(certificate, data, added):
    """Give the rows s·(x, added), all of them."""
    signs = [{1: 1, 2: -1}[tag] for tag in data.tags(certificate["classes"])]
    return [[s * Fraction(v) for v in (*x, *added)] for s, x in zip(signs, data.X, strict=True)]


def rows_with_intercept(certificate, data):
    if certificate.get("lift") is not None:
        lift = number(certificate["lift"])
        need(lift > 0 and not certificate["intercept"])
        return signed(certificate, data, [lift])
    return signed(certificate, data, [1] if certificate["intercept"] else [])


def judge_margin(certificate, data, margin):
    """Every z·w is at least margin times the norm of w without the intercept, unless lifted."""
    rows = rows_with_intercept(certificate, data)
    w = numbers(certificate["w"], len(rows[0]))
    norm = sum(value**2 for value in w[: len(rows[0]) - certificate["intercept"]])
    need(margin > 0 and norm > 0)
    need(all(dot(z, w) > 0 and dot(z, w) ** 2 >= margin**2 * norm for z in rows))


def judge_separator(certificate, data):
    judge_margin(certificate, data, number(certificate["margin"]))


def judge_mean(certificate, data):
    """The weights are positive and sum to 1; give the named rows, and all rows."""
    rows = rows_with_intercept(certificate, data)
    named = places(certificate["rows"], len(rows))
    weights = numbers(certificate["weights"], len(named))
    need(all(weight > 0 for weight in weights) and sum(weights) == 1)
    return weights, [rows[i] for i in named], rows


def judge_zero_mean(certificate, data):
    weights, named, rows = judge_mean(certificate, data)
    need(not any(combined(weights, named)))
    return named, rows


def judge_non_separability(certificate, data):
    _, rows = judge_zero_mean(certificate, data)
    if certificate.get("w") is not None:
        w = numbers(certificate["w"], len(rows[0]))
        products = [dot(z, w) for z in rows]
        need(min(products) >= 0 and max(products) > 0)


def judge_inseparability(certificate, data):
    named, rows = judge_zero_mean(certificate, data)
    width = len(rows[0])
    unused = places(certificate["unused"], width)
    need(isinstance(certificate["complement"], list))
    complement = [numbers(vector, width) for vector in certificate["complement"]]
    need(not any(vector[j] for vector in (*complement, *rows) for j in unused))
    need(not any(dot(vector, z) for vector in complement for z in rows))
    need(rank(complement) == len(complement))
    need(rank(named) >= width - len(complement) - len(unused))


def judge_point(certificate, data):
    w = numbers(certificate["w"], len(data.X[0]))
    for a, b, relation in zip(data.X, data.b, data.relations, strict=True):
        excess = dot(map(Fraction, a), w) - Fraction(b)
        need(excess == 0 if relation == EQUAL else excess >= 0)
        need(excess > 0 or relation != MORE_THAN)
    need(all(w[j] >= end if tag == LOWER else w[j] <= end for tag, j, end in data.ends()))


def judge_infeasibility(certificate, data):
    named = places(certificate["rows"], len(data.X))
    weights = numbers(certificate["weights"], len(named))
    tags = [data.relations[i] for i in named]
    need(all(y > 0 or (y and tag == EQUAL) for y, tag in zip(weights, tags, strict=True)))
    rows = [[*map(Fraction, data.X[i]), Fraction(data.b[i])] for i in named]
    for tag, sign in ((LOWER, 1), (UPPER, -1)):
        more, ends = judge_side(certificate["lower" if tag == LOWER else "upper"], data, tag)
        rows += [[sign * value for value in row] for row in ends]
        weights += more
    need(rows)
    *total, right = combined(weights, rows)
    need(not any(total))
    need(right > 0 or (right == 0 and MORE_THAN in tags))


def judge_side(given, data, tag):
    """Give the weights of bounds, and the rows (e_j, end)."""
    need(isinstance(given, dict) and given.keys() == {"columns", "weights"})
    d = len(data.X[0])
    columns = places(given["columns"], d)
    weights = numbers(given["weights"], len(columns))
    ends = {j: Fraction(end) for kind, j, end in data.ends() if kind == tag}
    need(all(j in ends for j in columns) and all(weight > 0 for weight in weights))
    return weights, [[*(Fraction(int(k == j)) for k in range(d)), ends[j]] for j in columns]


def judge_margin_interval(certificate, data):
    judge_margin(certificate, data, number(certificate["lower"]))
    weights, named, _ = judge_mean(certificate, data)
    total = combined(weights, named)
    if certificate["intercept"]:
        need(total.pop() == 0)  # the classes have the same sum, and both together 1
    upper = number(certificate["upper"])
    need(upper > 0 and sum(value**2 for value in total) <= upper**2)


def judge_mistake_bound(certificate, data):
    lift, passes = number(certificate["lift"]), certificate["passes"]
    w = numbers(certificate["w"], len(data.X[0]) + 1)
    need(lift >= 0 and (lift or not w[-1]))
    need(passes is None or (type(passes) is int and passes >= 1))
    rows = signed(certificate, data, [lift])
    need(passes is not None or all(dot(z, w) >= 1 for z in rows))
    need(hinge_bound(rows, w, passes or 0) <= number(certificate["bound"]))


def hinge_bound(rows, w, passes):
    loss = sum(max(Fraction(0), 1 - dot(z, w)) for z in rows)
    return max(dot(z, z) for z in rows) * dot(w, w) + 2 * passes * loss


PROOF = "classes intercept rows weights"
CLAIMS = {
    "separator": (judge_separator, Labelled, "classes intercept w margin"),
    "non-separability": (judge_non_separability, Labelled, PROOF),
    "inseparability": (judge_inseparability, Labelled, f"{PROOF} complement unused"),
    "feasible point": (judge_point, System, "w"),
    "infeasibility": (judge_infeasibility, System, "rows weights lower upper"),
    "margin interval": (judge_margin_interval, Labelled, f"{PROOF} w lower upper"),
    "mistake bound": (judge_mistake_bound, Labelled, "classes lift w passes bound"),
}


# ---- true certificates


class Case(NamedTuple):
    certificate: dict
    data: Labelled | System


def pick(random, items):
    return items[random.integers(len(items))]


def header(kind, data, classes=None):
    n, d = np.shape(data.X)
    named = {"rows": n, "columns": d, "digest": data.digest(classes), "numbers": "exact"}
    start = {"format": FORMAT, "kind": kind, "data": named}
    return start | ({"classes": classes} if classes else {})


def drawn(make, random):
    """Draw data and a certificate that is true by how they are made."""
    kinds = [pick(random, KINDS) for _ in range(2)]
    problem, certificate = make(random, *kinds, bool(random.integers(2)))
    more = () if problem.b is None else (problem.tags, problem.bounds)
    data = (System if more else Labelled)(problem.X, problem.y, *more)
    return Case(json.loads(certificate.to_json()), data)


def texts(values):
    return [str(value) for value in values]


# ---- tampering: each function changes a certificate, or gives other data in place of those


def spots(tree, sort):
    """Give all places in a tree of JSON that hold something of a sort: what holds it, and where."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    found = []
    for key, value in items:
        found += [(tree, key)] if sort(value) else []
        found += spots(value, sort) if isinstance(value, dict | list) else []
    return found


def is_number(value):
    return isinstance(value, str) and is_readable(value)


def is_readable(text):
    try:
        number(text)
    except Untrue:
        return False
    return True


def is_whole(value):
    return type(value) is int


def some(random, certificate, sort):
    """Give one place of a sort, or None."""
    body = {name: value for name, value in certificate.items() if name != "data"}
    found = [(certificate if tree is body else tree, key) for tree, key in spots(body, sort)]
    return pick(random, found) if found else (None, None)


def change_a_digit(random, certificate, data):
    tree, key = some(random, certificate, is_number)
    text = tree[key]
    digits = [k for k, letter in enumerate(text) if letter in "0123456789abcdef"]
    place, letters = pick(random, digits), "0123456789abcdef" if "x" in text else "0123456789"
    tree[key] = text[:place] + pick(random, letters) + text[place + 1 :]


ODD = [None, True, 0, 1, -1, 1.5, "", "x", "nan", "inf", "-inf", "NaN", "0.5", "1e3", "1/0", "1/-2",
       "+1", " 1", "1 ", "0x1p1", "0x1.8p+2000", "0X1p+0", "-0", "0/5", "00", "١", "1_0", [], {},
       float("nan"), float("inf"), 10**30, "9" * 400, ["1"]]  # fmt: skip


def put_something_odd(random, certificate, data):
    tree, key = pick(random, spots(certificate, lambda value: True))
    tree[key] = copy.deepcopy(pick(random, ODD))


def nudge_a_number(random, certificate, data):
    tree, key = some(random, certificate, is_number)
    value, tiny = number(tree[key]), Fraction(1, 10**40)
    near = [value + tiny, value - tiny, value * 2, value / 2, -value, value + 1, 0 * value]
    tree[key] = str(pick(random, near))


def write_a_number_in_another_way(random, certificate, data):
    tree, key = some(random, certificate, is_number)
    value = number(tree[key])
    tree[key] = f"{value.numerator * 6}/{value.denominator * 6}"


def some_list(random, certificate):
    tree, key = some(random, certificate, lambda value: isinstance(value, list) and value != [])
    return tree[key] if tree is not None else [0]


def drop_an_item(random, certificate, data):
    items = some_list(random, certificate)
    del items[random.integers(len(items))]


def repeat_an_item(random, certificate, data):
    items = some_list(random, certificate)
    items.insert(random.integers(len(items) + 1), copy.deepcopy(pick(random, items)))


def shuffle_a_list(random, certificate, data):
    items = some_list(random, certificate)
    items[:] = [items[k] for k in random.permutation(len(items))]


def change_an_index(random, certificate, data):
    tree, key = some(random, certificate, is_whole)
    if tree is not None:
        tree[key] += int(pick(random, [-1, 1, 1000, -1000, 2**64]))


def renumber_rows(random, certificate, data):
    rows = certificate.get("rows")
    if rows:
        step, n = int(random.integers(1, 4)), len(data.X)
        certificate["rows"] = [(i + step) % n for i in rows]


def weighted(random, certificate):
    """Give parallel lists of places and weights: rows or bounds."""
    parts = [certificate, certificate.get("lower"), certificate.get("upper")]
    parts = [part for part in parts if isinstance(part, dict) and part.get("weights")]
    if not parts:
        return [], []
    part = pick(random, parts)
    return part["rows" if "rows" in part else "columns"], part["weights"]


def drop_a_row_and_its_weight(random, certificate, data):
    rows, weights = weighted(random, certificate)
    if rows:
        place = random.integers(len(rows))
        del rows[place], weights[place]
        total = sum(map(number, weights))
        if total and random.random() < 0.5:
            weights[:] = texts(number(weight) / total for weight in weights)


def move_rows_and_weights_together(random, certificate, data):
    rows, weights = weighted(random, certificate)
    order = random.permutation(len(rows)).tolist()
    rows[:], weights[:] = [rows[k] for k in order], [weights[k] for k in order]


def add_a_row(random, certificate, data):
    rows, weights = weighted(random, certificate)
    others = sorted(set(range(len(data.X))) - set(rows))
    if rows and others:
        place, share = random.integers(len(rows)), Fraction(1, int(pick(random, [2, 3, 10**20])))
        rows.append(pick(random, others))
        weights.append(str(number(weights[place]) * share))
        weights[place] = str(number(weights[place]) * (1 - share))


def shift_weight(random, certificate, data):
    rows, weights = weighted(random, certificate)
    if len(rows) > 1:
        j, k = random.permutation(len(rows))[:2]
        share = number(weights[j]) * pick(random, [Fraction(1, 2), Fraction(1, 10**20), 1, 2])
        weights[j], weights[k] = str(number(weights[j]) - share), str(number(weights[k]) + share)


FACTORS = [Fraction(999, 1000), 1 - Fraction(1, 10**30), 2, Fraction(1, 3), -1, 1 + Fraction(1, 7)]


def multiply_a_proof(random, certificate, data):
    factor = pick(random, FACTORS)
    for part in (certificate, certificate.get("lower"), certificate.get("upper")):
        if isinstance(part, dict) and "weights" in part:
            part["weights"] = texts(number(weight) * factor for weight in part["weights"])


def multiply_w(random, certificate, data):
    if certificate.get("w"):
        factor = pick(random, FACTORS)
        certificate["w"] = texts(number(value) * factor for value in certificate["w"])


def change_a_measure(random, certificate, data):
    """Make a margin or a bound a little smaller or larger."""
    names = [name for name in ("margin", "lower", "upper", "bound") if name in certificate]
    names = [name for name in names if isinstance(certificate[name], str)]
    if names:
        name = pick(random, names)
        certificate[name] = str(number(certificate[name]) * pick(random, FACTORS))


def change_the_header(random, certificate, data):
    named, classes = certificate["data"], certificate.get("classes", {})
    tree, key, value = pick(random, [
        (named, "rows", named["rows"] + int(pick(random, [-1, 1]))),
        (named, "columns", named["columns"] + int(pick(random, [-1, 1]))),
        (named, "digest", named["digest"][::-1]),
        (named, "digest", named["digest"].upper()),
        (named, "numbers", pick(random, ["exact", "float32", "float64", "float16"])),
        (certificate, "kind", pick(random, list(CLAIMS))),
        (certificate, "format", "rosenblatt certificate 2"),
        (certificate, "intercept", not certificate.get("intercept", False)),
        (classes, "negative", classes.get("positive")),
        (classes, "positive", pick(random, ["maybe", None, 3.0, -1])),
    ])  # fmt: skip
    tree[key] = value


def swap_classes(random, certificate, data):
    classes = certificate.get("classes")
    if classes:
        classes["negative"], classes["positive"] = classes["positive"], classes["negative"]


def drop_or_add_the_intercept(random, certificate, data):
    """Say the opposite about the intercept, and make vectors fit."""
    if "intercept" in certificate:
        longer = certificate["intercept"] = not certificate["intercept"]
        vectors = [certificate.get("w"), *certificate.get("complement", [])]
        for vector in vectors:
            if vector:
                vector[:] = [*vector, "0"] if longer else vector[:-1]


def drop_or_add_the_lift(random, certificate, data):
    """Lift rows that are not lifted or the other way round, and make w fit."""
    if certificate["kind"] == "margin interval":
        lifted = certificate.pop("lift", None) is not None
        longer = lifted or certificate["intercept"]
        certificate["w"][:] = certificate["w"][:-1] if longer else [*certificate["w"], "0"]
        certificate["intercept"] = False
        if not longer:
            certificate["lift"] = pick(random, ["1", "1/2", "0", "-1", None])


def drop_a_field(random, certificate, data):
    tree = pick(random, [certificate, certificate, certificate["data"]])
    del tree[pick(random, list(tree))]


def add_a_field(random, certificate, data):
    tree, _ = pick(random, spots(certificate, lambda value: True))
    if isinstance(tree, dict):
        tree[pick(random, ["note", "w", "margin", "rows", "lift", ""])] = "1"


def claim_another_kind(random, certificate, data):
    """Turn a proof into one of another kind with the same fields."""
    if certificate["kind"] == "non-separability":
        certificate |= {"kind": "inseparability", "complement": [], "unused": []}
        certificate.pop("w", None)
    elif certificate["kind"] == "inseparability":
        certificate["kind"] = "non-separability"
        del certificate["complement"], certificate["unused"]
    elif certificate["kind"] == "margin interval":
        certificate |= {"kind": "separator", "margin": certificate["lower"]}
        certificate.pop("lift", None)
        for name in ("lower", "upper", "rows", "weights"):
            del certificate[name]
    elif certificate["kind"] == "separator":
        size = len(certificate["w"])
        certificate |= {"kind": "inseparability", "rows": [0], "weights": ["1"]}
        certificate |= {"complement": [["1"] * size], "unused": []}
        del certificate["w"], certificate["margin"]


def change_the_complement(random, certificate, data):
    complement = certificate.get("complement")
    if complement is None:
        return
    size = len(data.X[0]) + certificate["intercept"]
    choice = random.integers(4)
    if choice == 0 and complement:
        complement.append([str(3 * number(value)) for value in pick(random, complement)])
    elif choice == 1:
        complement.append(texts(random.integers(-1, 2, size)))
    elif choice == 2:
        certificate["unused"].append(int(random.integers(size)))
    elif complement:
        complement[0] = [str(-7 * number(value)) for value in complement[0]]


def give_w(random, certificate, data):
    """Put in some w where there may be one."""
    if certificate["kind"] == "non-separability":
        size = len(data.X[0]) + certificate["intercept"]
        certificate["w"] = pick(random, [None, texts(random.integers(-1, 2, size))])


CERTIFICATE_CHANGES = [
    change_a_digit, put_something_odd, nudge_a_number, write_a_number_in_another_way,
    drop_an_item, repeat_an_item, shuffle_a_list, change_an_index, renumber_rows,
    drop_a_row_and_its_weight, move_rows_and_weights_together, add_a_row, shift_weight,
    multiply_a_proof, multiply_w, change_a_measure, change_the_header,
    swap_classes, drop_or_add_the_intercept, drop_or_add_the_lift, drop_a_field, add_a_field,
    claim_another_kind, change_the_complement, give_w
]  # fmt: skip


def another_entry(random, data):
    place, column = random.integers(len(data.X)), random.integers(len(data.X[0]))
    row = list(data.X[place])
    row[column] = pick(random, [row[column] + 1, -row[column], row[column] / 2, Fraction(1, 3)])
    return data._replace(X=[*data.X[:place], row, *data.X[place + 1 :]])


def chosen_rows(data, rows):
    """Give the rows of those numbers, with all that belongs to them."""
    parts = {name: [getattr(data, name)[i] for i in rows] for name in data._fields[:-1]}
    if isinstance(data, Labelled):
        parts["y"] = [data.y[i] for i in rows]
    return data._replace(**parts)


def rows_in_another_order(random, data):
    return chosen_rows(data, random.permutation(len(data.X)).tolist())


def a_row_less(random, data):
    kept = list(range(len(data.X)))
    if len(kept) > 1:
        del kept[random.integers(len(kept))]
    return chosen_rows(data, kept)


def a_row_twice(random, data):
    return chosen_rows(data, [*range(len(data.X)), int(random.integers(len(data.X)))])


def another_column(random, data):
    wider = data._replace(X=[[*x, pick(random, [0.0, 1.0])] for x in data.X])
    bounds = getattr(data, "bounds", None)
    return wider._replace(bounds=[*bounds, (None, None)]) if bounds else wider


def another_side(random, data):
    """Change a label, or a right-hand side, a relation or a bound."""
    place = int(random.integers(len(data.X)))
    if isinstance(data, Labelled):
        y = [pick(random, data.y) if i == place else label for i, label in enumerate(data.y)]
        return data._replace(y=y)
    choice, d = random.integers(3), len(data.X[0])
    if choice == 0:
        b = [value + (i == place) for i, value in enumerate(data.b)]
        return data._replace(b=b)
    if choice == 1:
        relations = list(data.relations)
        relations[place] = int(pick(random, [AT_LEAST, MORE_THAN, EQUAL]))
        return data._replace(relations=relations)
    bounds = list(data.bounds or [(None, None)] * d)
    bounds[random.integers(d)] = pick(random, [(None, None), (0, 1), (-5, None), (None, 7)])
    return data._replace(bounds=bounds)


DATA_CHANGES = [
    another_entry, rows_in_another_order, a_row_less, a_row_twice, another_column, another_side
]  # fmt: skip


def tampered(random, case):
    """Give the text of a changed certificate, and data that may be others."""
    original = json.dumps(case.certificate)
    while True:
        certificate, data = json.loads(original), case.data
        if random.random() < 0.2:
            data = pick(random, DATA_CHANGES)(random, data)
            if random.random() < 0.7:  # whoever tampers can compute a digest
                certificate["data"] = header("", data, certificate.get("classes"))["data"]
        for _ in range(random.integers(data is case.data, 3)):
            try_to(pick(random, CERTIFICATE_CHANGES), random, certificate, data)
        text = garbled(random, json.dumps(certificate))
        if text != original or data is not case.data:
            return text, data


def try_to(change, random, certificate, data):
    """Change a certificate that another change may have made unfit for this one."""
    with suppress(Untrue, TypeError, KeyError, AttributeError, IndexError, ValueError):
        change(random, certificate, data)


def garbled(random, text):
    """Change a letter now and then; the first one says that it is text and no file name."""
    if random.random() < 0.97:
        return text
    place = random.integers(1, len(text))
    return text[:place] + pick(random, '0123456789abcdef{}[]",: -/') + text[place + 1 :]


# ---- the checks


def parsed(text):
    """Read JSON as the independent check does; give None if it is none."""
    try:
        return json.loads(text, object_pairs_hook=checker.object_once)
    except (ValueError, checker.Refused):
        return None


def reason_of(certificate, data):
    """Give why the independent check refuses a certificate; None if it does not."""
    try:
        data.check(certificate)
    except checker.Refused as reason:
        return str(reason)
    return None


def accepted(text, data, X=None):
    """Ask both checks, which must agree, and the judge, who must as well."""
    certificate = parsed(text)
    reason = "no JSON" if certificate is None else reason_of(certificate, data)
    found = data.verify(text, data.X if X is None else X)
    assert reason != ""
    assert re.fullmatch(r"(Proven|Refused)\b.{10,}", found.reason, re.DOTALL), found.reason
    assert found.ok == (reason is None), (reason, found.reason, text, data)
    assert found.ok == (certificate is not None and is_true(certificate, data)), (text, data)
    return found.ok


def test_tampered_certificates_are_accepted_only_if_they_are_true():
    random = np.random.default_rng(0)
    answers, cases = Counter(), {}
    for k in range(TAMPERINGS):
        make = MAKERS[k % len(MAKERS)]
        if k // len(MAKERS) % 25 == 0:
            cases[make] = drawn(make, random)
            assert accepted(json.dumps(cases[make].certificate), cases[make].data)
        text, data = tampered(random, cases[make])
        answers[make, accepted(text, data, pick(random, list(forms(data.X))))] += 1
    for make in MAKERS:
        yes, no = (answers[make, ok] for ok in (True, False))
        print(f"{make.__name__:28} accepted {yes:5} refused {no:5}")
        assert yes > (yes + no) // 25
        assert no > (yes + no) // 2


# ---- promises by name


@pytest.mark.parametrize("power", [400, -400])
def test_numbers_beyond_floats_are_checked(power):
    data = Labelled([[1.0], [-1.0]], ["yes", "no"])
    certificate = header("separator", data, {"negative": "no", "positive": "yes"})
    certificate |= {"intercept": False, "w": [str(Fraction(10) ** power)]}
    assert accepted(json.dumps(certificate | {"margin": "1"}), data)
    assert not accepted(json.dumps(certificate | {"margin": f"1{'0' * 40}1/1{'0' * 41}"}), data)
