"""The ways that data take through the code: as the page about it says, and no step twice."""

import io
import os
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from inspect import signature
from pathlib import Path

import click
import numpy as np
import pytest

import rosenblatt as rb
from learners import FIRST, every, separable
from rosenblatt.cli import training
from rosenblatt.cli.main import run
from rosenblatt.data import sources

SOURCE = Path(rb.__file__).parent
PAGE = Path(__file__).parent.parent / "docs" / "layout.md"
FILES = {
    "t.csv": "a,b,label\n1,2.5,yes\n-3,100,no\n2,1,yes\n",
    "t.svm": "+1 1:0.5 2:1\n-1 1:-1 2:-0.5\n+1 1:2\n",
    "t.txt": "spam\tbuy now\nham\tsee you\n",
    "t.vw": "1 | a\n-1 | b\n",
}


def called(action):
    """Count the calls of the package's functions, in the order of their first ones."""
    counts = Counter()

    def note(frame, event, _):
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(str(SOURCE)):
            counts[os.path.relpath(path, SOURCE), frame.f_code.co_name] += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(before)
    return counts


def command(*words):
    sys.argv = ["rosenblatt", *words]
    with pytest.raises(SystemExit) as ended:
        run()
    assert not ended.value.code


@cache
def stream():
    stream = rb.Perceptron()
    for x, y in [(1.0, 1), (-1.0, 0), (2.0, 0)]:
        stream.learn_one({0: x}, y)
    return stream


def fit_from_standard_input():
    sys.stdin = io.TextIOWrapper(io.BytesIO(FILES["t.svm"].encode()))
    command("fit", "-", "-m", "m", "--max-iter", "1")


X, y = separable()
WAYS = {
    "rb.Perceptron().fit(X, y)": lambda: rb.Perceptron().fit(X, y),
    "learner.learn_one(x, y)": lambda: stream().learn_one({0: 1.0}, 0),
    'rb.read("t.csv")': lambda: rb.read("t.csv"),
    "rosenblatt fit t.csv": lambda: command("fit", "t.csv", "-m", "m"),
    "rosenblatt fit -": fit_from_standard_input,
    'rb.load("model")': lambda: rb.load("model"),
}


def told_ways():
    """Give the files that the page names for each way, in their order."""
    rows = re.findall(r"^\| `([^|]+)` \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {way: re.findall(r"`([\w/]+\.py)`", hops) for way, hops in rows}


@pytest.fixture
def quiet(folder, monkeypatch):
    """Let commands run here, and put back what they change."""
    monkeypatch.setattr("rosenblatt.cli.main._listen", lambda: None)
    for name in ("argv", "stdin"):
        monkeypatch.setattr(sys, name, getattr(sys, name))
    rb.save(rb.Perceptron().fit(X, y), "model")


@pytest.mark.parametrize("way", WAYS)
def test_the_page_names_the_files_in_the_order_in_which_data_reach_them(way, quiet):
    WAYS[way]()  # imports what it needs, which is no way of data
    visited = list(dict.fromkeys(file for file, _ in called(WAYS[way])))
    told = told_ways()[way]
    assert told == sorted(told, key=visited.index)


def test_the_page_tells_all_ways():
    assert list(told_ways()) == list(WAYS)


# ---- once


# A hard margin is that of `max_margin`, which looks for itself.
@every([case for case in FIRST if case.learner is not rb.HardMarginSVM])
def test_a_label_is_looked_at_once(case):
    counts = called(lambda: case().fit(X, y))
    for name in ("as_labels", "_few_coded"):
        assert counts["labels.py", name] == 1, name


OPENING = """
import collections, os, sys
import rosenblatt as rb
opened = collections.Counter()
name_of = lambda path: os.path.basename(os.fsdecode(path)) if not isinstance(path, int) else path
sys.addaudithook(lambda event, args: opened.update([name_of(args[0])] if event == "open" else []))
for name in sys.argv[1:]:
    rb.read(name)
    print(opened[name], end=" ")
"""


def test_a_file_is_opened_once(folder):
    np.savez("t.npz", X=X, y=y)
    names = ["t.svm", "t.txt", "t.vw", "t.npz", "t.csv"]
    done = subprocess.run([sys.executable, "-c", OPENING, *names], capture_output=True, text=True)
    # Polars, which is not counted here, opens tables by itself.
    assert done.stdout.split() == ["1", "1", "1", "1", "1"], done.stderr


def test_a_file_that_was_looked_at_is_closed_when_the_reading_ends(folder):
    for name in ("t.svm", "t.csv"):
        rb.read(name)
    Path("t.svm").write_text("1 2:x")
    with pytest.raises(rb.ParseError):
        rb.read("t.svm")
    assert not sources._open


def test_the_shell_knows_no_default_of_a_learner():
    """Options that were not given are left to the learner, where their defaults are written."""
    taken = {name for kind in training.LEARNERS.values() for name in options_of(kind)}
    context = click.Context(training.fit)
    for option in training.fit.params:
        if option.name in taken:
            default = option.get_default(context)  # not set: None, or click's own word for it
            assert default is False or not isinstance(default, str | int | float), option.name


def options_of(kind):
    return signature(getattr(rb, kind)).parameters
