"""Learning on shards: the same on any engine, by any number of workers, as on one machine."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import rosenblatt as rb
from amount import crossed
from clusters import cut, planted, processes
from rosenblatt.cluster.passes import Difference, count_packed, packed
from rosenblatt.cluster.shards import Shard, described
from rosenblatt.data.reading import Reading


@pytest.fixture(scope="module", params=["local", "client"])
def engine(request):
    """Give each engine."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def lonely():
    with processes(1) as engine:
        yield engine


X, y, w = planted()
LABELS = {"two": y, "many": np.arange(400) % 3}


# ---- one shard is one machine


@crossed(
    3,
    layout=[np.asarray, sparse.csr_matrix],
    labels=["two", "many"],
    options=[
        {},
        {"output": "averaged", "max_iter": 7},
        {"order": "shuffle", "random_state": 3},
        {"renormalize": True, "output": "averaged", "max_iter": 5},
        {"class_weight": "balanced", "lift": "radius", "eta0": 0.3, "max_iter": 30},
        {"initial": "random", "random_state": 1, "fit_intercept": False, "output": "last"},
    ],
)
def test_one_shard_is_one_machine_bit_for_bit(layout, labels, options, local):
    rows, labels = layout(X), LABELS[labels]
    with warnings.catch_warnings(action="ignore"):
        one = rb.Perceptron(**options).fit(rows, labels)
        other = rb.cluster.fit(rb.Perceptron(**options), [(rows, labels)], client=local)
    assert np.array_equal(one.coef_, other.coef_)
    assert np.array_equal(one.intercept_, other.intercept_)
    assert one.run_.mistakes_per_pass == other.run_.mistakes_per_pass
    assert np.array_equal(one.run_.counts, other.run_.counts)
    assert (one.run_.stop, one.run_.operations) == (other.run_.stop, other.run_.operations)
    assert other.run_.weighted_mistakes == one.run_.mistakes


# ---- several shards


def mixed(shards, rounds):
    """Mix the weights of two classes, slowly and obviously; give w, its mean and Σ κ·μ·k."""
    v, total, weight, weighted = np.zeros(X.shape[1] + 1), 0, 0, 0.0
    for t in range(1, rounds + 1):
        ends, mistakes = [], []
        for rows, labels in shards:
            u, k = v.copy(), 0
            for x, label in zip(rows, labels, strict=True):
                lifted = np.append(x, 1.0)
                if label * (u @ lifted) <= 0:
                    u, k = u + label * lifted, k + 1
                total, weight = total + t**3 * u, weight + t**3
            ends.append(u)
            mistakes.append(k)
        if not sum(mistakes):
            break
        share = np.array(mistakes) / sum(mistakes)
        steps = np.array(ends) - v
        stretch = share @ np.square(steps).sum(axis=1) / np.square(share @ steps).sum()
        v = v + min(stretch, len(shards)) * (share @ steps)
        weighted += min(stretch, len(shards)) * float(share @ mistakes)
    return v, total / weight, weighted


@pytest.mark.parametrize("output", ["last", "averaged"])
def test_weights_and_mistakes_are_those_of_a_slow_mixture(engine, output):
    shards = cut(X, y, 3)
    with warnings.catch_warnings(action="ignore"):
        found = rb.cluster.fit(rb.Perceptron(output=output, max_iter=4), shards, client=engine)
    v, mean, weighted = mixed(shards, 4)
    wanted = v if output == "last" else mean
    assert found.coef_[0] == pytest.approx(wanted[:-1], abs=1e-9)
    assert found.intercept_[0] == pytest.approx(wanted[-1], abs=1e-9)
    assert found.run_.weighted_mistakes == pytest.approx(weighted)
    assert found.run_.rounds == 4


@crossed(2, shards=[2, 5], labels=["two", "many"], order=["cycle", "shuffle"])
def test_engines_and_numbers_of_workers_agree_bit_for_bit(
    shards, labels, order, local, client, lonely
):
    parts = cut(X, LABELS[labels], shards)
    learner = rb.Perceptron(order=order, random_state=1, max_iter=15, patience=None)
    with warnings.catch_warnings(action="ignore"):
        engines = (local, client, lonely)
        one, *others = [rb.cluster.fit(clone(learner), parts, client=each) for each in engines]
    for each in others:
        assert np.array_equal(one.coef_, each.coef_)
        assert one.run_.weighted_mistakes == each.run_.weighted_mistakes


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shards", [2, 8])
def test_weighted_mistakes_stay_below_the_bound_and_the_run_converges(seed, shards, local):
    rows, labels, _ = planted(n=300, margin=0.03, seed=seed)
    found = rb.cluster.fit(
        rb.Perceptron(fit_intercept=False), cut(rows, labels, shards), client=local
    )
    run = found.run_
    assert run.converged
    assert found.score(rows, labels) == 1.0
    assert run.weighted_mistakes <= 1 / 0.03**2
    assert run.weighted_mistakes <= run.bound.value


