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
