"""What the commands of `rosenblatt mail` do.

To mark a message takes little time, of which most goes into loading code: what only the other
commands need is imported there.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from rosenblatt.cli.printing import doing, print_columns, show, tell
from rosenblatt.errors import InputError
from rosenblatt.mail.filter import MARKS, UNSURE, Filter, Marking, default_folder, marked

STATUS = {0: 0, 1: 1, -1: 3}  # of --exit-code: the first mark, the second, unsure


def classify(store: Path | None, exit_code: bool, json: bool) -> int:
    """Mark the message on standard input."""
    for name in click.get_current_context().args:
        raise click.UsageError(f"it reads standard input: rosenblatt mail classify < {name}")
    message = sys.stdin.buffer.read()
    if is_there(store):
        filter = _opened(store)
        answer, marks = filter.answer(message), filter.marks
    else:
        answer, marks = Marking(UNSURE, 0.0), MARKS  # nothing was learned yet
    if json:
        show({"mark": answer.mark, "score": answer.score}, json)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(marked(message, answer))
    return STATUS[marks.index(answer.mark) if answer.mark in marks else -1] if exit_code else 0


def learn(messages: tuple[Path, ...], store: Path | None, json: bool, **said: Any) -> None:
    """Learn from messages of one mark."""
    from rosenblatt.mail.messages import find

    filter = _created(store, said["marks"])
    first = _chosen(filter.marks, said)
    read = (place.read() for path in messages for place in find(path)) if messages else [_piped()]
    _learn(filter, ((content, first) for content in read), json)


def train(
    important: Iterable[Path],
    ordinary: Iterable[Path],
    marks: str | None,
    store: Path | None,
    json: bool,
) -> None:
    """Learn from folders of both marks."""
    from rosenblatt.mail.messages import by_date

    found = by_date(_found(important, ordinary))
    filter = _created(store, marks)
    _learn(filter, ((each.place.read(), each.important) for each in found), json)


def _learn(filter: Filter, messages: Iterable[tuple[bytes, bool]], json: bool) -> None:
    new = known = 0
    with doing("learning") as say:
        for receipt in filter.learn(messages):
            new, known = new + receipt.new, known + (not receipt.new)
            say(f"learned {new:,} messages")
    facts = {"learned": new, "known_already": known or (0 if json else None)}
    show(facts | {"store": str(filter.store.folder)}, json)
    sys.stdout.flush()
    _refresh(filter)


def _refresh(filter: Filter) -> None:
    """Write a snapshot, so that the next message is marked without delay; it may fail."""
    try:
        filter.store.snapshot()
    except InputError as error:
        tell(f"what was learned is stored, but no snapshot of it could be written: {error}")


def evaluate(
    important: Iterable[Path],
    ordinary: Iterable[Path],
    order: str | None,
    trec: Path | None,
    json: bool,
) -> None:
    """Try a new filter on marked messages."""
    from rosenblatt.mail import evaluation
    from rosenblatt.mail.messages import by_date, find_in_index

    with doing("looking for messages") as say:
        found = _found(important, ordinary) if trec is None else find_in_index(trec)
        if order == "date" or (order is None and trec is None):
            say(f"reading the dates of {len(found):,} messages")
            found = by_date(found)
        done = evaluation.evaluate(found, lambda k: say(f"{k:,} of {len(found):,} messages"))
    facts = {
        "messages": done.messages,
        "errors": done.errors,
        "unsure": done.unsure,
        "roca": None if math.isnan(done.roca) else done.roca,  # of one mark there is none
        "bound": done.bound,
        "seconds": round(done.seconds, 6),
    }
    show(facts if json else _for_people(facts), json)


def _for_people(facts: dict[str, Any]) -> dict[str, Any]:
    share, speed = facts["errors"] / facts["messages"], facts["messages"] / facts["seconds"]
    return facts | {
        "errors": f"{facts['errors']:,}, {share:.2%} of the messages",
        "unsure": f"{facts['unsure']:,}, counted among the errors where the guess was wrong",
        "roca": "unknown: all messages have one mark"
        if facts["roca"] is None
        else f"{facts['roca']:.3f}: 100·(1 - area under the ROC curve)",
        "bound": f"{facts['bound']:,.0f} errors at most, with the final weights as comparator",
        "seconds": f"{facts['seconds']:.2f}, {speed:,.0f} messages per second",
    }


def why(message: Path | None, top: int, store: Path | None, json: bool) -> None:
    """Print what weighed most."""
    filter = _opened(store)
    answer, reasons = filter.why(_message(message), top)
    if json:
        weights = [{"feature": name, "weight": weight} for name, weight in reasons]
        show({"mark": answer.mark, "score": answer.score, "reasons": weights}, json)
        return
    show({"mark": answer.mark, "score": answer.score}, json)
    first, second = filter.marks
    print_columns(
        [
            (f"{each.weight:+.4f}", first if each.weight > 0 else second, each.name)
            for each in reasons
        ]
        or [("", "", "none of its features was ever learned")]
    )


def undo(message: Path | None, last: bool, store: Path | None, json: bool) -> None:
    """Take back a correction."""
    from rosenblatt.mail.messages import find

    if last and message is not None:
        raise click.UsageError("give a MESSAGE or --last, not both")
    filter = _opened(store)
    if last:
        numbers = [filter.undo()]
    elif message is None or str(message) == "-":
        numbers = [filter.undo(_piped())]
    else:
        numbers = filter.undo_all(place.read() for place in find(message))
    facts = {"undone": len(numbers), "correction": numbers[-1], "store": str(filter.store.folder)}
    show(facts, json)
    sys.stdout.flush()
    _refresh(filter)


def compact(store: Path | None, json: bool) -> None:
    """Fold the journal."""
    filter = _opened(store)
    show({"compacted": filter.store.compact(), "store": str(filter.store.folder)}, json)


def export(out: Path, readable: bool, store: Path | None, json: bool) -> None:
    """Write all corrections to a file."""
    count = _opened(store).store.export(out, readable=readable)
    show({"corrections": count, "file": str(out)}, json)


def restore(file: Path, store: Path | None, json: bool) -> None:
    """Make a store of a file."""
    from rosenblatt.store.store import Store

    folder = store or default_folder()
    Store.restore(file, folder).close()
    filter = _opened(folder)
    show({"store": str(filter.store.folder)}, json)
    _refresh(filter)


# ---- what they share


def is_there(store: Path | None) -> bool:
    """Tell whether something was learned already."""
    from rosenblatt.store.store import JOURNAL

    return os.path.exists((store or default_folder()) / JOURNAL)


def _opened(store: Path | None) -> Filter:
    """Open a filter, and close it when the command ends."""
    return click.get_current_context().with_resource(closing(Filter(store)))


def _created(store: Path | None, marks: str | None) -> Filter:
    names = MARKS if marks is None else tuple(name.strip() for name in marks.split(","))
    if (
        len(set(names)) != 2
        or not all(names)
        or UNSURE in names
        or not " ".join(names).isprintable()
    ):
        raise click.UsageError(f"--marks takes two names such as work,other, not {marks!r}")
    Filter.create(store, (names[0], names[1])).close()
    filter = _opened(store)
    if marks is not None and filter.marks != names:
        raise InputError(f"this filter has the marks {' and '.join(filter.marks)} already")
    return filter


def _chosen(marks: tuple[str, str], said: dict[str, Any]) -> bool:
    """Give whether the first mark was chosen."""
    chosen = [said["important"], said["ordinary"], said["name"] is not None]
    if sum(chosen) != 1:
        raise click.UsageError("give one of --important, --ordinary and --as NAME")
    if said["name"] is not None and said["name"] not in marks:
        raise click.UsageError(f"--as takes {' or '.join(marks)}, not {said['name']!r}")
    return bool(said["important"] or said["name"] == marks[0])


def _found(important: Iterable[Path], ordinary: Iterable[Path]) -> list[Any]:
    from rosenblatt.mail.messages import Marked, find

    folders = [(path, True) for path in important] + [(path, False) for path in ordinary]
    twice = {path.resolve() for path in important} & {path.resolve() for path in ordinary}
    if twice:
        raise click.UsageError(f"{min(twice)} is given as important and as ordinary; choose one")
    if not folders:
        raise click.UsageError("give messages: --important DIR... --ordinary DIR...")
    return [Marked(place, first) for path, first in folders for place in find(path)]


def _message(path: Path | None) -> bytes:
    from rosenblatt.mail.messages import MessagePlace

    return _piped() if path is None or str(path) == "-" else MessagePlace(str(path)).read()


def _piped() -> bytes:
    """Read the message on standard input; a pipe that broke is no message."""
    message = sys.stdin.buffer.read()
    if not message:
        raise InputError("standard input is empty; pipe a message into the command")
    return message


def watch(host: str, store: Path | None, poll: float, once: bool, **said: Any) -> None:
    """Watch a mailbox until interrupted, or look once."""
    from itertools import repeat

    from rosenblatt.cli.printing import tell_plainly
    from rosenblatt.mail import imap

    if said["move"] and not said["ordinary"]:
        raise click.UsageError("--move needs --ordinary FOLDER to move to")
    user, password = imap.password_of(host, said["user"], said["credentials"])
    account = imap.Account(host, user, password, said["port"], said["security"])
    folders = imap.Folders(said["inbox"], said["ordinary"], said["important"], said["move"])
    waits = [] if once else repeat(poll)
    imap.watch(account, _created(store, None), folders, tell_plainly, waits)
