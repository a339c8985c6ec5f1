"""Model files: nothing half-written, nothing foreign accepted.

That everything comes back, and goes on, is among the promises of test_contract.py.
"""

import json
import resource

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors
from sklearn.exceptions import NotFittedError

import rosenblatt as rb
from learners import FIRST, ONLINE, every, refused, separable, three_classes
from rosenblatt.data.models import FORMAT, VERSION, digest

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
X, y = separable()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def again(learner, path):
    rb.save(learner, path)
    return rb.load(path)


@pytest.mark.parametrize(
    ("rows", "start", "comparator"),
    [((X, y), np.arange(6.0), np.ones(6)), (three_classes(), np.ones((3, 6)), np.eye(3, 6))],
)
def test_a_given_start_and_the_history_of_a_run_come_back(rows, start, comparator, path):
    learner = rb.Perceptron(initial=start).fit(*rows, comparator=comparator)
    loaded = again(learner, path)
    assert loaded.initial.tolist() == start.tolist()
    for name in ("example", "projection", "sqnorm"):
        found, kept = (getattr(one.run_.history, name) for one in (loaded, learner))
        assert found.tolist() == kept.tolist()
    planes = np.column_stack([learner.coef_, learner.intercept_])
    planes = planes if len(planes) > 1 else planes[0]
    assert loaded.bound(*rows, planes).value == learner.bound(*rows, planes).value


@every([case for case in FIRST if case in ONLINE])
def test_a_stream_with_open_columns_comes_back(case, path):
    learner = case()
    learner.learn_one({3: 1.0}, "yes")
    loaded = again(learner, path)
    for one in (learner, loaded):
        one.learn_one({900: 2.0, 3: 1.0}, "no")
    rows = np.eye(2, 901, 899)
    assert loaded.decision_function(rows).tolist() == learner.decision_function(rows).tolist()
    assert loaded.classes_.tolist() == ["no", "yes"]


@every(FIRST)
def test_what_cannot_be_saved_is_refused_in_a_sentence(case, path):
    with pytest.raises(NotFittedError):
        rb.save(case(), path)
    own = type("Own", (case.learner,), {})
    with refused("SoftMarginSVM, HardMarginSVM"):
        rb.save(own(**case.options).fit(X, y), path)
    with refused("cannot be saved as a model"):
        rb.save({"weights": 1}, path)
    if "random_state" in case().get_params():
        with refused("give a seed"):
            rb.save(case(random_state=np.random.RandomState(0)).fit(X, y), path)
    assert not path.exists()


