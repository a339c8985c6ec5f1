"""Which of scikit-learn's checks of estimators a learner is bound to fail, and why.

Since version 1.6 the tags of an estimator have no place for that: `check_estimator` and
`parametrize_with_checks` are told by an argument, for which learners have a method.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

CLASS_WEIGHTS = ("check_class_weight_classifiers",)
REPEATED_ROWS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
IN_PIECES = ("check_n_features_in_after_fitting", "check_estimators_partial_fit_n_features")
OVERLAPPING_CLASSES = (
    "check_classifier_data_not_an_array",
    "check_classifiers_train",
    "check_dtype_object",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimator_sparse_tag",
    "check_estimators_dtypes",
    "check_estimators_nan_inf",
    "check_fit_check_is_fitted",
    "check_fit_idempotent",
    "check_fit_score_takes_y",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_sample_weights_list",
    "check_sample_weights_not_an_array",
    "check_sample_weights_pandas_series",
    "check_supervised_y_2d",
)


class Expected(NamedTuple):
    """Checks that learners fail if their options are such, and why."""

    learners: tuple[str, ...]
    checks: tuple[str, ...]
    reason: str
    such: Callable[[dict[str, Any]], bool] = lambda options: True


EXPECTED = [
    Expected(
        ("Perceptron", "KernelPerceptron"),
        REPEATED_ROWS,
        "a weight of 2 makes one update twice as long; a second copy of a row makes its own, "
        "and only if it is still a mistake (theory, Weights)",
    ),
    Expected(
        ("OnlineSVM",),
        REPEATED_ROWS,
        "a weight of 2 lets a share grow twice as large; a second copy of a row has a share of its "
        "own, and a place in the window (theory D24)",
    ),
    Expected(
        ("Perceptron", "OnlineSVM"),
        IN_PIECES,
        "balanced weights need all labels, so partial_fit refuses them",
        lambda options: options["class_weight"] == "balanced",
    ),
    Expected(
        ("Perceptron", "OnlineSVM", "KernelPerceptron"),
        IN_PIECES,
        "the radius needs all rows, so partial_fit refuses it",
        lambda options: options["lift"] == "radius",
    ),
    Expected(
        ("Perceptron",),
        CLASS_WEIGHTS,
        "of three classes, a heavy one is content when its own 19 rows are right; where the rest "
        "of the plane falls is a matter of the order",
        lambda options: (
            (options["lift"], options["order"]) == (1.0, "cycle") and options["tie"] == "mistake"
        ),
    ),
    Expected(
        ("Perceptron",),
        CLASS_WEIGHTS,
        "a hyperplane through the origin cannot answer the heavier class almost everywhere",
        lambda options: not options["fit_intercept"] or options["intercept"] == "none",
    ),
    Expected(
        ("Perceptron",),
        CLASS_WEIGHTS,
        "scaling to norm 1 forgets how heavy the last update was",
        lambda options: options["renormalize"],
    ),
    Expected(
        ("Perceptron",),
        ("check_classifiers_train",),
        "scaling to norm 1 lets the last updates weigh most where three classes overlap",
        lambda options: options["renormalize"] and options["output"] == "last",
    ),
    Expected(
        ("Perceptron",),
        CLASS_WEIGHTS,
        "the worst example is chosen by its score, not by the weight of its class",
        lambda options: options["order"] == "worst",
    ),
    Expected(
        ("Perceptron",),
        ("check_classifiers_train",),
        "1,000 updates, one for each pass, are few where three classes overlap",
        lambda options: options["order"] == "worst" and options["output"] == "last",
    ),
    Expected(
        ("Perceptron",),
        CLASS_WEIGHTS,
        "without a separating hyperplane the first examples are repeated for ever",
        lambda options: options["order"] == "first",
    ),
    Expected(
        ("SoftMarginSVM",),
        CLASS_WEIGHTS,
        "a hyperplane through the origin cannot answer the heavier class almost everywhere",
        lambda options: (
            (options["intercept"] == "none" or options["fit_intercept"] is False)
            and options["class_weight"] is None
        ),
    ),
    Expected(
        ("HardMarginSVM",),
        OVERLAPPING_CLASSES,
        "its data are not separable, which is refused",
    ),
]


def expected_failed_checks(learner: str, options: dict[str, Any]) -> dict[str, str]:
    """Give the names of the checks that a learner of such options fails, each with its reason."""
    return {
        check: expected.reason
        for expected in EXPECTED
        if learner in expected.learners and expected.such(options)
        for check in expected.checks
    }
