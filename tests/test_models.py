"""Model files: everything comes back, nothing half-written, nothing foreign accepted."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors
from scipy import sparse

import rosenblatt as rb
from rosenblatt.data.models import digest

OPTIONS = [
    {},
    {"output": "averaged"},
    {"output": "voted"},
    {"output": "voted", "renormalize": True},
    {"fit_intercept": False, "eta0": 0.25},
    {"lift": "radius", "class_weight": {-1: 2.0, 1: 0.5}},
    {"initial": np.arange(6.0)},
    {"initial": "random", "order": "shuffle", "random_state": 7, "tie": "positive"},
]


@pytest.fixture
def problem():
    X, y, _ = rb.make_separable(120, 5, margin=0.02, seed=5)
    return X, y


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def again(learner, path):
    rb.save(learner, path)
    return rb.load(path)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_going_on_after_a_save_equals_never_having_stopped(options, form, problem, path):
    X, y = problem
    X = form(X)
    kept = rb.Perceptron(**options).fit(X[:80], y[:80])
    loaded = again(kept, path)
    for learner in (kept, loaded):
        learner.partial_fit(X[80:110], y[80:110])
        for x, label in zip(X[110:], y[110:], strict=True):
            learner.learn_one(x, label)
    assert np.array_equal(kept.coef_, loaded.coef_)
    assert np.array_equal(kept.intercept_, loaded.intercept_)
    assert np.array_equal(kept.decision_function(X), loaded.decision_function(X))
    assert kept.run_.mistakes == loaded.run_.mistakes


def test_options_classes_and_the_run_come_back(problem, path):
    X, y = problem
    learner = rb.Perceptron(max_iter=5000, output="voted").fit(X, y, comparator=np.ones(5))
    loaded = again(learner, path)
    assert loaded.get_params() == learner.get_params()
    assert np.array_equal(loaded.classes_, learner.classes_)
    assert loaded.classes_.dtype == learner.classes_.dtype
    for name in ("mistakes", "passes", "mistakes_per_pass", "stop", "seconds", "operations"):
        assert getattr(loaded.run_, name) == getattr(learner.run_, name)
    assert np.array_equal(loaded.run_.counts, learner.run_.counts)
    assert np.array_equal(loaded.run_.history.projection, learner.run_.history.projection)


@pytest.mark.parametrize(
    "labels", [("ham", "spam"), (False, True), (0.5, 1.5), (b"a", b"b"), ((1, "x"), (2, "y"))]
)
def test_labels_of_many_types_come_back(labels, problem, path):
    X, y = problem
    named = [labels[int(sign > 0)] for sign in y]
    learner = rb.Perceptron().fit(X, named)
    loaded = again(learner, path)
    assert loaded.classes_.tolist() == learner.classes_.tolist()
    assert loaded.predict(X).tolist() == learner.predict(X).tolist()


def test_names_of_columns_come_back(problem, path):
    pandas = pytest.importorskip("pandas")
    X, y = problem
    frame = pandas.DataFrame(X, columns=list("abcde"))
    loaded = again(rb.Perceptron().fit(frame, y), path)
    assert loaded.feature_names_in_.tolist() == list("abcde")
    assert loaded.predict_one({"a": X[0, 0], "b": 0.0}) in (-1, 1, None)


def test_a_stream_with_open_columns_comes_back(path):
    learner = rb.Perceptron()
    learner.learn_one({3: 1.0}, "yes")
    loaded = again(learner, path)
    for one in (learner, loaded):
        one.learn_one({900: 2.0, 3: 1.0}, "no")
    assert np.array_equal(learner.coef_, loaded.coef_)
    assert loaded.classes_.tolist() == ["no", "yes"]


def test_what_cannot_be_saved_is_refused_in_a_sentence(problem, path):
    X, y = problem
    with pytest.raises(rb.InputError, match="give a seed"):
        rb.save(rb.Perceptron(random_state=np.random.RandomState(0)).fit(X, y), path)
    sets = [frozenset({int(sign)}) for sign in y]
    with pytest.raises(rb.InputError, match="cannot be saved"):
        rb.save(rb.Perceptron().fit(X, sets), path)
    with pytest.raises(rb.InputError, match="cannot be saved as a model"):
        rb.save({"weights": 1}, path)
    assert not path.exists()


def test_any_changed_byte_of_a_model_is_noticed(problem, path):
    rb.save(rb.Perceptron().fit(*problem), path)
    content = path.read_bytes()
    random = np.random.default_rng(0)
    for place in random.choice(len(content), 300, replace=False):
        changed = bytearray(content)
        changed[place] ^= 1 << random.integers(8)
        path.write_bytes(changed)
        with pytest.raises(rb.ModelFileError, match=path.name):
            rb.load(path)


def test_any_cut_of_a_model_is_noticed(problem, path):
    rb.save(rb.Perceptron().fit(*problem), path)
    content = path.read_bytes()
    for length in range(0, len(content), 97):
        path.write_bytes(content[:length])
        with pytest.raises(rb.ModelFileError, match=path.name):
            rb.load(path)


def forge(path, change):
    """Change a model's parts and sign them again, as a hostile writer would."""
    content = path.read_bytes()
    tensors = load_tensors(content)
    size = int.from_bytes(content[:8], "little")
    metadata = json.loads(content[8 : 8 + size])["__metadata__"]
    settings = json.loads(metadata["settings"])
    change(settings, tensors)
    metadata["settings"] = json.dumps(settings)
    metadata["digest"] = digest(metadata["learner"], metadata["settings"], tensors)
    path.write_bytes(save_tensors(tensors, metadata))


