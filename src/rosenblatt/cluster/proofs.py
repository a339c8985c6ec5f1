"""`separate` and `verify` over shards: a coordinator, and rows that come to it when they matter.

Method      the coordinator decides about a working set of rows, exactly (`decide.separate`). Each
            shard looks at the answer, exactly, and sends the rows that contradict it: those on the
            wrong side of a hyperplane; of a proof that nothing separates even weakly, those off
            the span of its rows. They join the set, until no shard has any.
Guarantee   the certificate is one for all rows, in the order of the shards, and has passed the
            check on all of them: the checker accepts it on the concatenated data. No more rows
            than the working set leave their shards.
Source      Kelley 1960 (constraint generation)
"""

from __future__ import annotations

import uuid
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.certificates import (
    Certificate,
    Data,
    Inseparability,
    MistakeProof,
    NonSeparability,
    Separator,
)
from rosenblatt.check.claims import inseparability, non_separability, require
from rosenblatt.check.hinges import holds
from rosenblatt.check.subjects import Labelled as Subject
from rosenblatt.check.verification import Verification, as_certificate
from rosenblatt.checker import Refused
from rosenblatt.cluster.connecting import on_engine
from rosenblatt.cluster.engine import Engine
from rosenblatt.cluster.inputs import shards_of
from rosenblatt.cluster.looks import (
    Sent,
    Sides,
    against,
    apart,
    below_margin,
    hinge_parts,
    likely,
    named,
    off_span,
    total,
    used,
)
from rosenblatt.cluster.survey import Survey
from rosenblatt.data.reading import Reading
from rosenblatt.decide.answers import (
    INSEPARABLE,
    SEPARABLE,
    UNDECIDED,
    UNPROVEN,
    WEAKLY,
    Clock,
)
from rosenblatt.decide.separability.separate import decide, two_classes_or_advice
from rosenblatt.decide.separability.separation import Separation
from rosenblatt.errors import CertificateError, InputError
from rosenblatt.exact.digest import shown
from rosenblatt.exact.rounding import norm_above, rounded_down
from rosenblatt.memory import DECISION_BYTES, check_columns


