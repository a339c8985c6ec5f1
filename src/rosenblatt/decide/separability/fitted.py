"""`check_separation`: the question of `separate`, asked of a model of another package.

Models of statsmodels hold their data, fitted or not; those of scikit-learn are given them. Nothing
of either package is imported: a model is known by what its classes are called.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from rosenblatt.decide.separability.separate import separate
from rosenblatt.decide.separability.separation import Separation
from rosenblatt.errors import InputError
from rosenblatt.labels import as_labels, distinct
from rosenblatt.names import names_of
from rosenblatt.outcomes import BINOMIAL, POISSON

# Links under which a binomial likelihood rises without end in the same directions.
SIGMOIDS = {"logit", "probit", "cloglog", "loglog"}
COUNTS = {"Poisson", "NegativeBinomial", "NegativeBinomialP", "GeneralizedPoisson"}
LOGISTIC = ("LogisticRegression", "LogisticRegressionCV")


def check_separation(
    model: Any, X: Any = None, y: Any = None, *, max_seconds: float | None = None
) -> Separation:
    """Decide whether a regression of another package has finite coefficients, and prove it.

    Parameters
    ----------
    model : model
        A ``Logit``, ``Probit``, ``MNLogit``, ``Poisson`` or ``GLM`` of statsmodels (binomial, or
        with log link Poisson and negative binomial), or what its ``fit`` returns; a
        ``LogisticRegression`` or ``PoissonRegressor`` of scikit-learn, or a pipeline that ends in
        one.
    X : array-like or None, default=None
        The samples to fit a scikit-learn model to; statsmodels models hold their own.
    y : array-like or None, default=None
        Their labels.
    max_seconds : float or None, default=None
        The time limit, as in `separate`.

    Returns
    -------
    Separation
        About the regression without a penalty. The constant of a statsmodels design stands among
        the coefficients, by its name.

    See Also
    --------
    separate : The same question about data.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> from sklearn.linear_model import LogisticRegression
    >>> rb.check_separation(LogisticRegression(), [[0.0], [1.0], [2.0]], [0, 0, 1]).verdict
    'separable'
    """
    if hasattr(model, "predict") and (hasattr(model, "get_params") or hasattr(model, "steps")):
        return _of_sklearn(model, X, y, max_seconds)
    inner = getattr(model, "model", model)
    if not hasattr(inner, "endog") or not hasattr(inner, "exog"):
        raise InputError(
            f"a regression of statsmodels or scikit-learn is needed, got a {type(model).__name__}; "
            "for data, call separate"
        )
    if X is not None or y is not None:
        raise InputError("a model of statsmodels has its own data; leave X and y out")
    return _of_statsmodels(inner, max_seconds)


# ---- statsmodels


def _of_statsmodels(model: Any, max_seconds: float | None) -> Separation:
    """Ask about the data of a model; the constant is one of its columns."""
    family = _family(model)
    counted = _weights(model) > 0
    X, y = np.asarray(model.exog)[counted], np.asarray(model.endog)[counted]
    options: dict[str, Any] = {"fit_intercept": False, "max_seconds": max_seconds}
    if family is None:
        labels = y if y.ndim == 1 else y.argmax(axis=1)
        found: Separation = separate(X, labels, many="joint", **options)
    elif family == BINOMIAL:  # shares of successes, of however many trials
        found = separate(X, (y, np.ones(len(y))), family=family, **options)
    else:
        found = separate(X, y, family=family, **options)
    names, rows = tuple(map(str, model.exog_names)), np.flatnonzero(counted)[found.rows]
    return replace(found, names=names, rows=rows)


def _family(model: Any) -> str | None:
    """Give the family of a model's likelihood, None for many classes at once."""
    name, family = type(model).__name__, getattr(model, "family", None)
    if family is not None:
        name, link = type(family).__name__, type(family.link).__name__
        if name == "Binomial" and link.lower() in SIGMOIDS:
            return BINOMIAL
        if name in COUNTS and link.lower() == "log":
            return POISSON
        raise InputError(f"separate knows no {name} regression with the link {link}")
    if name in ("Logit", "Probit"):
        return BINOMIAL
    if name in COUNTS:
        return POISSON
    if name == "MNLogit":
        return None
    raise InputError(f"separate knows no regression of the class {name}")


def _weights(model: Any) -> np.ndarray:
    """Give the weights of rows, of which those with 0 do not count."""
    found = np.ones(len(model.endog))
    for name in ("freq_weights", "var_weights", "n_trials"):
        given = getattr(model, name, None)
        found = found if given is None else found * np.asarray(given, np.float64)
    return found


# ---- scikit-learn


def _of_sklearn(model: Any, X: Any, y: Any, max_seconds: float | None) -> Separation:
    """Ask about data as the last step of a pipeline sees them."""
    if X is None or y is None:
        raise InputError("a model of scikit-learn keeps no data; give those that it is fitted to")
    *before, last = [step for _, step in getattr(model, "steps", [(None, model)])]
    name = type(last).__name__
    if name not in (*LOGISTIC, "PoissonRegressor"):
        raise InputError(f"separate knows no regression of the class {name}")
    names: Sequence[str] = names_of(X) or ()
    if before:
        X, names = _transformed(model[:-1], X, y)
    options: dict[str, Any] = {"fit_intercept": last.fit_intercept, "max_seconds": max_seconds}
    if name == "PoissonRegressor":
        options["family"] = POISSON
    elif distinct(as_labels(y, X.shape[0] if hasattr(X, "shape") else len(X))).size > 2:
        options["many"] = "joint"
    found: Separation = separate(X, y, **options)
    return replace(found, names=names)


def _transformed(steps: Any, X: Any, y: Any) -> tuple[Any, Sequence[str]]:
    """Give what steps make of rows, with names; steps that are not fitted yet are, in a copy."""
    from sklearn.base import clone
    from sklearn.exceptions import NotFittedError

    try:
        made = steps.transform(X)
    except NotFittedError:
        steps = clone(steps)
        made = steps.fit_transform(X, y)
    with suppress(AttributeError, ValueError):  # not every step can name what it makes
        return made, tuple(map(str, steps.get_feature_names_out()))
    return made, names_of(made) or ()
