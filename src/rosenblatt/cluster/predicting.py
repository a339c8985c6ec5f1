"""`predict`: answers for collections, lazily, and for shards."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.cluster.connecting import on_engine
from rosenblatt.cluster.engine import Engine
from rosenblatt.cluster.inputs import shards_of
from rosenblatt.cluster.shards import Shard
from rosenblatt.cluster.survey import widened
from rosenblatt.data.reading import Reading
from rosenblatt.errors import InputError


def scores_of(shard: Shard, model: Any, _: None) -> np.ndarray:
    """Give the scores of the rows of a shard."""
    X, width = shard.examples.X, model.n_features_in_
    if not X.shape[0]:
        return np.zeros((0, model.classes_.size) if model.classes_.size > 2 else 0)
    short = X.shape[1] < width and shard.examples.columns is None and hasattr(X, "indptr")
    found: np.ndarray = model.decision_function(widened(X, width) if short else X)
    return found


def predict(model: Any, X: Any, client: Any = None, *, read: dict[str, Any] | None = None) -> Any:
    """Predict labels: of a Dask array or dataframe lazily, of shards at once.

    Parameters
    ----------
    model : fitted learner
        Any learner of this package.
    X : Dask array, dataframe, or what `fit` takes as shards
        The rows.
    client, read :
        As for `fit`, for shards; a collection is computed by whoever computes the answer.

    Returns
    -------
    Dask array or series, or list of ndarray
        The labels, in the chunks of X; for shards, an array for each.
    """
    model.check_fitted()
    if hasattr(X, "map_partitions") and hasattr(X, "columns"):
        meta = ("label", model.classes_.dtype)
        return X.map_partitions(_series, model, meta=meta)
    if hasattr(X, "map_blocks"):
        if X.numblocks[1] > 1:
            raise InputError(
                f"X has {X.numblocks[1]} chunks of columns, and answers need whole rows; give "
                "X.rechunk({1: -1})"
            )
        return X.map_blocks(_block, model, dtype=model.classes_.dtype, drop_axis=1)
    shards = shards_of(X, None, Reading(**{"labels": False, "like": model, **(read or {})}), False)

    def work(engine: Engine) -> list[np.ndarray]:
        engine.put(shards)
        return [model.answers(scores) for scores in engine.map(scores_of, model)]

    return on_engine(client, work)


def _block(rows: Any, model: Any) -> np.ndarray:
    answers: np.ndarray = model.predict(rows)
    return answers


def _series(rows: Any, model: Any) -> Any:
    from importlib import import_module

    pandas = import_module("pandas")
    return pandas.Series(model.predict(rows), index=rows.index, name="label")
