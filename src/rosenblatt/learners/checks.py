"""Which of scikit-learn's checks of estimators a learner is bound to fail, and why.

Since version 1.6 tags of an estimator have no place for them; `check_estimator` and
`parametrize_with_checks` are told by an argument, which `expected_failed_checks` gives.
"""

from __future__ import annotations

from typing import Any

CLASS_WEIGHTS = "check_class_weight_classifiers"
REPEATED_ROWS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
PIECES = ("check_n_features_in_after_fitting", "check_estimators_partial_fit_n_features")
ALIKE = 1e-9  # a tolerance that leaves no difference for the checks to find

# Learners, options that they have, checks, reason.
EXPECTED: list[tuple[str, dict[str, Any], tuple[str, ...], str]] = [
    (
        "Perceptron KernelPerceptron",
        {},
        REPEATED_ROWS,
        "a weight of 2 is one update twice as long; a second copy of a row makes one of its own, "
        "and only if it is still a mistake (theory, Weights)",
    ),
    (
        "Perceptron",
        {"class_weight": "balanced"},
        PIECES,
        "balanced weights need all labels, so partial_fit refuses them",
    ),
    (
        "Perceptron KernelPerceptron",
        {"lift": "radius"},
        PIECES,
        "the radius needs all rows, so partial_fit refuses it",
    ),
    (
        "Perceptron",
        {"lift": 1.0, "order": "cycle", "tie": "mistake"},
        (CLASS_WEIGHTS,),
        "of three classes, a heavy one is content when its own 19 rows are right; where the rest "
        "of the plane falls is a matter of the order",
    ),
    (
        "Perceptron",
        {"fit_intercept": False},
        (CLASS_WEIGHTS,),
        "a hyperplane through the origin cannot answer the heavier class almost everywhere",
    ),
    (
        "Perceptron",
        {"renormalize": True},
        (CLASS_WEIGHTS,),
        "scaling to norm 1 forgets how heavy the last update was",
    ),
    (
        "Perceptron",
        {"renormalize": True, "output": "last"},
        ("check_classifiers_train",),
        "scaling to norm 1 lets the last updates weigh most where three classes overlap",
    ),
    (
        "Perceptron",
        {"order": "worst"},
        (CLASS_WEIGHTS,),
        "the worst example is chosen by its score, not by the weight of its class",
    ),
    (
        "Perceptron",
        {"order": "worst"},
        ("check_classifiers_train",),
        "1,000 updates, one for each pass, are few where three classes overlap",
    ),
    (
        "Perceptron",
        {"order": "first"},
        (CLASS_WEIGHTS,),
        "without a separating hyperplane the first examples are looked at for ever",
    ),
]


def expected_failed_checks(learner: Any) -> dict[str, str]:
    """Give the names of the checks, each with its reason."""
    kind, options = type(learner).__name__, learner.get_params()
    return {
        check: reason
        for kinds, wanted, checks, reason in EXPECTED
        if kind in kinds.split() and all(options.get(k) == v for k, v in wanted.items())
        for check in checks
    }
