"""`ClusterPerceptron`, `ClusterSVM`: learners of a cluster where a pipeline wants an estimator."""

from __future__ import annotations

from typing import Any, Self

from rosenblatt.cluster.learning import fit
from rosenblatt.cluster.predicting import predict
from rosenblatt.learners.base import Learner
from rosenblatt.learners.perceptron import Perceptron
from rosenblatt.learners.soft_margin import SoftMarginSVM


class OnCluster(Learner):
    """A learner whose `fit` runs on shards.

    The attribute `client` is what `fit` of this room takes, None for the current client. It is no
    option, and is not pickled: a model that is loaded elsewhere has the client that is current
    there.
    """

    client: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """Give all but the client."""
        return {name: value for name, value in super().__getstate__().items() if name != "client"}

    def __sklearn_clone__(self) -> Self:
        made = type(self)(**self.options())
        made.client = self.client
        return made

    def fit(self, X: Any, y: Any = None) -> Any:  # type: ignore[override]
        """Train on shards; with an asynchronous client, give something to await."""
        return fit(self, X, y, self.client)

    def predict(self, X: Any) -> Any:
        """Predict labels, lazily for Dask collections."""
        return predict(self, X) if hasattr(X, "__dask_graph__") else super().predict(X)


class ClusterPerceptron(OnCluster, Perceptron):  # type: ignore[misc]
    """`Perceptron` on a cluster: the same options; set `client` unless the current one is meant.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y, _ = rb.make_separable(200, 5, margin=0.05, seed=1)
    >>> learner = rb.cluster.ClusterPerceptron(output="averaged")
    >>> learner.client = "local"
    >>> learner.fit([(X[:100], y[:100]), (X[100:], y[100:])]).score(X, y) > 0.9
    True
    """

    def local(self) -> Perceptron:
        """Give the ordinary learner, which can be saved."""
        made: Perceptron = _ordinary(Perceptron, self)
        return made


class ClusterSVM(OnCluster, SoftMarginSVM):
    """`SoftMarginSVM` on a cluster: the same options; set `client` unless the current is meant."""

    def local(self) -> SoftMarginSVM:
        """Give the ordinary learner, which can be saved."""
        made: SoftMarginSVM = _ordinary(SoftMarginSVM, self)
        return made


def _ordinary(kind: Any, learner: Any) -> Any:
    made = kind(**learner.options())
    vars(made).update(learner.__getstate__())
    return made
