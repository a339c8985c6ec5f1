"""What people see of an evaluation: a table that fits."""

import string

from rosenblatt.cli.confusion import confusion_lines


def printed(pairs, classes, width=80):
    return "\n".join(confusion_lines(pairs, classes, width))


def test_few_classes_are_shown_with_every_count():
    shown = printed({("a", "a"): 3, ("b", "a"): 17, ("b", "b"): 2}, ["a", "b"])
    assert "answered a" in shown
    assert "17" in shown
    assert "right" not in shown


def test_classes_that_do_not_fit_are_told_one_by_one():
    letters = list(string.ascii_uppercase)
    pairs = {(letter, letter): 90 for letter in letters} | {("Q", "O"): 1234, ("E", "F"): 7}
    shown = printed(pairs, letters)
    assert max(map(len, shown.splitlines()[:-1])) <= 80
    rows = [line.split() for line in shown.splitlines()[1:-1]]
    assert [row[0] for row in rows] == letters
    assert rows[16] == ["Q", "1,324", "90", "6.8%", "90"]
    assert "Most often wrong: Q answered O (1,234), E answered F (7)" in shown
    assert "answered F" in printed(pairs, letters, width=500)
    assert "answered Z" not in printed(pairs, letters, width=None)  # some 300 characters wide
    assert "answered J" in printed({("A", "A"): 1}, letters[:10], width=None)


def test_labels_stand_in_the_order_of_the_classes_and_strange_ones_behind():
    pairs = {(10, 2): 1, (2, 2): 1, (99, 2): 1, (5, 2): 1}
    for width in (200, 30):
        rows = [line.split() for line in printed(pairs, [2, 5, 10, 11], width).splitlines()]
        assert [row[0] for row in rows[1:5]] == ["2", "5", "10", "99"]
