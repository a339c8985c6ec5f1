"""Columns of a stream: those met so far, as numbers or by name; and bounds that know them."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import rosenblatt as rb
from rosenblatt.errors import InputError
from rosenblatt.learners.one_row import RowReader
from rosenblatt.learners.parts import perceptron_from, perceptron_parts

LEARNERS = [rb.Perceptron, rb.KernelPerceptron]
every_learner = pytest.mark.parametrize("make", LEARNERS)
NAMED = [
    ({"country=DE": 1, "hour": 13}, "a"),
    ({"country=FR": 1, "hour": 2}, "b"),
    ({"hour": 3, "weekday": 6}, "b"),
    ({"country=DE": 1, "hour": 11, "weekday": 1}, "a"),
]
NAMES = ["country=DE", "hour", "country=FR", "weekday"]
TABLE = pd.DataFrame([row for row, _ in NAMED]).fillna(0.0)[NAMES]
LABELS = [label for _, label in NAMED]


def taught(learner, rows=NAMED):
    for x, label in rows:
        learner.learn_one(x, label)
    return learner


# ---- numbers


@every_learner
def test_a_stream_has_the_columns_that_it_met(make):
    learner = make()
    learner.learn_one({2: 1.0}, "a")
    assert learner.n_features_in_ == 3
    learner.learn_one({0: 1.0}, "b")
    assert learner.n_features_in_ == 3
    for column in range(3, 200):
        learner.learn_one({column: 1.0}, "a")
        assert learner.n_features_in_ == column + 1
    learner.learn_one({3: 1.0}, "c")
    learner.learn_one({200: 1.0}, "c")
    assert learner.n_features_in_ == 201


@pytest.mark.parametrize("output", ["last", "averaged", "voted"])
@pytest.mark.parametrize("classes", [2, 3])
def test_weights_of_growing_columns_are_those_of_known_ones(output, classes):
    random = np.random.default_rng(3)
    rows = np.tril(random.integers(-3, 4, (80, 80)))[:, :70].astype(float)
    labels = random.integers(0, classes, 80).tolist()
    grown = rb.Perceptron(output=output)
    for x, label in zip(rows, labels, strict=True):
        grown.learn_one(dict(enumerate(np.trim_zeros(x, "b").tolist())), label)
        assert grown.coef_.shape[1] == grown.n_features_in_
    known = rb.Perceptron(output=output).partial_fit(rows[:1], labels[:1])
    for x, label in zip(rows[1:], labels[1:], strict=True):
        known.learn_one(x, label)
    np.testing.assert_array_equal(grown.coef_, known.coef_)
    np.testing.assert_array_equal(grown.intercept_, known.intercept_)
    np.testing.assert_array_equal(grown.decision_function(rows), known.decision_function(rows))


def test_columns_that_come_one_by_one_are_not_copied_each_time(monkeypatch):
    made = []
    empty = np.zeros
    learner = rb.Perceptron(output="averaged")
    learner.learn_one({0: 1.0}, 0)
    monkeypatch.setattr(np, "zeros", lambda *given, **more: made.append(1) or empty(*given, **more))
    for column in range(1, 1000):
        learner.learn_one({column: 1.0}, column % 2)
    assert len(made) < 50
    assert learner.coef_.shape == (1, 1000)


# ---- names


@every_learner
def test_names_get_columns_as_they_come(make):
    learner = make()
    assert learner.learn_one(*NAMED[0])
    assert learner.feature_names_in_.tolist() == NAMES[:2]
    assert learner.n_features_in_ == 2
    taught(learner, NAMED[1:])
    assert learner.feature_names_in_.tolist() == NAMES
    numbered = make().partial_fit(TABLE.to_numpy(), LABELS)
    np.testing.assert_array_equal(
        learner.decision_function(TABLE), numbered.decision_function(TABLE.to_numpy())
    )


@every_learner
def test_unknown_names_weigh_nothing_in_an_answer(make):
    learner = taught(make(fit_intercept=False))
    for row, _ in NAMED:
        assert learner.predict_one({**row, "unheard": 5.0}) == learner.predict_one(row)
    assert learner.predict_one({"unheard": 5.0}) is None
    assert learner.feature_names_in_.tolist() == NAMES
    wide = TABLE.assign(unheard=5.0)[["unheard", *reversed(NAMES)]]
    assert learner.predict(wide).tolist() == learner.predict(TABLE).tolist()


@every_learner
@pytest.mark.parametrize("copied", ["file", "pickle", "copy"])
def test_a_stream_of_names_goes_on_after_it_was_kept(make, copied, tmp_path):
    half, whole = taught(make(), NAMED[:2]), taught(make())
    if copied == "file":
        rb.save(half, tmp_path / "half")
        again = rb.load(tmp_path / "half")
    else:
        again = pickle.loads(pickle.dumps(half)) if copied == "pickle" else copy.deepcopy(half)
    taught(again, NAMED[2:])
    assert again.feature_names_in_.tolist() == NAMES
    assert half.feature_names_in_.tolist() == NAMES[:3]
    assert again.decision_function(TABLE).tolist() == whole.decision_function(TABLE).tolist()


@every_learner
def test_frames_join_a_stream_of_names_by_name(make):
    learner = taught(make(), NAMED[:2])
    shuffled = TABLE.iloc[2:][["weekday", "country=FR", "hour", "country=DE"]]
    learner.partial_fit(shuffled, LABELS[2:])
    assert learner.feature_names_in_.tolist() == NAMES
    expected = taught(make()).decision_function(TABLE)
    assert learner.decision_function(TABLE).tolist() == expected.tolist()
    assert learner.decision_function(TABLE.to_numpy()).tolist() == expected.tolist()
    with pytest.raises(rb.InputError, match="3 columns without names, but the learner knows 4"):
        learner.predict(np.ones((1, 3)))


NUMBERS = [{0: 1.0}, {"hour": 1.0, 3: 2.0}, ([0], [1.0]), np.ones(4)]


@every_learner
@pytest.mark.parametrize("x", NUMBERS, ids=repr)
def test_numbers_and_names_are_not_mixed(make, x):
    learner = taught(make())
    for ask in (learner.predict_one, lambda x: learner.learn_one(x, "a")):
        with pytest.raises(rb.InputError, match="numbers are not mixed with names"):
            ask(x)
    assert learner.feature_names_in_.tolist() == NAMES
    numbered = make()
    numbered.learn_one({3: 1.0}, "a")
    with pytest.raises(rb.InputError, match=r"'hour', but .* numbers from 0 on, which are not mix"):
        numbered.learn_one({"hour": 1.0}, "a")
    assert numbered.n_features_in_ == 4


@every_learner
@pytest.mark.parametrize("kind", [{0: 1.0}, {"a": 1.0}, np.ones(1)], ids=repr)
def test_a_row_without_columns_leaves_names_and_numbers_open(make, kind):
    learner = make()
    learner.learn_one({}, 0)
    assert learner.predict_one(kind) is learner.predict_one({})
    learner.learn_one(kind, 1)
    assert learner.n_features_in_ == 1


FAULTS = [
    (None, "column 'a' of the row has None, which is not a number"),
    ("1.5", "column 'a' of the row has '1.5', which is not a number"),
    ("DE", "which is not a number; a category is a column of its own: {'a=DE': 1}"),
    (10**400, "beyond float64"),
    (np.nan, "column 'a' of the row is NaN or infinity"),
]


@every_learner
@pytest.mark.parametrize(("value", "match"), FAULTS, ids=lambda part: str(part)[:9])
def test_a_value_that_is_no_number_is_blamed_and_not_its_name(make, value, match):
    fresh, numbered, named = make(), make(), taught(make())
    numbered.learn_one({1: 1.0}, "a")
    for learner in (fresh, named):
        with pytest.raises(rb.InputError, match=match):
            learner.learn_one({"a": value}, "new")
    with pytest.raises(rb.InputError, match=match):
        named.predict_one({"a": value})
    if value is not np.nan:
        with pytest.raises(rb.InputError, match=match):
            numbered.learn_one({"a": value}, "a")
    assert not fresh.is_fitted
    assert named.feature_names_in_.tolist() == NAMES
    assert named.classes_.tolist() == ["a", "b"]


def test_rows_that_were_read_do_not_share_memory():
    for reader, key in ((RowReader(5), 1), (RowReader(None), 1), (RowReader(2, ["x", "y"]), "y")):
        first, second = reader.read({key: 1.0}), reader.read({key: 2.0})
        assert first[1].tolist() == [1.0]
        assert not np.shares_memory(first[0], second[0])


# ---- bounds


@pytest.mark.parametrize("output", ["last", "averaged", "voted"])
def test_a_bound_speaks_of_streams_of_single_rows(output):
    X, y, w = rb.make_separable(60, 5, margin=0.1, seed=0)
    learner = rb.Perceptron(output=output)
    for x, label in zip(X, y.tolist(), strict=True):
        learner.learn_one(x, label)
    whole = rb.Perceptron(output=output).partial_fit(X, y)
    assert learner.bound(X, y, w).value == whole.bound(X, y, w).value >= learner.run_.mistakes
    assert learner.bound(X, y).value >= learner.run_.mistakes
    with pytest.raises(rb.InputError, match="X has 3 columns, but the learner knows 5"):
        learner.bound(X[:, :3], y, w[:3])


@pytest.mark.parametrize("classes", [3, 5])
def test_a_bound_speaks_of_streams_of_many_classes(classes):
    random = np.random.default_rng(classes)
    W = random.standard_normal((classes, 4))
    X = random.standard_normal((400, 4))
    scores = np.sort(X @ W.T, axis=1)
    X = X[scores[:, -1] - scores[:, -2] > 0.3]
    y = (X @ W.T).argmax(axis=1)
    learner = rb.Perceptron(fit_intercept=False)
    for x, label in zip(X, y.tolist(), strict=True):
        learner.learn_one(dict(enumerate(x.tolist())), label)
    assert learner.run_.mistakes <= learner.bound(X, y, W).value < np.inf


def test_a_bound_speaks_of_streams_of_names():
    X, y, w = rb.make_separable(40, 3, margin=0.1, seed=0)
    frame = pd.DataFrame(X, columns=["c", "a", "b"])
    learner = rb.Perceptron()
    for row, label in zip(frame.to_dict("records"), y.tolist(), strict=True):
        learner.learn_one(row, label)
    learner.partial_fit(frame[["b", "a", "c"]], y)
    found = learner.bound(pd.concat([frame, frame])[["b", "c", "a"]], [*y, *y], w)
    assert found.value == learner.bound(np.vstack([X, X]), [*y, *y], w).value
    assert found.value >= learner.run_.mistakes


@pytest.mark.parametrize("names", [NAMES[:2], None, "abcd"])
def test_a_model_file_whose_names_do_not_fit_its_columns_is_refused(names):
    settings, tensors = perceptron_parts(taught(rb.Perceptron()))
    with pytest.raises(rb.ModelFileError, match="the names of the columns do not fit"):
        perceptron_from({**settings, "names": names}, tensors)


def test_rows_with_all_names_are_the_same_in_any_order_and_with_any_numbers():
    rows = [{"a": 1, "b": -2.5, "c": True}, {"c": 3.0, "a": np.float32(0.5), "b": np.int8(4)}]
    reader = RowReader(None, ["a", "b", "c"])
    for row in rows:
        columns, values = reader.read(row)
        assert columns.tolist() == [0, 1, 2]
        assert values.tolist() == [float(row[name]) for name in "abc"]
    reader.adopt(["d"])
    assert reader.read({"d": 1.0, "c": 2.0, "b": 3.0, "a": 4.0})[1].tolist() == [4, 3, 2, 1]


def test_as_many_names_of_which_one_is_new_are_told_apart_from_all_names():
    reader = RowReader(2, ["a", "b"])
    with pytest.raises(InputError, match="the column 'z', which the learner was not given"):
        reader.read({"a": 1.0, "z": 1.0})
    with pytest.raises(InputError, match="column 'b' of the row has 'one', which is not a number"):
        reader.read({"a": 1.0, "b": "one"})


def test_scores_of_rows_with_all_names_are_those_of_the_rows_that_are_read():
    reader, w = RowReader(None, ["a", "b", "c"]), np.array([1.5, -2.0, 0.25, 3.0])
    assert np.isnan(reader.score({"a": 1.0, "b": 2.0, "c": 3.0}, 2.0, w))  # before it was read
    for _ in range(2):
        for x in ({"a": 1, "b": -2.5, "c": True}, {"c": 3.0, "a": np.float32(0.5), "b": 4}):
            columns, values = reader.read(x)
            assert reader.score(x, 2.0, w) == w[columns] @ values + 6.0
        for x in ({"a": 1.0, "b": 2.0, "z": 3.0}, {"a": 1.0, "b": "two", "c": 3.0}, {"a": 1.0}):
            assert np.isnan(reader.score(x, 2.0, w))
        assert np.isnan(reader.score({"a": 1.0, "b": 2.0, "c": 3.0}, 2.0, w[:3]))


def test_columns_that_weigh_one_gives_are_the_callers_own():
    learner = rb.Perceptron()
    learner.learn_one({"a": 1.0, "b": 2.0}, True)
    learner.learn_one({"a": -1.0, "b": 1.0}, False)
    before = learner.answer_one({"a": 1.0, "b": 2.0})
    learner.weigh_one({"a": 1.0, "b": 2.0})[0][:] = 0
    assert learner.answer_one({"a": 1.0, "b": 2.0}) == before


def test_rows_are_read_alike_before_and_after_names_are_met():
    first, second = {"a": 1.0, "b": 2.0}, {"c": 3.0, "b": 4.0, "a": 5.0}
    learner = taught(rb.Perceptron(), [(first, 0), (first, 1)])
    for x in (first, second, {"b": 2.0, "a": 1.0}, {"a": 1.0, "c": 2.0}, second):
        learner.learn_one(x, 1)
        for again in (learner, pickle.loads(pickle.dumps(learner)), copy.deepcopy(learner)):
            columns, values = again._reader.read(x)
            named = zip(again.feature_names_in_[columns].tolist(), values.tolist(), strict=True)
            assert dict(named) == x
            assert again.predict_one(x) == learner.predict_one(dict(reversed(x.items())))
