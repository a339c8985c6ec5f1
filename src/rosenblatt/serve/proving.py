"""Verdicts with their proofs for rows that are posted, and the check of such proofs.

Numbers are the decimals that are written, as in files of text.
"""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
from fastapi import APIRouter, Request

from rosenblatt.errors import InputError
from rosenblatt.serve import shapes
from rosenblatt.serve.quick import QuickRoute
from rosenblatt.serve.refusals import RefusalError
from rosenblatt.serve.service import ServiceLimits

MOST_WAITING = 16

proofs = APIRouter(route_class=QuickRoute, tags=["proofs"])


class WorkQueue:
    """Who works, and how many wait for that."""

    def __init__(self) -> None:
        self.taken, self.lock = 0, asyncio.Lock()


@proofs.post("/separate", response_model=shapes.Verdict)
async def separate(request: Request, body: shapes.Separation) -> Any:
    """Decide whether a hyperplane separates two labels, and prove it."""
    X, columns = _matrix(body, request.app.state.service.limits)

    def decide() -> dict[str, Any]:
        from rosenblatt.decide.separability.separate import separate
        from rosenblatt.exact.numbers import as_decimals

        found = separate(
            as_decimals(X),
            body.labels,
            fit_intercept=body.fit_intercept,
            max_seconds=body.max_seconds,
        )
        proof, coef = found.certificate, found.coef
        return {
            "verdict": str(found.verdict),
            "explanation": found.explain(),
            "coef": None if coef is None else np.asarray(coef, float).tolist(),
            "intercept": None if found.intercept is None else float(found.intercept),
            "columns": columns,
            "certificate": None if proof is None else proof.as_dict(),
        }

    return await _alone(request, decide)


@proofs.post("/verify", response_model=shapes.Check)
async def verify(request: Request, body: shapes.Claim) -> Any:
    """Check a certificate against rows and labels, exactly."""
    X, _ = _matrix(body, request.app.state.service.limits)

    def check() -> dict[str, Any]:
        from rosenblatt.check.verification import verify

        found = verify(body.certificate, X, body.labels)
        return {"ok": found.ok, "reason": found.reason}

    return await _alone(request, check)


async def _alone(request: Request, work: Any) -> Any:
    """Do work beside the answers, one piece after the other."""
    turns: WorkQueue = request.app.state.turns
    if turns.taken > MOST_WAITING:
        raise RefusalError(503, "too many proofs are under way; try again later")
    turns.taken += 1
    try:
        async with turns.lock:
            return await asyncio.to_thread(work)
    finally:
        turns.taken -= 1


def _matrix(body: shapes.Rows, limits: ServiceLimits) -> tuple[np.ndarray, list[str] | None]:
    """Give rows as a matrix, with the names of its columns if they have names."""
    rows: Any = body.rows
    if len(rows) != len(body.labels):
        raise InputError(f"there are {len(rows)} rows and {len(body.labels)} labels")
    if len({type(label) for label in body.labels}) > 1:
        raise InputError("the labels must be all text or all numbers")
    named = isinstance(rows[0], dict)
    names = sorted({name for row in rows for name in row}) if named else None
    width = len(rows[0]) if names is None else len(names)
    if width * len(rows) > limits.rows:
        raise RefusalError(413, f"the rows must have {limits.rows} numbers in all at most")
    if names is not None:
        return np.array([[row.get(name, 0.0) for name in names] for row in rows]), names
    uneven = next((k for k, row in enumerate(rows) if len(row) != width), None)
    if uneven is not None:
        raise InputError(f"row {uneven} has {len(rows[uneven])} numbers, and row 0 has {width}")
    return np.array(rows).reshape(len(rows), width), None
