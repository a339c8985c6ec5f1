"""Pictures of one's own data: what they share.

Every `plot_…` gives a Matplotlib figure that no window and no global state knows about, or draws
into the axes that it is given, and writes it if a path is given. A sentence says what is seen: the
title and the label of the figure, or the title of the axes.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.lab.style import BLACK, COLOURS, MARKERS, look, new_figure, write_figure
from rosenblatt.labels import as_objects, distinct
from rosenblatt.matrices import Matrix, as_matrix, check_finite
from rosenblatt.names import column_names as frame_names
from rosenblatt.names import names_of

Name = str | os.PathLike[str]
FORMATS = (".svg", ".png", ".pdf")
MOST_STEPS = 400  # of a run that a line goes through; more of them make a blot
LETTERS_PER_INCH = 11  # of a title
LONGEST_WORD = 28  # characters of a label or a name; longer ones leave no room for the picture


def picture(
    sentence: str,
    draw: Callable[..., None],
    path: Name | None,
    size: tuple[float, float],
    ax: Any = None,
    panels: int = 1,
) -> Any:
    """Give a figure with a sentence as its title, whose axes `draw` fills; write it.

    If there are axes to draw into, the sentence is their title, and they are given back.
    """
    target = None if path is None else picture_file(path)
    with look():
        if ax is not None:
            _check_axes(ax)
            ax.set_title(_folded(sentence, ax), loc="left", fontsize=11)
            draw(ax)
        else:
            figure = new_figure(*size)
            figure.set_label(sentence)
            figure.suptitle(sentence, x=0.01, ha="left", fontsize=11)
            draw(*figure.subplots(1, panels, squeeze=False)[0])
    if target is not None:
        write_figure(figure if ax is None else whole_figure(ax), target)
    return figure if ax is None else ax


def _check_axes(ax: Any) -> None:
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise InputError(
            f"ax must be the axes to draw into, such as those of matplotlib.pyplot.subplots(), "
            f"got a {type(ax).__name__}"
        )


def whole_figure(axes: Any) -> Any:
    """Give the figure that axes are part of, which may be a part of it, too."""
    return axes.figure.canvas.figure


def is_alone(axes: Any) -> bool:
    """Tell whether axes are the whole picture, whose title is then that of the figure."""
    return not axes.get_title(loc="left")


def picture_file(path: Name) -> Path:
    """Give a name to write to, refusing those that name no format of pictures."""
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        raise InputError(
            f"{str(path)!r} does not say what to write: end its name in .svg, .png or .pdf"
        )
    return target


def shown(word: Any, longest: int = LONGEST_WORD) -> str:
    """Give a label or a name as a picture can show it: on one line, not too long, no formula."""
    text = " ".join(str(word).split())
    text = text if len(text) <= longest else f"{text[: longest - 1]}…"
    text = text.replace("$", r"\$")  # between two of them Matplotlib would read a formula
    return f" {text}" if text.startswith("_") else text  # which legends would leave out


def counted(misclassified: np.ndarray) -> str:
    """Say how many of the examples are misclassified."""
    wrong, n = int(np.count_nonzero(misclassified)), misclassified.size
    return f"{wrong:,} of {n:,} misclassified" if wrong else f"none of {n:,} misclassified"


def several(count: int, word: str) -> str:
    """Give a number with its word, in the singular or the plural."""
    ending = "" if count == 1 else "es" if word.endswith("s") else "s"
    return f"{count:,} {word}{ending}"


def look_of(place: int) -> dict[str, str]:
    """Give colour and marker of a class, no two alike among the first 49."""
    return {"color": COLOURS[place % 7], "marker": MARKERS[(place + place // 7) % 7]}


# ---- rows


def usable(X: Any) -> Matrix:
    """Give X as a matrix of finite numbers."""
    matrix = as_matrix(X)
    check_finite(matrix)
    return matrix


def column_names(X: Any, given: Any, width: int) -> list[str] | None:
    """Give the names of the columns: those given, or those of a frame; None if there are none."""
    if given is None:
        given = names_of(X) or frame_names(X)
    if given is None:
        return None
    names = [str(name) for name in given]
    if len(names) != width:
        raise InputError(f"names are {len(names)}, but X has {width} columns; give one for each")
    return names


def rows_like(X: Any, rows: np.ndarray) -> Any:
    """Give rows as a frame of the kind of X, if X is one: models may know columns by name."""
    if hasattr(X, "column_names"):
        return type(X).from_arrays(list(rows.T), names=X.column_names)
    if hasattr(X, "iloc"):
        return type(X)(rows, columns=X.columns)
    if hasattr(X, "columns"):
        return type(X)(rows, schema=list(X.columns))
    return rows


def sampled(n: int, most: int) -> np.ndarray:
    """Give all row numbers, or a fixed random choice of them if there are more than enough."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))


