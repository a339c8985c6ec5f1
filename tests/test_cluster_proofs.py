"""Proofs over shards: the verdicts of one machine, with certificates for the concatenated data."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import rosenblatt as rb
from amount import crossed
from clusters import cut, planted
from rosenblatt import checker
from rosenblatt.cluster.inputs import shards_of
from rosenblatt.cluster.proofs import Coordinator
from rosenblatt.data.reading import Reading
from rosenblatt.decide.answers import Clock
from rosenblatt.exact.digest import exact_rows, label_tags, labelled_digest, labelled_total, shown


def weak(n=1500):
    draw = np.random.default_rng(0)
    X = draw.integers(-3, 4, (n, 4)).astype(float)
    side = X[:, 0] + X[:, 1]
    return X, np.where(side == 0, draw.choice([-1, 1], n), np.sign(side)).astype(int)


def flipped(n=1500):
    X, y, _ = planted(n=n, d=4, margin=0.01)
    return X, np.where(np.arange(n) == 7, -y, y)


def aliased(n=1500):
    X, y = flipped(n)
    return np.hstack([X, 2 * X[:, :1], np.zeros((n, 1))]), y


CASES = {
    "separable": lambda: planted(n=1500, d=4, margin=0.01)[:2],
    "weakly separable": weak,
    "inseparable": flipped,
    "aliased": aliased,
}


@crossed(1, case=CASES, lifted=[True, False], layout=[np.asarray, sparse.csr_matrix])
def test_verdicts_are_those_of_one_machine_and_the_checker_accepts_their_proofs(
    case, lifted, layout, local
):
    X, y = CASES[case]()
    X = layout(X)
    found = rb.cluster.separate(cut(X, y, 4), client=local, fit_intercept=lifted)
    assert found.verdict == rb.separate(X, y, fit_intercept=lifted).verdict
    assert rb.verify(found.certificate, X, y).ok
    rows = exact_rows(X, label_tags(np.where(y > 0, 1, -1)).tolist())
    checker.check(json.loads(found.certificate.to_json()), rows, X.shape[1])
    checked = rb.cluster.verify(found.certificate, cut(X, y, 3), client=local)
    assert checked.ok, checked.reason


def test_rows_told_apart_are_those_of_all_shards(local):
    X, y = weak()
    found = rb.cluster.separate(cut(X, y, 4), client=local)
    scores = np.column_stack([X, np.ones(len(X))]) @ np.array(found.certificate.w, float)
    assert found.rows.tolist() == np.flatnonzero(scores * y > 1e-9).tolist()


def test_a_tampered_or_foreign_certificate_is_refused(local):
    X, y, _ = planted(n=300, d=3)
    proof = rb.cluster.separate(cut(X, y, 3), client=local).certificate
    wide = replace(proof, margin=proof.margin * 2)
    found = rb.cluster.verify(wide, cut(X, y, 3), client=local)
    assert not found.ok
    assert "margin of w on row" in found.reason
    other = rb.cluster.verify(proof, cut(X, -y, 3), client=local)
    assert "the certificate is for other data" in other.reason
    swapped = cut(X, y, 3)[::-1]
    assert not rb.cluster.verify(proof, swapped, client=local).ok


def test_less_than_a_hundredth_of_the_data_leaves_the_shards(local):
    X, y, _ = planted(n=60_000, d=10, margin=0.001)
    for labels in (y, np.where(np.arange(y.size) == 7, -y, y)):
        local.put(shards_of(cut(X, labels, 4), None, Reading()))
        before = local.moved
        found = Coordinator(local).decide(True, Clock())
        assert found.verdict != "undecided"
        assert local.moved - before < X.nbytes / 100


def test_a_digest_is_the_sum_of_those_of_shards():
    X, y, _ = planted(n=50, d=3)
    total = sum(labelled_total(X[a:b], y[a:b], a) for a, b in ((0, 20), (20, 50)))
    assert shown(total % 2**64, 50, 3) == labelled_digest(X, y)


@pytest.mark.parametrize("passes", [1, 3, None])
def test_mistake_bounds_hold_and_are_proven(passes, local):
    X, y, _ = planted(n=600, d=4, margin=0.05)
    labels = y if passes is None else np.where(np.arange(y.size) < 9, -y, y)
    found = rb.cluster.mistake_bound(cut(X, labels, 3), client=local, passes=passes)
    assert rb.verify(found.certificate, X, labels).ok
    assert rb.cluster.verify(found.certificate, cut(X, labels, 2), client=local).ok
    run = rb.Perceptron(max_iter=passes, patience=None, output="averaged").fit(X, labels).run_
    assert run.mistakes <= found.value
    best = rb.mistake_bound(X, labels, passes=passes).value
    assert found.value <= (1.1 * best if passes else 1e4 * best)


def test_no_bound_holds_for_any_number_of_passes_over_inseparable_rows(local):
    X, y = flipped()
    with pytest.raises(rb.InseparableError, match="give the number of passes"):
        rb.cluster.mistake_bound(cut(X, y, 3), client=local, passes=None)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_facts_about_shards_are_those_about_all_rows(layout, local):
    X, y = aliased(200)
    X[5], y[5] = X[4], -y[4]
    found, whole = rb.cluster.info(cut(layout(X), y, 3), client=local), rb.info(layout(X), y)
    for name in ("rows", "columns", "classes", "density", "radius", "constant_columns"):
        assert getattr(found, name) == getattr(whole, name)
    assert found.contradiction == whole.contradiction == (4, 5)


def test_three_classes_are_refused_with_advice(local):
    X, *_ = planted(n=90, d=3)
    with pytest.raises(rb.InputError, match="decides about two classes, got 3"):
        rb.cluster.separate(cut(X, np.arange(90) % 3, 2), client=local)
