"""The kernel perceptron: the mistakes of one example at a time, however it is computed."""

import warnings
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

import naive
import naive_kernel
import rosenblatt as rb
from amount import crossed
from kernel_runs import LAYOUTS, blocked, calls_of, doubts, every_layout
from learners import separable
from planted import seed_of
from rosenblatt.kernel import training
from rosenblatt.kernel.budget import Budget
from rosenblatt.kernel.functions import as_kernel

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

TWINS = {
    "linear": partial(naive_kernel.polynomial, degree=1),
    "polynomial:2": partial(naive_kernel.polynomial, degree=2),
    "polynomial:3:1": partial(naive_kernel.polynomial, degree=3, c=1.0),
    "polynomial:4:2": partial(naive_kernel.polynomial, degree=4, c=2.0),
    "gaussian:0.05": partial(naive_kernel.gaussian, gamma=0.05),
}
CLASSES = [2, 3, 5]
OUTPUTS = ["last", "averaged", "voted"]
every_number_of_classes = pytest.mark.parametrize("classes", CLASSES)


def whole(n=60, d=5, classes=3, seed=0):
    """Rows of small whole numbers, with codes that mean something but not everything."""
    random = np.random.default_rng(seed)
    A = random.integers(-2, 3, (n, d)).astype(float)
    W = random.standard_normal((d, classes))
    codes = (A @ W + random.standard_normal((n, classes))).argmax(axis=1)
    codes[:classes] = np.arange(classes)
    return A, codes


def assert_same_run(learner, twin, ran, n):
    assert learner.run_.mistakes == ran.mistakes
    assert learner.run_.mistakes_per_pass == ran.mistakes_per_pass
    assert learner.run_.counts.tolist() == ran.counts
    assert learner.run_.converged == ran.converged
    assert learner.run_.operations.dot_products == twin.looks
    assert learner.support_.tolist() == twin.order
    assert learner.counts_.tolist() == [ran.counts[i] for i in twin.order]
    assert learner.counts_.sum() == learner.run_.mistakes  # F11


# ---- the same mistakes as one at a time


@crossed(7, kernel=[*TWINS], classes=CLASSES, order=naive.ORDERS, gram_bytes=[0, 2**30])
def test_mistakes_are_those_of_one_example_at_a_time(kernel, classes, order, gram_bytes):
    A, codes = whole(classes=classes)
    learner = rb.KernelPerceptron(
        kernel,
        order=order,
        output="last",
        fit_intercept=False,
        max_iter=4,
        gram_bytes=gram_bytes,
        random_state=3,
    ).fit(A, codes)
    K = TWINS[kernel](A, A)
    limit = 4 * len(codes)
    twin, ran = naive_kernel.learn(K, codes, classes, order=order, seed=seed_of(3), max_looks=limit)
    assert_same_run(learner, twin, ran, len(codes))
    expected = naive_kernel.as_decision(twin.answers(K, "last"), "last")
    scale = max(1, np.abs(expected).max())
    np.testing.assert_allclose(learner.decision_function(A), expected, atol=1e-12 * scale)


@crossed(7, kernel=[*TWINS], classes=CLASSES, output=OUTPUTS, order=naive.ORDERS)
def test_outputs_are_those_of_all_coefficients_held(kernel, classes, output, order):
    A, codes = whole(n=40, classes=classes, seed=1)
    others = whole(n=25, classes=classes, seed=2)[0]
    learner = rb.KernelPerceptron(
        kernel, order=order, output=output, fit_intercept=False, max_iter=3, random_state=0
    ).fit(A, codes)
    twin, _ = naive_kernel.learn(
        TWINS[kernel](A, A), codes, classes, order=order, seed=seed_of(0), max_looks=120
    )
    answers = naive_kernel.as_decision(twin.answers(TWINS[kernel](others, A), output), output)
    scale = max(1, np.abs(answers).max())
    np.testing.assert_allclose(learner.decision_function(others), answers, atol=1e-12 * scale)


@crossed(
    7,
    kernel=[*TWINS],
    layout=[*LAYOUTS.values()],
    rows=[1, 2, 7, 59, 60, 1000],
    order=["cycle", "shuffle"],
)
def test_the_size_of_the_blocks_changes_nothing(kernel, layout, rows, order):
    A, codes = whole(classes=4)
    X = layout(A)
    found = blocked(kernel, X, codes, 4, rows, order=order, seed=11)
    twin, ran = naive_kernel.learn(
        TWINS[kernel](A, A), codes, 4, order=order, seed=11, max_looks=3 * 60
    )
    assert found[0].counts.tolist() == ran.counts
    assert found[1].store.span().numbers.tolist() == twin.order
    np.testing.assert_array_equal(found[1].alphas[:, : len(twin.order)].T, twin.alphas[twin.order])


