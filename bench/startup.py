"""How long people wait before anything happens."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.race import Contestant, Entry, Race, difference, itself, race
from bench.sets import found

BARE, IMPORT, HELP = "Python alone", "rosenblatt, import", "rosenblatt --help"
# Images of containers say that no bytecode is kept, and then all of the package is read anew each
# time; where a package is installed, its bytecode is.
UNSAID = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
# What a new process does before the call that is measured, and the calls.
BEFORE = """
import os, sys, time
import numpy as np, scipy.sparse, sklearn.linear_model
n, d, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
X = np.random.default_rng(0).standard_normal((n, d))
y = np.where(X @ np.arange(1, d + 1) > 0, 1, -1)
X[:, 0] += 0.1 * y
S = scipy.sparse.csr_matrix(X)
began = time.process_time()
import rosenblatt as rb
"""
AFTER = "\nprint(time.process_time() - began)"
PREPARE = """
np.savetxt(f"{folder}/rows.csv", np.c_[X, y], delimiter=",", header="x," * d + "y", comments="")
rb.save(rb.separate(X, y).certificate, f"{folder}/proof.json")
"""
CALLS = {
    "Perceptron.fit": "rb.Perceptron().fit(X, y)",
    "Perceptron.fit, sparse": "rb.Perceptron().fit(S, y)",
    "SoftMarginSVM.fit": "rb.SoftMarginSVM().fit(X, y)",
    "SoftMarginSVM.fit, sparse": "rb.SoftMarginSVM().fit(S, y)",
    "HardMarginSVM.fit": "rb.HardMarginSVM().fit(X, y)",
    "KernelPerceptron.fit": "rb.KernelPerceptron(rb.Gaussian(0.1)).fit(X, y)",
    "OnlineSVM.fit": "rb.OnlineSVM().fit(X, y)",
    "OnlineSVM.fit, three classes": "rb.OnlineSVM().fit(X, np.argmax(X[:, :3], axis=1))",
    "separate": "rb.separate(X, y)",
    "max_margin": "rb.max_margin(X, y)",
    "max_margin, inseparable": "rb.max_margin(X, -y * np.sign(np.arange(n) - 100.5))",
    "mistake_bound": "rb.mistake_bound(X, y)",
    "solve": "rb.solve(-X * y[:, None], -np.full(n, 0.01))",
    "read": "rb.read(f'{folder}/rows.csv')",
    "verify": "rb.verify(f'{folder}/proof.json', X, y)",
}


@race
def importing(scale: float) -> Race:
    """Import the package, in a new interpreter."""
    return Race(
        entries={
            BARE: lambda: starting("-c", "pass"),
            IMPORT: lambda: starting("-c", "import rosenblatt"),
        },
        figures=[difference(IMPORT, BARE, at_most=100)],
        unit="ms",
        factor=1e3,
    )


@race
def helping(scale: float) -> Race:
    """Ask for help, in a new interpreter."""
    return Race(
        entries={HELP: lambda: starting("-m", "rosenblatt", "--help")},
        figures=[itself(HELP, at_most=250)],
        unit="ms",
        factor=1e3,
    )


@race
def commanding(scale: float) -> Race:
    """Run whole commands on six rows, their loops compiled before, each in a new interpreter."""
    on = Commands()
    entries = {f"fit, {kind}": on.entry("fit", kind) for kind in ("svm", "csv", "txt")}
    entries |= {f"separate, {kind}": on.entry("separate", kind) for kind in ("svm", "csv")}
    return Race(
        entries=entries,
        figures=[itself(name, at_most=700) for name in entries],
        unit="ms",
        factor=1e3,
    )


@race
def new_process(scale: float) -> Race:
    """Call functions first in new processes, their loops compiled before; processor time."""
    kept = tempfile.TemporaryDirectory()  # until nobody can enter the race any more
    calling(PREPARE, kept.name)

    def entry(call: str) -> Contestant:
        calling(call, kept.name)  # which compiles
        return Contestant(lambda _: calling(call, kept.name))

    return Race(
        entries={name: lambda call=call: entry(call) for name, call in CALLS.items()},
        figures=[itself(name, at_most=350) for name in CALLS],
        unit="ms",
        factor=1e3,
        timed=False,
    )


@race
def first_calls(scale: float) -> Race:
    """Call functions and commands with nothing compiled before; processor time."""
    on, commands = Commands(), ("fit", "separate", "margin", "bound")
    calling(PREPARE, on.folder)
    entries = {
        name: lambda call=call: Contestant(
            lambda cache: calling(call, on.folder, {"NUMBA_CACHE_DIR": cache.name}),
            tempfile.TemporaryDirectory,
        )
        for name, call in CALLS.items()
    }
    entries |= {
        f"rosenblatt {command}, {kind}": on.entry(command, kind, first=True)
        for command in commands
        for kind in ("svm", "csv", "txt")
    }
    entries["rosenblatt verify, txt"] = on.entry("verify", "txt", first=True)
    entries |= {
        f"rosenblatt {command}, mushrooms": lambda command=command: first_run(
            *on.words(command, found("binary/mushrooms.svm")), kept=on
        )
        for command in commands
    }
    figure = "rosenblatt lab, one figure"
    lab = ("lab", "examples", "--quick", "--out")  # the first of those that are listed
    entries[figure] = lambda: first_run(*lab, str(Path(on.folder, "lab")))
    return Race(
        entries=entries,
        figures=[itself(name, at_most=6 if name == figure else 3) for name in entries],
        timed=False,
        repeats=1,
    )


class Commands:
    """Commands on six rows of svmlight, CSV or text, which lie in a folder for as long."""

    def __init__(self) -> None:
        self.kept = tempfile.TemporaryDirectory()
        self.folder = self.kept.name
        lines = {
            "svm": [f"{1 - 2 * (k % 2)} 1:{k % 2 - 0.4} 2:{k}" for k in range(6)],
            "csv": ["a,b,label", *(f"{k % 2 - 0.4},{k},{k % 2}" for k in range(6))],
            "txt": [
                f"{('ham', 'spam')[k % 2]}\t{('lunch', 'money')[k % 2]} now {k}" for k in range(6)
            ],
        }
        for kind, text in lines.items():
            Path(self.folder, f"six.{kind}").write_text("\n".join([*text, ""]))

    def words(self, command: str, data: Path) -> list[str]:
        """Give the words of a command about data."""
        model = ["--model", str(Path(self.folder, "model"))] if command == "fit" else []
        return [command, str(data), *model]

    def entry(self, command: str, kind: str, first: bool = False) -> Entry:
        """Give an entry that runs a command on rows of a kind."""
        arguments = self.words(command, Path(self.folder, f"six.{kind}"))
        if command == "verify":
            proof = str(Path(self.folder, f"{kind}.json"))
            run("-m", "rosenblatt", "separate", arguments[1], "--certificate", proof)
            arguments.insert(1, proof)
        if first:
            return lambda: first_run(*arguments, kept=self)
        return lambda: starting("-m", "rosenblatt", *arguments, kept=self)


def starting(*arguments: str, kept: object = None) -> Contestant:
    """Enter a new interpreter, which needs something to be kept."""
    return Contestant(lambda _, kept=kept: run(*arguments))


def first_run(*arguments: str, kept: object = None) -> Contestant:
    """Enter a command with nothing compiled, and its processor time."""

    def seconds(cache: Any, kept: object = kept) -> float:
        before = os.times()
        run("-m", "rosenblatt", *arguments, more={"NUMBA_CACHE_DIR": cache.name})
        after = os.times()
        return sum(after[2:4]) - sum(before[2:4])  # of processes that have ended

    return Contestant(seconds, tempfile.TemporaryDirectory)


def calling(call: str, folder: str, more: Mapping[str, str] = {}) -> float:
    """Make a call in a new process; give its processor time beyond importing scikit-learn."""
    text = run("-c", f"{BEFORE}{call}{AFTER}", "2000", "20", folder, more=more)
    return float(text.splitlines()[-1])


def run(*arguments: str, more: Mapping[str, str] = {}) -> str:
    """Run a new interpreter; give what it prints."""
    command = [sys.executable, *arguments]
    done = subprocess.run(command, check=True, env={**UNSAID, **more}, stdout=subprocess.PIPE)
    return done.stdout.decode()
