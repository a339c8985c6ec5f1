"""Options, labels and names of columns as JSON can hold them, and back.

Nothing here is code when it comes back: a file made of such parts can be read from strangers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.errors import InputError, ModelFileError
from rosenblatt.labels import as_objects
from rosenblatt.learners.base import Learner
from rosenblatt.matrices import Matrix

Settings = dict[str, Any]
Tensors = dict[str, np.ndarray]
CSR = ("data", "indices", "indptr")


def require(condition: bool, complaint: str) -> None:
    """Refuse parts that do not fit together."""
    if not condition:
        raise ModelFileError(complaint)


def array_of(
    tensors: Tensors, name: str, *shape: int, dtype: Any = np.float64, below: int | None = None
) -> np.ndarray:
    """Give an array: finite numbers, or whole ones from 0 on and below a limit, of this shape."""
    found = tensors[name]
    require(found.dtype == dtype, f"{name} is {found.dtype}, not {np.dtype(dtype)}")
    require(found.shape == shape, f"{name} has the shape {found.shape}, not {shape}")
    if found.dtype.kind == "f":
        require(bool(np.isfinite(found).all()), f"{name} holds NaN or infinity")
    else:
        inside = (found >= 0) & ((found < below) if below is not None else True)
        require(bool(inside.all()), f"{name} leads outside")
    return found


def put_matrix(matrix: Matrix, tensors: Tensors, name: str, dense: str) -> Settings:
    """Put stored rows among the tensors: the parts of sparse ones under a name, or dense ones."""
    if sparse.issparse(matrix):
        tensors |= {f"{name}.{part}": getattr(matrix, part) for part in CSR}
    else:
        tensors[dense] = matrix
    return {"sparse": sparse.issparse(matrix), "rows": matrix.shape[0]}


def matrix_from(parts: Settings, tensors: Tensors, name: str, dense: str, width: int) -> Matrix:
    """Give stored rows back."""
    shape = (int(parts["rows"]), width)
    if parts["sparse"]:
        arrays = tuple(tensors[f"{name}.{part}"] for part in CSR)
        matrix = sparse.csr_matrix(arrays, shape=shape)
        matrix.check_format(full_check=True)
    else:
        matrix = tensors[dense]
    require(matrix.shape == shape, "the stored rows have another width")
    return matrix


def option_parts(learner: Learner) -> Settings:
    """Give the options of a learner; those that are arrays are left to the caller."""
    options = learner.options()
    if isinstance(options.get("class_weight"), dict):
        pairs = options["class_weight"].items()
        options["class_weight"] = [[label_part(label), float(factor)] for label, factor in pairs]
    if "random_state" in options:
        options["random_state"] = _seed(options["random_state"])
    return {name: _number(value) for name, value in options.items()}


def options_from(options: Settings) -> Settings:
    """Give options back."""
    options = dict(options)
    if isinstance(options.get("class_weight"), list):
        pairs = options["class_weight"]
        options["class_weight"] = {label_from(label): factor for label, factor in pairs}
    return options


def _seed(value: Any) -> Any:
    if isinstance(value, np.integer):
        return int(value)
    if not isinstance(value, int | None):
        raise InputError("a learner whose random_state is a generator cannot be saved; give a seed")
    return value


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def shared_parts(learner: Learner) -> Settings:
    """Give what every learner has: options, classes, columns and their names."""
    names = getattr(learner, "feature_names_in_", None)
    return {
        "options": option_parts(learner),
        "classes": class_parts(learner.classes_),
        "columns": learner.n_features_in_,
        "names": None if names is None else [str(name) for name in names],
    }


def width_of(settings: Settings, least: int = 1) -> int:
    """Give the number of columns; refuse names of another number."""
    width, names = settings["columns"], settings["names"]
    require(type(width) is int and width >= least, "the number of columns is not one")
    fits = names is None or len(names) == width
    require(fits, "the names of the columns do not fit")
    return int(width)


def class_parts(classes: np.ndarray) -> Settings:
    """Give the labels of the classes, and the type of their array."""
    return {"labels": [label_part(k) for k in classes.tolist()], "dtype": classes.dtype.str}


def classes_from(parts: Settings) -> np.ndarray:
    """Give the classes back."""
    labels = [label_from(label) for label in parts["labels"]]
    require(len(set(labels)) == len(labels), "it names a class twice")
    dtype = np.dtype(parts["dtype"])
    return as_objects(labels) if dtype.kind == "O" else np.array(labels, dtype)


def label_part(label: Any) -> Any:
    """Give a label as JSON, with a tag where JSON has no such type."""
    if label is None or type(label) in (bool, int, float, str):
        return label
    if isinstance(label, np.generic):
        return label_part(label.item())
    if type(label) is bytes:
        return {"bytes": label.hex()}
    if type(label) is tuple:
        return {"tuple": [label_part(item) for item in label]}
    raise InputError(
        f"the label {label!r} cannot be saved; use numbers, strings, bytes or tuples of these"
    )


def label_from(label: Any) -> Any:
    """Give a label back."""
    if isinstance(label, dict) and "bytes" in label:
        return bytes.fromhex(label["bytes"])
    if isinstance(label, dict):
        return tuple(label_from(item) for item in label["tuple"])
    return label
