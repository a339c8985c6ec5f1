"""A real IMAP server on loopback, in a folder of its own: Debian's dovecot-imapd."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

PASSWORD = "secret"
CONFIGURATION = """
protocols = imap
listen = 127.0.0.1
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/log
ssl = no
disable_plaintext_auth = no
mail_location = maildir:{folder}/mail/%u
first_valid_uid = 1
auth_failure_delay = 0
service anvil {{
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid=nobody gid=nogroup home={folder}/mail/%u
}}
service imap-login {{
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
"""


def needed():
    """Skip where the server is not, or may not be started."""
    if shutil.which("dovecot") is None:
        pytest.skip("Debian's dovecot-imapd is not installed")
    if os.geteuid():
        pytest.skip("dovecot is started by root alone")


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@contextmanager
def short_folder():
    """Give a folder with a short name: those of sockets may have a hundred bytes."""
    with tempfile.TemporaryDirectory(prefix="dv") as name:
        os.chmod(name, 0o755)
        yield Path(name)


@contextmanager
def serving(folder, port, more=""):
    """Run the server."""
    (folder / "mail").mkdir(exist_ok=True)
    shutil.chown(folder / "mail", "nobody", "nogroup")
    text = CONFIGURATION.format(folder=folder, port=port, password=PASSWORD) + more
    (folder / "dovecot.conf").write_text(text)
    server = subprocess.Popen(["dovecot", "-F", "-c", folder / "dovecot.conf"])
    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.05)
        yield
    finally:
        server.terminate()
        server.wait()
