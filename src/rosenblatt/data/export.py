"""Models for other programs: plain JSON, and ONNX; certificates for other checkers.

Models hold one hyperplane and the classes of its two sides, or one for each class if there are more
than two, and nothing else; `models` is the form that training goes on from.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.files import Name, write_atomically
from rosenblatt.data.scaling import Scaling, taken_apart
from rosenblatt.errors import InputError, optional_module
from rosenblatt.names import wanted_by

if TYPE_CHECKING:
    from rosenblatt.certificates import Certificate
    from rosenblatt.checker import Bounds, Row

JSON_FORMAT, JSON_FORMAT_MANY = "rosenblatt hyperplane 1", "rosenblatt hyperplanes 1"
ONNX_OPSET, ONNX_ML_OPSET, ONNX_IR = 17, 3, 8  # read by onnxruntime from 1.12 on
PROOFS = (".v", ".smt2", ".vipr")


def export(
    model: Any,
    path: Name,
    X: Any = None,
    y: Any = None,
    *,
    strict: Any = False,
    equal: Any = None,
    bounds: Any = None,
    family: str | None = None,
) -> None:
    """Write a fitted learner as a hyperplane, or a certificate as a proof, for other programs.

    A learner is written as ``.json`` or ``.onnx``. A certificate and its data give a proof that
    others can check: ``.v`` for Coq, ``.smt2`` for SMT solvers such as z3 and cvc5, ``.vipr`` for
    checkers of linear programs. It is checked first, and refused if it does not hold.

    JSON holds ``classes``, ``coef`` and ``intercept`` in double precision, each number as it reads
    back exactly; a row x belongs to ``classes[1]`` if x·coef + intercept > 0, else to
    ``classes[0]``; ``names`` are those of the columns, if they have any. With more than two
    classes, ``coef`` and ``intercept`` have an entry for each, and x belongs to the class with the
    largest score, the first of several. ONNX takes ``rows`` (float32) and gives ``labels`` and
    ``scores``, one column for each class, in single precision.

    Parameters
    ----------
    model : fitted learner, Pipeline, or certificate
        The predictions of a learner must come from hyperplanes: kernels and voted output are
        refused. Those of a scaler and a learner are given for rows as they are before the scaling.
    path : str or path
        The file to write; it ends in ``.json``, or in ``.onnx``, which needs
        ``pip install 'rosenblatt[onnx]'``; for a certificate, in ``.v``, ``.smt2`` or ``.vipr``.
    X : array-like or sparse matrix, or None, default=None
        The rows that a certificate is about, or the A of a system.
    y : array-like or None, default=None
        Their labels, or the b of a system.
    strict : bool or array-like of bool, default=False
        Which rows of a system are strict, as `solve` takes it.
    equal : bool, array-like of bool or None, default=None
        Which rows of a system are equations.
    bounds : pair, sequence of pairs or None, default=None
        The bounds of its unknowns.
    family : {"binomial", "poisson"} or None, default=None
        What y counts, if it holds no labels, as in `separate`.

    See Also
    --------
    save : Write a learner so that training can go on.

    Examples
    --------
    >>> import json, pathlib, tempfile, rosenblatt as rb
    >>> X, y, _ = rb.make_separable(50, 3, margin=0.1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "model.json")
    ...     rb.export(rb.Perceptron().fit(X, y), path)
    ...     sorted(json.loads(path.read_text()))
    ['classes', 'coef', 'format', 'intercept']
    """
    if Path(path).suffix.lower() in PROOFS or X is not None:
        how = {"strict": strict, "equal": equal, "bounds": bounds}
        _export_certificate(model, path, X, y, family, **how)
    else:
        write_hyperplanes(*taken_apart(model), path)


def write_hyperplanes(model: Any, scaling: Scaling | None, path: Name) -> None:
    """Write the hyperplanes of a learner, for rows as they are before the scaling."""
    suffix = Path(path).suffix.lower()
    writers = {".json": as_json, ".onnx": as_onnx}
    if suffix not in writers:
        raise InputError(
            f"{path} does not say how to export: end its name in .json or .onnx, for a certificate "
            "in .v, .smt2 or .vipr"
        )
    if getattr(model, "output", None) == "voted":
        raise InputError("a vote is not one hyperplane; train with output='averaged' to export")
    if not hasattr(model, "coef_"):
        raise InputError(
            f"a {type(model).__name__} has no hyperplane to export; its model file holds all of it"
        )
    coef, intercept = scaling.hyperplanes(model) if scaling else (model.coef_, model.intercept_)
    write_atomically(path, writers[suffix](model, coef, intercept))


def _export_certificate(
    given: Any, path: Name, X: Any, y: Any, family: str | None, **how: Any
) -> None:
    """Write a proof of what a certificate claims of data in hand."""
    from rosenblatt.check.verification import as_certificate, as_classes, held_against
    from rosenblatt.proofs.statement import rows_of
    from rosenblatt.proofs.writers import only_true

    claim = as_certificate(given)
    if X is None or y is None:
        raise InputError("a proof is about data: give those of the certificate as X and y")
    if family is not None:
        X, y = as_classes(X, y, family)
    with only_true():
        data = held_against(claim, X, y, **how)
    write_proof(claim, path, *rows_of(data))


def write_proof(claim: Certificate, path: Name, rows: Sequence[Row], bounds: Bounds = None) -> None:
    """Write a proof of what a certificate claims of rows and bounds, as the checker takes them."""
    from rosenblatt.proofs.writers import WRITERS, proof_text

    suffix, stem = Path(path).suffix.lower(), Path(path).stem
    if suffix not in WRITERS:
        raise InputError(f"{path} cannot hold a proof: end its name in {', '.join(WRITERS)}")
    if suffix == ".v" and not (stem.isidentifier() and stem.isascii()):
        raise InputError(f"{path} is not a name for Coq: use letters, digits and _ before .v")
    write_atomically(path, proof_text(suffix, claim, rows, bounds).encode())


def as_json(model: Any, coef: np.ndarray, intercept: np.ndarray) -> bytes:
    """Give hyperplanes as JSON, with the classes and the names of a model."""
    one, names = model.classes_.size == 2, wanted_by(model).columns.names
    parts = {
        "format": JSON_FORMAT if one else JSON_FORMAT_MANY,
        "classes": _plain_labels(model.classes_),
        **({} if names is None else {"names": list(names)}),
        "coef": coef[0].tolist() if one else coef.tolist(),
        "intercept": float(intercept[0]) if one else intercept.tolist(),
    }
    return json.dumps(parts, allow_nan=False).encode()


def as_onnx(model: Any, coef: np.ndarray, intercept: np.ndarray) -> bytes:
    """Give hyperplanes, with the classes of a model, as an ONNX graph of one linear classifier."""
    optional_module("onnx", "onnx")
    from onnx import TensorProto, helper

    labels = _plain_labels(model.classes_)
    words = isinstance(labels[0], str)
    names: dict[str, Any] = {"classlabels_strings" if words else "classlabels_ints": labels}
    weights = np.column_stack([coef, intercept]).astype(np.float32)
    if len(weights) == 1:
        weights = np.concatenate([-weights, weights])
    classifier = helper.make_node(
        "LinearClassifier",
        ["rows"],
        ["labels", "scores"],
        domain="ai.onnx.ml",
        coefficients=weights[:, :-1].ravel().tolist(),
        intercepts=weights[:, -1].tolist(),
        post_transform="NONE",
        **names,
    )
    kind = TensorProto.STRING if words else TensorProto.INT64
    graph = helper.make_graph(
        [classifier],
        "rosenblatt",
        [helper.make_tensor_value_info("rows", TensorProto.FLOAT, [None, weights.shape[1] - 1])],
        [
            helper.make_tensor_value_info("labels", kind, [None]),
            helper.make_tensor_value_info("scores", TensorProto.FLOAT, [None, len(labels)]),
        ],
    )
    opsets = [
        helper.make_opsetid("", ONNX_OPSET),
        helper.make_opsetid("ai.onnx.ml", ONNX_ML_OPSET),
    ]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=ONNX_IR)
    content: bytes = made.SerializeToString()
    return content


def _plain_labels(classes: np.ndarray) -> list[Any]:
    labels = classes.tolist()
    if len(labels) < 2:
        raise InputError("a model that has seen one class only cannot be exported")
    for kind in (bool, int, str):
        if all(type(label) is kind for label in labels):
            return [int(label) for label in labels] if kind is bool else labels
    if all(type(label) is float and label.is_integer() for label in labels):
        return [int(label) for label in labels]
    raise InputError("only labels that are whole numbers or strings can be exported")
