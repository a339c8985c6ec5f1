"""The playground as a static page: an extension of Sphinx.

A page that is opened from disk may load scripts, but no modules: they go into one script.
"""

from pathlib import Path

from rosenblatt.lab.playground import modules, text

COPIED = ("theme.css", "style.css", "icon.svg")
MODULE = '<script type="module" src="page.js"></script>'
SCRIPT = '<script defer src="playground.js"></script>'


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
    page = text("index.html")
    assert page.count(MODULE) == 1
    script = '"use strict";\n{\n' + modules("page") + "}\n"
    copied = {name: text(name) for name in COPIED}
    return copied | {"index.html": page.replace(MODULE, SCRIPT), "playground.js": script}
