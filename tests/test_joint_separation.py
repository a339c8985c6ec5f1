"""Many classes at once: verdicts held to slow programs in fractions, proofs to both checkers."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import naive_decide
import rosenblatt as rb
from rosenblatt.check.subjects import JointLabelled
from rosenblatt.checker import CLASS, Refused, check, main
from rosenblatt.checker import joint_rows as plain_joint_rows
from rosenblatt.exact.digest import exact_rows
from rosenblatt.exact.numbers import exact_matrix, exact_row
from rosenblatt.pauses import OutOfTimeError

QUADRANTS = np.array([[1, 1], [9, 1], [1, 9]])
QUADRANTS = np.vstack([QUADRANTS * signs for signs in ((1, 1), (-1, 1), (-1, -1), (1, -1))])
CORNERS = np.repeat(list("abcd"), 3)


def problem(seed):
    random = np.random.default_rng(seed)
    n, d, k = int(random.integers(4, 9)), int(random.integers(1, 3)), int(random.integers(2, 4))
    y = np.arange(n) % k
    X = random.integers(-2, 3, (n, d)) + y[:, None] * int(random.integers(0, 2))
    return X.astype(float), y, bool(random.integers(2))


def slow_rows(X, y, intercept):
    """Write w_y·x - w_c·x >= 0 out, with weights for every class."""
    k = int(max(y)) + 1
    made = []
    for x, own in zip(X.tolist(), y.tolist(), strict=True):
        full = [*x, *[1] * intercept]
        for other in set(range(k)) - {own}:
            signs = [(c == own) - (c == other) for c in range(k)]
            made.append([Fraction(sign * value) for sign in signs for value in full])
    return made


def checked_alone(found, X, y):
    """Check a certificate by the checker in plain Python."""
    classes = found.classes
    tags = [CLASS + classes.index(label) for label in np.asarray(y).tolist()]
    matrix = exact_matrix(X)
    given = json.loads(found.certificate.to_json())
    return check(given, exact_rows(matrix, tags), matrix.shape[1])


@pytest.mark.parametrize("seed", range(40))
def test_verdicts_are_those_of_slow_programs_and_both_checkers_agree(seed):
    X, y, intercept = problem(seed)
    found = rb.separate(X, y, many="joint", fit_intercept=intercept)
    assert found.verdict == naive_decide.verdict(slow_rows(X, y, intercept))
    said = rb.verify(found.certificate, X, y)
    assert said.ok
    assert said.reason == checked_alone(found, X, y)
    assert rb.verify(json.loads(found.certificate.to_json()), *found.data).ok
    if len(set(y)) == 2:
        assert found.verdict == rb.separate(X, y, fit_intercept=intercept).verdict


def test_four_quadrants_are_inseparable_one_by_one_and_separable_at_once():
    alone = rb.separate(QUADRANTS, CORNERS, many="rest")
    assert {answer.verdict for answer in alone.values()} == {"inseparable"}
    found = rb.separate(QUADRANTS, CORNERS, many="joint")
    assert (found.verdict, found.coef.shape, found.intercept.shape) == ("separable", (4, 2), (4,))
    scores = QUADRANTS @ found.coef.T + found.intercept
    assert (np.array(found.classes)[scores.argmax(axis=1)] == CORNERS).all()
    lead = np.diff(np.sort(scores)[:, -2:])
    assert lead.min() / np.linalg.norm(found.coef) == pytest.approx(found.margin)
    assert "jointly separable" in str(found)


@pytest.mark.parametrize("make", [sparse.csr_matrix, rb.as_decimals, lambda X: X.astype("f4")])
def test_rows_of_any_kind_are_the_same(make):
    X, y, _ = problem(3)
    X = X / 10 if make is rb.as_decimals else X
    found = rb.separate(make(X), y, many="joint")
    assert rb.verify(found.certificate, make(X), y).ok
    assert checked_alone(found, make(X), y).startswith("Proven")


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("exact", [False, True])
def test_rows_are_those_of_the_checker(exact, intercept):
    X, y = np.array([[1, 0], [2**70 if exact else 2, 3], [0, 0], [4, 5]], object), [0, 2, 1, 2]
    data = JointLabelled.of_classes(X if exact else X.astype(float), y, [0, 1, 2], intercept)
    rows = exact_rows(exact_matrix(X), [CLASS + code for code in y])
    for i, row in enumerate(plain_joint_rows(rows, 2, 3, intercept)):
        assert dict(exact_row(data.X, i)) == {j: v for j, v in row.entries if v}


def test_coefficients_are_told_for_each_class_but_the_first():
    X = np.array([[0, 0], [1, 0], [0, 0], [1, 0], [0, 1], [1, 1], [0, 0], [1, 0]], float)
    y = ["a", "a", "b", "b", "c", "c", "c", "c"]  # only c has the second mark
    found = rb.separate(X, y, many="joint")
    assert (found.verdict, found.rows.tolist()) == ("weakly separable", [4, 5])
    said = {"intercept": "finite", 0: "finite"}
    assert found.coefficients["c"] == said | {1: "+inf"}
    assert found.coefficients["b"].items() >= said.items()
    assert (found.columns.tolist(), found.aliased.tolist()) == ([1], [])
    assert found.frame("polars").shape == (6, 3)
    assert "a strictly smaller one to rows 4, 5 for some other class" in found.explain()
    both = rb.separate(np.column_stack([np.ones(8), X, X[:, 1]]), y, many="joint")
    assert both.aliased.tolist() == [0, 3]
    assert both.coefficients["c"][0] == both.coefficients["c"][3] == "aliased"
    assert both.coefficients["c"]["intercept"] == "finite"


def tampered(found):
    yield replace(found.certificate, classes=("d", "b", "c", "a"))
    yield replace(found.certificate, margin=10 * found.margin)
    yield replace(found.certificate, w=tuple(-value for value in found.certificate.w))
    yield replace(found.certificate, data=replace(found.certificate.data, digest="0" * 16))


def test_what_was_tampered_with_is_refused():
    found = rb.separate(QUADRANTS, CORNERS, many="joint")
    for wrong in tampered(found):
        assert not rb.verify(wrong, QUADRANTS, CORNERS).ok
        made = replace(found, certificate=wrong, classes=wrong.classes)
        with pytest.raises(Refused):
            checked_alone(made, QUADRANTS, CORNERS)
    assert not rb.verify(found.certificate, QUADRANTS[:, ::-1], CORNERS).ok
    assert not rb.verify(found.certificate, QUADRANTS, [*CORNERS[:-1], "e"]).ok
    for wrong in ({"classes": ["a", "a", "b", "c"]}, {"others": "negative"}, {"classes": "abcd"}):
        given = found.certificate.as_dict() | wrong
        assert not rb.verify(given, QUADRANTS, CORNERS).ok
        with pytest.raises(Refused):
            check(given, [], 2)


def test_the_checker_reads_files_of_many_classes(tmp_path, capsys):
    found = rb.separate(QUADRANTS, CORNERS, many="joint", fit_intercept=False)
    lines = [f"{y} 1:{a} 2:{b}" for y, (a, b) in zip(CORNERS, QUADRANTS.tolist(), strict=True)]
    (tmp_path / "c.json").write_text(found.certificate.to_json())
    (tmp_path / "d.svm").write_text("\n".join(lines))
    assert main([str(tmp_path / "c.json"), str(tmp_path / "d.svm")]) == 0
    assert "of 4 classes at once without intercept" in capsys.readouterr().out


@pytest.mark.parametrize("error", [OutOfTimeError, KeyboardInterrupt])
def test_a_question_about_many_classes_may_be_stopped(error, monkeypatch):
    def stopped(*arguments):
        raise error

    monkeypatch.setattr("rosenblatt.decide.separability.question.Question.decide", stopped)
    found = rb.separate(QUADRANTS, CORNERS, many="joint")
    assert (found.verdict, found.coefficients) == ("undecided", None)
    assert "Undecided" in found.explain()


def test_what_many_may_be_is_told():
    with pytest.raises(rb.InputError, match="'pairs', 'rest' or 'joint', got 'all'"):
        rb.separate(QUADRANTS, CORNERS, many="all")
    with pytest.raises(rb.InputError, match="many='joint' for all at once"):
        rb.separate(QUADRANTS, CORNERS)


def test_other_checkers_are_told_of_samples_and_their_classes(tmp_path):
    found = rb.separate(QUADRANTS, CORNERS, many="joint")
    rb.export(found.certificate, tmp_path / "c.v", QUADRANTS, CORNERS)
    text = (tmp_path / "c.v").read_text()
    assert "   Of 1 (Over [-9; 1] 1);\n" in text
    assert "Theorem proven : tells_apart 4 1%Q (map rational W) data /\\" in text
