"""Models in the shell: scaled ones, their weights, folds, the best C, the same bytes each time."""

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

import rosenblatt as rb
from rosenblatt.cli.folds import stratified
from rosenblatt.data.scaling import Scaling
from rosenblatt.data.write import write_svmlight
from rosenblatt.errors import InputError, ModelFileError

RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal((60, 3)) * [1, 1000, 0.01] + [0, 5000, 0]
Y = np.where((X[:, 0] + (X[:, 1] - 5000) / 1000) > 0, "up", "down")
ROWS = "".join(f"{u},{v},{w},{label}\n" for (u, v, w), label in zip(X, Y, strict=True))
TEXT = "spam\tfree money now\nham\tsee you now\nspam\tfree free lunch\nham\tlunch with you\n"


FILES = {"t.csv": f"a,b,c,label\n{ROWS}", "t.txt": TEXT}


@pytest.fixture
def folder(folder):
    write_svmlight("t.svm", rb.Examples(sparse.csr_matrix(X), np.where(Y == "up", 1, -1)))
    return folder


@pytest.mark.parametrize("scale", ["standard", "maxabs"])
@pytest.mark.parametrize("learner", ["perceptron", "svm", "kernel"])
def test_a_scaled_model_takes_rows_as_they_are_in_the_shell_and_in_python(
    facts, shell, scale, learner
):
    found = facts("fit", "t.csv", "-m", "m", "--scale", scale, "--learner", learner, "--float64")
    assert found["scale"] == facts("info", "m")["scale"] == scale
    model, data = rb.load("m"), rb.read("t.csv", dtype="float64")
    assert (model.predict(data.X) != Y).sum() == found["misclassified"]
    assert shell("predict", "m", "t.csv")[1].split() == model.predict(data.X).tolist()
    scores = [
        json.loads(line)["score"]
        for line in shell("predict", "m", "t.csv", "--json")[1].splitlines()
    ]
    np.testing.assert_allclose(scores, model.decision_function(data.X), rtol=1e-9)
    assert facts("evaluate", "m", "t.csv")["wrong"] == found["misclassified"]
    assert rb.read("t.csv", like=model).names == ("a", "b", "c")


def test_scaling_helps_where_columns_differ(facts):
    plain = facts("fit", "t.csv", "-m", "m", "--max-iter", "20")
    assert (
        facts("fit", "t.csv", "-m", "m", "--max-iter", "20", "--scale", "standard")["misclassified"]
        < (plain["misclassified"])
    )


def test_who_has_scaled_is_not_told_to_scale(facts, folder):
    noise = np.random.default_rng(0)
    labels = noise.choice(["up", "down"], 40)
    rows = "".join(f"{x},{y}\n" for x, y in zip(noise.normal(size=40), labels, strict=True))
    (folder / "noise.csv").write_text(f"a,label\n{rows}")
    plain = facts("fit", "noise.csv", "-m", "m")["stop"]
    scaled = facts("fit", "noise.csv", "-m", "m", "--scale", "standard")["stop"]
    assert "separates the data, or if features differ widely in scale. Scale the" in plain
    assert "separates the data. Continue with --patience 0" in scaled