class Coordinator:
    """Two classes on shards, and what is known of their rows."""

    def __init__(self, engine: Engine, classes: Any = None) -> None:
        self.engine, self.survey = engine, Survey.of(engine)
        survey = self.survey
        check_columns(survey.width, DECISION_BYTES, "a decision about")
        given = classes if classes is not None else two_classes_or_advice(survey.labels())
        self.sides = Sides(uuid.uuid4().hex, survey.width, given)
        self.firsts = survey.firsts

    def data(self) -> Data:
        """Name the data as one machine would."""
        found = list(self.engine.map(total, self.sides, self.firsts))
        kinds = {kind for _, kind in found}
        numbers = kinds.pop() if len(kinds) == 1 else "float64"
        rows, columns = self.survey.rows, self.survey.width
        digest = shown(sum(t for t, _ in found) % 2**64, rows, columns)
        return Data(rows=rows, columns=columns, digest=digest, numbers=numbers)

    def rows(self, numbers: Any) -> Sent:
        """Fetch rows by their numbers among all."""
        wanted = np.asarray(numbers, np.int64)
        ends = [*self.firsts[1:], self.survey.rows]
        own = [
            wanted[(wanted >= first) & (wanted < end)] - first
            for first, end in zip(self.firsts, ends, strict=True)
        ]
        return self.gathered(self.engine.map(named, self.sides, own))

    def gathered(self, parts: Any) -> Sent:
        """Give the rows of all shards with their numbers among all."""
        listed = [
            Sent(part.places + first, part.X, part.signs)
            for first, part in zip(self.firsts, parts, strict=True)
        ]
        return joined(listed)

    def used(self) -> np.ndarray:
        """Tell which columns have an entry in some shard."""
        bits = np.bitwise_or.reduce(list(self.engine.map(used, self.sides)))
        return np.unpackbits(bits, count=self.survey.width).astype(bool)

    # ---- deciding

    def decide(self, lifted: bool, clock: Clock) -> Separation:
        """Decide about more and more rows, until no shard contradicts the answer."""
        dimension = self.survey.width + lifted
        most = 2 + 2 * (dimension + 10) // len(self.firsts)
        working = self.gathered(self.engine.map(likely, (self.sides, lifted, most)))
        while True:
            order = np.argsort(working.places)
            working = Sent(*(part[order] for part in working))
            answer = decide(working.X, working.signs, self.sides.classes, lifted, clock)
            if answer.verdict == UNDECIDED:
                return replace(answer, certificate=None, design=None)
            fresh, margin = self._contradiction(answer, lifted, most)
            fresh = _without(fresh, working.places)
            if not fresh.places.size:
                return self._answer(answer, working.places, lifted, margin)
            working = joined([working, fresh])

    def _contradiction(self, answer: Separation, lifted: bool, most: int) -> tuple[Sent, float]:
        """Ask all shards for rows that speak against an answer; give the margin if none does."""
        claim: Any = answer.certificate
        if answer.verdict != INSEPARABLE:
            strict = answer.verdict == SEPARABLE
            given = (self.sides, lifted, list(claim.w), strict, most)
            seen = list(self.engine.map(against, given))
            return self.gathered(s.against for s in seen), min(s.least for s in seen)
        own = np.flatnonzero(self.used())
        unused = np.intersect1d(np.array(claim.unused, np.int64), own)
        vectors = [list(vector) for vector in claim.complement]
        off = self.engine.map(off_span, (self.sides, vectors, lifted, unused, most))
        return self.gathered(off), 0.0

    def _answer(
        self, answer: Separation, places: np.ndarray, lifted: bool, least: float
    ) -> Separation:
        """Give the answer as one about all rows, checked on all of them."""
        claim: Any = answer.certificate
        data, margin = self.data(), 0.0
        if answer.verdict == SEPARABLE:
            exact = Fraction(least) / Fraction(norm_above(list(claim.w[: self.survey.width])))
            margin = rounded_down(exact)
            claim = replace(claim, data=data, margin=margin or exact)
        else:
            claim = replace(claim, data=data, rows=tuple(places[list(claim.rows)].tolist()))
        if answer.verdict == INSEPARABLE:
            idle = np.flatnonzero(~self.used()).tolist()
            claim = replace(claim, unused=tuple(idle))
        rows = places[answer.rows]
        if answer.verdict == WEAKLY:
            given = (self.sides, lifted, list(claim.w))
            rows = np.concatenate(list(self.engine.map(apart, given, self.firsts)))
        columns = self.survey.shards[0].columns
        found = replace(
            answer,
            certificate=claim,
            margin=margin,
            enclosure=(margin, answer.enclosure[1]) if margin else (0.0, 0.0),
            rows=rows,
            names=() if columns is None else columns.names or (),
            design=None,
        )
        if not self.verified(claim).ok:
            return replace(found, verdict=UNDECIDED, certificate=None, stop=UNPROVEN)
        return found

    # ---- checking

    def verified(self, claim: Certificate) -> Verification:
        """Check a certificate on all rows."""
        try:
            return Verification(True, self._proven(claim))
        except Refused as refused:
            return Verification(False, f"Refused: {refused}.")

    def _proven(self, claim: Any) -> str:
        data = self.data()
        require(
            (claim.data.rows, claim.data.columns) == (data.rows, data.columns),
            f"the certificate is for other data, of {claim.data.rows} x {claim.data.columns} and "
            f"not {data.rows} x {data.columns}",
        )
        require(
            claim.data.digest == data.digest,
            f"the certificate is for other data: the certificate's digest is {claim.data.digest}, "
            f"that of these data {data.digest}",
        )
        said = CHECKS[type(claim)](self, claim)
        return f"Proven for {data.rows} x {data.columns} data {data.digest} on shards: {said}."

    def separator(self, claim: Separator) -> str:
        """Check that w separates all rows."""
        found = self.engine.map(below_margin, (self.sides, claim))
        for first, row in zip(self.firsts, found, strict=True):
            require(row is None, f"the margin of w on row {first + (row or 0)} is below margin")
        return f"w separates with a margin of at least {float(claim.margin):.6g}"

    def non_separability(self, claim: NonSeparability) -> str:
        """Check that named rows cancel, and that w has no row on its wrong side."""
        part = self._of_named_rows(claim)
        said = non_separability(replace(part[0], w=None), part[1])
        if claim.w is None:
            return said
        lifted = claim.intercept
        seen = list(self.engine.map(against, (self.sides, lifted, list(claim.w), False, 1)))
        wrong = self.gathered(s.against for s in seen).places
        require(not wrong.size, f"w is on the wrong side of row {wrong[:1]}")
        require(any(s.some_for for s in seen), "w is orthogonal to every row")
        return "no hyperplane separates the classes, but w does weakly"

    def inseparability(self, claim: Inseparability) -> str:
        """Check that named rows cancel, and that no row is off their span."""
        said = inseparability(*self._of_named_rows(claim))
        unused = [j for j in claim.unused if j < self.survey.width]
        given = (
            self.sides,
            [list(v) for v in claim.complement],
            claim.intercept,
            np.array(unused, np.int64),
            1,
        )
        off = self.gathered(self.engine.map(off_span, given)).places
        require(not off.size, f"row {off[:1]} is not spanned by the named rows")
        return said

    def mistake_proof(self, claim: MistakeProof) -> str:
        """Check the hinge-loss bound by w."""
        require(claim.lift >= 0, "lift is negative")
        require(claim.passes is None or claim.passes > 0, "passes is not a positive integer")
        require(claim.lift or not claim.w[-1], "w ends in more than 0 without a lift")
        for exactly in (False, True):
            parts = list(self.engine.map(hinge_parts, (self.sides, claim, exactly)))
            if any(part is None for part in parts):
                continue
            radius = [max(part[0][k] for part in parts) for k in (0, 1)]
            loss = [sum((part[1][k] for part in parts), Fraction(0)) for k in (0, 1)]
            if holds(claim, radius[1], loss[1]):
                return f"no perceptron from zero makes more than {float(claim.bound):.6g} mistakes"
            if not holds(claim, radius[0], loss[0]):
                break
        raise Refused("bound is below the bound by w")

    def _of_named_rows(self, claim: Any) -> tuple[Any, Subject]:
        """Give a proof by rows as one about those rows alone."""
        rows = self.rows(claim.rows)
        place = {number: k for k, number in enumerate(rows.places.tolist())}
        require(len(place) == len(set(claim.rows)), "a named row is not there")
        subject = Subject(rows.X, rows.signs)
        numbers = tuple(place[i] for i in claim.rows)
        return replace(claim, rows=numbers), subject


