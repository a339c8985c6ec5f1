"""Model files: safetensors for the arrays, JSON in its header for the rest; data, never code.

Layout      one safetensors file, float64 and integer tensors; its metadata hold
            "format"    "rosenblatt model 3"; the number is one more whenever what is below changes
                        so that files written before can no longer be read
            "learner"   the class, one of `KINDS`
            "settings"  JSON: options, classes, rule, run, what the columns are
            "digest"    SHA-256 of the settings and of every tensor's name, type, shape and bytes
            A learner of scaled columns is a "rosenblatt scaled model 3": `scaling` in its settings,
            and two more tensors. Nothing depends on time: the same run gives the same bytes.
Older       in version 2, there was one counter less: its mistakes were all its updates
Promise     save → load → go on training gives the weights of never having stopped
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.certificate_base import Certificate
from rosenblatt.data.files import write_atomically
from rosenblatt.data.scaling import Scaling, taken_apart
from rosenblatt.data.sources import contents, is_pipe
from rosenblatt.errors import InputError, ModelFileError
from rosenblatt.learners.base import Learner, join
from rosenblatt.names import Columns

VERSION, OLDER = 3, 2
FORMAT, SCALED_FORMAT = f"rosenblatt model {VERSION}", f"rosenblatt scaled model {VERSION}"


class Kind(NamedTuple):
    """Where a kind of learner lives: its class, and its two translators.

    They are named, not imported: a command loads the kind that it deals with, and no other.
    """

    module: str
    parts: str
    back: str


KINDS = {
    "Perceptron": Kind("perceptron", "parts.perceptron_parts", "parts.perceptron_from"),
    "OnlineSVM": Kind("online_svm", "parts.online_svm_parts", "parts.online_svm_from"),
    "KernelPerceptron": Kind(
        "kernel_perceptron", "kernel_parts.kernel_parts", "kernel_parts.kernel_from"
    ),
    "SoftMarginSVM": Kind("soft_margin", "svm_parts.soft_parts", "svm_parts.soft_from"),
    "HardMarginSVM": Kind("hard_margin", "svm_parts.hard_parts", "svm_parts.hard_from"),
}


def learner_class(name: str) -> type[Learner]:
    """Give the class of a kind of learner."""
    found: type[Learner] = _named(f"{KINDS[name].module}.{name}")
    return found


def _named(place: str) -> Any:
    module, _, name = place.rpartition(".")
    return getattr(import_module(f"rosenblatt.learners.{module}"), name)


# What reading parts that do not fit together can raise.
MISFITS = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError)


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted learner or a certificate to a file, replacing an earlier one atomically.

    The file holds safetensors and JSON, for a certificate JSON alone: data, never code. `load`
    reads learners again, and `verify` takes the path of a certificate.

    Parameters
    ----------
    model : Perceptron, OnlineSVM, KernelPerceptron, SoftMarginSVM, HardMarginSVM, Pipeline or \
certificate
        A fitted learner, or a scikit-learn ``Pipeline`` of a ``StandardScaler`` or a
        ``MaxAbsScaler`` and one; or what an answer has as its ``certificate``.
    path : str or path
        The file to write.

    See Also
    --------
    load : Read a learner again.
    export : Write hyperplanes and proofs for other programs.

    Examples
    --------
    >>> import tempfile, rosenblatt as rb
    >>> X, y, _ = rb.make_separable(50, 3, margin=0.1)
    >>> learner = rb.Perceptron().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rb.save(learner, f"{folder}/model.safetensors")
    ...     again = rb.load(f"{folder}/model.safetensors")
    >>> bool((again.coef_ == learner.coef_).all())
    True
    """
    if isinstance(model, Certificate):
        write_atomically(path, model.to_json().encode())
        return
    learner, scaling = taken_apart(model)
    write_model(learner, path, {}, scaling)


def write_model(
    model: Any, path: str | os.PathLike[str], notes: dict[str, Any], scaling: Scaling | None = None
) -> None:
    """Write a fitted learner, its scaling and some notes, which JSON can hold, to a file."""
    from safetensors.numpy import save as serialize

    name = kind_of(model)
    model.check_fitted()
    settings, tensors = _named(KINDS[name].parts)(model)
    tensors = {key: np.ascontiguousarray(value) for key, value in tensors.items()}
    columns = None if model.columns_ is None else model.columns_.parts()
    settings |= {"made_of": columns, "notes": notes}
    if scaling is not None:
        settings["scaling"] = scaling.kind
        tensors |= {f"scaling.{name}": value for name, value in scaling.arrays().items()}
    text = json.dumps(settings, allow_nan=False)
    metadata = {
        "format": FORMAT if scaling is None else SCALED_FORMAT,
        "learner": name,
        "settings": text,
        "digest": digest(name, text, tensors),
    }
    write_atomically(path, _in_order(serialize(tensors, metadata)))


def _in_order(content: bytes) -> bytes:
    """Give a safetensors file with its metadata in order; the library writes them in any."""
    stop = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:stop])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    assert len(text) <= stop - 8, "the header was longer"
    return content[:8] + text.ljust(stop - 8) + content[stop:]