def test_the_hyperplane_of_a_scaled_model_is_that_of_raw_columns(facts, shell, folder):
    facts("fit", "t.csv", "-m", "m", "--scale", "standard", "--learner", "svm", "--float64")
    assert shell("export", "m", "m.json")[0] == 0
    found = json.loads((folder / "m.json").read_text())
    data = rb.read("t.csv", dtype="float64")
    scores = data.X @ found["coef"] + found["intercept"]
    np.testing.assert_allclose(scores, rb.load("m").decision_function(data.X), rtol=1e-9)
    assert found["names"] == ["a", "b", "c"]
    weights = {
        pair["name"]: pair["weight"]
        for each in facts("weights", "m")["weights"]
        for pair in each["for"]
    }
    assert weights == dict(zip("abc", found["coef"], strict=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_columns_are_scaled_as_by_scikit_learn(dtype, form):
    random = np.random.default_rng(0)
    values = random.normal(size=(60, 7)) * [1, 1e-3, 1e5, 1, 1, 1, 1e-9] + [0, 1, 1e4, 0, 0, 0, 0]
    values[:, 3], values[:, 4] = 0.1, 0.0  # constant columns
    values[::2, 5] = 0.0
    rows = form(values.astype(dtype))
    is_sparse = sparse.issparse(rows)
    for kind, scaler in {
        "standard": StandardScaler(with_mean=not is_sparse),
        "maxabs": MaxAbsScaler(),
    }.items():
        ours, theirs = Scaling.of(kind, rows), Scaling.of_scaler(scaler.fit(rows))
        rounded = is_sparse and dtype == np.float32  # to which scikit-learn rounds the spread
        np.testing.assert_allclose(ours.spread, theirs.spread, rtol=1e-6 if rounded else 1e-9)
        assert (ours.centre is None) == (theirs.centre is None)
        if theirs.centre is not None:
            np.testing.assert_allclose(ours.centre, theirs.centre, rtol=1e-12, atol=1e-12)


def test_sparse_rows_are_not_centred_and_it_is_said(shell):
    status, _, told = shell("fit", "t.svm", "-m", "m", "--scale", "standard")
    assert status == 0
    assert "not centred" in told
    assert rb.load("m").steps[0][1].with_mean is False


@pytest.mark.parametrize("more", [("--stream",), ("--from", "m")])
def test_a_scale_needs_all_rows(shell, more):
    status, _, complaint = shell("fit", "t.svm", "-m", "m", "--scale", "maxabs", *more)
    assert status == 2
    assert "--scale needs all rows" in complaint


def test_to_go_on_with_a_scaled_model_keeps_its_scale(facts, shell):
    shell("fit", "t.csv", "-m", "m", "--scale", "standard", "--max-iter", "1")
    spread = rb.load("m").steps[0][1].scale_
    for more in ((), ("--stream",)):
        found = facts("fit", "t.csv", "--from", "m", "-m", "m", "--max-iter", "1", *more)
        assert found["mistakes_in_last_pass"] < 30
        np.testing.assert_array_equal(rb.load("m").steps[0][1].scale_, spread)


@pytest.mark.parametrize(
    "scaler", [StandardScaler(), StandardScaler(with_mean=False), MaxAbsScaler()]
)
def test_a_pipeline_is_saved_and_loaded(folder, scaler):
    model = make_pipeline(scaler, rb.Perceptron()).fit(X, Y)
    rb.save(model, "m")
    again = rb.load("m")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    rb.save(again, "n")
    assert (folder / "m").read_bytes() == (folder / "n").read_bytes()


def test_other_pipelines_are_refused_and_damaged_scales_too(folder):
    from sklearn.preprocessing import RobustScaler

    with pytest.raises(InputError, match="StandardScaler or MaxAbsScaler and a learner"):
        rb.save(make_pipeline(RobustScaler(), rb.Perceptron()).fit(X, Y), "m")
    model = make_pipeline(MaxAbsScaler(), rb.Perceptron()).fit(X, Y)
    model[0].scale_ = np.array([1.0, 0.0, 1.0])
    rb.save(model, "m")
    with pytest.raises(ModelFileError, match="scale of its columns is damaged"):
        rb.load("m")


@pytest.mark.parametrize(
    "words", [(), ("--learner", "svm"), ("--stream", "--max-iter", "2"), ("--scale", "maxabs")]
)
def test_the_same_run_gives_the_same_bytes(shell, folder, words):
    for name in ("m", "n"):
        assert shell("fit", "t.svm", "-m", name, *words)[0] == 0
    assert (folder / "m").read_bytes() == (folder / "n").read_bytes()


def test_weights_are_named_both_ways(facts, shell):
    shell("fit", "t.csv", "-m", "m")
    found = facts("weights", "m", "--top", "2")["weights"]
    coef = dict(zip("abc", rb.load("m").coef_[0], strict=True))
    assert [each["class"] for each in found] == ["up", "down"]
    for each, sign in zip(found, (1, -1), strict=True):
        for pair in each["for"]:
            assert pair["weight"] == coef[pair["name"]]
            assert pair["weight"] * sign > 0
    assert "for up" in shell("weights", "m")[1]
    shell("fit", "t.csv", "-m", "k", "--kernel", "gaussian:1")
    assert "no hyperplane" in shell("weights", "k")[2]


def test_hashed_categories_are_named_by_a_table(facts, shell, folder):
    rows = "".join(f"{'red' if i % 2 else 'blue'},{i % 3},{'xy'[i % 2]}\n" for i in range(20))
    (folder / "c.csv").write_text(f"colour,size,label\n{rows}")
    facts("fit", "c.csv", "-m", "m", "--categories", "hash", "--bits", "8")
    assert "--data FILE names the words" in shell("weights", "m")[2]
    shown = facts("weights", "m", "--data", "c.csv")["weights"]
    learner, data = rb.load("m"), rb.read("c.csv", categories="hash", columns=2**8)
    expected = dict(zip(data.y.tolist(), (data.X @ learner.coef_[0]).tolist(), strict=True))
    found = {pair["name"]: pair["weight"] for side in shown for pair in side["for"]}
    assert found.keys() >= {"colour=red", "colour=blue"}
    assert np.sign(found["colour=red"]) == np.sign(expected["y"])
    assert np.sign(found["colour=blue"]) == np.sign(expected["x"])


def test_hashed_words_are_named_by_a_file(facts, shell):
    shell("fit", "t.txt", "-m", "m")
    pairs = [
        pair for each in facts("weights", "m", "--data", "t.txt")["weights"] for pair in each["for"]
    ]
    weights = {pair["name"]: pair["weight"] for pair in pairs}
    assert weights["free"] > 0 > weights["you"]
    _, shown, told = shell("weights", "m")
    assert "--data FILE names the words" in told
    assert "spam" not in shown  # words count +1 or -1: columns speak for no class


def test_features_of_vowpal_wabbit_are_named_by_a_file(facts, shell, folder):
    (folder / "t.vw").write_text("1 |a x:2 y\n-1 |b x | z\n")
    shell("fit", "t.vw", "-m", "m")
    pairs = [
        pair for each in facts("weights", "m", "--data", "t.vw")["weights"] for pair in each["for"]
    ]
    assert {pair["name"]: np.sign(pair["weight"]) for pair in pairs} == {
        **{"a^x": 1, "a^y": 1},
        **{"b^x": -1, "z": -1},
    }


@pytest.mark.parametrize("classes", [["no"], ["no", "yes"], [3, 1, 2, 7]])
def test_folds_are_those_of_scikit_learn(classes):
    random = np.random.default_rng(5)
    for folds in (2, 3, 7):
        y = random.choice(classes, 40)
        theirs = StratifiedKFold(folds, shuffle=True, random_state=folds).split(y, y)
        ours = stratified(y, folds, folds)
        for fold, (_, test) in enumerate(theirs):
            assert np.flatnonzero(ours == fold).tolist() == test.tolist()


def test_folds_are_stratified_and_the_same_each_time(facts, shell):
    words = (
        "evaluate",
        "t.csv",
        "--folds",
        "5",
        "--learner",
        "svm",
        "--C",
        "1",
        "--scale",
        "standard",
    )
    found = facts(*words)
    assert len(found["folds"]) == 5
    assert found["accuracy"] == pytest.approx(np.mean(found["folds"])) == facts(*words)["accuracy"]
    assert found["accuracy"] > 0.9
    assert f"± {np.std(found['folds'], ddof=1):.2g}" in shell(*words)[1]
    assert "no class has a row for each" in shell("evaluate", "t.csv", "--folds", "50")[2]
    shell("fit", "t.csv", "--model", "m.safetensors")
    with_model = shell("evaluate", "m.safetensors", "t.csv", "--folds", "5")
    assert "--folds trains anew: leave out the model m.safetensors" in with_model[2]
    assert "need --folds" in shell("evaluate", "m", "t.csv", "--C", "1", "--learner", "svm")[2]
    assert "got t.csv alone" in shell("evaluate", "t.csv")[2]


def test_the_best_c_of_a_path_is_taken(shell, facts):
    status, _, told = shell(
        "fit", "t.csv", "-m", "m", "--learner", "svm", "--C", "auto", "--scale", "maxabs"
    )
    assert status == 0
    path = {float(c): float(accuracy) for c, accuracy in map(str.split, told.splitlines()[1:])}
    assert max(path, key=path.get) == rb.load("m")[1].C
    assert (
        "--C auto do not go"
        in shell("evaluate", "t.csv", "--folds", "3", "--learner", "svm", "--C", "auto")[2]
    )
