"""The command bound, as a person types it."""

import pytest

from commands import alone

FILES = {
    "apart.svm": "+1 1:0.5 2:1\n-1 1:-1 2:-0.5\n+1 1:2\n",
    "xor.svm": "0 1:0\n1 2:1\n1 1:1\n0 1:1 2:1\n",
    "three.svm": "1 1:1\n2 1:2\n3 1:3\n",
    "table.csv": "a,b,label\n1,2,yes\n2,1,no\n3,3,yes\n0,1,no\n1,2,no\n",
    "bare.svm": "1:1 2:2\n",
}


@pytest.mark.parametrize("data", ["apart.svm", "xor.svm"])
@pytest.mark.parametrize("options", [[], ["--passes", 4], ["--no-intercept"], ["--lift", "0.5"]])
def test_a_bound_is_told_kept_and_checked_by_strangers(data, options, shell, facts):
    found = facts("bound", data, "--certificate", "c.json", *options)
    assert found["mistakes"] <= found["bound"]
    assert found["minimum"] <= found["bound"] <= 1.01 * found["minimum"]
    status, sentence = alone("c.json", data)
    assert status == 0
    assert "no perceptron from zero makes more than" in sentence
    assert shell("verify", "c.json", data)[:2] == (0, sentence)


def test_every_quantity_has_a_sentence(shell):
    status, shown, complaint = shell("bound", "xor.svm", "--passes", 3)
    words = " ".join(shown.split())
    assert (status, complaint) == (0, "")
    assert "examples scored; it did not converge" in words
    assert "mistakes at most in a run that errs at most 3 times on a row, such as 3 pas" in words
    assert "from zero, with the intercept as a lifted coordinate of 1" in words
    assert "2 (hinge loss): R²‖w*‖² + 2·3·L" in words
    for name in ("radius R = ", "hinge loss L = ", "no other w* gives a bound below"):
        assert name in words
    assert "margin" not in words


def test_any_number_of_passes_takes_theorem_one(shell, facts):
    found = facts("bound", "apart.svm", "--any", "--certificate", "c.json")
    assert (found["theorem"], found["bound_passes"], found["hinge_loss"]) == (1, None, 0)
    assert found["converged"]
    assert found["mistakes"] <= found["bound"]
    assert found["bound"] == pytest.approx((found["radius"] / found["margin"]) ** 2)
    assert "(passes: any)" in alone("c.json", "apart.svm")[1]
    words = " ".join(shell("bound", "apart.svm", "--any")[1].split())
    assert "margin γ = " in words
    assert "1 (Block, Novikoff): (R/γ)²" in words


@pytest.mark.parametrize("order", ["cycle", "shuffle", "random", "worst", "first"])
def test_every_order_keeps_to_its_bound(order, facts):
    found = facts("bound", "xor.svm", "--passes", 5, "--order", order, "--seed", 1)
    assert found["mistakes"] <= found["bound"]
    assert found["bound_passes"] >= 5


def test_the_lift_may_be_the_radius(facts):
    found = facts("bound", "xor.svm", "--lift", "radius")
    assert found["radius"] == pytest.approx(2, rel=1e-12)


def test_tables_are_read_too(shell, facts):
    found = facts("bound", "table.csv", "--certificate", "c.json")
    assert found["classes"] == ["no", "yes"]
    assert shell("verify", "c.json", "table.csv")[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["xor.svm", "--any"], "no hyperplane separates these data (`rosenblatt separate`"),
        (["xor.svm", "--any"], "number of passes; give --passes in place of --any"),
        (["xor.svm", "--any", "--passes", 2], "exclude each other"),
        (["xor.svm", "--passes", 0], "0 is not in the range x>=1"),
        (["xor.svm", "--lift", "far"], "--lift takes a number or radius, got 'far'"),
        (["xor.svm", "--lift", "-1"], "lift must be"),
        (["three.svm"], "labels must be two classes, got 3"),
        (["bare.svm"], "bare.svm"),
        (["xor.svm", "--certificate", "xor.svm"], "is what the command reads"),
        (["nowhere.svm"], "nowhere.svm"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(words, message, shell):
    status, _, complaint = shell("bound", *words)
    assert status == 2
    assert message in " ".join(complaint.split())
