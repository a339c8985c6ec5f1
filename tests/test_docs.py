"""The pages of docs/: their commands and examples do what they show."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rosenblatt as rb
from bench import verdicts

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "certificates.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^\$ (.*\n(?:> .*\n)*)((?:(?!\$ ).*\n)*)", re.MULTILINE)
LOOSELY = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.skipif(sys.platform == "win32", reason="the commands are those of a POSIX shell")
@pytest.mark.parametrize("page", ["certificates.md", "svm.md"])
def test_every_block_of_a_page_gives_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(Path(rb.__file__).parent / "verify.py", tmp_path)
    blocks = BLOCK.findall((ROOT / "docs" / page).read_text(encoding="utf-8"))
    assert {language for language, _ in blocks} == {"console", "python"}
    names = {}
    for language, text in blocks:
        assert run_console(text) if language == "console" else run_python(text, names)


def run_console(text):
    """Run each command, compare what it prints, and give how many there were."""
    folder = Path(sys.executable).parent
    settings = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80"}
    commands = COMMAND.findall(text)
    for command, expected in commands:
        script = command.replace("\n> ", "\n")
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=settings)
        same = doctest.OutputChecker().check_output(expected, done.stdout, LOOSELY)
        assert same, f"{script}{done.stdout}{done.stderr}"
    return len(commands)


def run_python(text, names):
    """Run the examples of a block with the names of those before; give how many there were."""
    examples = doctest.DocTestParser().get_doctest(text, names, "page", None, None)
    failed, tried = doctest.DocTestRunner(optionflags=LOOSELY).run(examples, clear_globs=False)
    names.update(examples.globs)
    assert not failed
    return tried


def test_the_table_of_verdicts_is_that_of_the_data():
    lines = [tuple(map(str.strip, line.split("|")[1:-1])) for line in PAGE.splitlines()]
    begin = lines.index(verdicts.HEADER) + 2
    shown = lines[begin : lines.index((), begin)]
    # How wide a margin is found may depend on the machine.
    assert [line[:4] for line in shown] == [line[:4] for line in verdicts.lines()]
