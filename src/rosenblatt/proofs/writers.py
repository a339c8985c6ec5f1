"""Proofs in the formats of other checkers, by the ends of the names of their files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rosenblatt.certificates import Certificate
from rosenblatt.checker import Bounds, Refused, Row, check
from rosenblatt.errors import InputError
from rosenblatt.proofs import coq, smtlib, vipr
from rosenblatt.proofs.statement import stated

WRITERS = {".v": coq.written, ".smt2": smtlib.written, ".vipr": vipr.written}


def proof_text(
    suffix: str, certificate: Certificate, rows: Sequence[Row], bounds: Bounds = None
) -> str:
    """Write the proof of a certificate, which is checked first: nobody wants one that fails."""
    with only_true():
        sentence = check(certificate.as_dict(), rows, certificate.data.columns, bounds)
    return WRITERS[suffix](stated(certificate, rows, bounds, sentence))


@contextmanager
def only_true() -> Iterator[None]:
    """Say of a certificate that is refused that there is no proof of it."""
    try:
        yield
    except Refused as reason:
        raise InputError(f"the certificate does not hold, and is not exported: {reason}") from None
