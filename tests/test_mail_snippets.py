"""The snippets of the page about mail, tried with the programs that they are for."""

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import imapclient
import pytest

from dovecot import PASSWORD, free_port, needed, serving, short_folder
from letters import letter, letters
from rosenblatt.mail.filter import Filter

PAGE = (Path(__file__).parent.parent / "docs" / "mail.md").read_text(encoding="utf-8")
COMMAND = Path(sys.executable).with_name("rosenblatt")
NOW = {"important": letter(800, True), "ordinary": letter(801, False)}


def snippet(name):
    """Give the block of the page that names this file at its beginning."""
    blocks = re.findall(r"```text\n(.*?)```", PAGE, re.S)
    return next(block for block in blocks if f" {name}" in "\n".join(block.split("\n")[:2]))


def program(name):
    """Give where a program is, or skip."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/usr/lib/dovecot")
    return found or pytest.skip(f"{name} is not installed")


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A filter that was taught, as the one that commands take."""
    filter = Filter.create(tmp_path / "store")
    list(filter.learn(letters(90)))
    filter.store.snapshot()
    filter.close()
    monkeypatch.setenv("ROSENBLATT_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("PATH", f"{COMMAND.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path / "store"


def delivered(folder):
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]


def test_procmail_sorts_mail(store, tmp_path):
    (tmp_path / "rc").write_text(snippet("~/.procmailrc"))
    for message in NOW.values():
        words = [
            program("procmail"),
            "-p",
            "-m",
            f"DEFAULT={tmp_path}/inbox/",
            f"MAILDIR={tmp_path}",
        ]
        subprocess.run([*words, "rc"], input=message, check=True, cwd=tmp_path)
    for folder, mark in (("inbox", "important"), ("ordinary", "ordinary")):
        (found,) = delivered(tmp_path / folder)
        assert f"X-Rosenblatt: {mark}; score=".encode() in found
        assert NOW[mark].partition(b"\n\n")[2] in found


def test_maildrop_sorts_mail(store, tmp_path):
    text = snippet("~/.mailfilter").replace("$HOME", str(tmp_path))
    text = text.replace(
        "/usr/local/bin/rosenblatt mail classify", f"{COMMAND} mail classify --store {store}"
    )
    path = tmp_path / "filter"
    path.write_text(f'DEFAULT="{tmp_path}/inbox"\n{text}')
    path.chmod(0o600)
    for part in ("cur", "new", "tmp"):
        (tmp_path / "Maildir" / ".ordinary" / part).mkdir(parents=True)
    for message in NOW.values():
        subprocess.run([program("maildrop"), path], input=message, check=True, cwd=tmp_path)
    assert b"X-Rosenblatt: important" in (tmp_path / "inbox").read_bytes()
    (found,) = delivered(tmp_path / "Maildir")
    assert b"X-Rosenblatt: ordinary" in found


def test_systemd_takes_the_unit(store, tmp_path, monkeypatch):
    unit = tmp_path / "rosenblatt-mail.service"
    text = snippet("~/.config/systemd/user/rosenblatt-mail.service")
    unit.write_text(text.replace("%h/.local/bin/rosenblatt", str(COMMAND)))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    words = [program("systemd-analyze"), "--user", "verify", unit]
    done = subprocess.run(words, capture_output=True, text=True)
    if "Failed to initialize manager" in done.stderr:
        pytest.skip("systemd cannot look at units of users here")
    assert (done.returncode, done.stderr) == (0, "")


def test_mutt_takes_the_macros(tmp_path):
    (tmp_path / "rc").write_text(snippet("~/.muttrc"))
    words = [program("mutt"), "-n", "-F", tmp_path / "rc", "-D"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "pipe_decode is unset" in done.stdout


def test_thunderbird_gets_a_tag_for_each_keyword():
    found = re.findall(
        r'^user_pref\("mailnews\.tags\.([\w-]+)\.(?:tag|color)", "[^"]+"\);$',
        snippet("user.js"),
        re.M,
    )
    assert found == [f"rosenblatt-{m}" for m in ("important", "ordinary", "unsure") for _ in "12"]


HAND_OVER = """#!/bin/sh
cd {folder}
cat > {name}.tmp
mv {name}.tmp {name}.in
while [ ! -e {name}.out ]; do sleep 0.1; done
cat {name}.out
rm {name}.out
"""


class Relay:
    """Runs the commands of scripts for a server whose user may not run this Python.

    The server's script hands its input over, in a folder that both can write to, and gets the
    output back.
    """

    def __init__(self, folder):
        self.folder, self.over, self.commands = folder, threading.Event(), {}
        folder.mkdir()
        folder.chmod(0o777)
        self.thread = threading.Thread(target=self.run)

    def script(self, path, content):
        """Put a script of the page in its place."""
        self.commands[path.name] = content
        path.parent.mkdir(exist_ok=True)
        path.write_text(HAND_OVER.format(folder=self.folder, name=path.name))
        path.chmod(0o755)

    def run(self):
        while not self.over.is_set():
            for name, content in list(self.commands.items()):
                if (given := self.folder / f"{name}.in").exists():
                    done = subprocess.run(
                        ["sh", "-c", content], input=given.read_bytes(), stdout=subprocess.PIPE
                    )
                    given.unlink()
                    (self.folder / "made").write_bytes(done.stdout)
                    (self.folder / "made").rename(self.folder / f"{name}.out")
            time.sleep(0.05)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.over.set()
        self.thread.join()


PIGEONHOLE = """
mail_location = maildir:{folder}/box
mail_home = {folder}
mail_uid = nobody
mail_gid = nogroup
first_valid_uid = 1
plugin {{
  sieve_plugins = sieve_extprograms
  sieve_extensions = +vnd.dovecot.filter
  sieve_filter_bin_dir = {folder}/bin
}}
"""


def test_sieve_sorts_mail(store):
    needed()
    tester = program("sieve-test")
    with short_folder() as folder, Relay(folder / "relay") as relay:
        folder.chmod(0o777)
        relay.script(folder / "bin" / "rosenblatt-classify", snippet("rosenblatt-classify"))
        (folder / "conf").write_text(PIGEONHOLE.format(folder=folder))
        (folder / "rosenblatt.sieve").write_text(snippet("rosenblatt.sieve"))
        (folder / "message").write_bytes(NOW["ordinary"])
        words = [tester, "-c", "conf", "-e", "-m", "INBOX", "rosenblatt.sieve", "message"]
        subprocess.run(words, check=True, cwd=folder, capture_output=True)
        (found,) = delivered(folder / "box" / ".ordinary" / "new")
        assert b"X-Rosenblatt: ordinary; score=" in found


def test_dovecot_teaches_what_is_moved(store):
    needed()
    program("sieve-test")  # comes with the plugin
    with short_folder() as folder, Relay(folder / "relay") as relay:
        learn = snippet("/etc/dovecot/sieve-bin/rosenblatt-ordinary")
        sieve = snippet("/etc/dovecot/sieve/learn-ordinary.sieve")
        (folder / "sieve").mkdir()
        (folder / "sieve").chmod(0o777)
        for mark in NOW:
            relay.script(folder / "bin" / f"rosenblatt-{mark}", learn.replace("ordinary", mark))
            path = folder / "sieve" / f"learn-{mark}.sieve"
            path.write_text(sieve.replace("rosenblatt-ordinary", f"rosenblatt-{mark}"))
        more = snippet("/etc/dovecot/conf.d/95-rosenblatt.conf")
        more = more.replace("/etc/dovecot/sieve-bin", f"{folder}/bin")
        more, port = more.replace("/etc/dovecot/sieve", f"{folder}/sieve"), free_port()
        with (
            serving(folder, port, more),
            imapclient.IMAPClient("127.0.0.1", port, ssl=False) as user,
        ):
            user.login("me", PASSWORD)
            user.create_folder("ordinary")
            user.select_folder("INBOX")
            user.append("INBOX", NOW["important"])
            user.move([1], "ordinary")
            assert taught(store, 91) == -1
            user.select_folder("ordinary")
            user.move([1], "INBOX")
            assert taught(store, 92) == 1


def taught(store, number):
    """Wait for the correction of this number; give its label."""
    filter = Filter(store)
    try:
        for _ in range(400):
            labels = [lesson.label for lesson in filter.store.journal.after(number - 1)]
            if labels:
                return labels[0]
            time.sleep(0.05)
    finally:
        filter.close()
    return None
