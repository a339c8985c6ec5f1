"""How long people wait before anything happens."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from bench.race import Contestant, Race, difference, itself, race

BARE, IMPORT, HELP = "Python alone", "rosenblatt, import", "rosenblatt --help"


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
    kept = tempfile.TemporaryDirectory()  # until nobody can enter the race any more
    lines = {
        "svm": [f"{1 - 2 * (k % 2)} 1:{k % 2 - 0.4} 2:{k}" for k in range(6)],
        "csv": ["a,b,label", *(f"{k % 2 - 0.4},{k},{k % 2}" for k in range(6))],
        "txt": [f"{('ham', 'spam')[k % 2]}\t{('lunch', 'money')[k % 2]} now {k}" for k in range(6)],
    }
    for kind, text in lines.items():
        Path(kept.name, f"rows.{kind}").write_text("\n".join([*text, ""]))

    def on(command: str, kind: str, *more: str) -> Contestant:
        return starting("-m", "rosenblatt", command, str(Path(kept.name, f"rows.{kind}")), *more)

    fitting = ("--model", str(Path(kept.name, "model")))
    entries = {f"fit, {kind}": lambda k=kind: on("fit", k, *fitting) for kind in lines}
    entries |= {f"separate, {kind}": lambda k=kind: on("separate", k) for kind in ("svm", "csv")}
    return Race(
        entries=entries,
        figures=[itself(name, at_most=700) for name in entries],
        unit="ms",
        factor=1e3,
    )


def starting(*arguments: str) -> Contestant:
    """Enter a new interpreter."""
    command = [sys.executable, *arguments]
    return Contestant(lambda _: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))
