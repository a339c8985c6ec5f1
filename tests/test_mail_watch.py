"""Watching a real mailbox: mail is marked, and what the user moves is learned."""

import re
import subprocess
import sys
import threading
import time

import imapclient
import pytest

from dovecot import PASSWORD, free_port, needed, serving, short_folder
from letters import letter, letters
from rosenblatt.errors import InputError
from rosenblatt.mail.filter import Filter
from rosenblatt.mail.imap import Account, Folders, password_of, watch

HOST = "127.0.0.1"


@pytest.fixture(scope="module")
def server():
    needed()
    port = free_port()
    with short_folder() as folder, serving(folder, port):
        yield folder, port


@pytest.fixture
def account(server, request):
    """An account of its own for each test."""
    return Account(HOST, re.sub(r"\W", "", request.node.name)[-30:], PASSWORD, server[1], "none")


@pytest.fixture
def taught(tmp_path):
    filter = Filter.create(tmp_path / "store")
    list(filter.learn(letters(90)))
    filter.store.snapshot()
    yield filter
    filter.close()


@pytest.fixture
def user(account):
    """The user's own mail program."""
    with imapclient.IMAPClient(HOST, account.port, ssl=False) as client:
        client.login(account.user, PASSWORD)
        for folder in ("Junk", "Keep"):
            client.create_folder(folder)
        client.select_folder("INBOX")
        yield client


def found(user, folder):
    """The messages of a folder, by subject line: their keywords."""
    user.select_folder(folder)
    fetched = user.fetch(user.search(), ["FLAGS", "BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)]"])
    return {
        next(v for k, v in each.items() if k.startswith(b"BODY")): {
            flag.decode() for flag in each[b"FLAGS"] if flag.startswith(b"rosenblatt")
        }
        for each in fetched.values()
    }


def once(account, filter, folders):
    return watch(account, filter, folders, lambda said: None, [])


def test_new_mail_is_marked_by_keywords_and_left_unread(account, taught, user):
    user.append("INBOX", letter(900, True))
    user.append("INBOX", letter(901, False))
    counts = once(account, taught, Folders(ordinary="Junk"))
    assert (counts.marked, counts.moved, counts.learned) == (2, 0, 0)
    keywords = list(found(user, "INBOX").values())
    assert keywords == [{"rosenblatt-important"}, {"rosenblatt-ordinary"}]
    assert not any(b"\\Seen" in each[b"FLAGS"] for each in user.fetch([1, 2], ["FLAGS"]).values())
    assert once(account, taught, Folders(ordinary="Junk")).marked == 0


@pytest.mark.parametrize("how", ["move", "copy"])
def test_what_the_user_moves_or_copies_is_learned(account, taught, user, how):
    folders = Folders(ordinary="Junk", important="Keep")
    messages = letter(910, True), letter(911, False)
    for message in messages:
        user.append("INBOX", message)
    once(account, taught, folders)
    user.select_folder("INBOX")
    getattr(user, how)([1], "Junk")
    getattr(user, how)([2], "Keep")
    scores = [taught.answer(message).score for message in messages]
    counts = once(account, taught, folders)
    assert (counts.marked, counts.learned) == (0, 2)
    assert list(found(user, "Junk").values()) == [{"rosenblatt-ordinary"}]
    assert list(found(user, "Keep").values()) == [{"rosenblatt-important"}]
    after = [taught.answer(message).score for message in messages]
    assert after[0] < scores[0]
    assert after[1] > scores[1]
    assert once(account, taught, folders).learned == 0


@pytest.mark.parametrize("capable", [True, False])
def test_ordinary_mail_is_moved_and_what_comes_back_is_learned(
    account, taught, user, capable, monkeypatch
):
    if not capable:
        has = imapclient.IMAPClient.has_capability
        monkeypatch.setattr(
            imapclient.IMAPClient,
            "has_capability",
            lambda client, name: name not in ("MOVE", "IDLE") and has(client, name),
        )
    folders = Folders(ordinary="Junk", moves=True)
    for seed in (920, 921, 922):
        user.append("INBOX", letter(seed, seed == 921))
    counts = once(account, taught, folders)
    assert (counts.marked, counts.moved, counts.learned) == (3, 2, 0)
    assert len(found(user, "INBOX")) == 1
    once(account, taught, folders)
    assert list(found(user, "Junk").values()) == [{"rosenblatt-ordinary"}] * 2
    user.copy([1], "INBOX")
    user.delete_messages([1])
    user.expunge([1])
    counts = once(account, taught, folders)
    assert (counts.moved, counts.learned) == (0, 1)
    assert list(found(user, "INBOX").values()) == [{"rosenblatt-important"}] * 2
    assert len(found(user, "Junk")) == 1


@pytest.fixture
def place():
    needed()
    with short_folder() as folder:
        yield folder


def test_a_watcher_hears_of_new_mail_and_survives_a_server_that_goes(place, taught, monkeypatch):
    monkeypatch.setattr("rosenblatt.mail.imap.FIRST_WAIT", 0.05)
    port = free_port()
    said, account = [], Account(HOST, "me", PASSWORD, port, "none")
    waits = iter(lambda: 20.0 if len(said) < 50 else None, None)

    def run():
        filter = Filter(taught.store.folder)  # a thread has its own
        watch(account, filter, Folders(), said.append, waits)
        filter.close()

    def await_(words):
        for _ in range(400):
            if any(words in each for each in said):
                return
            time.sleep(0.05)
        raise AssertionError(said)

    def deliver(seed):
        with imapclient.IMAPClient(HOST, port, ssl=False) as client:
            client.login("me", PASSWORD)
            client.append("INBOX", letter(seed, True))

    watcher = threading.Thread(target=run, daemon=True)
    with serving(place, port):
        watcher.start()
        await_("0 marked")
        deliver(930)
        await_("1 marked")
    await_("trying again")
    with serving(place, port):
        deliver(931)
        await_("2 marked")
        said.extend(["enough"] * 50)
        deliver(932)
        watcher.join(30)
        assert not watcher.is_alive()


def test_passwords_come_from_a_file_or_the_keyring_and_are_refused_in_a_sentence(
    account, taught, tmp_path, monkeypatch
):
    secrets = tmp_path / "netrc"
    secrets.write_text(f"machine {HOST} login me password {PASSWORD}\n")
    secrets.chmod(0o600)
    assert password_of(HOST, None, str(secrets)) == ("me", PASSWORD)
    with pytest.raises(InputError, match="has no line `machine other"):
        password_of("other", None, str(secrets))
    monkeypatch.setattr("keyring.get_password", lambda place, user: f"{place} {user}")
    assert password_of(HOST, "me", None) == ("me", f"rosenblatt {HOST} me")
    with pytest.raises(InputError, match="does not let me in"):
        once(account._replace(user="me", password="wrong"), taught, Folders())
    words = [sys.executable, "-m", "rosenblatt", "mail", "watch", HOST, "--once", "--security"]
    words += ["none", "--port", str(account.port), "--credentials", secrets]
    done = subprocess.run(
        [*words, "--store", taught.store.folder], capture_output=True, text=True, check=True
    )
    assert done.stderr == "0 marked, 0 moved, 0 learned\n"