def thinned(n: int) -> np.ndarray:
    """Give all places of a sequence, or `MOST_STEPS` of them, evenly, the ends among them."""
    return np.linspace(0, n - 1, min(n, MOST_STEPS)).round().astype(np.intp)


def caption(axes: Any, words: str) -> None:
    """Write what must be known to read a picture below it."""
    if words and is_alone(axes):
        axes.figure.supxlabel(words, fontsize=10, color=BLACK)
    elif words:
        axes.set_xlabel(f"{axes.get_xlabel()}\n{_folded(words, axes)}".strip())


def _folded(words: str, axes: Any) -> str:
    """Break words into lines that are no wider than axes."""
    inches = axes.get_window_extent().width / axes.figure.dpi
    return textwrap.fill(words, max(20, int(inches * LETTERS_PER_INCH)))


def legend(axes: Any, place: str, **manner: Any) -> None:
    """Explain what is drawn ``"above"`` or ``"beside"`` axes; in them if others may be there."""
    outside: dict[str, Any] = {
        "above": {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2},
        "beside": {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0},
    }
    inside: dict[str, Any] = {"loc": "best", "frameon": True}
    axes.legend(**(outside[place] if is_alone(axes) else inside), **manner)


# ---- models


def last_step(model: Any) -> Any:
    """Give what answers in the end: the last step of a pipeline, the winner of a search."""
    if hasattr(model, "best_estimator_"):
        return last_step(model.best_estimator_)
    return last_step(model.steps[-1][1]) if getattr(model, "steps", None) else model


def has_steps_before(model: Any) -> bool:
    """Tell whether what answers in the end sees other rows than the model is asked about."""
    return len(getattr(getattr(model, "best_estimator_", model), "steps", ())) > 1


def ask(model: Any, method: str, X: Any) -> np.ndarray:
    """Ask a model about rows; what it refuses is an `InputError`, whoever wrote the model."""
    if isinstance(model, type) or not hasattr(model, method):
        name = model.__name__ if isinstance(model, type) else type(model).__name__
        raise InputError(f"a picture needs a fitted model with the method {method}, got {name}")
    try:
        return np.asarray(getattr(model, method)(X))
    except InputError:
        raise
    except ValueError as error:  # among them scikit-learn's NotFittedError
        raise InputError(" ".join(str(error).split())) from error


def classes_of(model: Any, *labels: np.ndarray | None) -> np.ndarray:
    """Give the classes of a model; if it does not name them, those among the labels."""
    known = getattr(model, "classes_", None)
    if known is not None:
        classes = np.asarray(known)
    else:
        every = [label for some in labels if some is not None for label in some.tolist()]
        classes = distinct(as_objects(every))
    if classes.size < 2:
        raise InputError(
            f"there is one class only, {classes.tolist()[0]!r}; a boundary needs two of them"
        )
    return classes


def codes_of(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Give for each label the place of its class."""
    places = {label: place for place, label in enumerate(classes.tolist())}
    found = [places.get(label, -1) for label in labels.tolist()]
    if -1 in found:
        stranger = labels.tolist()[found.index(-1)]
        some = ", ".join(map(repr, classes.tolist()[:5])) + (", …" if classes.size > 5 else "")
        raise InputError(f"label {stranger!r} is not one of the model's classes, {some}")
    return np.array(found, np.intp)


def zero_is_positive(model: Any) -> bool:
    """Tell whether a score of 0 is an answer to a model, by the second rule of theory D2."""
    return bool(getattr(last_step(model), "tie", None) == "positive")
