"""The command ``rosenblatt``: parse, call, print.

Commands import what they need when they run, so that ``--help`` answers at once.
"""

from __future__ import annotations

import io
import os
import re
import sys
from typing import Any

import click

import rosenblatt
from rosenblatt.cli import commands, laboratory, mail, proofs, serving, training
from rosenblatt.cli.entry import INTERRUPTED, READER_GONE, ReaderGoneError, give_up, listen
from rosenblatt.cli.printing import telling
from rosenblatt.cli.words import spoken
from rosenblatt.errors import InseparableError, RosenblattError

NAME, COMPLETE = "rosenblatt", "_ROSENBLATT_COMPLETE"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(
    rosenblatt.__version__, message=f"{NAME} %(version)s", help="Print the version."
)
def app() -> None:
    """Train perceptrons and linear SVMs; prove separability and feasibility.

    Exit status: 0 done; 1 failed; 2 bad usage, bad input, too little memory, or an output that
    cannot be written; 130 interrupted. Commands that answer a question: 0 yes (separable,
    feasible, the certificate holds), 1 no, 3 undecided.
    """


@click.command
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print the completion script for a SHELL.

    For bash: rosenblatt completion bash >> ~/.bashrc
    """
    return _complete(f"{shell}_source")


def _complete(instruction: str) -> int:
    from click.shell_completion import shell_complete

    return shell_complete(app, {}, NAME, COMPLETE, instruction)


for module in (commands, training, proofs, laboratory, serving):
    for declared in vars(module).values():
        if isinstance(declared, click.Command):
            app.add_command(declared)
app.add_command(mail.mail)
app.add_command(completion)


def _listen() -> None:
    """Hear signals; tests do without it."""
    listen()


def run() -> None:
    """Run the command; what goes wrong is one sentence on standard error and an exit status."""
    _listen()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names that the terminal cannot show
    status, complaint = _outcome()
    if complaint:
        click.echo(f"rosenblatt: {complaint}", err=True)
    sys.exit(status)


def _outcome() -> tuple[int, str]:
    """Run the command; give its exit status, and a complaint if there is one."""
    try:
        try:
            with telling():
                return _called(sys.argv[1:] or ["--help"]), ""
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except click.UsageError as error:
        return 2, _usage(error)
    except InseparableError as error:
        return 1, spoken(str(error))  # that is an answer: no
    except RosenblattError as error:
        return 2, spoken(str(error))
    except KeyboardInterrupt:
        return INTERRUPTED, "interrupted; nothing was written"
    except MemoryError:
        return 2, "there is not enough memory for this; give fewer rows or columns"
    except (ReaderGoneError, BrokenPipeError):
        give_up(sys.stdout)
        sys.stdout = None  # there is no flushing
        return READER_GONE, ""
    except OSError as error:
        give_up(sys.stdout)
        sys.stdout = None
        reason = error.strerror or error
        return 2, f"cannot write the output: {reason}; what was printed is not all of it"


def _called(words: list[str]) -> int:
    """Call the command; give its exit status."""
    if COMPLETE in os.environ:
        return _complete(os.environ[COMPLETE])
    try:
        with app.make_context(NAME, words) as context:
            status: Any = app.invoke(context)
    except click.exceptions.Exit as done:  # after --help or --version
        status = done.exit_code
    return status or 0


def _usage(error: click.UsageError) -> str:
    """Say in a sentence what is wrong with the words of a command, and where help is."""
    path = NAME if error.ctx is None else error.ctx.command_path
    said = re.sub(r"\.? \(?Did you mean", " (did you mean", error.format_message())
    end = "?)" if " (did you mean" in said else ""
    return f"{said[:1].lower()}{said[1:].rstrip('.?)')}{end}; `{path} --help` tells more"
