"""The API page is made of docstrings: MkDocs calls `on_page_markdown` for each page it builds."""

import inspect
import re

import rosenblatt as rb

DIRECTIVE = re.compile(r"^::: rb\.(\w+)$", re.MULTILINE)
TITLE = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
ENTRY = re.compile(r"^(?:(\w+) : )?(\S.*)\n((?:(?: {4}.*)?\n)*)", re.MULTILINE)
TABLES = ("Parameters", "Attributes", "Returns", "Raises")


def on_page_markdown(markdown, **_):
    """Put the documentation of a name where a page says `::: rb.NAME`."""
    return DIRECTIVE.sub(lambda found: documented(found[1]), markdown)


def documented(name):
    """Give a heading with the signature, the docstring and the methods of a public name."""
    thing = getattr(rb, name)
    shown = signature(thing) if not is_result(thing) else ""
    parts = [f"### `rb.{name}{shown}`", body(thing)]
    for method, function in methods(thing):
        parts += [f"**`.{method}{signature(function)}`**", body(function)]
    return "\n\n".join(parts)


def is_result(thing):
    """Tell whether users get such a thing rather than make it."""
    return inspect.isclass(thing) and "Parameters" not in sections(thing)


def methods(thing):
    """Give the methods of a class that are documented for users: with parameters or results."""
    members = inspect.getmembers(thing, inspect.isfunction) if inspect.isclass(thing) else []
    for name, function in members:
        ours = function.__module__.startswith("rosenblatt") and not name.startswith("_")
        if ours and {"Parameters", "Returns"} & sections(function).keys():
            yield name, function


def signature(thing):
    """Give the parameters and their defaults, without annotations."""
    kept = [
        parameter.replace(annotation=parameter.empty)
        for parameter in inspect.signature(thing).parameters.values()
        if parameter.name != "self" and parameter.kind is not parameter.VAR_KEYWORD
    ]
    shown = str(inspect.Signature(kept))
    return re.sub(r"<class '(?:\w+\.)*(\w+)'>", r"\1", shown).replace("=262144", "=2**18")


def sections(thing):
    """Give the sections of a docstring by title, its beginning as the first, without one."""
    first, *rest = TITLE.split(f"{inspect.getdoc(thing)}\n")
    return {"": first} | dict(zip(rest[::2], rest[1::2], strict=True))


def entries(text):
    """Give the entries of a section: name in backticks, type and meaning."""
    for name, kind, meaning in ENTRY.findall(text.strip("\n") + "\n"):
        yield name and f"`{name}`", kind, " ".join(meaning.split())


def body(thing):
    """Give a docstring as Markdown."""
    return "\n\n".join(filter(None, (_section(*each) for each in sections(thing).items())))


def _section(title, text):
    if title == "Examples":
        return f"```python\n{text.strip()}\n```"
    if title in TABLES:
        rows = [f"| {' | '.join(map(_cell, entry))} |" for entry in entries(text)]
        return "\n".join([f"| {title.lower()} | type | meaning |", "|---|---|---|", *rows])
    return _markdown(text.strip())


def _cell(text):
    return _markdown(text).replace("|", r"\|")


def _markdown(text):
    return text.replace("``", "`")
