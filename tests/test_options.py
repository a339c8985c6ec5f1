"""Options of the learners: what cannot be used is refused in a sentence that names the option."""

from functools import partial
from inspect import signature

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from learners import LEARNERS, refused, separable

X, y = separable()

WRONG = {
    "order": ["foo", None, ["cycle"]],
    "initial": ["x", None, 3, [1, 2, 3, 4, 5, "x"], np.full(6, np.nan), np.full(6, np.inf)],
    "eta0": [0, -1.0, np.nan, np.inf, "1", None, True],
    "renormalize": ["yes", None],
    "fit_intercept": ["no", 2],
    "warm_start": ["x"],
    "lift": [-1, 0, "x", np.nan, np.inf, None],
    "output": ["x", None],
    "max_iter": [0, 1.5, -1, "9", True],
    "max_updates": [0, 2.5],
    "max_seconds": [-1, 0, np.nan, "1"],
    "class_weight": ["x", {1: 0}, {1: -2.0}, {1: np.nan}, {1: "2"}, [1.0, 2.0], 2.0],
    "tie": ["x", None],
    "random_state": ["x", 1.5, -1],
}
WRONG["initial"] += [np.ones(5), np.ones(8), np.ones((2, 6))]  # for 6 columns and an intercept
STRANGERS = [{"unknown": 2.0}, {-1: 1.0, 1: 2.0, 3: 1.0}]


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in WRONG.items() for value in values]
)
@pytest.mark.parametrize("act", ["fit", "partial_fit"])
def test_a_wrong_option_is_refused_by_its_name(name, value, act):
    learner = rb.Perceptron(**{name: value})
    if act == "partial_fit" and name == "random_state":
        learner.set_params(initial="random")  # nothing else is drawn for a stream
    with refused(name) as refusal:
        getattr(learner, act)(X, y)
    assert "\n" not in str(refusal.value)
    assert set(vars(learner)) == set(vars(rb.Perceptron()))


@pytest.mark.parametrize("weights", STRANGERS)
def test_weights_of_classes_that_no_row_has_are_refused_unless_a_stream_may_bring_them(weights):
    with refused("class_weight has the label"):
        rb.Perceptron(class_weight=weights).fit(X, y)
    assert rb.Perceptron(class_weight=weights).partial_fit(X, y).classes_.tolist() == [-1, 1]


@pytest.mark.parametrize("options", [{"order": "foo"}, {"eta0": 0}, {"tie": "x"}], ids=str)
def test_a_wrong_option_is_refused_at_the_first_row_of_a_stream(options):
    (name,) = options
    with refused(name):
        rb.Perceptron(**options).learn_one({0: 1.0}, 1)


def test_an_unknown_option_is_refused():
    with pytest.raises(TypeError, match="penalty"):
        rb.Perceptron(penalty="l2")
    with pytest.raises(ValueError, match="penalty"):
        rb.Perceptron().set_params(penalty="l2")


def test_options_are_given_by_name():
    with pytest.raises(TypeError, match="positional"):
        rb.Perceptron("cycle")


RIGHT = {
    "eta0": [2, np.float32(0.5)],
    "lift": [np.int64(2)],
    "max_iter": [None, np.int64(100)],
    "max_seconds": [60],
    "max_updates": [10**6],
    "fit_intercept": [np.True_, 1],
    "renormalize": [0],
    "initial": [[1, 2, 3, 4, 5, 6], range(7), np.ones(7, np.float32)],
    "class_weight": [{1: 2}, {}, {np.int64(1): np.float64(2)}],
    "random_state": [np.random.RandomState(0), np.int64(3)],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in RIGHT.items() for value in values]
)
def test_numbers_of_any_kind_are_taken(name, value):
    order = "shuffle" if name == "random_state" else "cycle"
    assert rb.Perceptron(order=order, **{name: value}).fit(X, y).score(X, y) == 1.0


def test_balanced_weights_need_all_labels_beforehand():
    for learn in (lambda a: a.partial_fit(X, y), lambda a: a.learn_one(X[0], 1)):
        with refused("class_weight='balanced'"):
            learn(rb.Perceptron(class_weight="balanced"))


# ---- limits

NOT_SEPARABLE = (np.array([[1.0], [1.0], [-1.0]]), [0, 1, 0])


