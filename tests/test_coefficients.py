"""What becomes of each coefficient of a logistic regression, held to a linear program each."""

import numpy as np
import pytest
from scipy.optimize import linprog

import rosenblatt as rb


def reach(Z: np.ndarray, j: int) -> tuple[bool, bool]:
    """Tell whether a direction in which the likelihood never falls has j-th entries < 0, > 0."""
    ends = []
    for sign in (1, -1):
        cost = sign * np.eye(Z.shape[1])[j]
        found = linprog(cost, -Z, np.zeros(len(Z)), bounds=(-1, 1))
        ends.append(found.fun < -1e-7)
    return ends[0], ends[1]


@pytest.mark.parametrize("seed", range(60))
def test_coefficients_go_where_a_direction_leads(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, d = int(random.integers(4, 12)), int(random.integers(1, 4))
    X, y = random.integers(-1, 2, (n, d)).astype(float), np.arange(n) % 2
    found = rb.separate(X, y)
    assert found.coefficients is not None
    kept = [-1, *(j for j in range(d) if found.coefficients[j] != "aliased")]
    full = np.column_stack([X, np.ones(n)])
    assert np.linalg.matrix_rank(full) == len(kept)
    Z = (full * np.where(y, 1, -1)[:, None])[:, kept]
    for place, j in enumerate(kept):
        said = found.coefficients["intercept" if j < 0 else j]
        below, above = reach(Z, place)
        expected = (
            {"finite"}
            if not (below or above)
            else {"-inf" if below else "", "+inf" if above else ""}
        )
        assert said in expected


def test_names_and_frames() -> None:
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"dose": [1.0, 2, 3, 4], "site": [0, 1, 0, 1], "same": [0, 1, 0, 1]})
    found = rb.separate(X, [0, 0, 0, 1])
    assert found.coefficients == {
        "intercept": "-inf", "dose": "+inf", "site": found.coefficients["site"], "same": "aliased"
    }  # fmt: skip
    assert found.frame().set_index("column")["coefficient"].to_dict() == found.coefficients
    assert found.frame("polars")["coefficient"].to_list() == list(found.coefficients.values())
    assert rb.separate(X, [0, 1, 1, 0], fit_intercept=False).coefficients.keys() == {*X.columns}
    with pytest.raises(rb.InputError, match="polars"):
        found.frame("arrow")


def test_what_is_undecided_has_no_table() -> None:
    X = np.random.default_rng(0).normal(size=(2000, 200))
    assert rb.separate(X, np.arange(2000) % 2, max_seconds=1e-6).coefficients is None


# ---- designs as statisticians hand them over

TRIAL = {
    "ill": ["no", "yes", "yes", "no", "no", "yes", "no", "yes"],
    "age": [1.0, 2.0, None, 4.0, 5.0, 6.0, 3.0, 2.5],
    "site": list("abcabcaa"),
}


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_formula_is_read_and_rows_without_a_value_do_not_count(kind: str) -> None:
    pytest.importorskip("formulaic")
    data = pytest.importorskip(kind).DataFrame(TRIAL)
    if kind == "pandas":
        data.index = list("stuvwxyz")
    found = rb.separate(formula="ill ~ age + C(site)", data=data)
    assert found.coefficients == {
        "intercept": "finite", "age": "finite", "C(site)[T.b]": "finite", "C(site)[T.c]": "+inf"
    }  # fmt: skip
    assert found.rows.tolist() == [5]  # row 2, the other one of site c, lacks its age
    assert rb.verify(found.certificate, *found.data).ok
    assert rb.separate(formula="ill ~ 0 + age", data=data).coefficients.keys() == {"age"}


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("ill ~ years", "'years' cannot be used|`years` is not present"),
        ("ill ~ age +", "cannot be used"),
        ("ill", "a formula is a text such as"),
        ("log(age) ~ site", "not a column of the data"),
    ],
)
def test_formulas_that_cannot_be_used_are_told_in_one_sentence(formula: str, words: str) -> None:
    pytest.importorskip("formulaic")
    data = pytest.importorskip("pandas").DataFrame(TRIAL)
    with pytest.raises(rb.InputError, match=words) as told:
        rb.separate(formula=formula, data=data)
    assert "\n" not in str(told.value)
    with pytest.raises(rb.InputError, match="not both"):
        rb.separate([[1]], [1], formula=formula, data=data)


def test_a_formula_without_formulaic_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "formulaic", None)
    with pytest.raises(rb.MissingExtraError, match=r"rosenblatt\[formulas\]"):
        rb.separate(formula="a ~ b", data=pytest.importorskip("pandas").DataFrame({"a": [1]}))


def test_design_matrices_have_names() -> None:
    formulaic, patsy = pytest.importorskip("formulaic"), pytest.importorskip("patsy")
    data = pytest.importorskip("pandas").DataFrame(TRIAL).dropna()
    made = [
        patsy.dmatrix("age + C(site)", data, return_type=kind) for kind in ("matrix", "dataframe")
    ]
    formula = formulaic.Formula("age + C(site)")
    kinds = ("pandas", "numpy", "sparse")
    made += [formula.get_model_matrix(data, output=kind) for kind in kinds]
    for X in made:
        found = rb.separate(X, data["ill"])
        assert found.coefficients == {
            "intercept": "finite", "Intercept": "aliased", "age": "finite",
            "C(site)[T.b]": "finite", "C(site)[T.c]": "+inf",
        }  # fmt: skip


def test_a_column_called_intercept_keeps_its_name() -> None:
    X = pytest.importorskip("pandas").DataFrame({"intercept": [1, 1, 1], "dose": [1, 2, 3]})
    found = rb.separate(X, [0, 0, 1]).coefficients
    assert found == {"(intercept)": "-inf", "intercept": "aliased", "dose": "+inf"}


def test_an_intercept_that_diverges_is_named() -> None:
    found = rb.separate([[0, 1], [1, 1], [0, 1], [1, 1], [0, 0]], [0, 1, 1, 0, 0])
    assert found.coefficients == {"intercept": "-inf", 0: "finite", 1: "+inf"}
    assert "the coefficients of the intercept and of column 1 diverge" in found.explain()
