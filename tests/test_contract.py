"""What every learner promises: however the same examples are given, the answer is the same."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import rosenblatt as rb
from amount import crossed
from learners import (
    BLANK_STREAMS,
    CASES,
    FIRST,
    LEARNERS,
    ONLINE,
    PERCEPTRONS,
    STREAMS,
    THREE,
    THREE_STREAMS,
    assert_same,
    every,
    refused,
    separable,
    snapshot,
    unless_refused,
    without,
)
from rosenblatt.loops import exact_loop, loop

# Renormalised weights need not converge; the promises here hold all the same.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X, y = separable()
every_learner, every_online_learner = every(CASES), every(ONLINE)
every_number_of_classes = every(CASES + THREE)
every_stream, every_blank_stream = every(STREAMS), every(BLANK_STREAMS)


def with_long_indices(matrix):
    matrix = sparse.csr_matrix(matrix)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def with_duplicates(matrix):
    """Store every entry as two halves, in no order of columns; halves are exact."""
    rows, columns = np.nonzero(matrix)
    values = matrix[rows, columns] / 2
    order = np.lexsort((-columns, rows))
    parts = [np.repeat(part[order], 2) for part in (rows, columns, values)]
    starts = np.searchsorted(parts[0], np.arange(len(matrix) + 1))
    return sparse.csr_matrix((parts[2], parts[1], starts), matrix.shape)


SPARSE_FORMATS = {
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csc_matrix": sparse.csc_matrix,
    "coo_matrix": sparse.coo_matrix,
    "lil_array": sparse.lil_array,
    "int64 indices": with_long_indices,
    "unsorted duplicates": with_duplicates,
    "csr of float32": lambda matrix: sparse.csr_matrix(matrix.astype(np.float32)),
}

ROW_FORMS = {
    "dict": lambda x: {j: v for j, v in enumerate(x.tolist()) if v},
    "pair": lambda x: (np.flatnonzero(x), x[x != 0]),
    "pair of lists": lambda x: (np.flatnonzero(x).tolist(), x[x != 0].tolist()),
    "array": lambda x: x,
    "list": lambda x: x.tolist(),
    "float32 array": lambda x: x.astype(np.float32),
    "strided array": lambda x: np.repeat(x, 2)[::2],
    "matrix of one row": lambda x: x[np.newaxis],
    "csr_matrix": lambda x: sparse.csr_matrix(x),
    "csc_array": lambda x: sparse.csc_array(x[np.newaxis]),
    "sparse vector": lambda x: sparse.coo_array(x),
}


def stream(case, form=lambda x: x, *, blank=False):
    """Learn the examples one at a time; give the learner and how many were mistakes."""
    learner, mistakes, first = case(), 0, 0
    X, y = case.examples
    if not blank:
        learner.partial_fit(X[:1], y[:1], classes=case.classes)
        mistakes, first = learner.run_.mistakes, 1
    for x, label in zip(X[first:], y[first:].tolist(), strict=True):
        mistakes += learner.learn_one(form(x), label)
    return learner, mistakes


def test_every_public_learner_is_held_to_its_promises():
    public = {getattr(rb, name) for name in rb.__all__}
    assert {*LEARNERS} == {thing for thing in public if hasattr(thing, "predict")}


# ---- dense and sparse, single and double precision


@crossed(3, case=CASES + THREE, form=[*SPARSE_FORMATS])
def test_sparse_rows_give_the_same_answer_as_dense_ones(case, form):
    (X, y), form = case.examples, SPARSE_FORMATS[form]
    dense, thin = case().fit(X, y), case().fit(form(X), y)
    assert_same(thin, dense, X, rtol=case.rtol)
    assert_same(thin, dense, form(X), rtol=case.rtol)
    if case.has("learn_one"):
        assert thin.run_.counts.tolist() == dense.run_.counts.tolist()


@every_number_of_classes
def test_single_precision_gives_the_same_answer_where_it_holds_the_data(case):
    X, y = case.examples
    single = X.astype(np.float32)
    assert_same(case().fit(single, y), case().fit(X, y), single, rtol=case.rtol)
    assert_same(case().fit(single, y), case().fit(X, y), X, rtol=case.rtol)


@every([case for case in CASES if case.learner is not rb.HardMarginSVM])  # nothing separates them
def test_rows_without_an_entry_are_the_same_as_rows_of_zeros(case):
    rows, labels = np.vstack([X, np.zeros((2, X.shape[1]))]), np.append(y, [-1, 1])
    few = {"max_iter": 20} if case in ONLINE else {}
    dense = case(**few).fit(rows, labels)
    assert_same(case(**few).fit(sparse.csr_matrix(rows), labels), dense, rows, rtol=case.rtol)


@every([case for case in CASES if case.name != "random start"])  # drawn column by column
def test_permuting_the_columns_permutes_the_weights(case):
    order = np.random.default_rng(0).permutation(X.shape[1])
    plain, permuted = case().fit(X, y), case().fit(X[:, order], y)
    if case in ONLINE:
        assert permuted.run_.mistakes == plain.run_.mistakes
    scores, rtol = plain.decision_function(X), case.rtol
    np.testing.assert_allclose(permuted.decision_function(X[:, order]), scores, rtol, atol=rtol)
    if hasattr(plain, "coef_"):
        np.testing.assert_allclose(permuted.coef_, plain.coef_[:, order], rtol, atol=rtol)


# ---- one and many


@every([case for case in STREAMS + THREE_STREAMS if case in FIRST or "output" in case.options])
@pytest.mark.parametrize("form", ROW_FORMS.values(), ids=ROW_FORMS)
def test_one_at_a_time_is_the_same_as_all_at_once(case, form):
    X, y = case.examples
    many = case().partial_fit(X, y, classes=case.classes)
    one, mistakes = stream(case, form)
    assert_same(one, many, X)
    assert mistakes == many.run_.mistakes


@every(STREAMS + THREE_STREAMS)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_pieces_are_the_same_as_the_whole(case, kind):
    X, y = case.examples
    whole = case().partial_fit(X, y, classes=case.classes)
    pieces, in_turns = case(), case()
    for k, piece in enumerate(np.split(np.arange(len(y)), [1, 3, 20, 21])):
        pieces.partial_fit(kind(X[piece]), y[piece], classes=case.classes)
        turn = kind if k % 2 else np.asarray
        in_turns.partial_fit(turn(X[piece]), y[piece], classes=case.classes)
    assert_same(pieces, whole, X)
    assert_same(in_turns, whole, X)
    assert pieces.run_.operations.dot_products == whole.run_.operations.dot_products
    assert sum(pieces.run_.mistakes_per_pass) == whole.run_.mistakes


@every_blank_stream
@pytest.mark.parametrize("form", ["dict", "pair", "array", "csr_matrix"])
def test_a_stream_may_begin_without_knowing_columns_and_classes(case, form):
    many = case().partial_fit(X, y)
    one, mistakes = stream(case, ROW_FORMS[form], blank=True)
    assert mistakes == many.run_.mistakes == one.run_.mistakes
    np.testing.assert_allclose(
        one.decision_function(X), many.decision_function(X), rtol=0, atol=1e-12
    )


@every_blank_stream
def test_the_first_label_of_a_stream_may_be_either_class(case):
    order = np.argsort(-y, kind="stable")
    known = case().partial_fit(X[order], y[order], classes=[-1, 1])
    unknown = case()
    for i in order:
        unknown.learn_one(X[i], int(y[i]))
    pieces = case().partial_fit(X[order[:1]], y[order[:1]]).partial_fit(X[order[1:]], y[order[1:]])
    assert unknown.classes_.tolist() == [-1, 1]
    assert_same(unknown, known, X)
    assert_same(pieces, known, X)


@pytest.mark.parametrize("how", ["partial_fit", "learn_one"])
def test_a_lift_by_the_radius_never_depends_on_how_a_stream_is_cut(how):
    """The radius of a stream is not known: refusing is as good as knowing it, guessing is not."""
    order = np.argsort(np.linalg.norm(X, axis=1))
    rows, labels = X[order], y[order]

    def learn():
        learner = rb.Perceptron(lift="radius")
        if how == "partial_fit":
            learner.partial_fit(rows[:9], labels[:9], classes=[-1, 1])
            return learner.partial_fit(rows[9:], labels[9:])
        for x, label in zip(rows, labels.tolist(), strict=True):
            learner.learn_one(x, label)
        return learner

    pieces = unless_refused("lift", learn)
    if pieces is not None:
        whole = rb.Perceptron(lift="radius").partial_fit(rows, labels, classes=[-1, 1])
        assert pieces.run_.mistakes == whole.run_.mistakes
        assert pieces.intercept_ == pytest.approx(whole.intercept_)


@every_number_of_classes
def test_predict_one_agrees_with_predict(case):
    X, y = case.examples
    learner, rows = case().fit(X, y), X[:9]
    scores, labels = learner.decision_function(rows), learner.predict(rows).tolist()
    ranked = np.sort(scores, axis=1) if scores.ndim == 2 else np.stack([0 * scores, abs(scores)], 1)
    known = ranked[:, -1] > ranked[:, -2] + 1e-9 * abs(ranked).max()
    assert known.any()
    for form in ROW_FORMS.values():
        answers = [learner.predict_one(form(x)) for x in rows]
        assert all(answers[i] == labels[i] for i in np.flatnonzero(known))


# ---- the same again


def saved_and_loaded(learner, path):
    rb.save(learner, path)
    return rb.load(path)


COPIES = {
    "copy": lambda learner, path: copy.deepcopy(learner),
    "pickle": lambda learner, path: pickle.loads(pickle.dumps(learner)),
    "model file": saved_and_loaded,
}
LEARNED = (
    *("coef_", "intercept_", "classes_", "n_iter_", "run_", "support_", "counts_", "alphas_"),
    *("dual_", "gap_", "lam_", "objective_", "dual_objective_", "margin_", "certificate_"),
)


def assert_equal(one, other):
    """Hold two values to each other bit by bit, arrays to their types too."""
    if isinstance(other, np.ndarray):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    elif isinstance(other, rb.Run):
        for field in fields(other):
            if field.name not in ("history", "seconds"):  # no model file keeps a time
                assert_equal(getattr(one, field.name), getattr(other, field.name))
    else:
        assert one == other


@every_number_of_classes
def test_fitting_again_gives_the_same_answer(case):
    X, y = case.examples
    learner = case().fit(X, y)
    scores = learner.decision_function(X)
    assert learner.fit(X, y).decision_function(X).tolist() == scores.tolist()
    assert_same(case().fit(X, y), learner, X, rtol=0)


@every_number_of_classes
def test_a_clone_has_the_options_and_nothing_learned(case):
    X, y = case.examples
    learner = case().fit(X, y)
    twin = clone(learner)
    assert str(twin.get_params()) == str(learner.get_params())
    with pytest.raises(NotFittedError):
        twin.predict(X)
    assert_same(twin.fit(X, y), learner, X, rtol=0)
    if hasattr(learner, "coef_"):
        with pytest.raises(ValueError, match="read-only"):
            learner.coef_[0, 0] = 1.0


@every_learner
def test_options_can_be_set_one_by_one(case):
    learner = case.learner().set_params(**case.options)
    assert {name: learner.get_params()[name] for name in case.options} == case.options
    assert_same(learner.fit(X, y), case().fit(X, y), X, rtol=0)


@every_number_of_classes
@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_a_copy_answers_like_the_original(case, copied, tmp_path):
    X, y = case.examples
    original = case().fit(X, y)
    replica = copied(original, tmp_path / "model")
    assert type(replica) is case.learner
    assert str(replica.get_params()) == str(original.get_params())
    assert snapshot(replica, X) == snapshot(original, X)
    for name in LEARNED:
        if hasattr(original, name):
            assert_equal(getattr(replica, name), getattr(original, name))


@every(ONLINE + [case for case in THREE if case.has("learn_one")])
@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_a_copy_goes_on_where_the_original_stood(case, copied, form, tmp_path):
    X, y = case.examples
    original = case().fit(form(X), y)
    replica = copied(original, tmp_path / "model")
    later, labels = separable(seed=1)
    before = snapshot(original, X)
    for learner in (replica, original):
        learner.learn_one(later[0], int(labels[0]))
        learner.partial_fit(form(later[1:]), labels[1:])
        if learner is replica:
            assert snapshot(original, X) == before
        if case.starts_blank:
            learner.learn_one(later[1], 7)
    assert snapshot(replica, later) == snapshot(original, later)


@every_learner
def test_threads_learn_the_same_as_one_alone(case):
    alone = case().fit(X, y)
    with ThreadPoolExecutor(4) as pool:
        learners = list(pool.map(lambda _: case().fit(X, y), range(8)))
        answers = list(pool.map(lambda _: alone.predict(X).tolist(), range(8)))
    for learner in learners:
        assert_same(learner, alone, X, rtol=0)
    assert answers == [alone.predict(X).tolist()] * 8


@pytest.mark.parametrize("order", ["shuffle", "random"])
def test_a_seed_decides_the_order(order):
    counts = [
        rb.Perceptron(order=order, random_state=seed).fit(X, y).run_.counts.tolist()
        for seed in (1, 1, np.random.RandomState(1), 2, 3, None)
    ]
    assert counts[0] == counts[1] == counts[2]
    assert len({tuple(count) for count in counts[2:5]}) == 3


# ---- going on


# The other orders do not begin a pass where the one before ended.
@every(without("order", among=PERCEPTRONS))
def test_two_warm_fits_of_one_pass_end_where_one_fit_of_two_passes_does(case):
    twice = case(output="last", max_iter=1, warm_start=True).fit(X, y).fit(X, y)
    once = case(output="last", max_iter=2).fit(X, y)
    np.testing.assert_allclose(twice.coef_, once.coef_, atol=1e-12)
    np.testing.assert_allclose(twice.intercept_, once.intercept_, atol=1e-12)
    assert twice.run_.mistakes == once.run_.mistakes_per_pass[1]


@every_learner
def test_a_fit_that_is_not_warm_forgets(case):
    learner = case().fit(*separable(d=9, seed=2)).fit(X, y)
    assert_same(learner, case().fit(X, y), X, rtol=0)
    assert learner.n_features_in_ == X.shape[1]


@every_online_learner
def test_a_fitted_learner_goes_on_with_a_stream(case):
    learner = case().fit(X, y)
    before, (later, labels) = learner.run_, separable(seed=1)
    mistakes = learner.learn_one(later[0], int(labels[0]))
    learner.partial_fit(later[1:], labels[1:])
    assert learner.run_.stop is rb.Stop.STREAM
    assert learner.run_.mistakes - before.mistakes >= mistakes
    assert learner.run_.passes == before.passes + 2
    assert learner.n_iter_ == learner.run_.passes


# ---- before and after learning


@every_learner
def test_nothing_can_be_asked_before_learning(case):
    learner = case()
    questions = ["coef_", "intercept_", "run_", "n_iter_", "classes_", "n_features_in_", "dual_"]
    assert not any(hasattr(learner, name) for name in questions)
    for ask in (learner.predict, learner.decision_function):
        with pytest.raises(NotFittedError):
            ask(X)
    with pytest.raises(NotFittedError):
        learner.score(X, y)


@every_learner
def test_a_learner_that_has_seen_nothing_does_not_know(case):
    assert case().predict_one({0: 1.0}) is None
    assert case().predict_one(X[0]) is None


@every_online_learner
def test_the_hardest_examples_are_those_with_most_updates(case):
    run = case().fit(X, y).run_
    hardest = run.hardest(5)
    others = np.setdiff1d(np.arange(len(y)), hardest)
    assert run.counts.sum() == run.updates >= run.mistakes == sum(run.mistakes_per_pass)
    assert run.updates == run.mistakes or case.learner is rb.OnlineSVM or "margin" in case.options
    assert 0 < hardest.size <= 5
    assert (np.diff(run.counts[hardest].astype(int)) <= 0).all()
    assert (run.counts[hardest] > 0).all()
    assert run.counts[others].max() <= run.counts[hardest].min()
    assert run.hardest(0).size == 0


@every_online_learner
def test_a_run_says_why_it_ended(case):
    learner = case().fit(X, y)
    assert learner.run_.converged == (learner.run_.stop is rb.Stop.CONVERGED)
    assert str(learner.run_.stop).endswith(".")
    if learner.run_.converged:
        assert learner.run_.mistakes_per_pass[-1] == 0


@every(without("renormalize", among=PERCEPTRONS))
def test_a_run_keeps_to_its_mistake_bound(case):
    learner = case().fit(X, y)
    last = case(output="last").fit(X, y)
    bound = learner.bound(X, y, np.append(last.coef_, last.intercept_))
    assert isinstance(bound, rb.MistakeBound)
    assert learner.run_.mistakes <= bound.value < np.inf


@every(FIRST)
def test_a_score_is_the_weighted_share_of_right_answers(case):
    learner = case().fit(X, y)
    labels = learner.predict(X)
    wrong = np.where(np.arange(60) < 15, -labels, labels)
    assert learner.score(X, labels) == 1.0
    assert learner.score(X, wrong) == 0.75
    assert learner.score(X, wrong, sample_weight=[0] * 15 + [1] * 45) == 1.0
    with refused("sample_weight is zero for every row"):
        learner.score(X, y, np.zeros(60))


@every(FIRST + THREE)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_an_example_of_weight_0_is_as_good_as_none(case, form):
    X, y = case.examples
    weights = np.where(np.arange(len(y)) % 5 == 0, 0.0, 2.0)
    kept = weights > 0
    learner = case().fit(form(X), y, weights)
    assert_same(learner, case().fit(form(X[kept]), y[kept], weights[kept]), X, rtol=0)
    for name in ("dual_", "alphas_"):
        found = getattr(learner, name, None)
        assert found is None or len(found) < len(y) or not found[~kept].any()
    if case.has("learn_one"):
        assert learner.run_.counts.size == len(y)
        assert not learner.run_.counts[~kept].any()


@pytest.mark.parametrize("decorate", [loop, exact_loop])
def test_loops_compile_where_nothing_can_be_cached(decorate, monkeypatch):
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    assert decorate(lambda number: number + 1)(1) == 2