@pytest.mark.parametrize(("flipped", "stop"), [(0, rb.Stop.CONVERGED), (5, rb.Stop.STALLED)])
def test_rounds_go_on_while_weights_grow_as_those_of_separable_data(flipped, stop, local):
    rows, signs, _ = rb.make_separable(20_000, 10, margin=0.01, seed=2)
    order = np.random.default_rng(0).permutation(20_000)
    labels = np.where(np.arange(20_000) < flipped, -1, 1) * signs[order]
    with warnings.catch_warnings(action="ignore"):
        run = rb.cluster.fit(rb.Perceptron(), cut(rows[order], labels, 8), client=local).run_
    assert run.stop is stop


def test_plain_mistakes_of_copies_exceed_the_bound_and_weighted_ones_do_not(local):
    rows, labels = np.eye(20), np.where(np.arange(20) % 2, 1, -1)
    found = rb.cluster.fit(rb.Perceptron(fit_intercept=False), [(rows, labels)] * 5, client=local)
    assert found.run_.mistakes == 100
    assert found.run_.weighted_mistakes == 20


def test_what_a_cluster_learned_is_an_ordinary_learner(local, tmp_path):
    found = rb.cluster.fit(rb.Perceptron(), cut(X, y, 4), client=local)
    rb.save(found, tmp_path / "model")
    again = rb.load(tmp_path / "model")
    assert np.array_equal(again.predict(X), found.predict(X))
    assert pickle.loads(pickle.dumps(found)).score(X, y) == found.score(X, y)
    found.partial_fit(X[:10], y[:10])
    assert found.run_.mistakes >= again.run_.mistakes


@pytest.mark.filterwarnings("ignore:Stopped at")
def test_many_rounds_end_with_a_model_that_can_be_saved(local, tmp_path):
    few, labels = X[:40], np.arange(40) % 2  # which nothing separates
    learner = rb.Perceptron(max_iter=800, patience=None)
    found = rb.cluster.fit(learner, cut(few, labels, 4), client=local)
    assert found.run_.rounds == 800
    rb.save(found, tmp_path / "model")
    assert np.array_equal(rb.load(tmp_path / "model").predict(few), found.predict(few))


def test_a_run_goes_on_from_its_checkpoint_to_the_same_weights(local, tmp_path):
    note, shards = tmp_path / "round", cut(X, y, 4)
    whole = rb.cluster.fit(rb.Perceptron(), shards, client=local)

    class StoppedError(Exception):
        pass

    def stop(progress):
        assert progress.round.moved > 0
        if progress.rounds == 3:
            raise StoppedError

    with pytest.raises(StoppedError):
        rb.cluster.fit(rb.Perceptron(), shards, client=local, checkpoint=note, watch=stop)
    assert note.exists()
    with pytest.raises(rb.ModelFileError, match="other options; delete it"):
        rb.cluster.fit(rb.Perceptron(eta0=2), shards, client=local, checkpoint=note)
    again = rb.cluster.fit(rb.Perceptron(), shards, client=local, checkpoint=note)
    assert np.array_equal(again.coef_, whole.coef_)
    assert again.run_.mistakes_per_pass == whole.run_.mistakes_per_pass
    assert not note.exists()


def test_an_interrupted_run_holds_all_of_its_last_round(engine):
    def interrupt(progress):
        if progress.rounds == 3:
            raise KeyboardInterrupt

    noisy = cut(X, np.where(np.arange(400) % 7, y, -y), 4)
    made = lambda: rb.Perceptron(output="averaged", max_iter=3)  # noqa: E731
    whole = rb.cluster.fit(made(), noisy, client=engine)
    found = rb.cluster.fit(made(), noisy, client=engine, watch=interrupt)
    assert found.run_.stop is rb.Stop.INTERRUPTED
    assert np.array_equal(found.coef_, whole.coef_)
    assert np.array_equal(found.run_.counts, whole.run_.counts)


# ---- data


FILES = {
    "a.svm": "+1 1:1 3:2\n-1 2:1\n",
    "b.svm": "-1 2:3\n+1 1:2 4:1\n",
}


def test_files_are_read_by_workers_whatever_their_width(folder, engine):
    found = rb.cluster.fit(rb.Perceptron(), "*.svm", client=engine)
    assert found.n_features_in_ == 4
    assert found.run_.converged
    listed = rb.cluster.fit(rb.Perceptron(), ["a.svm", folder / "b.svm"], client=engine)
    assert np.array_equal(found.coef_, listed.coef_)