@pytest.mark.parametrize("learner", [rb.Perceptron, rb.KernelPerceptron])
@pytest.mark.parametrize("output", ["averaged", "voted"])
@pytest.mark.parametrize("limit", [{"max_iter": 3}, {"max_updates": 4}, {"max_seconds": 1e-9}])
def test_averages_and_votes_end_at_a_limit_of_the_users_without_a_warning(learner, output, limit):
    found = learner(output=output, **limit).fit(*NOT_SEPARABLE)  # warnings are errors here
    assert found.run_.stop in (rb.Stop.PASSES, rb.Stop.UPDATES, rb.Stop.SECONDS)


@pytest.mark.parametrize("learner", [partial(rb.Perceptron, patience=None), rb.KernelPerceptron])
@pytest.mark.parametrize(
    "options", [{"output": "averaged"}, {"output": "voted"}, {"output": "last", "max_iter": 3}]
)
def test_a_limit_that_nobody_set_or_weights_that_still_change_are_warned_of(learner, options):
    with pytest.warns(ConvergenceWarning, match="Stopped at the limit on passes") as caught:
        learner(**options).fit(*NOT_SEPARABLE)
    assert caught[0].filename == __file__


def test_reaching_the_last_allowed_pass_without_a_mistake_is_convergence():
    passes = rb.Perceptron().fit(X, y).run_.passes
    assert rb.Perceptron(max_iter=passes).fit(X, y).run_.converged
    with pytest.warns(ConvergenceWarning):
        rb.Perceptron(max_iter=passes - 1).fit(X, y)


# ---- ties


def test_a_score_of_zero_is_a_mistake_and_not_known():
    learner = rb.Perceptron(fit_intercept=False)
    assert learner.learn_one({0: 1.0}, "a")
    assert learner.learn_one({1: 1.0}, "b")
    assert learner.predict_one({5: 1.0}) is None
    assert learner.predict_one({}) is None
    assert learner.predict([[0.0, 0.0]]).tolist() == ["a"]
    assert learner.learn_one({5: 1.0}, "b")


@pytest.mark.parametrize("output", ["last", "averaged", "voted"])
def test_a_score_of_zero_may_count_as_positive(output):
    learner = rb.Perceptron(fit_intercept=False, tie="positive", output=output)
    learner.partial_fit([[0.0, 0.0], [0.0, 1.0]], ["b", "b"], classes=["a", "b"])
    assert learner.run_.mistakes == 0
    assert learner.predict_one([0.0, 0.0]) == "b"
    assert learner.predict([[0.0, 0.0]]).tolist() == ["b"]
    assert not learner.learn_one([0.0, 0.0], "b")
    assert learner.learn_one([0.0, 0.0], "a")
    assert learner.learn_one([1.0, 0.0], "a")
    assert learner.coef_[0, 0] < 0


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_misspelt_option_is_named_with_its_learner_and_the_nearest_one(learner):
    with pytest.raises(TypeError) as caught:
        learner(max_second=3)
    assert str(caught.value) == (
        f"{learner.__name__} has no option 'max_second'; did you mean 'max_seconds'?"
    )
    with pytest.raises(TypeError, match=rf"^{learner.__name__} has no option 'q'; its options are"):
        learner(q=1)
    with pytest.raises(TypeError, match=rf"^{learner.__name__} takes its options by name"):
        learner(*range(20))


def test_an_array_is_no_flag():
    for value in (np.array([True, False]), np.array([]), "yes", [True], None, np.nan):
        with pytest.raises(rb.InputError, match="fit_intercept must be True or False, got"):
            rb.Perceptron(fit_intercept=value).fit([[0.0], [1.0]], [0, 1])
    for value in (True, 1, 1.0, np.True_, np.int8(1)):
        assert rb.Perceptron(fit_intercept=value).fit([[0.0], [1.0]], [0, 1]).run_.converged


def test_a_machine_without_room_is_told_columns_and_classes_apart(monkeypatch):
    monkeypatch.setattr("rosenblatt.memory.memory", lambda: 10_000_000)
    X, message = sparse.csr_matrix((3, 10**6)), "weights for 1,000,000 columns in each of 3 classes"
    for learner in (rb.SoftMarginSVM(), rb.Perceptron()):
        with pytest.raises(rb.InputError, match=message):
            learner.fit(X, [0, 1, 2])


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_signature_of_a_learner_tells_its_options(learner):
    assert list(signature(learner).parameters) == list(learner().options())
