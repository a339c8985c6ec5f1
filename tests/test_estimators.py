"""One class for each learner: without scikit-learn in commands, an estimator of it elsewhere."""

import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rosenblatt as rb
from learners import LEARNERS

SOURCE = Path(rb.__file__).parent
X = np.random.default_rng(0).normal(size=(60, 3))
X[:, 0] += np.where(X[:, 0] > 0, 1, -1)
y = np.where(X[:, 0] > 0, "yes", "no")

every_learner = pytest.mark.parametrize("kind", LEARNERS, ids=lambda kind: kind.__name__)


# ---- without scikit-learn

UNJOINED = """if True:
    import pickle, sys
    import numpy as np
    from rosenblatt.learners.hard_margin import HardMarginSVM
    from rosenblatt.learners.kernel_perceptron import KernelPerceptron
    from rosenblatt.learners.online_svm import OnlineSVM
    from rosenblatt.learners.perceptron import Perceptron
    from rosenblatt.learners.soft_margin import SoftMarginSVM

    X, y = np.array([[0.0, 1.0], [2.0, 0.0], [3.0, 1.0]]), ["no", "yes", "yes"]
    kinds = Perceptron, OnlineSVM, KernelPerceptron, SoftMarginSVM, HardMarginSVM
    early = [kind(lift=2.0) for kind in kinds]
    for learner in early:
        learner.fit(X, y)
        assert learner.predict(X).tolist() == y
        assert learner.predict_one(X[0]) == "no"
        assert learner.options()["lift"] == 2.0
    assert "sklearn" not in sys.modules

    arrived = pickle.loads(open(sys.argv[1], "rb").read())
    from sklearn.base import BaseEstimator, clone, is_classifier
    import rosenblatt as rb
    assert rb.SoftMarginSVM is SoftMarginSVM
    for learner in early + arrived:
        assert isinstance(learner, BaseEstimator)
        assert is_classifier(learner)
        assert repr(clone(learner)) == type(learner).__name__ + "(lift=2.0)"
        assert "sample_weight" in type(learner).set_fit_request.__doc__
    assert [learner.predict_one([1.5, 0.0, 0.0]) for learner in arrived] == ["yes"] * 5
"""


def test_learners_do_without_scikit_learn_until_somebody_asks_for_it(tmp_path):
    """Those that commands made, and those that were pickled elsewhere, become estimators, too."""
    pickled = tmp_path / "pickled"
    pickled.write_bytes(pickle.dumps([kind(lift=2.0).fit(X, y) for kind in LEARNERS]))
    done = subprocess.run([sys.executable, "-c", UNJOINED, pickled], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


# ---- among scikit-learn's estimators


@every_learner
def test_a_learner_is_a_classifier_of_scikit_learn(kind):
    learner = kind()
    assert isinstance(learner, BaseEstimator)
    assert isinstance(learner, ClassifierMixin)
    assert is_classifier(learner)
    assert learner.get_params() == learner.options()
    assert learner.set_params(lift=2.0).lift == 2.0
    assert repr(clone(learner)) == f"{kind.__name__}(lift=2.0)"
    assert kind.__name__ in learner._repr_html_()


@every_learner
def test_weights_are_routed_through_a_search(kind):
    weights = np.where(np.arange(60) < 40, 1.0, 2.0)
    with sklearn.config_context(enable_metadata_routing=True):
        learner = kind().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), learner)
        name = f"{kind.__name__.lower()}__lift"
        search = GridSearchCV(pipeline, {name: [0.5, 1.0]}, cv=2, error_score="raise")
        assert search.fit(X, y, sample_weight=weights).best_score_ > 0.9


@pytest.mark.parametrize("many", [VotingClassifier, StackingClassifier])
def test_ensembles_take_every_learner(many):
    ensemble = many([(kind.__name__, kind()) for kind in LEARNERS])
    assert ensemble.fit(X, y).score(X, y) > 0.95


# ---- rooms call each other by public names


def test_no_room_reaches_into_a_learner():
    """Other rooms call learners by public names; `_` is for a learner's own room."""
    private = re.compile(r"\b(?:learner|model|estimator|like)\._[a-z]\w*")
    for path in SOURCE.rglob("*.py"):
        if path.parent.name != "learners":
            found = private.findall(path.read_text(encoding="utf-8"))
            assert not found, f"{path.relative_to(SOURCE)} has {found}"