def test_a_large_file_is_cut_behind_lines_and_its_lines_are_numbered(folder):
    lines = [f"{(-1) ** k} 1:{k} {1 + k % 7}:2" for k in range(1000)]
    (folder / "c.svm").write_text("\n".join(lines))
    shards = described("c.svm", Reading(), shard_bytes=2000)
    assert len(shards) == 7
    rows = [Shard(each).examples for each in shards]
    whole, labels = rb.read("c.svm")
    assert sum(map(len, rows)) == 1000
    assert np.array_equal(np.concatenate([each.y for each in rows]), labels)
    assert sum(each.X.sum() for each in rows) == whole.sum()
    lines[800] = "1 1:x"
    (folder / "c.svm").write_text("\n".join(lines))
    with pytest.raises(rb.ParseError, match=r"c\.svm:801:"):
        described("c.svm", Reading(), shard_bytes=2000)[5].load()


def test_a_store_is_cut_into_ranges_of_rows(folder):
    from rosenblatt.data.store import write_store

    write_store("s.rows", [rb.Examples(sparse.csr_matrix(X), y)])
    shards = described("s.rows", Reading(), shard_bytes=4000)
    assert len(shards) > 2
    assert np.array_equal(np.concatenate([each.load().y for each in shards]), y)


def test_a_line_that_cannot_be_read_is_named(folder, engine):
    (folder / "b.svm").write_text("-1 2:3\n+1 1:oops\n")
    with pytest.raises(rb.ParseError, match=r"b\.svm:2:6: "):
        rb.cluster.fit(rb.Perceptron(), "*.svm", client=engine)


REFUSED = {
    "no pair": ([1, 2], "shard 0 is not a pair"),
    "one class": ([(X, np.ones(400))], "at least two classes, got 1"),
    "columns": ([(X, y), (X[:, :3], y)], r"shard 1 has other columns \(3\) than shard 0 \(6\)"),
    "labels": ([(X, y[:-1])], "shard 0: X has 400 rows but y has 399"),
    "none": ([(X, None)], "shard 0: there are no labels"),
    "words": ([(X, y), (X, y.astype(str))], "shard 1 has labels that are words"),
    "numbers": ([(X, y), (X * np.inf, y)], "shard 1: "),
    "empty": ([], "nothing to make shards of"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_shards_that_do_not_fit_are_refused_in_a_sentence(case, local):
    shards, message = REFUSED[case]
    with pytest.raises(rb.InputError, match=message):
        rb.cluster.fit(rb.Perceptron(), shards, client=local)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (rb.Perceptron(order="worst"), "cannot be presented in the order 'worst'"),
        (rb.Perceptron(output="voted"), "votes need all"),
        (rb.Perceptron(warm_start=True), "give checkpoint="),
        (rb.HardMarginSVM(), "not HardMarginSVM"),
        (rb.Perceptron(eta0=-1), "eta0 must be positive|eta0"),
    ],
)
def test_what_shards_cannot_do_is_refused(learner, message, local):
    with pytest.raises(rb.InputError, match=message):
        rb.cluster.fit(learner, cut(X, y, 2), client=local)


def test_a_difference_restores_what_it_was_made_of():
    before = np.zeros((3, 50), order="F")
    for share in (0, 5, 150):
        after = before.copy(order="F")
        after.ravel(order="K")[:share] = 1 + np.arange(share)
        found = Difference.of(before, after)
        assert np.array_equal(found.applied(before), after)
        assert found.places.size == (share if share < 100 else 0)


@pytest.mark.parametrize("share", [0, 3, 4, 130])
def test_rows_that_were_missed_are_told_by_number_or_by_bits(share):
    missed = np.random.default_rng(share).permutation(130)[:share]
    told, counts = packed(missed, 130), np.arange(130, dtype=np.uint32)
    assert told.nbytes <= 17  # which are 130 bits
    count_packed(told, counts)
    assert np.flatnonzero(counts - np.arange(130)).tolist() == sorted(missed.tolist())


def test_a_shard_travels_as_its_description(folder):
    shard = Shard(described("a.svm", Reading())[0])
    assert len(shard.examples) == 2
    travelled = pickle.loads(pickle.dumps(shard))
    assert travelled._examples is None
    assert (travelled.examples.X != shard.examples.X).nnz == 0


def test_shards_stay_where_they_are_until_a_worker_has_too_many():
    from rosenblatt.cluster.on_dask import shared_out

    assert shared_out([["a"], ["b"], ["a"], ["b"]], {"a": 1, "b": 1}) == (
        {"a": [0, 2], "b": [1, 3]},
        {},
    )
    assert shared_out([["a"]] * 4, {"a": 1, "b": 1}) == (
        {"a": [0, 1, 2, 3], "b": []},
        {2: "b", 3: "b"},
    )
    lost = shared_out([["a"], [], ["gone"], ["a", "b"]], {"a": 1, "b": 1})
    assert lost == ({"a": [0, 2], "b": [1, 3]}, {})
    assert shared_out([["a"]] * 5, {"a": 3, "b": 2})[1] == {3: "b", 4: "b"}
    assert shared_out([[], []], {}) == ({"": [0, 1]}, {})
