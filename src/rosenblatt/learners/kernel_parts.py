"""Kernel perceptrons as plain parts: settings that JSON can hold, and arrays. And back."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.kernel.budget import Budget
from rosenblatt.kernel.expansion import Expansion
from rosenblatt.kernel.functions import (
    Custom,
    Gaussian,
    Kernel,
    Linear,
    Polynomial,
    Precomputed,
    as_kernel,
)
from rosenblatt.kernel.space import Space
from rosenblatt.kernel.store import Block, KeptRows
from rosenblatt.kernel.voting import Ballots
from rosenblatt.learners.kernel_perceptron import KernelPerceptron
from rosenblatt.learners.parts import stream_parts, take_over
from rosenblatt.learners.stream import OUTPUTS
from rosenblatt.learners.values import (
    Settings,
    Tensors,
    array_of,
    classes_from,
    matrix_from,
    option_parts,
    options_from,
    put_matrix,
    require,
    shared_parts,
    width_of,
)
from rosenblatt.online.perceptron import PLACES

BALLOTS = ("place", "code", "rival", "seen", "weight")
KERNELS: dict[str, type[Kernel]] = {kind.__name__: kind for kind in (Linear, Polynomial, Gaussian)}


def kernel_parts(learner: KernelPerceptron) -> tuple[Settings, Tensors]:
    """Take a fitted kernel perceptron apart."""
    held = learner._learned
    tensors: Tensors = {
        "alphas": held.alphas[:, : held.size],
        "drift": held.drift[:, : held.size],
        "counts": held.counts[: held.size],
        "tally": held.tally,
    }
    settings: Settings = {
        **shared_parts(learner),
        **stream_parts(learner, tensors),
        "options": _options(learner, held.space.kernel),
        "lift": held.space.lift,
        "dense": held.space.dense,
        "output": held.output,
        "presented": held.presented,
        "store": _store_parts(held.store, tensors),
    }
    if held.ballots is not None:
        for name, column in zip(BALLOTS, held.ballots.columns(), strict=True):
            tensors[f"ballots.{name}"] = column
    if held.budget is not None:
        settings["budget"] = {"most": held.budget.most, "forget": held.budget.forget}
        for name in ("oldest", "seed", "factor"):
            tensors[f"budget.{name}"] = getattr(held.budget, name)
    return settings, tensors


def kernel_from(settings: Settings, tensors: Tensors) -> KernelPerceptron:
    """Put a kernel perceptron together again, checking that the parts fit."""
    learner = KernelPerceptron(**_options_back(settings["options"]))
    learner.check_options()
    classes, width = classes_from(settings["classes"]), width_of(settings)
    require(classes.size >= 1, "it names no class")
    kernel = as_kernel(learner.kernel)
    space = Space(kernel, float(settings["lift"]), bool(settings["dense"]))
    store = _store(settings["store"], tensors, 0 if space.precomputed else width)
    expansion = _expansion(settings, tensors, space, store, max(2, classes.size))
    take_over(learner, expansion, classes, settings, tensors)
    return learner


# ---- options


def _options(learner: KernelPerceptron, kernel: Kernel) -> Settings:
    """Give the options, with the kernel that was fitted: the option may name another one by now."""
    options = option_parts(learner)
    if isinstance(kernel, Custom):
        raise InputError(
            "a learner whose kernel is a function cannot be saved; a model file holds no code"
        )
    if isinstance(kernel, Precomputed):
        options["kernel"] = repr(kernel)
    elif not (isinstance(learner.kernel, str) and as_kernel(learner.kernel) == kernel):
        numbers = {} if isinstance(kernel, Linear) else asdict(kernel)  # type: ignore[call-overload]
        options["kernel"] = {"name": type(kernel).__name__, **numbers}
    return options


def _options_back(options: Settings) -> Settings:
    options = options_from(options)
    if isinstance(options["kernel"], dict):
        numbers: dict[str, Any] = dict(options["kernel"])
        options["kernel"] = KERNELS[numbers.pop("name")](**numbers)
    require(isinstance(options["kernel"], str | Kernel), "it names no kernel")
    return options


# ---- stored rows


def _store_parts(store: KeptRows, tensors: Tensors) -> Settings:
    block = store.span()
    tensors["store.numbers"], tensors["store.squares"] = block.numbers, block.squares
    return put_matrix(block.rows, tensors, "store", "store.rows")


def _store(parts: Settings, tensors: Tensors, width: int) -> KeptRows:
    rows = matrix_from(parts, tensors, "store", "store.rows", width)
    values = rows.data if parts["sparse"] else rows
    require(values.dtype in (np.float32, np.float64), "the stored rows are not floats")
    require(bool(np.isfinite(values).all()), "a stored row has NaN or infinity")
    numbers = array_of(tensors, "store.numbers", rows.shape[0], dtype=np.int64)
    return KeptRows.of(Block(rows, array_of(tensors, "store.squares", rows.shape[0]), numbers))


# ---- what was learned


def _expansion(
    settings: Settings, tensors: Tensors, space: Space, store: KeptRows, classes: int
) -> Expansion:
    output, presented = settings["output"], settings["presented"]
    require(output in OUTPUTS, f"it has the unknown output {output!r}")
    averaged = store.size if output == "averaged" else 0
    require(type(presented) is int and presented >= 0, "it does not say what it has seen")
    if space.precomputed:
        width = settings["columns"]
        require(bool((store.span().numbers < width).all()), "a stored row has no column")
    return Expansion(
        space,
        output,
        store,
        array_of(tensors, "alphas", classes, store.size).copy(),
        array_of(tensors, "drift", classes, averaged).copy(),
        array_of(tensors, "counts", store.size, dtype=np.int64).copy(),
        array_of(tensors, "tally", PLACES).copy(),
        presented,
        _ballots(tensors, store.size, classes) if output == "voted" else None,
        _budget(settings["budget"], tensors) if "budget" in settings else None,
    )


def _ballots(tensors: Tensors, rows: int, classes: int) -> Ballots:
    votes, limits = tensors["ballots.place"].size, (rows, classes, classes)
    place, code, rival = (
        array_of(tensors, f"ballots.{name}", votes, dtype=np.int64, below=most)
        for name, most in zip(BALLOTS, limits, strict=False)
    )
    seen, weight = (array_of(tensors, f"ballots.{name}", votes) for name in BALLOTS[3:])
    return Ballots(place, code, rival, seen, weight, votes)


def _budget(parts: Settings, tensors: Tensors) -> Budget:
    budget = Budget.of(int(parts["most"]), parts["forget"], 0)
    like = {name: getattr(budget, name) for name in ("oldest", "seed", "factor")}
    limits = {"oldest": budget.most}
    found = [
        array_of(tensors, f"budget.{n}", *own.shape, dtype=own.dtype, below=limits.get(n)).copy()
        for n, own in like.items()
    ]
    return Budget(budget.most, budget.forget, *found)
