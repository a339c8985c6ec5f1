"""Fixtures that several files of tests share."""

import sys

import pytest

from rosenblatt.cli.main import run


@pytest.fixture
def shell(folder, monkeypatch, capsys):
    """Run a command in the folder; give its exit status, output and complaints."""
    monkeypatch.setattr("rosenblatt.cli.main._listen", lambda: None)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["rosenblatt", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            run()
        shown = capsys.readouterr()
        return ended.value.code or 0, shown.out, shown.err

    return call
