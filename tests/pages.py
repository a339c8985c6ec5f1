"""Pages of Markdown: their blocks of code, run as they stand and their links."""

import ast
import doctest
import os
import re
import shlex
import subprocess
import sys
from contextlib import ExitStack, redirect_stderr, redirect_stdout, suppress
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from unittest.mock import patch

from rosenblatt.cli.main import run

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
FENCE = re.compile(r"^```(.*)\n((?:.*\n)*?)^```$", re.MULTILINE)
INCLUDE = re.compile(r"^```{(literal)?include} (.*)\n((?:.*\n)*?)```$", re.MULTILINE)
PART = re.compile(r':start-after: "(.*)"\n:end-before: "(.*)"')
CELL = re.compile(r"^```{code-cell}.*\n(?::.*\n)*((?:.*\n)*?)^```$", re.MULTILINE)
DIRECTIVE = re.compile(r"^```{[\w-]+}.*\n(?:.*\n)*?^```$", re.MULTILINE)
COMMAND = re.compile(r"^\$ (.*\n(?:> .*\n)*)((?:(?!\$ ).*\n)*)", re.MULTILINE)
LOOSELY = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
# Commands that need no shell and no processes of their own: starting Python takes a second.
PLAIN = re.compile(r"rosenblatt [^|&;<>$*`\n]*\n")
LITERAL = r"True|False|'[^']*'|\([^)]*\)|-?\d[\d.]*(?:e-?\d+)?"
CLAIM = re.compile(rf"(\S.*?) {{2,}}# ({LITERAL})(?: |:|,|$)")


def read(page):
    """Give the text of a page, with the files in it that it includes."""
    folder = Path(page).parent
    whole = INCLUDE.sub(lambda match: _included(folder, *match.groups()), _text(page))
    return DIRECTIVE.sub("", whole)


def _included(folder, as_code, name, options):
    text = _text(folder / name)
    for begin, end in PART.findall(options):
        text = text.partition(begin)[2].partition(end)[0]
    return f"```python\n{text}```" if as_code else text


def _text(path):
    return Path(path).read_text(encoding="utf-8")


def blocks(page):
    """Give the blocks of a page: language and text."""
    return FENCE.findall(read(page))


def cells(page):
    """Give the code of a notebook."""
    return CELL.findall(_text(page))


def prose(page):
    """Give a page without its blocks of code."""
    return FENCE.sub("", read(page))


def run_console(text, names):
    """Run each command and compare what it prints; give how many there were."""
    commands = COMMAND.findall(text)
    for command, expected in commands:
        script = command.replace("\n> ", "\n")
        shown, complaint = (_here if PLAIN.fullmatch(script) else _in_a_shell)(script)
        same = doctest.OutputChecker().check_output(expected, shown, LOOSELY)
        assert same, f"{script}{shown}{complaint}"
    return len(commands)


def _here(script):
    out, err = (TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True) for _ in "12")
    wide = patch.dict(os.environ, {"COLUMNS": "80"})
    listen = patch("rosenblatt.cli.main._listen")
    typed = patch("sys.argv", shlex.split(script))
    alone = patch("rosenblatt.lab.runner.cores", return_value=1)
    caught = redirect_stdout(out), redirect_stderr(err), suppress(SystemExit)
    with ExitStack() as stack:
        for each in (typed, wide, listen, alone, *caught):
            stack.enter_context(each)
        run()
    return out.buffer.getvalue().decode(), err.buffer.getvalue().decode()


def _in_a_shell(script):
    folder = Path(sys.executable).parent
    settings = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80"}
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=settings)
    return done.stdout, done.stderr


def run_python(text, names):
    """Run a block with the names of those before; give how many statements there were."""
    return _run_examples(text, names) if ">>> " in text else _run_statements(text, names)


def _run_examples(text, names):
    examples = doctest.DocTestParser().get_doctest(text, names, "page", None, None)
    wrong = StringIO()
    failed, tried = doctest.DocTestRunner(optionflags=LOOSELY).run(
        examples, out=wrong.write, clear_globs=False
    )
    names.update(examples.globs)
    assert not failed, wrong.getvalue()
    return tried


def _run_statements(text, names):
    """Run statements; an expression with a comment that begins with its value must have it."""
    lines = text.splitlines()
    statements = ast.parse(text).body
    for statement in statements:
        if not isinstance(statement, ast.Expr):
            exec(compile(ast.Module([statement], []), "page", "exec"), names)
            continue
        value = eval(compile(ast.Expression(statement.value), "page", "eval"), names)
        claim = CLAIM.match(lines[statement.end_lineno - 1])
        if claim:
            first = value[0] if isinstance(value, tuple) and claim[2][0] != "(" else value
            shown = {repr(first), format(first, ".2g" * isinstance(first, float))}
            assert claim[2] in shown, f"{claim[0]} gives {value!r}"
    return len(statements)


RUNNERS = {"console": run_console, "python": run_python}


# ---- links

LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")


def links(page):
    """Give the links and pictures of a page: path, and the place in it or nothing."""
    return LINK.findall(prose(page))
