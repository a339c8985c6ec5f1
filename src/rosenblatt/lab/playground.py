"""The playground: its modules in one script, and as a widget for Jupyter and marimo.

The page of the service is made of modules. A page that is opened from disk and a widget may have
no other files, so that each module becomes a function that gives what it exports.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import resources
from typing import Any

from rosenblatt.errors import optional_module
from rosenblatt.lab.frames import points_of_the_plane
from rosenblatt.labels import as_signs
from rosenblatt.online.driver import ORDERS
from rosenblatt.options import flag, one_of

FOLDER = resources.files("rosenblatt").joinpath("serve", "pages", "play")
MOST_POINTS = 200  # as many as the page takes
IMPORT = re.compile(r'^import (?:\* as (\w+)|(\{[^}]*\})) from "\./(\w+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?(?:const|class|function\*?) )(\w+)", re.MULTILINE)
BODY = re.compile("<main>.*(?=<noscript>)", re.DOTALL)
# Each view has modules of its own, in a tree of its own, which styles of the notebook do not reach;
# JupyterLab leaves the keys to it.
WIDGET = """export default {{ render({{ model, el }}) {{
const host = document.createElement("div");
host.dataset.lmSuppressShortcuts = "true";
el.replaceChildren(host);
const root = host.attachShadow({{ mode: "open" }});
root.innerHTML = {tree};
{modules}return widget_js.render(model, root);
}} }};
"""


def playground(X: Any, y: Any, *, order: str = "cycle", fit_intercept: bool = True) -> Any:
    """Show points in the playground, as a widget for Jupyter and marimo.

    Step through the run mistake by mistake, drag the points, and see the verdict change. All
    algorithms run in the browser, in exact arithmetic where they decide.

    Parameters
    ----------
    X : array-like of shape (n_samples, 2)
        Up to 200 points of the plane.
    y : array-like of shape (n_samples,)
        Their labels, of two classes; the second one, in sorted order, is positive, and orange.
    order : {"cycle", "shuffle", "random", "worst", "first"}, default="cycle"
        Which point comes next, as in `Perceptron`.
    fit_intercept : bool, default=True
        Whether the line may miss the origin.

    Returns
    -------
    widget : anywidget.AnyWidget
        Its trait ``points`` has a triple (x, y, label) for each point, with +1 and -1 for labels,
        and follows what is drawn. Needs ``pip install 'rosenblatt[widget]'``.

    See Also
    --------
    animate : A run as a page or a GIF.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> widget = rb.playground([[0, 0], [1, 0], [0, 1], [1, 1]], ["no", "no", "no", "yes"])
    >>> widget.points[-1]
    [1.0, 1.0, 1]
    """
    anywidget = optional_module("anywidget", "widget")
    points, labels, classes = points_of_the_plane(X, y, "the playground", MOST_POINTS)
    settings = {
        "order": one_of("order", order, ORDERS),
        "affine": flag("fit_intercept", fit_intercept),
    }
    signs = as_signs(labels, classes).tolist()
    shown = [[*point, int(sign)] for point, sign in zip(points.tolist(), signs, strict=True)]
    return _kind(anywidget.AnyWidget)(points=shown, settings=settings)


@cache
def _kind(base: Any) -> Any:
    """Give the class of the widget, made when it is first asked for: its base takes long."""
    traits = optional_module("traitlets", "widget")
    kept = {"points": traits.List().tag(sync=True), "settings": traits.Dict().tag(sync=True)}
    return type("Playground", (base,), {"_esm": module(), **kept})


def module() -> str:
    """Give the widget as the module that anywidget asks for."""
    body = BODY.search(text("index.html"))
    assert body is not None
    tree = f"<style>{text('theme.css')}{text('style.css')}</style>{body[0]}"
    return WIDGET.format(tree=json.dumps(tree), modules=modules("widget"))


def modules(first: str) -> str:
    """Give a module and all that it imports as constants of one script."""
    written: dict[str, str] = {}

    def write(name: str) -> None:
        if name in written:
            return
        code = text(f"{name}.js")
        for *_, other in IMPORT.findall(code):
            write(other)
        code = IMPORT.sub(lambda found: f"const {found[1] or found[2]} = {found[3]}_js;\n", code)
        exported = ", ".join(name for _, name in EXPORT.findall(code))
        body = EXPORT.sub(r"\1\2", code)
        written[name] = f"const {name}_js = (() => {{\n{body}return {{ {exported} }};\n}})();\n"

    write(first)
    return "".join(written.values())


def text(name: str) -> str:
    """Give a file of the page."""
    return FOLDER.joinpath(name).read_text("utf-8")
