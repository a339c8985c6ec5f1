"""What transformers share with scikit-learn's, whose bases they get when somebody asks for them.

As with learners (`rosenblatt.learners.base`), commands hash text without scikit-learn, and do not
wait for its import; ``rosenblatt.TextHasher`` is an estimator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self


class Unjoined:
    """In the place of scikit-learn's bases until they are asked for."""

    if TYPE_CHECKING:  # what editors are to know of them
        n_features_in_: int

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
            """Fit, then transform."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Give the options by name."""

        def set_params(self, **params: Any) -> Self:
            """Set options by name."""

        def set_output(self, *, transform: str | None = None) -> Self:
            """Choose the kind of table that `transform` gives."""

        def __sklearn_tags__(self) -> Any: ...
        def __setstate__(self, state: dict[str, Any]) -> None: ...


class Transformer(Unjoined):
    """A transformer of scikit-learn, once it is joined."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        join()  # what was pickled is an estimator where it arrives
        super().__setstate__(state)


def join() -> None:
    """Give transformers the bases of scikit-learn's, once."""
    if Unjoined not in Transformer.__bases__:
        return
    from sklearn.base import BaseEstimator, TransformerMixin

    Transformer.__bases__ = (TransformerMixin, BaseEstimator)
    for kind in Transformer.__subclasses__():  # which lets transform heed set_output
        super(Transformer, kind).__init_subclass__()
