"""How Sphinx builds the site. What it builds needs no network: no page fetches anything."""

import inspect
import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # for the extension `playground`

project = "rosenblatt"
author = copyright = "The rosenblatt developers, BSD-3-Clause"
version = release = installed("rosenblatt")

extensions = [
    "myst_nb",
    "numpydoc",
    "playground",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_click",
]
exclude_patterns = ["lab/**/*.md", "**/cases", "_templates"]
templates_path = ["_templates"]
default_role = "literal"  # a name in backticks is code, in docstrings as in Markdown

# Markdown and notebooks
myst_heading_anchors = 4
nb_execution_mode = "cache"
nb_execution_in_temp = True  # cells write files
nb_execution_timeout = 240
nb_execution_raise_on_error = True
nb_merge_streams = True

# The API, from docstrings
autosummary_generate = True
autodoc_typehints = "none"  # the docstrings have them
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# The theme
html_theme = "pydata_sphinx_theme"
html_title = f"rosenblatt {version}"
html_extra_path = ["lab"]  # the report and what it links to
html_static_path = ["assets"]
html_css_files = ["extra.css"]
html_context = {"default_mode": "auto"}
html_show_search_summary = False  # it would fetch pages, which those opened from disk may not
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "rosenblatt"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def skip_member(app, what, name, thing, skip, options):
    """Leave out what comes from other packages, and methods not documented for users."""
    function = getattr(thing, "fget", None) or thing
    ours = (getattr(function, "__module__", None) or "").startswith("rosenblatt")
    text = inspect.getdoc(function) or ""
    told = text if function is not thing else "Parameters\n---" in text or "Returns\n---" in text
    return skip or name.startswith("_") or not ours or not told


def setup(app):
    """Tell Sphinx what is ours."""
    app.connect("autodoc-skip-member", skip_member)