CHECKS: dict[type[Certificate], Any] = {
    Separator: Coordinator.separator,
    NonSeparability: Coordinator.non_separability,
    Inseparability: Coordinator.inseparability,
    MistakeProof: Coordinator.mistake_proof,
}


def joined(parts: list[Sent]) -> Sent:
    """Put rows together."""
    rows = [part.X for part in parts]
    return Sent(
        np.concatenate([part.places for part in parts]),
        sparse.vstack(rows, format="csr") if sparse.issparse(rows[0]) else np.vstack(rows),
        np.concatenate([part.signs for part in parts]),
    )


def _without(rows: Sent, known: np.ndarray) -> Sent:
    fresh = np.flatnonzero(~np.isin(rows.places, known))
    return Sent(*(part[fresh] for part in rows))


def separate(
    X: Any,
    y: Any = None,
    client: Any = None,
    *,
    fit_intercept: bool = True,
    max_seconds: float | None = None,
    read: dict[str, Any] | None = None,
) -> Any:
    """Decide whether a hyperplane separates two classes on shards, and prove the answer.

    Numbers of files are the floats that they are read as, float64 unless `read` says otherwise.

    Parameters
    ----------
    X, y, client :
        As for `fit`.
    fit_intercept : bool, default=True
        Whether hyperplanes may have an intercept.
    max_seconds : float or None, default=None
        The time limit of the decisions about working sets, after which the verdict is "undecided".
    read : dict or None, default=None
        How to read files, as keywords of `rosenblatt.read`.

    Returns
    -------
    Separation
        As that of `rosenblatt.separate`: rows are numbered through all shards, and the certificate
        holds for the concatenated data. `columns` are those of the hyperplane or of the proof.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y, _ = rb.make_separable(200, 3, margin=0.05)
    >>> found = rb.cluster.separate([(X[:90], y[:90]), (X[90:], y[90:])], client="local")
    >>> found.verdict, rb.verify(found.certificate, X, y).ok
    ('separable', True)
    """
    seconds = Clock.of(max_seconds).seconds  # refused now, if it cannot be a limit
    shards = shards_of(X, y, exactly(read))

    def work(engine: Engine) -> Separation:
        engine.put(shards)
        return Coordinator(engine).decide(bool(fit_intercept), Clock(seconds))

    return on_engine(client, work)


def verify(
    certificate: Any,
    X: Any,
    y: Any = None,
    client: Any = None,
    *,
    read: dict[str, Any] | None = None,
) -> Any:
    """Check a certificate on shards, as `rosenblatt.verify` does on the concatenated data.

    Parameters
    ----------
    certificate : Certificate, path, str or dict
        A certificate about two classes, the name of its file, or its JSON.
    X, y, client, read :
        As for `separate`.

    Returns
    -------
    Verification
        With `ok`, whether the certificate holds, and `reason`, a sentence.
    """
    try:
        claim: Any = as_certificate(certificate)
    except CertificateError as error:
        return Verification(False, f"Refused: {error}.")
    if type(claim) not in CHECKS or getattr(claim, "others", None):
        raise InputError(f"a {claim.kind} is checked on one machine; call rosenblatt.verify")
    shards = shards_of(X, y, exactly(read))

    def work(engine: Engine) -> Verification:
        engine.put(shards)
        classes = np.array(claim.classes)
        try:
            return Coordinator(engine, classes).verified(claim)
        except InputError as error:
            return Verification(False, f"Refused: {error}.")

    return on_engine(client, work)


def exactly(read: dict[str, Any] | None) -> Reading:
    """Give how to read rows that are to be proven about: as float64, unless said otherwise."""
    return Reading(**{"dtype": np.float64, **(read or {})})
