"""Commands with --cluster, Dask collections, and estimators in pipelines."""

import pickle
import warnings

import numpy as np
import pytest

import rosenblatt as rb
from clusters import cut, planted

pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

X, y, _ = planted(n=240, d=4)
FILES = {
    f"{name}.svm": "\n".join(
        f"{label} " + " ".join(f"{j}:{value!r}" for j, value in enumerate(x.tolist(), 1))
        for x, label in zip(rows, labels, strict=True)
    )
    for name, (rows, labels) in zip("abc", cut(X, y, 3), strict=True)
}


@pytest.fixture(scope="module")
def reference(local):
    return rb.cluster.fit(rb.Perceptron(), cut(X, y, 3), client=local)


# ---- commands


def test_commands_learn_answer_and_prove_on_shards(shell, facts, folder, client, reference):
    address, names = client.scheduler.address, ["a.svm", "b.svm", "c.svm"]
    status, shown, said = shell("fit", *names, "-m", "m", "--cluster", address, "--float64")
    assert status == 0, said
    assert "round 1: " in said
    assert "MB moved, slowest" in said
    assert "weighted mistakes" in shown
    assert np.array_equal(rb.load("m").coef_, reference.coef_)
    found = facts("evaluate", "m", *names, "--cluster", address)
    assert (found["rows"], found["wrong"], found["shards"]) == (240, 0, 3)
    assert shell("predict", "m", *names, "--cluster", address, "--out", "answers")[0] == 0
    parts = sorted((folder / "answers").iterdir())
    assert [part.name for part in parts] == [f"part-0000{k}.txt" for k in range(3)]
    answers = "".join(part.read_text() for part in parts).split()
    assert np.array_equal(np.array(answers, int), y)
    proven = facts("separate", *names, "--cluster", address, "--certificate", "proof.json")
    assert proven["verdict"] == "separable"
    assert rb.verify("proof.json", *rb.read(names, dtype=np.float64)).ok


def test_commands_run_on_processes_of_this_machine_and_refuse_what_does_not_fit(
    shell, refused, folder, reference, monkeypatch
):
    monkeypatch.setattr("rosenblatt.cluster.on_dask.CONNECT_SECONDS", 0.2)
    status, _, said = shell("fit", "*.svm", "-m", "m", "--cluster", "local", "--float64", "--json")
    assert status == 0, said
    assert np.array_equal(rb.load("m").coef_, reference.coef_)
    assert "do not go with --cluster" in refused(
        "fit", "a.svm", "-m", "m", "--cluster", "local", "--stream"
    )
    assert "no scheduler answers at tcp://127.0.0.1:1" in refused(
        "fit", "a.svm", "-m", "m", "--cluster", "tcp://127.0.0.1:1"
    )
    assert "give --out FOLDER" in refused("predict", "m", "a.svm", "--cluster", "local")
    assert "not KernelPerceptron" in refused(
        "fit", "a.svm", "-m", "m", "--kernel", "linear", "--cluster", "local"
    )


# ---- collections


def test_collections_are_taken_by_their_chunks(client, reference):
    pandas = pytest.importorskip("pandas")
    rows, labels = da.from_array(X, chunks=(80, -1)), da.from_array(y, chunks=80)
    frame = dd.from_pandas(pandas.DataFrame(X, columns=list("pqrs")), npartitions=3)
    series = dd.from_pandas(pandas.Series(y), npartitions=3)
    found = rb.cluster.fit(rb.Perceptron(), rows, labels)
    assert np.array_equal(found.coef_, reference.coef_)
    named = rb.cluster.fit(rb.Perceptron(), frame, series)
    assert named.feature_names_in_.tolist() == list("pqrs")
    assert named.score(frame.compute(), y) == 1.0
    for model, given in ((found, rows), (named, frame)):
        lazy = rb.cluster.predict(model, given)
        assert hasattr(lazy, "__dask_graph__")
        assert np.array_equal(np.asarray(lazy.compute()), y)
    proof = rb.cluster.separate(rows, labels).certificate
    assert rb.verify(proof, X, y).ok


def test_a_bag_of_rows_is_taken_by_its_partitions(client, reference):
    bag = pytest.importorskip("dask.bag")
    pairs = [(x, int(label)) for x, label in zip(X, y, strict=True)]
    found = rb.cluster.fit(rb.Perceptron(), bag.from_sequence(pairs, npartitions=3))
    assert np.array_equal(found.coef_, reference.coef_)
    sparse = [(dict(enumerate(x.tolist())), label) for x, label in pairs]
    other = rb.cluster.fit(rb.Perceptron(), bag.from_sequence(sparse, npartitions=3))
    assert np.array_equal(other.predict(X), found.predict(X))


def test_chunks_that_do_not_fit_are_refused_with_the_call_that_mends_them(client):
    rows, labels = da.from_array(X, chunks=(80, 2)), da.from_array(y, chunks=80)
    with pytest.raises(rb.InputError, match=r"2 chunks of columns.*X\.rechunk\(\{1: -1\}\)"):
        rb.cluster.fit(rb.Perceptron(), rows, labels)
    mended = rows.rechunk({1: -1})
    with pytest.raises(rb.InputError, match=r"3 chunks of rows and y has 4; give y\.rechunk"):
        rb.cluster.fit(rb.Perceptron(), mended, labels.rechunk(60))
    with pytest.raises(rb.InputError, match=r"chunk 0 of X has 80 rows and y has 100"):
        rb.cluster.fit(rb.Perceptron(), mended, labels.rechunk(((100, 60, 80),)))
    with pytest.raises(rb.InputError, match="X is a Dask collection and y a ndarray"):
        rb.cluster.fit(rb.Perceptron(), mended, y)
    with pytest.raises(rb.InputError, match="there are no labels; give y"):
        rb.cluster.fit(rb.Perceptron(), mended)


# ---- estimators


def test_estimators_have_the_manners_of_scikit_learn_and_pickle_no_client(client, tmp_path):
    from sklearn.base import clone

    for kind in (rb.cluster.ClusterPerceptron, rb.cluster.ClusterSVM):
        learner = clone(kind(max_iter=5))
        learner.client = client
        assert clone(learner).client is client
        with warnings.catch_warnings(action="ignore"):
            learner.fit(cut(X, y, 3))
        again = pickle.loads(pickle.dumps(learner))
        assert again.client is None
        assert np.array_equal(again.predict(X), learner.predict(X))
        rb.save(learner.local(), tmp_path / "model")
        assert np.array_equal(rb.load(tmp_path / "model").predict(X), learner.predict(X))
        lazy = learner.predict(da.from_array(X, chunks=(80, -1)))
        assert np.array_equal(lazy.compute(), learner.predict(X))