def kind_of(model: Any) -> str:
    """Give the name of a learner's kind; classes that people derive may hold more than it."""
    found = type(model)
    name = found.__name__
    if name in KINDS and found.__module__ == f"rosenblatt.learners.{KINDS[name].module}":
        return name
    raise InputError(f"a {name} cannot be saved as a model; the learners are: {', '.join(KINDS)}")


def load(path: str | os.PathLike[str]) -> Any:
    """Read a learner from a file that `save` wrote.

    Training can continue: `partial_fit` and `learn_one` then give the weights of a learner that
    was never saved.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Perceptron, OnlineSVM, KernelPerceptron, SoftMarginSVM or HardMarginSVM, or a Pipeline
        The fitted learner, behind its scaler if it was learned from scaled columns.
    """
    join()
    held = read_model(path)
    if held.scaling is None:
        return held.learner
    from sklearn.pipeline import Pipeline

    return Pipeline([("scale", held.scaling.scaler()), ("learner", held.learner)])


class ModelContents(NamedTuple):
    """What a model file holds."""

    learner: Any
    notes: dict[str, Any]
    scaling: Scaling | None


def read_model(path: str | os.PathLike[str]) -> ModelContents:
    """Read a learner, its notes and its scaling, without scikit-learn."""
    metadata, tensors = _read(path)
    name, says = metadata.get("learner", ""), metadata.get("format", "no format")
    other = re.fullmatch(r"rosenblatt (?:scaled )?model (\d+)", says)
    if other and int(other[1]) not in (VERSION, OLDER):
        raise ModelFileError(
            f"{path} is a model file of version {other[1]}, and these are read: versions {OLDER} "
            f"and {VERSION}; fit the model again, or load it with the rosenblatt that wrote it"
        )
    if not other or name not in KINDS:
        found = " ".join(filter(None, [says, name]))
        raise ModelFileError(
            f"{path} is not a model that this version reads (it says {found!r}, not {FORMAT!r} "
            f"and one of {', '.join(KINDS)})"
        )
    text = metadata.get("settings", "")
    if metadata.get("digest") != digest(name, text, tensors):
        raise ModelFileError(f"{path} is damaged: its contents do not match its digest")
    try:
        settings = json.loads(text)
        if int(other[1]) == OLDER:
            tensors |= _renewed(tensors)
        model = _named(KINDS[name].back)(settings, tensors)
        model.columns_ = Columns.of_parts(settings.get("made_of"), model.n_features_in_)
        scaling = None
        if says.startswith("rosenblatt scaled"):
            scaling = Scaling.of_parts(settings["scaling"], tensors, model.n_features_in_)
        return ModelContents(model, dict(settings["notes"]), scaling)
    except RecursionError as error:
        raise ModelFileError(
            f"{path} is not a usable model: its settings are nested too deeply"
        ) from error
    except MISFITS as error:
        raise ModelFileError(f"{path} is not a usable model: {_brief(error)}") from error


def _renewed(tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Give the counters of the older version as they are now."""
    from rosenblatt.online.perceptron import MISTAKES, PLACES, UPDATES

    if "tally" not in tensors:
        return {}
    tally = np.zeros(PLACES)
    tally[: tensors["tally"].size] = tensors["tally"]
    tally[UPDATES] = tally[MISTAKES]
    return {"tally": tally}


def _read(path: str | os.PathLike[str]) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    from safetensors import SafetensorError, safe_open

    try:
        if os.path.isdir(path):
            raise InputError(f"{path} is a folder, not a model file")
        if is_pipe(path):
            return _taken_apart(contents(path).tobytes())
        with safe_open(os.fspath(path), framework="numpy") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return file.metadata() or {}, tensors
    except FileNotFoundError:
        raise InputError(f"there is no model file {path}; check its name") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    except (SafetensorError, *MISFITS) as error:
        if isinstance(error, InputError):
            raise
        raise ModelFileError(f"{path} is not a model file: {_other_kind(path)}") from error


def _other_kind(path: str | os.PathLike[str]) -> str:
    """Say what a file is that is not a model."""
    try:
        if not is_pipe(path) and "kind" in json.loads(Path(path).read_bytes()):
            return "it looks like a certificate"
    except (OSError, ValueError, TypeError, RecursionError):
        pass
    return "it is cut off, or holds something else"


def _taken_apart(content: bytes) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    """Give the metadata and the tensors of a file that cannot be mapped."""
    from safetensors.numpy import load as tensors_of

    tensors = tensors_of(content)  # which checks it
    stop = 8 + int.from_bytes(content[:8], "little")
    return json.loads(content[8:stop]).get("__metadata__", {}), tensors


def digest(learner: str, settings: str, tensors: dict[str, np.ndarray]) -> str:
    """Give the SHA-256 of all that a model file says."""
    total = hashlib.sha256(f"{learner}\0{settings}".encode())
    for name in sorted(tensors):
        array = tensors[name]
        total.update(f"\0{name} {array.dtype.str} {array.shape}\0".encode())
        total.update(np.ascontiguousarray(array).data)
    return total.hexdigest()


def _brief(error: Exception) -> str:
    text = f"{error} is missing" if isinstance(error, KeyError) else str(error)
    return text.splitlines()[0][:200] if text else type(error).__name__
