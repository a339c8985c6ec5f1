"""Watching a mailbox: marks new mail, and learns from messages that the user moves.

Each message that the filter has seen carries a keyword that says what it thought of it, and
keywords travel with a message when it is moved or copied. So nothing has to be remembered here:

- a message in the inbox without such a keyword is new: it gets one, and if asked for, what is
  ordinary is moved to its folder;
- a message in the folder of ordinary mail whose keyword says otherwise, or that has none, was put
  there by the user: it is learned as ordinary, and its keyword is changed;
- a message in the folder of important mail (the inbox itself, if ordinary mail is moved away) whose
  keyword says otherwise is learned as important.

While the filter moves a message, the keyword `MOVING` says that it was not the user.
"""

from __future__ import annotations

import netrc
import re
import ssl
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from rosenblatt.errors import InputError, optional_module
from rosenblatt.mail.documents import MOST_READ
from rosenblatt.mail.filter import UNSURE, Filter

MOVING = "rosenblatt-moving"
LONGEST_IDLE = 9 * 60.0  # servers hang up after ten to thirty minutes
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
SECURITY = ("tls", "starttls", "none")

Say = Callable[[str], None]


class Account(NamedTuple):
    """Where the mail is, and how to get in."""

    host: str
    user: str
    password: str
    port: int | None = None
    security: str = "tls"


@dataclass(frozen=True)
class Folders:
    """Folders by their meaning; with `moves`, ordinary mail goes to its folder."""

    inbox: str = "INBOX"
    ordinary: str | None = None
    important: str | None = None
    moves: bool = False

    def homes(self) -> list[tuple[str, bool]]:
        """Give the folders where the user puts messages, and whether they are important there."""
        important = self.important or (self.inbox if self.moves else None)
        found = [(self.ordinary, False), (important, True)]
        return [(name, first) for name, first in found if name is not None]


@dataclass
class MarkCounts:
    """What was done so far."""

    marked: int = 0
    moved: int = 0
    learned: int = 0

    def __str__(self) -> str:
        return f"{self.marked:,} marked, {self.moved:,} moved, {self.learned:,} learned"


def password_of(host: str, user: str | None, file: str | None) -> tuple[str, str]:
    """Give user and password from a netrc file, or from the keyring."""
    if file is not None:
        try:
            found = netrc.netrc(file).authenticators(host)
        except (OSError, netrc.NetrcParseError) as error:
            raise InputError(f"cannot read the credentials of {host}: {error}") from error
        if found is None or (user is not None and found[0] != user):
            wanted = host if user is None else f"{user} at {host}"
            raise InputError(f"{file} has no line `machine {host} login … password …` for {wanted}")
        return found[0] or user or "", found[2] or ""
    keyring = optional_module("keyring", "mail")
    if user is None:
        raise InputError("give --user, under whose name the keyring has the password")
    password = keyring.get_password(f"rosenblatt {host}", user)
    if password is None:
        raise InputError(
            f"the keyring has no password; run: keyring set 'rosenblatt {host}' {user}"
        )
    return user, password


