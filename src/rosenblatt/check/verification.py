"""Checking certificates: the answer of `rosenblatt.checker` at the speed of a pass."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from rosenblatt.certificates import (
    Certificate,
    Feasible,
    Infeasible,
    Joint,
    MarginInterval,
    Separator,
    from_dict,
    from_json,
)
from rosenblatt.check.claims import CHECKS
from rosenblatt.check.subjects import JointLabelled, Labelled, System
from rosenblatt.checker import OTHERS, Refused, require_brief
from rosenblatt.errors import CertificateError, InputError
from rosenblatt.exact.numbers import as_decimals, exact_matrix
from rosenblatt.outcomes import counted


@dataclass(frozen=True)
class Verification:
    """Whether a certificate holds on data, and what it proves or why it is refused.

    Attributes
    ----------
    ok : whether it holds; the truth value of the whole.
    reason : a sentence.
    """

    ok: bool
    reason: str

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return self.reason


def verify(
    certificate: Any,
    X: Any,
    y: Any,
    *,
    strict: Any = False,
    equal: Any = None,
    bounds: Any = None,
    family: str | None = None,
) -> Verification:
    """Check a certificate against data, trusting nothing that the certificate says.

    Nothing is rounded: a float is the exact rational number that it stores, or the decimal that it
    prints as if the certificate is about decimals, and arrays of objects may hold integers and
    fractions. Invalid data raise an `InputError`; a certificate that cannot
    be read, or does not hold, gives an answer that is not ok. It agrees with `checker.py`, at the
    speed of a pass over the data.

    Parameters
    ----------
    certificate : Certificate, path, str or dict
        A certificate, the name of its file, its JSON text, or that text as a dict.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The samples; for a system of inequalities, the matrix A of A w >= b.
    y : array-like of shape (n_samples,)
        The labels; for a system, the right-hand sides b.
    strict : bool or array-like of bool, default=False
        Which rows of a system are a·w > b.
    equal : bool, array-like of bool or None, default=None
        Which rows of a system are a·w = b.
    bounds : pair, sequence of pairs or None, default=None
        (lower, upper) for each unknown of a system, or one pair for all; None for no bound.
    family : {"binomial", "poisson"} or None, default=None
        What y counts, if it holds no labels, as in `separate`.

    Returns
    -------
    Verification
        With `ok`, whether the certificate holds, and `reason`, a sentence.

    See Also
    --------
    separate : Gives certificates about classes.
    solve : Gives certificates about systems.
    export : Write a certificate for Coq, z3 or other checkers.
    save : Write a certificate to a file.

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt.certificates import Data, Separator
    >>> from rosenblatt.check.verification import verify
    >>> X, y = np.array([[2.0, 1.0], [-1.0, 0.0]]), [1, -1]
    >>> data = Data(rows=2, columns=2, digest="0a9d90e27f4222b6")
    >>> found = Separator(data=data, classes=(-1, 1), intercept=False, w=[1.0, 0.0], margin=1.0)
    >>> print(verify(found, X, y))
    Proven for 2 x 2 data 0a9d90e27f4222b6 without intercept: w separates with a margin of at
    least 1.
    """
    try:
        claim = as_certificate(certificate)
    except CertificateError as error:
        return Verification(False, f"Refused: {error}.")
    try:
        if family is not None:
            X, y = as_classes(X, y, family)
        data = held_against(claim, X, y, strict=strict, equal=equal, bounds=bounds)
        return Verification(True, proven(claim, data))
    except Refused as refused:
        return Verification(False, f"Refused: {refused}.")


def as_classes(X: Any, y: Any, family: str) -> tuple[Any, Any]:
    """Give counts as rows of two classes, some of them in both."""
    matrix = exact_matrix(X)
    outcomes = counted(y, matrix.shape[0], family)
    return (X, y) if outcomes is None else (matrix[outcomes.places], outcomes.labels)


def held_against(
    claim: Certificate,
    X: Any,
    y: Any,
    *,
    strict: Any = False,
    equal: Any = None,
    bounds: Any = None,
) -> Labelled | System:
    """Take the data that a certificate is held against, with the arguments of `verify`."""
    if claim.data.numbers == "decimal":
        X = as_decimals(X)
    if isinstance(claim, Feasible | Infeasible):
        return System(X, y, strict, equal, bounds)
    if strict is not False or equal is not None or bounds is not None:
        raise InputError("strict, equal and bounds belong to certificates of systems")
    if isinstance(claim, Joint):
        return JointLabelled.of_classes(X, y, claim.classes, claim.intercept)
    return Labelled.of(X, y, vars(claim)["classes"], getattr(claim, "others", None))


def proven(claim: Certificate, data: Labelled | System) -> str:
    """Give the sentence that a certificate proves of data in hand, or raise `Refused`."""
    data.require_shape(claim.data)
    for name in ("w", "weights"):  # what is proven here must not be refused where it is read
        numbers = vars(claim).get(name) or ()
        if set(map(type, numbers)) != {float}:
            require_brief(numbers, name)
    if not isinstance(claim, Separator | MarginInterval):  # which hash the rows in the same pass
        data.require(claim.data)
    sentence = CHECKS[type(claim)](claim, data)
    named, how = claim.data, ""
    if hasattr(claim, "intercept"):
        how = " with an intercept" if claim.intercept else " without intercept"
        how = how if getattr(claim, "lift", None) is None else " with lifted rows"
    how = OTHERS.get(getattr(claim, "others", None) or "", "") + how
    if isinstance(claim, Joint):
        how = f" of {len(claim.classes)} classes at once{how}"
    kind = "decimals" if named.numbers == "decimal" else "data"
    size = f"{named.rows} x {named.columns} {kind} {named.digest}"
    return f"Proven for {size}{how}: {sentence}."


def as_certificate(given: Any) -> Certificate:
    """Take a certificate, its JSON text or object, or the name of its file."""
    if isinstance(given, Certificate):
        return given
    if isinstance(given, dict):
        return from_dict(given)
    if isinstance(given, str | bytes) and given[:64].lstrip()[:1] in ("{", b"{"):
        return from_json(given)
    if isinstance(getattr(given, "certificate", None), Certificate):
        raise InputError(
            f"a certificate or the name of its file is needed, got a {type(given).__name__}; give "
            "its certificate"
        )
    if not isinstance(given, str | os.PathLike):
        raise InputError(f"a certificate or the name of its file is needed, got {given!r:.80}")
    try:
        with open(given, "rb") as file:
            return from_json(file.read())
    except OSError as error:
        raise InputError(f"cannot read {given}: {error.strerror or error}") from error
