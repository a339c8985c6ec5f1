"""`fit`: an ordinary learner, learned on many machines."""

from __future__ import annotations

from typing import Any

from rosenblatt.cluster.connecting import on_engine
from rosenblatt.cluster.engine import Engine, RoundFile
from rosenblatt.cluster.inputs import shards_of
from rosenblatt.cluster.mixing import Mixing, Watch
from rosenblatt.cluster.survey import Survey
from rosenblatt.cluster.svm import solve
from rosenblatt.data.reading import Reading
from rosenblatt.errors import InputError
from rosenblatt.learners.perceptron import Perceptron
from rosenblatt.learners.soft_margin import SoftMarginSVM


def fit(
    estimator: Any,
    X: Any,
    y: Any = None,
    client: Any = None,
    *,
    checkpoint: Any = None,
    read: dict[str, Any] | None = None,
    watch: Watch | None = None,
) -> Any:
    """Train a learner on many machines; it is then an ordinary fitted learner.

    The perceptron learns by iterative parameter mixing, the SVM by Newton steps over all shards or,
    with many columns, by dual steps on each. What is learned depends on the shards and their order,
    not on the number of workers or on which of them ends first; a worker that is lost costs a
    retry. With one shard, a perceptron is that of one machine.

    Parameters
    ----------
    estimator : Perceptron or SoftMarginSVM
        The learner to fit.
    X : Dask collection, str, path or list
        A Dask array or dataframe in chunks of rows, or a bag of pairs (row, label); files, folders,
        patterns and stores, which workers read themselves; or a list of pairs (X, y).
    y : Dask collection or None, default=None
        The labels, in the row chunks of X; None where they come with X.
    client : Client, str or None, default=None
        A Dask client, the address of a scheduler or the name of its file, or ``"local"`` for
        processes of this machine. None is the current client; there must be one.
    checkpoint : path or None, default=None
        A file that is written after each round; the same call goes on from it.
    read : dict or None, default=None
        How to read files, as keywords of `rosenblatt.read`.
    watch : callable or None, default=None
        Called after each round with its number, mistakes or gap, seconds and bytes moved.

    Returns
    -------
    estimator
        The learner itself, fitted. With an asynchronous client, a coroutine that gives it.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y, _ = rb.make_separable(200, 5, margin=0.05, seed=1)
    >>> shards = [(X[:100], y[:100]), (X[100:], y[100:])]
    >>> learner = rb.cluster.fit(rb.Perceptron(), shards, client="local")
    >>> learner.score(X, y), learner.run_.weighted_mistakes <= learner.run_.bound.value
    (1.0, True)
    """
    check(estimator)
    shards = shards_of(X, y, Reading(**(read or {})))

    def learn(engine: Engine) -> Any:
        engine.put(shards)
        train(estimator, engine, checkpoint, watch)
        estimator.warn()
        return estimator

    return on_engine(client, learn)


def train(learner: Any, engine: Engine, checkpoint: Any = None, watch: Watch | None = None) -> None:
    """Fit a learner on the shards of an engine, without a warning at the end."""
    learner.check_options()
    survey = Survey.of(engine)
    about = [type(learner).__name__, learner.options(), survey.names]
    about += [[facts.rows, facts.nbytes] for facts in survey.shards]
    note = RoundFile.of(checkpoint, about)
    if isinstance(learner, Perceptron):
        Mixing(learner, engine, survey, note, watch).run()
    else:
        solve(learner, engine, survey, note, watch)


def check(learner: Any) -> None:
    """Refuse learners and options that speak of examples one by one."""
    if not isinstance(learner, Perceptron | SoftMarginSVM):
        raise InputError(
            f"a cluster trains Perceptron and SoftMarginSVM, not {type(learner).__name__}"
        )
    learner.check_options()
    if learner.warm_start:
        raise InputError("warm_start is for one machine; give checkpoint= to go on with a run")
    if isinstance(learner, SoftMarginSVM):
        return
    if learner.order not in ("cycle", "shuffle"):
        raise InputError(f"shards cannot be presented in the order {learner.order!r}; give 'cycle'")
    if learner.output == "voted":
        raise InputError("votes need all misclassified examples; give output='averaged'")
