"""What the commands do that take a certificate and its data: verify, export."""

from __future__ import annotations

import csv
import io
import json as jsonlib
from pathlib import Path
from typing import Any

from scipy import sparse

import rosenblatt as rb
from rosenblatt.certificates import Certificate, Feasible, Infeasible, from_json
from rosenblatt.check.verification import Verification
from rosenblatt.checker import AT_LEAST, MORE_THAN, Refused, Row, check, read_rows
from rosenblatt.cli.outputs import check_writable
from rosenblatt.cli.printing import doing, show
from rosenblatt.cli.source import Source
from rosenblatt.data.export import PROOFS, write_hyperplanes, write_proof
from rosenblatt.data.models import read_model
from rosenblatt.data.sources import contents, shown
from rosenblatt.data.systems import read_system, system_format
from rosenblatt.errors import CertificateError, InputError
from rosenblatt.proofs.writers import only_true

HOLDS, REFUSED = 0, 1  # exit statuses


def verify(certificate: Path, source: Source, strict: bool, json: bool) -> int:
    """Check a certificate against data, report; give the exit status."""
    text, kind = _read_certificate(certificate)
    try:
        claim = from_json(text)
    except CertificateError as error:
        found = Verification(False, f"Refused: {error}.")
    else:
        with doing(f"checking {certificate} against {source.data}"):
            found = _verified(claim, source, strict)
    if json:
        facts = {"certificate": str(certificate), "data": str(source.data), "kind": kind}
        show({**facts, "holds": found.ok, "reason": found.reason}, json)
    else:
        print(found.reason)
    return HOLDS if found.ok else REFUSED


def export(model: Path, out: Path, source: Source, strict: bool) -> None:
    """Write a certificate and its data as a proof for another checker, or a hyperplane."""
    if not source.is_named:
        _export_model(model, out)
        return
    check_writable(out, model, source.data)
    claim = from_json(_read_certificate(model)[0])
    with doing(f"checking {model} against {source.data}"):
        source = source.settled() if _is_labelled(claim) else source
        if _beyond_floats(claim, source):
            with only_true():
                rows, _ = _exact_rows(claim, source, strict)
            write_proof(claim, out, rows)
        else:
            X, y, how = _data(claim, source, strict)
            rb.export(claim, out, X, y, **how)


def _export_model(path: Path, out: Path) -> None:
    check_writable(out, path)
    if out.suffix.lower() in PROOFS:
        raise InputError(f"a proof is about data: name those of {path} with --data")
    held = read_model(path)  # which `rb.load` would make an estimator of, and import scikit-learn
    write_hyperplanes(held.learner, held.scaling, out)


def _read_certificate(path: Path) -> tuple[bytes, Any]:
    """Give the text of a certificate and the kind that it names; refuse what is not JSON."""
    try:
        text = path.read_bytes()
        given = jsonlib.loads(text)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError):
        what = "it looks like a model" if text[6:9] == b"\0\0{" else "it is not JSON, or is cut off"
        raise InputError(f"{path} is not a certificate: {what}") from None
    return text, given.get("kind") if isinstance(given, dict) else None


def _verified(claim: Certificate, source: Source, strict: bool) -> Verification:
    """Read the data as the certificate says, and check it."""
    source = source.settled() if _is_labelled(claim) else source
    if not _beyond_floats(claim, source):
        X, y, how = _data(claim, source, strict)
        return rb.verify(claim, X, y, **how)
    try:
        rows, columns = _exact_rows(claim, source, strict)
        return Verification(True, check(claim.as_dict(), rows, columns))
    except Refused as reason:
        return Verification(False, f"Refused: {reason}.")


def _is_labelled(claim: Certificate) -> bool:
    return not isinstance(claim, Feasible | Infeasible)


def _beyond_floats(claim: Certificate, source: Source) -> bool:
    """Tell whether the numbers are left to the checker in plain Python, which reads any."""
    numbers = claim.data.numbers
    if not _is_labelled(claim):
        return numbers in ("float32", "exact") and system_format(source.data) == "csv"
    if numbers == "exact" and not source.is_svmlight:
        raise InputError(
            "the certificate is about exact numbers, which can be read from svmlight text only"
        )
    return numbers == "exact"


def _data(claim: Certificate, source: Source, strict: bool) -> tuple[Any, Any, dict[str, Any]]:
    """Read X and y, or A and b and what else belongs to a system, as the certificate says."""
    numbers = claim.data.numbers
    if not _is_labelled(claim):
        A, b, own, equal, bounds, *_ = read_system(source.data, floats=numbers != "decimal")
        return A, b, {"strict": True if strict else own, "equal": equal, "bounds": bounds}
    if strict:
        raise InputError("--strict belongs to certificates of systems")
    how = {"exact": True} if numbers == "decimal" else {"dtype": numbers}
    source = source.with_options(**how)
    X, y = source.labelled(source.examples())
    if source.is_svmlight and X.shape[1] < claim.data.columns:  # the last ones may be all zero
        X = sparse.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], claim.data.columns))
    return X, y, {}


def _exact_rows(claim: Certificate, source: Source, strict: bool) -> tuple[list[Row], int]:
    """Read rows and count their columns as the checker in plain Python does."""
    if strict and _is_labelled(claim):
        raise InputError("--strict belongs to certificates of systems")
    content = io.BytesIO(contents(source.data).tobytes())
    try:
        stream = io.TextIOWrapper(content, "utf-8-sig", newline="\n")
        rows, columns = read_rows(stream, claim.as_dict(), 0 if source.reading.zero_based else 1)
    except (ValueError, OverflowError, csv.Error) as fault:
        raise InputError(f"{shown(source.data)}: {fault}") from None
    if strict:
        rows = [row._replace(tag=MORE_THAN) if row.tag == AT_LEAST else row for row in rows]
    return rows, columns