@every(FIRST)
def test_any_changed_byte_and_any_cut_of_a_model_is_noticed(case, path):
    rb.save(case().fit(X, y), path)
    content = path.read_bytes()
    random = np.random.default_rng(0)
    for place in random.choice(len(content), 100, replace=False):
        changed = bytearray(content)
        changed[place] ^= 1 << random.integers(8)
        path.write_bytes(changed)
        with pytest.raises(rb.ModelFileError, match=path.name):
            rb.load(path)
    for length in range(0, len(content), 1 + len(content) // 50):
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


FORGERIES = [
    (
        lambda: rb.Perceptron(output="voted").fit(X, y),
        [
            lambda s, t: t.pop("w"),
            lambda s, t: t.update(w=np.zeros(3)),
            lambda s, t: t.update(w=np.full(7, np.nan)),
            lambda s, t: t.update(w=np.zeros(7, np.float32)),
            lambda s, t: t.update(tally=np.zeros(2)),
            lambda s, t: t.update({"votes.row": t["votes.row"] + 10**6}),
            lambda s, t: t.update({"votes.norm": t["votes.norm"][1:]}),
            lambda s, t: s.update(columns=10**9),
            lambda s, t: s.update(columns="many"),
            lambda s, t: s.update(lift="high"),
            lambda s, t: s.update(output="sideways"),
            lambda s, t: s.pop("rule"),
            lambda s, t: s["rule"].update(eta="fast"),
            lambda s, t: s["classes"].update(labels=[1, 2, 3]),
            lambda s, t: s["options"].update(unheard_of=1),
            lambda s, t: s["run"].update(stop="NEVER"),
        ],
    ),
    (
        lambda: rb.SoftMarginSVM().fit(*three_classes()),
        [
            lambda s, t: t.pop("planes"),
            lambda s, t: t.pop("alphas"),
            lambda s, t: t.update(planes=t["planes"][:2]),
            lambda s, t: t.update(planes=t["planes"][:, :-1]),
            lambda s, t: t.update(planes=t["planes"] * np.nan),
            lambda s, t: t.update(planes=t["planes"].astype(np.float32)),
            lambda s, t: t.update(alphas=t["alphas"][:, :2]),
            lambda s, t: t.update(alphas=t["alphas"] / 0.0),
            lambda s, t: s.update(columns=10**9),
            lambda s, t: s.update(columns="many"),
            lambda s, t: s.update(names=["one"]),
            lambda s, t: s.update(classes={"labels": [1], "dtype": "<i8"}),
            lambda s, t: s["classes"].update(labels=[1, 1, 2]),
            lambda s, t: s["classes"].update(dtype="code"),
            lambda s, t: s["options"].update(unheard_of=1),
            lambda s, t: s["options"].update(lam=-1),
            lambda s, t: s["options"].update(intercept="sideways"),
            lambda s, t: s["answer"].update(dual="small"),
            lambda s, t: s["answer"].update(primal=1e999),
            lambda s, t: s["answer"].update(passes=-1),
            lambda s, t: s["answer"].update(converged="yes"),
            lambda s, t: s["answer"].update(kind="other"),
            lambda s, t: s.pop("answer"),
            lambda s, t: s.pop("notes"),
        ],
    ),
    (
        lambda: rb.HardMarginSVM().fit(X, y),
        [
            lambda s, t: t.pop("dual"),
            lambda s, t: t.update(dual=np.zeros((2, 2))),
            lambda s, t: t.update(dual=np.full(2, np.nan)),
            lambda s, t: s.update(margin=[2.0, 1.0]),
            lambda s, t: s.update(margin=[1.0]),
            lambda s, t: s.update(certificate="{}"),
            lambda s, t: s.update(certificate=None),
            lambda s, t: s["options"].update(tol=7),
        ],
    ),
]


@pytest.mark.parametrize(
    ("fitted", "change"), [(fitted, one) for fitted, changes in FORGERIES for one in changes]
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_parts_that_do_not_fit_together_are_refused(fitted, change, path):
    rb.save(fitted(), path)
    forge(path, change)
    with pytest.raises(rb.ModelFileError, match=path.name):
        rb.load(path)


def test_a_failing_write_leaves_the_old_model_as_it_was(path):
    rb.save(rb.Perceptron().fit(X, y), path)
    before = path.read_bytes()
    wide = rb.Perceptron().fit(np.vstack([np.eye(1, 5000), -np.eye(1, 5000)]), [0, 1])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with refused("cannot write"):
            rb.save(wide, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == before
    assert [found.name for found in path.parent.iterdir()] == [path.name]


def test_saving_keeps_the_permissions_of_the_file(path):
    learner = rb.Perceptron().fit(X, y)
    rb.save(learner, path)
    path.chmod(0o600)
    rb.save(learner, path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_settings_that_are_nested_deeply_are_refused_in_a_sentence(path):
    rb.save(rb.Perceptron().fit(X, y), path)
    tensors = load_tensors(path.read_bytes())
    text = f'{{"options": {"[" * 100_000}{"]" * 100_000}}}'
    notes = {"format": FORMAT, "learner": "Perceptron", "settings": text}
    notes["digest"] = digest("Perceptron", text, tensors)
    path.write_bytes(save_tensors(tensors, notes))
    with pytest.raises(rb.ModelFileError, match="not a usable model: its settings are nested too"):
        rb.load(path)


@pytest.mark.parametrize("version", [1, VERSION + 1])
def test_model_files_of_another_version_are_refused_in_a_sentence(path, version):
    rb.save(rb.Perceptron().fit(X, y), path)
    content = path.read_bytes()
    assert content.count(FORMAT.encode()) == 1
    path.write_bytes(content.replace(FORMAT.encode(), f"rosenblatt model {version}".encode()))
    with pytest.raises(rb.ModelFileError, match=f"of version {version}, .* fit the model again"):
        rb.load(path)


@pytest.mark.parametrize(("kind", "places"), [(rb.Perceptron, 9), (rb.KernelPerceptron, 8)])
def test_a_model_file_of_version_2_is_read_with_its_mistakes_as_updates(path, kind, places):
    learner = kind().fit(X, y)
    rb.save(learner, path)
    tensors = load_tensors(path.read_bytes())
    with safe_open(path, "numpy") as file:
        metadata = file.metadata()
    tensors["tally"] = tensors["tally"][:places]
    metadata["format"] = "rosenblatt model 2"
    metadata["digest"] = digest(metadata["learner"], metadata["settings"], tensors)
    path.write_bytes(save_tensors(tensors, metadata))
    again = rb.load(path)
    assert again.updates_so_far == again.mistakes_so_far == learner.run_.mistakes > 0
    assert (again.predict(X) == learner.predict(X)).all()


HELD = {
    "Perceptron": "classes columns lift made_of names names_grow notes open_width options "
    "output rule run weighted / drift run.counts run.examples start tally w",
    "OnlineSVM": "classes columns lift made_of names names_grow notes open_width options "
    "output rule run weighted / drift run.counts run.examples start tally w window.alpha "
    "window.box window.codes window.columns window.square window.starts window.values",
    "KernelPerceptron": "classes columns dense lift made_of names names_grow notes open_width "
    "options output presented run store weighted / alphas counts drift run.counts run.examples "
    "store.numbers store.rows store.squares tally",
    "SoftMarginSVM": "answer classes columns made_of names notes options / alphas planes",
    "HardMarginSVM": "certificate classes columns made_of margin names notes options / dual planes",
}


@pytest.mark.parametrize("name", HELD)
def test_files_that_hold_something_else_have_another_version(name, path):
    rb.save(getattr(rb, name)().fit(X, y), path)
    content = path.read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    settings = json.loads(header.pop("__metadata__")["settings"])
    # If files written before can still be read, change the names alone; if not, the version, too.
    assert VERSION == 3
    assert " ".join([*sorted(settings), "/", *sorted(header)]) == HELD[name]
