"""Linear programs of Netlib: has the system a point? Ours with a proof, against HiGHS without.

Both read the same file. HiGHS is given no objective, since only feasibility is asked for; ours ends
when the certificate has been checked. An answer other than the known one breaks the race off.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import rosenblatt as rb
from bench import highs
from bench.race import Contestant, Race, itself, race, ratio
from bench.sets import found

OURS, PEER = "rosenblatt", "HiGHS"


@race
def netlib(scale: float) -> Race:
    """Decide the linear programs of Netlib, from file to checked proof."""
    return duel(0.5, our_answer, peer_answer)


@race
def netlib_command(scale: float) -> Race:
    """Decide the linear programs of Netlib in the shell: solve, verify, two new interpreters."""
    return duel(3.0, our_commands, peer_command)


def duel(
    bar: float, ours: Callable[[Path], Contestant], peer: Callable[[Path], Contestant]
) -> Race:
    """Let both decide every program."""
    entries, figures = {}, []
    for path in programs():
        ours_here, peer_here = f"{OURS}, {path.stem}", f"{PEER}, {path.stem}"
        entries[ours_here] = partial(ours, path)
        entries[peer_here] = partial(peer, path)
        figures += [itself(ours_here, at_most=1e3 * bar), ratio(ours_here, peer_here)]
    return Race(entries=entries, figures=figures, unit="ms", factor=1e3)


def programs() -> list[Path]:
    """Give the files, those of each kind in a folder of its own."""
    return [
        path for kind in highs.ANSWERS for path in sorted(found(f"netlib/{kind}").glob("*.mps"))
    ]


def right(path: Path, answer: str) -> None:
    """Break off if an answer is wrong."""
    if answer != path.parent.name:
        raise AssertionError(f"{path.stem} is {path.parent.name}, not {answer}")


def our_answer(path: Path) -> Contestant:
    """Enter `rb.solve` and the check of its certificate."""
    from rosenblatt.data.systems import read_system

    def run(_: None) -> None:
        answer = rb.solve(path)
        right(path, answer.verdict)
        A, b, strict, equal, bounds, *_ = read_system(path)
        checked = rb.verify(answer.certificate, A, b, strict=strict, equal=equal, bounds=bounds)
        if not checked:
            raise AssertionError(f"{path.stem}: {checked}")

    return Contestant(run)


def peer_answer(path: Path) -> Contestant:
    """Enter HiGHS in this process."""
    return Contestant(lambda _: right(path, highs.answer(str(path))))


def our_commands(path: Path) -> Contestant:
    """Enter `rosenblatt solve` and `rosenblatt verify`."""

    def run(_: None) -> None:
        with TemporaryDirectory() as folder:
            proof = f"{folder}/proof.json"
            status = command("-m", "rosenblatt", "solve", str(path), "--certificate", proof)
            right(path, highs.ANSWERS[status])
            if command("-m", "rosenblatt", "verify", proof, str(path)):
                raise AssertionError(f"{path.stem}: the certificate was refused")

    return Contestant(run)


def peer_command(path: Path) -> Contestant:
    """Enter HiGHS in a new interpreter."""
    return Contestant(lambda _: right(path, highs.ANSWERS[command(highs.__file__, str(path))]))


def command(*arguments: str) -> int:
    """Run Python, give its exit status."""
    ended = subprocess.run([sys.executable, *arguments], check=False, stdout=subprocess.DEVNULL)
    return ended.returncode
