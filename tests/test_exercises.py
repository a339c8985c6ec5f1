"""The exercises: right answers pass, wrong ones get a hint, others a sentence."""

from fractions import Fraction

import pytest

import rosenblatt as rb

RIGHT = {
    1: [1, 3, 5],
    2: [(1, 0), (1, Fraction(1, 10))],
    3: 50,
    4: [(0, 1), (1, -1), (2, 1)],
    5: [1, 1, 1, 1],
    6: "none",
    7: (2, 2, -3),
    8: (4, -2, -2, 1),
    9: [1, 1, 1],
    10: 5**0.5 / 2,
    11: 3,
}
WRONG = {
    1: ([1, 2, 3], "example 2"),
    2: ([(1, 0), (-1, 0)], "1 mistakes"),
    3: (25, "largest"),
    4: ([(0, 1), (1, 1), (2, -1)], "separable"),
    5: ([1, 1, 0, 0], "not 0"),
    6: ("all", "w = 0"),
    7: ((1, 1, 0), "must be negative"),
    8: ((0, 1, 1, -1), "must be"),
    9: ([1, 1, 2], "add up to"),
    10: (1.0, "half"),
    11: (4, "wrong class"),
}


@pytest.mark.parametrize("number", RIGHT)
def test_a_right_answer_is_right_and_a_wrong_one_gets_a_hint(number):
    assert isinstance(rb.check_exercise(number), str)
    assert not rb.check_exercise(number, None)
    assert rb.check_exercise(number, RIGHT[number])
    answer, hint = WRONG[number]
    found = rb.check_exercise(number, answer)
    assert not found
    assert hint in found.remark


@pytest.mark.parametrize(
    ("number", "answer"), [(0, 1), (12, 1), ("1", 1), (5, [1, 2]), (9, "no"), (7, (1, None, 2))]
)
def test_what_is_no_answer_is_refused_in_a_sentence(number, answer):
    with pytest.raises(rb.InputError, match="exercise"):
        rb.check_exercise(number, answer)
