"""The playground as a static page: an extension of Sphinx.

A page that is opened from disk may load scripts, but no modules. So the modules of the playground
go into one script here, each as a function that gives what it exports; else nothing changes.
"""

import re
from importlib import resources
from pathlib import Path

FOLDER = resources.files("rosenblatt").joinpath("serve", "pages", "play")
COPIED = ("theme.css", "style.css", "icon.svg")
MODULE = '<script type="module" src="page.js"></script>'
SCRIPT = '<script defer src="playground.js"></script>'
IMPORT = re.compile(r'^import (?:\* as (\w+)|(\{[^}]*\})) from "\./(\w+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?(?:const|class|function\*?) )(\w+)", re.MULTILINE)


def setup(app):
    """Have the page written beside the others."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write(app, error):
    """Write the files of the static page into the site."""
    folder = Path(app.outdir) / "play"
    folder.mkdir(exist_ok=True)
    for name, content in static().items():
        (folder / name).write_text(content, encoding="utf-8")


def static():
    """Give the files of the static page by name."""
    page = _text("index.html")
    assert page.count(MODULE) == 1
    copied = {name: _text(name) for name in COPIED}
    return copied | {"index.html": page.replace(MODULE, SCRIPT), "playground.js": bundle()}


def bundle(first="page"):
    """Give a module and all that it imports as one script."""
    written = {}

    def write(name):
        if name in written:
            return
        text = _text(f"{name}.js")
        for *_, other in IMPORT.findall(text):
            write(other)
        text = IMPORT.sub(lambda found: f"const {found[1] or found[2]} = {found[3]}_js;\n", text)
        exported = ", ".join(name for _, name in EXPORT.findall(text))
        body = EXPORT.sub(r"\1\2", text)
        written[name] = f"const {name}_js = (() => {{\n{body}return {{ {exported} }};\n}})();\n"

    write(first)
    return '"use strict";\n{\n' + "".join(written.values()) + "}\n"


def _text(name):
    return FOLDER.joinpath(name).read_text("utf-8")
