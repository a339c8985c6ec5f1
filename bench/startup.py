"""How long people wait before anything happens."""

from __future__ import annotations

import subprocess
import sys

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


def starting(*arguments: str) -> Contestant:
    """Enter a new interpreter."""
    command = [sys.executable, *arguments]
    return Contestant(lambda _: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))