@pytest.mark.parametrize(
    "change",
    [
        lambda settings, tensors: tensors.pop("w"),
        lambda settings, tensors: tensors.update(w=np.zeros(3)),
        lambda settings, tensors: tensors.update(w=np.full(6, np.nan)),
        lambda settings, tensors: tensors.update(w=np.zeros(6, np.float32)),
        lambda settings, tensors: tensors.update(tally=np.zeros(2)),
        lambda settings, tensors: tensors.update({"votes.row": tensors["votes.row"] + 10**6}),
        lambda settings, tensors: tensors.update({"votes.norm": tensors["votes.norm"][1:]}),
        lambda settings, tensors: settings.update(columns=10**9),
        lambda settings, tensors: settings.update(columns="many"),
        lambda settings, tensors: settings.update(lift="high"),
        lambda settings, tensors: settings.update(output="sideways"),
        lambda settings, tensors: settings.pop("rule"),
        lambda settings, tensors: settings["rule"].update(eta="fast"),
        lambda settings, tensors: settings["classes"].update(labels=[1, 2, 3]),
        lambda settings, tensors: settings["options"].update(unheard_of=1),
        lambda settings, tensors: settings["run"].update(stop="NEVER"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(change, problem, path):
    rb.save(rb.Perceptron(output="voted").fit(*problem), path)
    forge(path, change)
    with pytest.raises(rb.ModelFileError, match=path.name):
        rb.load(path)


def test_a_failing_write_leaves_the_old_model_as_it_was(problem, path):
    rb.save(rb.Perceptron().fit(*problem), path)
    before = path.read_bytes()
    code = (
        "import sys, resource, signal, numpy as np, rosenblatt as rb\n"
        "X = np.vstack([np.eye(1, 5000), -np.eye(1, 5000)])\n"
        "learner = rb.Perceptron().fit(X, [0, 1])\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try:\n    rb.save(learner, sys.argv[1])\n"
        "except rb.InputError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert "cannot write" in done.stdout
    assert path.read_bytes() == before
    assert [found.name for found in path.parent.iterdir()] == [path.name]


def test_saving_keeps_the_permissions_of_the_file(problem, path):
    learner = rb.Perceptron().fit(*problem)
    rb.save(learner, path)
    path.chmod(0o600)
    rb.save(learner, path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_settings_that_are_nested_deeply_are_refused_in_a_sentence(problem, path):
    X, y = problem
    rb.save(rb.Perceptron().fit(X, y), path)
    tensors = load_tensors(path.read_bytes())
    text = f'{{"options": {"[" * 100_000}{"]" * 100_000}}}'
    notes = {"format": "rosenblatt model 1", "learner": "Perceptron", "settings": text}
    notes["digest"] = digest("Perceptron", text, tensors)
    path.write_bytes(save_tensors(tensors, notes))
    with pytest.raises(rb.ModelFileError, match="not a usable model: its settings are nested too"):
        rb.load(path)
