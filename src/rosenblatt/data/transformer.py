"""What transformers share with scikit-learn's, with the types that scikit-learn does not give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self

    class Transformer:
        """The methods of scikit-learn's transformers."""

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

else:
    from sklearn.base import BaseEstimator, TransformerMixin

    class Transformer(TransformerMixin, BaseEstimator):
        """A transformer of scikit-learn."""