class Watcher:
    """One connection, and what is done over it."""

    def __init__(self, client: Any, filter: Filter, folders: Folders, counts: MarkCounts) -> None:
        self.client, self.filter, self.folders, self.counts = client, filter, folders, counts
        names = (*filter.marks, UNSURE)
        self.keywords = {
            name: f"rosenblatt-{re.sub(r'[^A-Za-z0-9]+', '-', name)}" for name in names
        }

    def round(self) -> None:
        """Look at all folders once, at the inbox last, where the server is then listened to."""
        for name, important in self.folders.homes():
            self._learn_from(name, important)
        self._mark_new()

    def listen(self, seconds: float) -> None:
        """Wait until something happens in the inbox, or for some time."""
        if not self.client.has_capability("IDLE"):
            time.sleep(seconds)
            self.client.noop()
            return
        self.client.idle()
        try:
            self.client.idle_check(timeout=seconds)
        finally:
            self.client.idle_done()

    # ---- new mail

    def _mark_new(self) -> None:
        self._select(self.folders.inbox)
        nothing = [word for keyword in self.keywords.values() for word in ("UNKEYWORD", keyword)]
        for uid, message in self._messages(nothing):
            mark = self.filter.answer(message).mark
            moves = self.folders.moves and mark == self.filter.marks[1]
            self._label(uid, mark, MOVING if moves else None)
            self.counts.marked += 1
        if self.folders.moves and self.folders.ordinary is not None:
            uids = self.client.search(["KEYWORD", MOVING])
            self._move(uids, self.folders.ordinary)

    def _move(self, uids: list[int], folder: str) -> None:
        if not uids:
            return
        if self.client.has_capability("MOVE"):
            self.client.move(uids, folder)
        else:
            self.client.copy(uids, folder)
            self.client.delete_messages(uids)
            self.client.expunge(uids if self.client.has_capability("UIDPLUS") else None)
        self.counts.moved += len(uids)

    # ---- what the user moved

    def _learn_from(self, folder: str, important: bool) -> None:
        """Learn from messages whose keyword does not fit their folder."""
        self._select(folder)
        mark = self.filter.marks[0 if important else 1]
        self._settle(folder)
        wanted = ["UNKEYWORD", self.keywords[mark], "UNKEYWORD", MOVING]
        if folder == self.folders.inbox:  # what has no keyword there is new
            wanted += ["KEYWORD", self.keywords[self.filter.marks[1]]]
        for uid, message in self._messages(wanted):
            list(self.filter.learn([(message, important)]))
            self._label(uid, mark)
            self.counts.learned += 1

    def _settle(self, folder: str) -> None:
        """End the moves of the filter that have arrived."""
        if folder != self.folders.inbox and (uids := self.client.search(["KEYWORD", MOVING])):
            self.client.remove_flags(uids, [MOVING])

    # ---- the server

    def _select(self, folder: str) -> None:
        if not self.client.folder_exists(folder):
            self.client.create_folder(folder)
        allowed = self.client.select_folder(folder).get(b"PERMANENTFLAGS", ())
        known = {flag.decode("latin-1").lower() for flag in allowed}
        if "\\*" not in known and not {word.lower() for word in self.keywords.values()} <= known:
            raise InputError(f"the server keeps no keywords in {folder}; it cannot be watched")

    def _messages(self, wanted: list[str]) -> Iterator[tuple[int, bytes]]:
        """Give the messages that the server finds, one by one, no more of each than is used."""
        for uid in self.client.search(["UNDELETED", *wanted]):
            found = self.client.fetch([uid], [f"BODY.PEEK[]<0.{MOST_READ}>"]).get(uid, {})
            content = found.get(b"BODY[]<0>")
            if content is not None:  # else another client was faster
                yield uid, content

    def _label(self, uid: int, mark: str, more: str | None = None) -> None:
        """Replace the keyword of a message."""
        old = [word for name, word in self.keywords.items() if name != mark]
        self.client.remove_flags([uid], old)
        self.client.add_flags([uid], [self.keywords[mark], *([more] if more else [])])


@contextmanager
def connected(account: Account) -> Iterator[Any]:
    """Give a connection that is logged in."""
    imapclient = optional_module("imapclient", "mail")
    tls = account.security == "tls"
    client = imapclient.IMAPClient(account.host, port=account.port, ssl=tls, timeout=60)
    try:
        if account.security == "starttls":
            client.starttls(ssl.create_default_context())
        try:
            client.login(account.user, account.password)
        except imapclient.exceptions.LoginError as error:
            raise InputError(f"{account.host} does not let {account.user} in: {error}") from error
        yield client
    finally:
        client.shutdown()


def watch(
    account: Account, filter: Filter, folders: Folders, say: Say, rounds: Iterable[float]
) -> MarkCounts:
    """Mark and learn for some rounds, with waits of so many seconds at most between them.

    A connection that breaks is made again, after a second, then two, up to a minute.
    """
    imapclient = optional_module("imapclient", "mail")
    counts, waits, wait = MarkCounts(), chain([0.0], rounds), FIRST_WAIT
    while True:
        try:
            with connected(account) as client:
                watcher = Watcher(client, filter, folders, counts)
                for seconds in waits:
                    if seconds:
                        watcher.listen(min(seconds, LONGEST_IDLE))
                    watcher.round()
                    say(str(counts))
                    wait = FIRST_WAIT
                return counts
        except (OSError, imapclient.exceptions.IMAPClientError) as error:
            say(f"the connection to {account.host} broke ({error}); trying again in {wait:.0f} s")
            time.sleep(wait)
            wait, waits = min(2.0 * wait, LONGEST_WAIT), chain([0.0], waits)
