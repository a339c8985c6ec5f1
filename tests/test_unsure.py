"""*I don't know* on purpose (theory D25): a band of scores, calibrated on the stream itself."""

from math import floor, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rosenblatt as rb
from planted import quickly
from rosenblatt.data.streams import fit_stream
from rosenblatt.data.write import write_svmlight
from rosenblatt.loops import loop
from rosenblatt.online.band import BINS, LEAST, empty_band, note, threshold

pytestmark = pytest.mark.filterwarnings("ignore:Stopped")  # runs here are not to converge
LEARNERS = {
    "online SVM": lambda **options: rb.OnlineSVM(window=20, **options),
    "perceptron": lambda **options: rb.Perceptron(margin=0.5, **options),
}


@pytest.fixture(params=LEARNERS)
def make(request):
    return LEARNERS[request.param]


def noisy(classes=2, n=1500, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 5))
    scores = X @ random.standard_normal((5, classes)) + 0.3 * random.standard_normal((n, classes))
    return X, scores.argmax(axis=1)


def lower_ends():
    """Where bins begin: eight to a doubling."""
    return [0.0] + [2.0 ** (LEAST - 1 + k // 8) * (1 + k % 8 / 8) for k in range(1, BINS)]


def naive_threshold(leads, wrong, share):
    leads, wrong = np.array(leads), np.array(wrong, bool)
    ends = [end for end in lower_ends() if wrong[leads >= end].sum() <= share * sum(leads >= end)]
    return min(ends)


def lead_of(learner, x):
    scores = np.atleast_1d(learner.decision_function([x])[0])
    return abs(scores[0]) if scores.size == 1 else np.diff(np.sort(scores)[-2:])[0]


# ---- the band


@loop
def noted(band, lead, wrong):
    note(band, lead, wrong)


@pytest.mark.twin_of("online.band.threshold")
@given(
    st.lists(st.tuples(st.floats(1e-11, 1e11), st.booleans()), max_size=60),
    st.sampled_from([0.01, 0.1, 0.5]),
)
@quickly
def test_the_threshold_is_the_least_that_keeps_to_the_share(answers, share):
    band = empty_band()
    for lead, wrong in answers:
        noted(band, lead, wrong)
    leads, wrong = zip(*answers, strict=True) if answers else ((), ())
    assert threshold(band, share) == naive_threshold(leads, wrong, share)


@given(st.floats(1e-11, 1e11))
@quickly
def test_a_lead_falls_into_the_bin_that_begins_below_it(lead):
    band = empty_band()
    noted(band, lead, False)
    (place,) = np.flatnonzero(band[:, 0])
    octave = floor(log2(lead))
    assert lower_ends()[place] <= lead < [*lower_ends(), np.inf][place + 1]
    assert place // 8 in (octave - LEAST + 1, octave - LEAST + 2)  # log2 may round up


def test_leads_beyond_the_bins_are_counted_in_the_first_and_the_last():
    band = empty_band()
    for lead in (1e-300, 1e300, 0.0):
        noted(band, lead, True)
    assert band[[0, -1]].tolist() == [[1, 1], [1, 1]]
    assert band.sum() == 4


# ---- learners


@pytest.mark.parametrize("classes", [2, 3])
def test_answers_follow_the_protocol_row_by_row(make, classes):
    X, y = noisy(classes, n=300)
    learner = make(unsure=0.1).partial_fit(X[:1], y[:1], classes=range(classes))
    leads, wrong = [], []
    for x, label in zip(X[1:], y[1:].tolist(), strict=True):
        assert learner.threshold_ == naive_threshold(leads, wrong, 0.1)
        lead, answer = lead_of(learner, x), learner.predict_one(x)
        assert (answer is None) == (lead < learner.threshold_ or lead == 0)
        if lead:
            leads.append(lead)
            wrong.append(learner.predict([x])[0] != label)
        learner.learn_one(x, label)


@pytest.mark.parametrize("share", [0.01, 0.03])
def test_of_the_answers_to_a_stream_no_more_than_the_share_is_wrong(make, share):
    X, y = noisy(n=6000)
    learner, wrong, given_answers = make(unsure=share), 0, 0
    for k, (x, label) in enumerate(zip(X, y.tolist(), strict=True)):
        answer = learner.predict_one(x)
        if k >= 2000 and answer is not None:
            given_answers += 1
            wrong += answer != label
        learner.learn_one(x, label)
    # Within three standard deviations, and not by silence.
    assert wrong / given_answers < share + 3 * (share / given_answers) ** 0.5
    assert given_answers > 2000
    assert np.mean(learner.predict(X) != y) > share


@pytest.mark.parametrize("classes", [2, 3])
def test_rows_blocks_one_pass_and_streams_calibrate_alike(make, classes, tmp_path):
    X, y = noisy(classes, n=200)
    y[:classes] = range(classes)
    fitted = make(unsure=0.1, max_iter=1).fit(X, y)
    rows = make(unsure=0.1).partial_fit(X[:classes], y[:classes])
    for x, label in zip(X[classes:], y[classes:].tolist(), strict=True):
        rows.learn_one(x, label)
    blocks = make(unsure=0.1).partial_fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
    passes = make(unsure=0.1, max_iter=4)
    fit_stream(passes, lambda: iter([rb.Examples(X[:90], y[:90]), rb.Examples(X[90:], y[90:])]))
    expected = fitted.separator.state.band
    for other in (rows, blocks, passes, make(unsure=0.1, max_iter=4).fit(X, y)):
        np.testing.assert_array_equal(other.separator.state.band, expected)
    rb.save(fitted, tmp_path / "model")
    again = rb.load(tmp_path / "model")
    assert again.threshold_ == fitted.threshold_ > 0
    np.testing.assert_array_equal(again.separator.state.band, expected)


def test_without_the_option_only_ties_are_unknown(make):
    X, y = noisy(n=200)
    learner = make().fit(X, y)
    assert learner.threshold_ == 0
    assert None not in [learner.predict_one(x) for x in X]


def test_predict_names_a_class_inside_the_band_too(make):
    X, y = noisy()
    plain, unsure = make(max_iter=1, output="last").fit(X, y), make(unsure=0.02, max_iter=1)
    np.testing.assert_array_equal(unsure.fit(X, y).predict(X), plain.predict(X))
    told = unsure.is_unsure(unsure.decision_function(X))
    assert told.tolist() == [unsure.predict_one(x) is None for x in X]
    assert 0 < told.sum() < len(y)


@pytest.mark.parametrize("unsure", [0, 1, -0.5, "much", True])
def test_a_share_is_between_0_and_1(make, unsure):
    with pytest.raises(rb.InputError, match=r"unsure must be a number between 0 and 1, got"):
        make(unsure=unsure).fit(*noisy(n=20))


def test_averages_are_not_calibrated(make):
    with pytest.raises(rb.InputError, match="answers of the last weights"):
        make(unsure=0.1, output="averaged").fit(*noisy(n=20))


def test_evaluate_tells_how_many_are_unknown(facts, folder):
    X, y = noisy(n=400)
    write_svmlight("t.svm", rb.Examples(X, y))
    facts("fit", "t.svm", "-m", "m", "--learner", "online-svm", "--unsure", "0.02")
    learner = rb.load("m")
    unknown = sum(learner.predict_one(x) is None for x in X)
    assert facts("evaluate", "m", "t.svm")["unsure"] == unknown > 0


def test_the_shell_learns_online_with_a_window_a_margin_and_a_share(facts, refused):
    write_svmlight("t.svm", rb.Examples(*noisy(n=100)))
    told = facts("fit", "t.svm", "-m", "m", "--learner", "online-svm", "--window", "1", "--C", "2")
    options = rb.load("m").get_params()
    assert (options["window"], options["C"]) == (1, 2.0)
    assert told["stop"].startswith("Every example was presented once")
    facts("fit", "t.svm", "--from", "m", "-m", "m")
    assert rb.load("m").run_.operations.dot_products == 100
    facts("fit", "t.svm", "-m", "m", "--margin", "0.5", "--max-iter", "3")
    assert rb.load("m").run_.updates > rb.load("m").run_.mistakes
    assert "--C auto goes with --learner svm" in refused(
        "fit", "t.svm", "-m", "m", "--learner", "online-svm", "--C", "auto"
    )
    bound = facts("bound", "t.svm", "--margin", "0.5")
    assert bound["mistakes"] < bound["updates"] <= bound["bound"]
