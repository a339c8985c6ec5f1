"""Runs of kernel learners by their parts, in every way in which rows may lie in memory."""

import numpy as np
import pytest
from scipy import sparse

from rosenblatt.examples import Presented
from rosenblatt.kernel import runs, training
from rosenblatt.kernel.expansion import Expansion
from rosenblatt.kernel.functions import as_kernel
from rosenblatt.kernel.space import Space
from rosenblatt.online.driver import Limits

LAYOUTS = {
    "double": lambda A: A,
    "single": lambda A: A.astype(np.float32),
    "sparse": sparse.csr_matrix,
    "sparse single": lambda A: sparse.csr_matrix(A.astype(np.float32)),
}
every_layout = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)


def blocked(kernel, X, codes, classes, rows, *, passes=3, budget=None, **options):
    """Train in blocks of so many rows; give the run and what was learned."""
    space = Space.around(as_kernel(kernel), 0.0, X)
    learned = Expansion.begin(space, X, classes, "last", budget)
    manner = runs.Manner(limits=Limits(passes), gram_bytes=0, block_rows=rows, **options)
    return runs.fit(learned, Presented.of(X, codes), codes, manner), learned


def calls_of(owner, name, monkeypatch):
    """Give a list that what a function gives back is put into, from now on."""
    given, function = [], getattr(owner, name)

    def noting(*arguments):
        given.append(function(*arguments))
        return given[-1]

    monkeypatch.setattr(owner, name, noting)
    return given


def doubts(monkeypatch):
    """Give a list with an entry for each block whose scores were in doubt, however many are."""
    monkeypatch.setattr(training, "TOO_DOUBTFUL", 1.0)
    return calls_of(training.Blocked, "_score_again", monkeypatch)
