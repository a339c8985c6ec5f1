"""The commands of `rosenblatt mail`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rosenblatt.cli import options
from rosenblatt.cli.options import FILE, flag

store = click.option(
    "--store",
    type=FILE,
    envvar="ROSENBLATT_STORE",
    help="Folder of the filter. [default: rosenblatt/mail in the user's data folder]",
)
message = click.argument("message", type=FILE, required=False)
marks = click.option(
    "--marks",
    metavar="FIRST,SECOND",
    help="Names of the two marks of a new filter. [default: important,ordinary]",
)


class SeveralValues(click.Command):
    """A command whose repeated options take several values at a time."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of the option before each of its values."""
        names = {name for each in self.params if getattr(each, "multiple", 0) for name in each.opts}
        option, said = "", []
        for word in args:
            if word.startswith("-"):
                option = word if word in names else ""
                said += [] if option else [word]
            else:
                said += [option, word] if option else [word]
        return super().parse_args(ctx, said)


def folders(command: Any) -> Any:
    """Give a command the options that name messages of both marks."""
    for name in ("--ordinary", "--important"):
        what = f"Messages that are {name[2:]}: files, mboxes, Maildirs or folders."
        command = click.option(name, metavar="DIR...", type=FILE, multiple=True, help=what)(command)
    return command


@click.group
def mail() -> None:
    """Mark mail as it comes, and learn from corrections.

    Begin with `train`, or with `learn` from the first messages.
    """


@mail.command(context_settings={"allow_extra_args": True})
@click.pass_context
@flag("--exit-code", help="Exit with 0 if important, 1 if ordinary, 3 if unsure.")
@store
@flag("--json", help="Print JSON in place of the message.")
def classify(context: click.Context, store: Path | None, exit_code: bool, json: bool) -> int:
    """Copy a message from standard input to standard output, with a header that marks it.

    The header is X-Rosenblatt: important|ordinary|unsure; score=...; an older one is removed. All
    else stays byte for byte as it is.
    """
    if context.args:
        name = context.args[0]
        raise click.UsageError(f"it reads standard input: rosenblatt mail classify < {name}")
    from rosenblatt.cli.mailing import classify_message

    return classify_message(store, exit_code, json)


@mail.command
@click.argument("messages", metavar="[MESSAGES]...", nargs=-1, type=FILE)
@flag("--important", help="They are important: the first mark.")
@flag("--ordinary", help="They are ordinary: the second mark.")
@click.option("--as", "name", help="They have the mark of this name.")
@marks
@store
@options.json
def learn(messages: tuple[Path, ...], store: Path | None, json: bool, **said: Any) -> None:
    """Learn from MESSAGES: files, mboxes, Maildirs or folders; standard input if none is given."""
    from rosenblatt.cli.mailing import learn_messages

    learn_messages(messages, store, said, json)


@mail.command(cls=SeveralValues)
@folders
@marks
@store
@options.json
def train(important: Any, ordinary: Any, marks: str | None, store: Path | None, json: bool) -> None:
    """Learn from folders of both marks, in the order of the Date headers."""
    from rosenblatt.cli.mailing import train_folders

    train_folders(important, ordinary, marks, store, json)


@mail.command(cls=SeveralValues)
@folders
@click.option("--order", type=click.Choice(["date", "given"]), help="[default: date]")
@click.option("--trec", type=FILE, metavar="INDEX", help="A TREC index of messages, in its order.")
@options.json
def evaluate(
    important: Any, ordinary: Any, order: str | None, trec: Path | None, json: bool
) -> None:
    """Try a new filter on marked messages: each is tested, then learned.

    Prints the errors, how often it was unsure, the messages that scores put in the wrong order (100
    times 1 - ROC area), and a bound of the errors. No store is read or written.
    """
    from rosenblatt.cli.mailing import evaluate_folders

    evaluate_folders(important, ordinary, order, trec, json)


@mail.command
@message
@click.option("--top", type=click.IntRange(1), default=15, show_default=True, help="How many.")
@store
@options.json
def why(message: Path | None, top: int, store: Path | None, json: bool) -> None:
    """Print what weighed most in the mark of a MESSAGE, or of standard input."""
    from rosenblatt.cli.mailing import explain_message

    explain_message(message, top, store, json)


@mail.command
@message
@flag("--last", help="The latest correction, whatever it was.")
@store
@options.json
def undo(message: Path | None, last: bool, store: Path | None, json: bool) -> None:
    """Take back what was learned from a MESSAGE, or from the one on standard input.

    Of an mbox, a Maildir or a folder, from all messages in it. The weights become those without
    these corrections.
    """
    from rosenblatt.cli.mailing import undo_correction

    if last and message is not None:
        raise click.UsageError("give a MESSAGE or --last, not both")
    undo_correction(message, last, store, json)


@mail.command
@store
@options.json
def compact(store: Path | None, json: bool) -> None:
    """Keep what was learned, and drop the corrections, which can then no longer be undone."""
    from rosenblatt.cli.mailing import compact_store

    compact_store(store, json)


@mail.command
@click.argument("out", type=FILE)
@flag("--readable", help="Leave out what is damaged.")
@store
@options.json
def export(out: Path, readable: bool, store: Path | None, json: bool) -> None:
    """Write the filter and all corrections to a file of JSON lines."""
    from rosenblatt.cli.mailing import export_store

    export_store(out, readable, store, json)


@mail.command("import")
@click.argument("file", type=FILE)
@store
@options.json
def restore(file: Path, store: Path | None, json: bool) -> None:
    """Make a filter of a FILE that `export` wrote."""
    from rosenblatt.cli.mailing import import_store

    import_store(file, store, json)


@mail.command
@click.argument("host")
@click.option("--user", help="The user. [default: that of the credentials]")
@click.option(
    "--credentials",
    type=FILE,
    help="A netrc file: machine HOST login USER password ... [default: the keyring]",
)
@click.option("--port", type=int, help="The port. [default: 993, or 143 without TLS]")
@click.option(
    "--security", type=click.Choice(["tls", "starttls", "none"]), default="tls", show_default=True
)
@click.option("--inbox", default="INBOX", show_default=True, help="Where new mail comes in.")
@click.option("--ordinary", metavar="FOLDER", help="Learn what is moved there as ordinary.")
@click.option("--important", metavar="FOLDER", help="Learn what is moved there as important.")
@flag("--move", help="Move ordinary mail there, and learn what is moved back to the inbox.")
@click.option(
    "--poll", default=60.0, show_default=True, help="Seconds after which to look in all folders."
)
@flag("--once", help="Look once, and end.")
@store
def watch(host: str, store: Path | None, poll: float, once: bool, **said: Any) -> None:
    """Mark mail on the IMAP server HOST as it comes, by keywords, and learn from moved messages.

    The keywords are rosenblatt-important, rosenblatt-ordinary and rosenblatt-unsure. A broken
    connection is made again.
    """
    from rosenblatt.cli.mailing import watch_mailbox

    watch_mailbox(host, store, None if once else poll, said)
