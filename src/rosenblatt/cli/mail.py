"""The commands of `rosenblatt mail`."""

from __future__ import annotations

from typing import Any

import click

from rosenblatt.cli import options
from rosenblatt.cli.options import FILE, done_in, flag

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
    """Mark mail as it arrives, and learn from corrections.

    Begin with `train`, or with `learn` on the first messages.
    """


@mail.command(context_settings={"allow_extra_args": True})
@flag("--exit-code", help="Exit with 0 if important, 1 if ordinary, 3 if unsure.")
@store
@flag("--json", help="Print JSON in place of the message.")
@done_in("mailing")
def classify() -> None:
    """Copy a message from standard input to standard output, with a header that marks it.

    The header is X-Rosenblatt: important|ordinary|unsure; score=...; an older one is removed. All
    else stays byte for byte as it is.
    """


@mail.command
@click.argument("messages", metavar="[MESSAGES]...", nargs=-1, type=FILE)
@flag("--important", help="They are important: the first mark.")
@flag("--ordinary", help="They are ordinary: the second mark.")
@click.option("--as", "name", help="They have the mark with this name.")
@marks
@store
@options.json
@done_in("mailing")
def learn() -> None:
    """Learn from MESSAGES: files, mboxes, Maildirs or folders; standard input if none is given."""


@mail.command(cls=SeveralValues)
@folders
@marks
@store
@options.json
@done_in("mailing")
def train() -> None:
    """Learn from folders of both marks, in the order of the Date headers."""


@mail.command(cls=SeveralValues)
@folders
@click.option(
    "--order",
    type=click.Choice(["date", "given"]),
    help="Test messages by their dates, or as they are given. [default: date]",
)
@click.option("--trec", type=FILE, metavar="INDEX", help="A TREC index of messages, in its order.")
@options.json
@done_in("mailing")
def evaluate() -> None:
    """Try a new filter on marked messages: each is tested, then learned.

    Prints the errors, how often it was unsure, 100·(1 - area under the ROC curve), and a proven
    bound on the errors. No store is read or written.
    """


@mail.command
@message
@click.option(
    "--top", type=click.IntRange(1), default=15, show_default=True, help="How many words."
)
@store
@options.json
@done_in("mailing")
def why() -> None:
    """Print the words that decided the mark of a MESSAGE, or of standard input."""


@mail.command
@message
@flag("--last", help="The latest correction, whatever it was.")
@store
@options.json
@done_in("mailing")
def undo() -> None:
    """Take back what was learned from a MESSAGE, or from the one on standard input.

    For an mbox, a Maildir or a folder, from all messages in it. The weights become exactly those
    without these corrections.
    """


@mail.command
@store
@options.json
@done_in("mailing")
def compact() -> None:
    """Keep what was learned, and drop the corrections, which can then no longer be undone."""


@mail.command
@click.argument("out", type=FILE)
@flag("--readable", help="Skip what is damaged.")
@store
@options.json
@done_in("mailing")
def export() -> None:
    """Write the filter and all corrections to a file of JSON lines."""


@mail.command("import")
@click.argument("file", type=FILE)
@store
@options.json
@done_in("mailing")
def restore() -> None:
    """Make a filter from a FILE that `export` wrote."""


@mail.command
@click.argument("host")
@click.option("--user", help="User name. [default: the one in the credentials]")
@click.option(
    "--credentials",
    type=FILE,
    help="A netrc file: machine HOST login USER password ... [default: the keyring]",
)
@click.option("--port", type=int, help="Port. [default: 993, or 143 without TLS]")
@click.option(
    "--security", type=click.Choice(["tls", "starttls", "none"]), default="tls", show_default=True
)
@click.option(
    "--inbox", default="INBOX", show_default=True, help="Folder in which new mail arrives."
)
@click.option("--ordinary", metavar="FOLDER", help="Learn messages moved there as ordinary.")
@click.option("--important", metavar="FOLDER", help="Learn messages moved there as important.")
@flag("--move", help="Move ordinary mail to its folder; learn messages moved back as important.")
@click.option(
    "--poll", default=60.0, show_default=True, help="Seconds between checks of all folders."
)
@flag("--once", help="Check once, then stop.")
@store
@done_in("mailing")
def watch() -> None:
    """Mark new mail on the IMAP server HOST with keywords, and learn from moved messages.

    The keywords are rosenblatt-important, rosenblatt-ordinary and rosenblatt-unsure. If the
    connection breaks, it is made again.
    """