@every_layout
@pytest.mark.parametrize("limit", [1, 5, 17, 40])
def test_a_limit_on_updates_is_kept_within_a_block(layout, limit):
    A, codes = whole(classes=4)
    learner = rb.KernelPerceptron("polynomial:2:1", max_updates=limit).fit(layout(A), codes)
    lifted = naive_kernel.polynomial(A, A, 2, 2.0)
    twin, ran = naive_kernel.learn(lifted, codes, 4, max_updates=limit)
    assert_same_run(learner, twin, ran, len(codes))
    assert learner.run_.stop is rb.Stop.UPDATES


def test_a_limit_on_time_ends_a_run():
    A, codes = whole(n=300, d=2, classes=2)
    learner = rb.KernelPerceptron(max_iter=None, max_seconds=0.05, gram_bytes=0).fit(A, codes)
    assert learner.run_.stop is rb.Stop.SECONDS


# ---- single precision


def tight(n=400, d=30, seed=0):
    """Rows whose scores are often near 0: pairs of almost equal rows with opposite labels."""
    random = np.random.default_rng(seed)
    A = random.random((n // 2, d)).astype(np.float32)
    B = A + np.float32(1e-4) * random.standard_normal(A.shape).astype(np.float32)
    X = np.concatenate([A, B]).astype(np.float32)
    codes = np.concatenate([np.arange(n // 2) % 3, (np.arange(n // 2) + 1) % 3])
    mixed = random.permutation(n)
    return np.ascontiguousarray(X[mixed]), codes[mixed]


@pytest.mark.parametrize("shift", [0.0, -0.5], ids=["not negative", "signed"])
@pytest.mark.parametrize("kernel", ["polynomial:4:1", "polynomial:3:0", "gaussian:0.3", "linear"])
def test_single_precision_makes_the_mistakes_of_double_precision(kernel, shift, monkeypatch):
    X, codes = tight()
    X = X + np.float32(shift)
    doubted = doubts(monkeypatch)
    single = blocked(kernel, X, codes, 3, 64)
    assert doubted
    double = blocked(kernel, X.astype(np.float64), codes, 3, 64)
    assert single[0].counts.tolist() == double[0].counts.tolist()
    assert single[0].mistakes > 400
    found, expected = (learned.alphas[:, : learned.size] for _, learned in (single, double))
    np.testing.assert_array_equal(found, expected)


def test_single_precision_is_given_up_where_it_is_always_in_doubt(monkeypatch):
    monkeypatch.setattr(training, "JUDGED", 64)
    X, codes = tight()
    kinds = calls_of(training.Blocked, "_in_single", monkeypatch)
    blocked("polynomial:9", X - np.float32(0.5), codes, 3, 64)
    assert kinds[0]
    assert not kinds[-1]


# ---- however the examples are given


@crossed(7, kernel=[*TWINS], layout=[*LAYOUTS.values()], classes=CLASSES, output=OUTPUTS)
def test_layouts_functions_and_gram_matrices_agree(kernel, layout, classes, output):
    A, codes = whole(classes=classes)
    others = whole(n=20, classes=classes, seed=4)[0]
    options = {"output": output, "max_iter": 5, "fit_intercept": False}
    plain = rb.KernelPerceptron(kernel, **options).fit(A, codes)
    given = rb.KernelPerceptron(kernel, **options).fit(layout(A), codes)
    function = as_kernel(kernel)
    called = rb.KernelPerceptron(lambda a, b: function(a, b), **options).fit(layout(A), codes)
    gram = rb.KernelPerceptron("precomputed", **options).fit(function(A, A), codes)
    expected = plain.decision_function(others)
    scale = max(1, np.abs(expected).max())
    for learner, rows in ((given, others), (given, layout(others)), (called, layout(others)),
                          (gram, function(others, A))):  # fmt: skip
        assert learner.run_.mistakes_per_pass == plain.run_.mistakes_per_pass
        assert learner.support_.tolist() == plain.support_.tolist()
        np.testing.assert_allclose(learner.decision_function(rows), expected, atol=1e-12 * scale)


def test_thin_rows_of_many_columns_stay_sparse():
    A, codes = whole(n=100, d=4)
    wide = np.zeros((100, 5000))
    wide[:, ::1250] = A
    thin = rb.KernelPerceptron("gaussian:0.1", max_iter=5).fit(sparse.csr_matrix(wide), codes)
    assert thin._learned.store.is_sparse
    dense = rb.KernelPerceptron("gaussian:0.1", max_iter=5).fit(wide, codes)
    assert thin.run_.counts.tolist() == dense.run_.counts.tolist()
    expected = dense.decision_function(wide)
    for rows in (wide, sparse.csr_matrix(wide)):
        np.testing.assert_allclose(thin.decision_function(rows), expected, atol=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "polynomial:3:1"])
def test_lifting_rows_adds_a_constant_to_products(kernel):
    A, codes = whole(classes=3)
    for lift in (1.0, 2.0):
        lifted = np.column_stack([A, np.full(len(A), lift)])
        inside = rb.KernelPerceptron(kernel, lift=lift, max_iter=9).fit(A, codes)
        outside = rb.KernelPerceptron(kernel, fit_intercept=False, max_iter=9).fit(lifted, codes)
        assert inside.run_.counts.tolist() == outside.run_.counts.tolist()


def test_kernels_that_ignore_shifts_ignore_the_lift():
    A, codes = whole(classes=3)
    runs = [
        rb.KernelPerceptron(kernel, fit_intercept=fit, lift=7.0, max_iter=5)
        .fit(A, codes)
        .run_.counts.tolist()
        for fit in (False, True)
        for kernel in ("gaussian:0.1", rb.Gaussian(0.1))
    ]
    assert all(counts == runs[0] for counts in runs)


# ---- streams


@pytest.mark.parametrize("gamma", [0.1, 1e3], ids=["full", "mostly zeros"])
def test_a_stream_of_a_precomputed_kernel_may_begin_with_one_row(gamma):
    A, codes = whole(n=80, classes=2)
    K = rb.Gaussian(gamma)(A, A)
    single, block, pieces = (rb.KernelPerceptron("precomputed") for _ in range(3))
    for values, code in zip(K, codes.tolist(), strict=True):
        single.learn_one(values, code)
    block.partial_fit(K, codes)
    pieces.partial_fit(K[:50], codes[:50])
    for values, code in zip(K[50:], codes[50:].tolist(), strict=True):
        pieces.learn_one(values, code)
    for learner in (single, pieces):
        assert learner.support_.tolist() == block.support_.tolist()
        assert learner.predict(K).tolist() == block.predict(K).tolist()
        assert learner.predict_one(K[3]) == block.predict_one(K[3])
        with pytest.raises(rb.InputError, match="each example of a stream has its column"):
            learner.learn_one(K[0], 0)
        with pytest.raises(rb.InputError, match="each example of a stream has its column"):
            learner.partial_fit(K[:1], codes[:1])
    with pytest.raises(rb.InputError, match="81"):
        single.learn_one(np.append(K[0], 1.0), 0)


def test_a_third_class_begins_where_the_discriminators_of_two_stand():
    A, codes = whole(n=60, classes=2)
    learner = rb.KernelPerceptron("polynomial:2:1").partial_fit(A, codes)
    scores = learner.decision_function(A)
    learner.partial_fit(np.full((1, 5), 100.0), [2])
    twin = rb.KernelPerceptron("polynomial:2:1").partial_fit(A, codes, classes=[0, 1, 2])
    np.testing.assert_allclose(twin.decision_function(A)[:, 1], scores)
    twin.partial_fit(np.full((1, 5), 100.0), [2])
    assert learner.alphas_.tolist() == twin.alphas_.tolist()


# ---- budgets


@pytest.mark.twin_of("kernel.budget.walk_within")
@crossed(
    7, kernel=[*TWINS], layout=[*LAYOUTS.values()], forget=["oldest", "random"], rows=[1, 7, 60]
)
def test_budgets_forget_like_their_twin(kernel, layout, forget, rows):
    A, codes = whole(classes=3)
    check_budget(kernel, layout(A), A, codes, forget, rows, most=10)


@pytest.mark.parametrize("kernel", ["gaussian:0.05", "polynomial:3:1"])
@every_layout
@pytest.mark.parametrize("rows", [1, 7, 60])
@pytest.mark.parametrize("most", [3, 12])
def test_projections_are_those_of_least_squares(kernel, layout, rows, most):
    A, codes = whole(classes=3)
    check_budget(kernel, layout(A), A, codes, "project", rows, most)


def test_projections_stay_right_when_the_gram_matrix_is_nearly_singular():
    rng = np.random.default_rng(0)
    n = 4000
    X = rng.uniform(-1, 1, (n, 2))
    turn = np.linspace(0, 3, n)
    along = X[:, 0] * np.cos(turn) + X[:, 1] * np.sin(turn)
    across = X[:, 1] * np.cos(turn) - X[:, 0] * np.sin(turn)
    y = np.where(along * across > 0, 1, -1)
    learner = rb.KernelPerceptron("gaussian:4", budget=256, forget="project")
    learner.partial_fit(X, y, classes=[-1, 1])
    L = learner._learned.budget.factor[: learner.support_.size, : learner.support_.size]
    K = rb.Gaussian(4)(X[learner.support_], X[learner.support_])
    assert np.linalg.cond(K) > 1e8
    np.testing.assert_allclose(np.tril(L) @ np.tril(L).T, K, atol=1e-12)


def check_budget(kernel, X, A, codes, forget, rows, most):
    seed, passes = 5, 2
    budget = Budget.of(most, forget, seed)
    run, learned = blocked(kernel, X, codes, 3, rows, passes=passes, budget=budget)
    twin = naive_kernel.Budgeted(TWINS[kernel](A, A), 3, most, forget, naive.Draws(seed))
    wrong = [twin.present(i, codes[i]) for _ in range(passes) for i in range(len(codes))]
    n = len(codes)
    assert run.mistakes_per_pass == tuple(sum(wrong[n * p : n * p + n]) for p in range(passes))
    assert learned.store.span().numbers.tolist() == twin.slots
    expected = np.array([twin.alphas[j] for j in twin.slots])
    found = learned.alphas[:, : learned.size].T
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)  # Cholesky against solve


@pytest.mark.parametrize("forget", ["oldest", "random", "project"])
def test_a_budget_is_kept_whether_rows_come_alone_or_in_blocks(forget):
    A, codes = whole(n=120, classes=3)
    options = {"budget": 8, "forget": forget, "random_state": 1}
    alone = rb.KernelPerceptron("gaussian:0.1", **options).partial_fit(
        A[:1], codes[:1], classes=[0, 1, 2]
    )
    for x, code in zip(A[1:], codes[1:].tolist(), strict=True):
        alone.learn_one(x, code)
        assert alone.support_.size <= 8
    together = rb.KernelPerceptron("gaussian:0.1", **options)
    for start in range(0, 120, 50):
        together.partial_fit(A[start : start + 50], codes[start : start + 50], classes=[0, 1, 2])
    assert alone.run_.mistakes == together.run_.mistakes
    assert alone.support_.tolist() == together.support_.tolist()
    np.testing.assert_allclose(alone.alphas_, together.alphas_, atol=1e-9)


def test_random_forgetting_keeps_to_its_bound_on_average():
    """U = 1/γ for unit vectors of margin γ, with room B for it: ε is what is left of √B."""
    X, y, _ = rb.make_separable(400, 5, margin=0.25, seed=0)
    most, norm, radius = 100, 4.0, np.linalg.norm(X, axis=1).max()
    epsilon = 1 - radius * norm / np.sqrt(most)
    mistakes = [
        rb.KernelPerceptron(
            fit_intercept=False, budget=most, forget="random", max_iter=1, random_state=seed
        )
        .fit(X, y)
        .run_.mistakes
        for seed in range(5)
    ]
    assert np.mean(mistakes) <= most * radius * norm / epsilon


# ---- bad input


BAD_OPTIONS = [
    ({"kernel": "polynomial:0"}, "degree of a polynomial kernel is a whole number"),
    ({"kernel": "polynomial:1.5:1"}, "degree of a polynomial kernel is a whole number"),
    ({"kernel": "polynomial:2:-1"}, "c of a polynomial kernel"),
    ({"kernel": "gaussian:-1"}, "gamma of a Gaussian kernel is a positive"),
    ({"kernel": "gaussian"}, "kernel must be one of 'linear'"),
    ({"kernel": "sigmoid:1"}, "kernel must be one of 'linear'"),
    ({"kernel": 3}, "kernel must be a kernel, a function"),
    ({"budget": 0}, "budget must be None or a whole number from 1 on"),
    ({"budget": 2.5}, "budget must be None or a whole number from 1 on"),
    ({"budget": 5, "forget": "newest"}, "forget must be one of"),
    ({"budget": 5, "output": "averaged"}, "needs all mistakes, but a budget forgets some"),
    ({"budget": 5, "order": "worst"}, "with a budget, examples are presented in the order"),
    ({"order": "backwards"}, "order must be one of"),
    ({"output": "best"}, "output must be one of"),
    ({"gram_bytes": -1}, "gram_bytes must be a finite number from 0 on, got -1"),
    ({"max_iter": 0}, "max_iter must be"),
    ({"lift": -1}, "lift must be"),
    ({"kernel": lambda a, b: np.ones((len(a), len(b) + 1))}, "gives an array of shape"),
    ({"kernel": lambda a, b: np.ones(len(a))}, "gives an array of shape"),
    ({"kernel": lambda a, b: "nothing"}, "not a matrix of numbers"),
    ({"kernel": lambda a, b: a @ b.T + a[:, :1]}, "the kernel <lambda> is not symmetric"),
    ({"kernel": lambda a, b: np.full((len(a), len(b)), np.nan)}, "the kernel <lambda> gives NaN"),
    ({"kernel": lambda a, b: (a @ b.T) * (1 + 0j)}, "the kernel <lambda> gives complex numbers"),
    ({"kernel": lambda a: a}, r"the kernel <lambda> failed .* with TypeError: .*2 were given"),
    ({"kernel": lambda a, b: rb.Linear()(a, b[:, 1:])}, "rows of the same columns"),
]


@pytest.mark.parametrize(("options", "words"), BAD_OPTIONS)
@pytest.mark.parametrize("how", ["fit", "partial_fit", "learn_one"])
def test_options_that_cannot_be_used_are_refused_in_a_sentence(options, words, how):
    A, codes = whole()
    if how == "learn_one" and callable(options.get("kernel")):
        pytest.skip("one row does not tell")
    learner = rb.KernelPerceptron(**options)
    given = (A[0], 0) if how == "learn_one" else (A, codes)
    with pytest.raises(rb.InputError, match=words):
        getattr(learner, how)(*given)
    assert not learner.is_fitted


@pytest.mark.parametrize("make", [lambda: rb.Polynomial(0), lambda: rb.Polynomial(1.5),
                                  lambda: rb.Polynomial(True), lambda: rb.Polynomial(2, -1.0),
                                  lambda: rb.Gaussian(0), lambda: rb.Gaussian(-1.0),
                                  lambda: rb.Gaussian(np.nan)])  # fmt: skip
def test_kernels_refuse_numbers_that_mean_nothing(make):
    with pytest.raises(rb.InputError, match="kernel is a"):
        make()


def test_gram_matrices_must_be_square_symmetric_and_finite():
    A, codes = whole(n=30)
    K = A @ A.T
    fit = rb.KernelPerceptron("precomputed").fit
    with pytest.raises(rb.InputError, match=r"square matrix to fit on.*30 × 29"):
        fit(K[:, :29], codes)
    turned = K.copy()
    turned[3, 4] += 1
    with pytest.raises(rb.InputError, match="precomputed kernel is not symmetric"):
        fit(turned, codes)
    broken = K.copy()
    broken[7, 7] = np.nan
    with pytest.raises(rb.InputError, match="NaN"):
        fit(broken, codes)
    for complex_ in (K + 0j, sparse.csr_matrix(K + 1j), (K + 1j).tolist()):
        with pytest.raises(rb.InputError, match=r"holds complex numbers; give real ones$"):
            fit(complex_, codes)
    learner = fit(K, codes)
    with pytest.raises(rb.InputError, match="29"):
        learner.predict(K[:, :29])


def test_a_kernel_that_fails_later_is_refused_when_it_does():
    A, codes = whole(n=40)

    def fragile(a, b):
        values = a @ b.T
        if len(a) == 7:
            values[0, 0] = np.inf
        return values

    learner = rb.KernelPerceptron(fragile, max_iter=1).fit(A, codes)
    with pytest.raises(rb.InputError, match="the kernel fragile gives NaN or infinity"):
        learner.predict(A[:7])


def test_values_beyond_float64_are_refused():
    A, codes = whole(n=30)
    for gram_bytes in (0, 2**30):
        learner = rb.KernelPerceptron("polynomial:9", gram_bytes=gram_bytes)
        with pytest.raises(rb.InputError, match="too large for float64"):
            learner.fit(A * 1e30, codes)
    with pytest.raises(rb.InputError, match="kernel compares"):
        rb.Linear()(A, A[:, :3])


# ---- answers


def test_ties_are_not_known():
    learner = rb.KernelPerceptron(fit_intercept=False).fit([[1.0, 0.0], [-1.0, 0.0]], ["p", "n"])
    assert learner.predict_one([0.0, 1.0]) is None
    assert learner.predict_one([2.0, 1.0]) == "p"
    three = rb.KernelPerceptron(fit_intercept=False, max_iter=1).fit(np.eye(3), [0, 1, 2])
    assert three.predict_one([0.0, 0.0, 0.0]) is None
    assert three.predict([[0.0, 0.0, 0.0]]).tolist() == [0]


# ---- model files


@every_layout
@pytest.mark.parametrize(
    "options",
    [
        {"budget": 9, "forget": "random"},
        {"budget": 9, "forget": "project"},
        {"kernel": "precomputed"},
        {"kernel": rb.Polynomial(2, 1.0), "lift": "radius"},
        {"kernel": rb.Linear()},
    ],
    ids=str,
)
def test_a_saved_learner_goes_on_where_it_stood(layout, options, tmp_path):
    A, codes = whole(n=60)
    options = {"kernel": "gaussian:0.1", "max_iter": 3, "random_state": 0, **options}
    X = layout(rb.Polynomial(2, 1)(A, A) if options["kernel"] == "precomputed" else A)
    learner = rb.KernelPerceptron(**options).fit(X, codes)
    rb.save(learner, tmp_path / "model")
    again = rb.load(tmp_path / "model")
    assert isinstance(again, rb.KernelPerceptron)
    assert again.decision_function(X).tolist() == learner.decision_function(X).tolist()
    assert again.support_.tolist() == learner.support_.tolist()
    assert again.counts_.tolist() == learner.counts_.tolist()
    assert str(again.get_params()) == str(learner.get_params())
    assert again.run_.mistakes == learner.run_.mistakes
    if options["kernel"] == "precomputed":
        return
    for one in (again, learner):
        one.partial_fit(layout(A[::-1]), codes).learn_one(A[0], "new")
    assert again.classes_.tolist() == learner.classes_.tolist()
    assert again.decision_function(X).tolist() == learner.decision_function(X).tolist()


def test_a_learner_with_a_function_is_not_saved(tmp_path):
    A, codes = whole()
    learner = rb.KernelPerceptron(lambda a, b: a @ b.T, max_iter=1).fit(A, codes)
    with pytest.raises(rb.InputError, match="a model file holds no code"):
        rb.save(learner, tmp_path / "model")


def test_rows_that_a_gaussian_kernel_cannot_tell_apart_are_refused():
    random = np.random.default_rng(3)
    X, y = random.standard_normal((60, 3)), random.choice([-1, 1], 60)
    for far in (X + 1e8, sparse.csr_matrix(X + 1e8), (X + 1e8).astype(np.float32)):
        with pytest.raises(rb.InputError, match="subtract the means"):
            rb.KernelPerceptron("gaussian:0.5").fit(far, y)
    with pytest.raises(rb.InputError, match="subtract the means"):
        rb.Gaussian(0.5)(X + 1e8, X)
    values = rb.Gaussian(0.5)(X + 1e4, X + 1e4)
    exact = np.exp(-0.5 * np.square(X[:, None] - X[None]).sum(axis=2))
    np.testing.assert_allclose(values, exact, atol=1e-6)


def test_a_run_that_forgets_has_no_bound():
    X, y = [[-1, -1], [-1, 1], [1, -1], [1, 1]], [0, 1, 1, 0]
    whole = rb.KernelPerceptron("gaussian:1").fit(X, y)
    forgetful = rb.KernelPerceptron("gaussian:1", budget=4).fit(X, y)
    with pytest.raises(rb.InputError, match="forgets"):
        forgetful.bound(X, y, whole)


def test_functions_are_never_asked_about_no_rows():
    X, y = np.random.default_rng(0).standard_normal((40, 3)), np.arange(40) % 2
    kernel = rb.Gaussian(0.5)
    by_function = rb.KernelPerceptron(lambda A, B: kernel(A, B), budget=8, max_iter=3)
    by_name = rb.KernelPerceptron("gaussian:0.5", budget=8, max_iter=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runs = [learner.fit(X, y).run_ for learner in (by_function, by_name)]
    assert runs[0].mistakes == runs[1].mistakes


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_functions_get_two_arrays_or_two_csr_matrices(kind):
    A, codes = whole(n=40, d=4)
    expected = rb.KernelPerceptron("linear", fit_intercept=False, max_iter=5).fit(A, codes)
    kinds = set()

    def product(a, b):
        kinds.update((type(a), type(b)))
        return a * b.T if sparse.issparse(a) else a @ b.T  # * is a product of csr_matrix alone

    learner = rb.KernelPerceptron(product, max_iter=5).fit(kind(A), codes)
    learner.partial_fit(kind(A[:3]), codes[:3]).learn_one(A[0], int(codes[0]))
    expected.partial_fit(A[:3], codes[:3]).learn_one(A[0], int(codes[0]))
    for rows in (A, sparse.csr_matrix(A)):
        found = learner.decision_function(rows)
        np.testing.assert_allclose(found, expected.decision_function(rows), atol=1e-9)
    learner.predict_one(A[0])
    assert kinds == {np.ndarray if kind is np.asarray else sparse.csr_matrix}


def test_what_a_function_raises_is_the_cause_of_a_sentence():
    A, codes = whole(n=40)

    def apart(a, b):
        return ((a[:, None] - b[None]) ** 2).sum(axis=2)

    with pytest.raises(
        rb.InputError, match=r"kernel apart failed .* or learn from X\.toarray"
    ) as e:
        rb.KernelPerceptron(apart).fit(sparse.csr_matrix(A), codes)
    assert isinstance(e.value.__cause__, IndexError | NotImplementedError)
    assert "\n" not in str(e.value)

    def broken(a, b):
        return {}["gamma"]

    with pytest.raises(
        rb.InputError, match=r"broken failed .* with KeyError: 'gamma'; the error"
    ) as e:
        rb.KernelPerceptron(broken).fit(A, codes)
    assert e.traceback[-1].name != "broken"
    assert e.value.__cause__.__traceback__.tb_next.tb_frame.f_code.co_name == "broken"


# ---- bounds that cannot be given


def box(a, b):
    """1 for rows that differ by less than 1.5 in each column: symmetric, but no inner product."""
    return (np.abs(a[:, None] - b[None]).max(axis=2) < 1.5).astype(float)


BOXED = [[-1.0, -1, 0], [1, -2, -1], [1, -2, 0], [1, -1, -2], [2, 2, 1]], [1, 0, 0, 0, 0]


def test_functions_that_are_no_inner_product_have_no_bound(monkeypatch):
    """F13 does not hold for them: here 4 mistakes beside a comparator that promises 3."""
    X, y = BOXED
    comparator = rb.KernelPerceptron(box).fit(X, y)
    runs = [
        rb.KernelPerceptron(box, order="shuffle", random_state=seed).fit(X, y) for seed in range(9)
    ]
    with pytest.raises(rb.InputError, match=r"kernel box is not: .* 5 rows has the eigenvalue -0"):
        comparator.bound(X, y)
    monkeypatch.setattr("rosenblatt.bounds.feature_space.check_features", lambda *given: None)
    assert max(run.run_.mistakes - run.bound(X, y, comparator).value for run in runs) > 0.9


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (lambda a, b: -(a @ b.T), r"K\(x, x\) is -\S+ for row \d+"),
        (lambda a, b: np.tanh(a @ b.T - 1), r"K\(x, z\)² is above .* row \d+"),
        (lambda a, b: 9 - ((a[:, None] - b) ** 2).sum(axis=2), r"K\(x, z\)² is above .* row \d+"),
    ],
)
def test_negative_squares_and_products_beyond_the_lengths_are_seen(kernel, words):
    A, codes = whole(n=40, classes=2)
    learner = rb.KernelPerceptron(kernel, max_iter=2).fit(A, codes)
    with pytest.raises(rb.InputError, match=f"positive semidefinite, but .* is not: {words}"):
        learner.bound(A, codes)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", ["linear", "polynomial:4:1", "gaussian:0.05"])
def test_functions_that_are_inner_products_have_the_bound_of_their_kernel(kernel, dtype):
    X, y = separable(n=300)
    known = as_kernel(kernel)

    def function(a, b):
        return known(a.astype(dtype), b.astype(dtype)).astype(dtype)

    options = {"fit_intercept": False, "max_iter": None}
    learner = rb.KernelPerceptron(function, **options).fit(X, y)
    expected = rb.KernelPerceptron(kernel, **options).fit(X, y)
    assert learner.run_.mistakes <= learner.bound(X, y).value
    if dtype is np.float64:
        assert learner.bound(X, y).value == pytest.approx(expected.bound(X, y).value, rel=1e-6)


def test_the_comparator_of_a_bound_is_the_learner_itself_by_its_output():
    X, y = separable()
    learner = rb.KernelPerceptron(output="averaged", max_iter=50).fit(X, y)
    assert learner.score(X, y) == 1
    assert learner.bound(X, y).comparator[1].tolist() == learner.alphas_.tolist()
    with pytest.raises(rb.InputError, match="a vote cannot be a comparator"):
        rb.KernelPerceptron(output="voted").fit(X, y).bound(X, y)
    short = rb.KernelPerceptron(max_updates=1).fit(X, y)
    with pytest.raises(rb.InputError, match=r"this learner, if none was given\) leaves row"):
        short.bound(X, y)


def test_part_of_the_rows_has_no_bound_of_the_run():
    X, y = separable()
    learner = rb.KernelPerceptron().fit(X, y)
    with pytest.raises(rb.InputError, match=f"on {len(y)} rows, but X has 5; .* all examples"):
        learner.bound(X[:5], y[:5])
    twice = np.concatenate([X, X]), np.concatenate([y, y])
    assert learner.bound(*twice).value == learner.bound(X, y).value


def test_a_comparator_is_for_the_bound_not_for_the_fit():
    X, y = separable()
    with pytest.raises(rb.InputError, match="fit takes no comparator; give bound a fitted Kernel"):
        rb.KernelPerceptron().fit(X, y, comparator=np.ones(X.shape[1]))


def test_a_kernel_run_says_who_tells_whether_its_kernel_separates():
    X, y = [[-1.0, -1], [-1, 1], [1, -1], [1, 1]], [0, 1, 1, 0]
    for kernel in ("linear", "polynomial:2:1"):
        run = rb.KernelPerceptron(kernel, max_iter=30).fit(X, y).run_
        try:
            rb.cheapest_counts(X, y, kernel=kernel, fit_intercept=True)
            assert run.converged
        except rb.InseparableError:
            assert "rosenblatt.cheapest_counts for two classes and a kernel" in run.stop


def test_a_class_is_no_kernel():
    with pytest.raises(rb.InputError, match="kernel must be"):
        rb.KernelPerceptron(rb.Gaussian).fit([[0.0], [1.0]], [0, 1])


# ---- what went wrong before


DIGITS = load_digits().data
RANDOM = np.random.default_rng(0).standard_normal((300, 5))
IN_SINGLE = {
    "values that vanish": ("gaussian:0.02", 16 * DIGITS, load_digits().target % 2),
    **{
        f"{offset:g} from the origin": (rb.Gaussian(gamma), RANDOM + offset, RANDOM[:, 0] > 0)
        for offset, gamma in ((300, 10), (1000, 10), (1e5, 1))
    },
    "long rows": ("linear", 1e25 * RANDOM, RANDOM[:, 0] * RANDOM[:, 1] > 0),
}


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(("kernel", "X", "y"), IN_SINGLE.values(), ids=IN_SINGLE)
def test_rows_hard_on_single_precision_make_the_mistakes_of_double(kernel, X, y, layout):
    single = X.astype(np.float32)
    learner = rb.KernelPerceptron(kernel, max_iter=1)
    runs = [learner.fit(rows, y).run_ for rows in (layout(single), single.astype(float))]
    assert runs[0].counts.tolist() == runs[1].counts.tolist()


@pytest.mark.parametrize(
    "kernel", [rb.Linear(), rb.Polynomial(1), rb.Polynomial(2), rb.Gaussian(1)]
)
def test_rows_whose_length_overflows_are_refused(kernel):
    learner = rb.KernelPerceptron(kernel).partial_fit([[1.0, 2.0]], [0], classes=[0, 1])
    with pytest.raises(rb.InputError, match="too large for float64"):
        learner.learn_one([1e200, 0.0], 1)
    with pytest.raises(rb.InputError, match="too large for float64"):
        learner.partial_fit([[1e200, 0.0]], [1])
    assert learner.run_.mistakes == 1
    assert learner.learn_one([1.0, 3.0], 1) in (True, False)
    with pytest.raises(rb.InputError, match="row 1 is so long"):
        kernel([[1.0], [1e200]], [[1.0]])


def test_one_row_at_a_time_a_function_that_is_not_symmetric_is_refused():
    learner = rb.KernelPerceptron(lambda A, B: A @ B.T + A[:, :1])
    learner.learn_one([1.0, 2.0], 0)
    with pytest.raises(rb.InputError, match="not symmetric"):
        learner.learn_one([3.0, 1.0], 1)


@pytest.mark.parametrize("later", ["linear", "precomputed", rb.Gaussian(3)])
@pytest.mark.parametrize("fitted", ["gaussian:1", rb.Gaussian(1), rb.Polynomial(2, 1)])
def test_a_model_keeps_the_kernel_that_was_fitted(fitted, later, tmp_path):
    X = np.random.default_rng(0).standard_normal((40, 2))
    learner = rb.KernelPerceptron(fitted, max_iter=3)
    learner.fit(X, X[:, 0] > 0)
    scores = learner.decision_function(X)
    rb.save(learner.set_params(kernel=later), tmp_path / "m")
    np.testing.assert_array_equal(rb.load(tmp_path / "m").decision_function(X), scores)
