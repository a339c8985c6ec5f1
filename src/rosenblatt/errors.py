"""What can go wrong, as one tree.

::

    RosenblattError
    ├── InputError (ValueError)      data, labels or options that cannot be used as given
    │   ├── EmptyError               a data set without rows
    │   ├── ParseError               a text file that breaks its format: file, line and column
    │   ├── ModelFileError           a model file that is foreign, damaged or of another version
    │   ├── StoreError               a store that is damaged, full, read-only or of another version
    │   ├── CertificateError         a certificate that breaks its format
    │   └── InseparableError         classes that no hyperplane separates, with the proof
    ├── ClusterError (RuntimeError)  a cluster that cannot be reached, or lost what it needs
    └── MissingExtraError (ImportError)   an optional dependency that is not installed

    GuessWarning (UserWarning)       what a column of a table holds was guessed
    LargeCopyWarning (UserWarning)   a large input had to be copied before it could be used
    LargeModelWarning (UserWarning)  the weights of a model take a gigabyte of memory or more
    ReadTwiceWarning (UserWarning)   a large file had to be read a second time
    UnknownColumnsWarning (UserWarning)   columns that a model has not seen, and that weigh nothing

Every message is one sentence or two: what is wrong, where, and what to do.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

__all__ = [
    "CertificateError",
    "ClusterError",
    "EmptyError",
    "GuessWarning",
    "InputError",
    "InseparableError",
    "LargeCopyWarning",
    "LargeModelWarning",
    "MissingExtraError",
    "ModelFileError",
    "ParseError",
    "ReadTwiceWarning",
    "RosenblattError",
    "StoreError",
    "UnknownColumnsWarning",
]


class RosenblattError(Exception):
    """Base of every error that this package raises on purpose."""


class InputError(RosenblattError, ValueError):
    """Data, labels or options that cannot be used as given."""


class EmptyError(InputError):
    """A data set without rows."""


class ParseError(InputError):
    """A text file that breaks its format, with the place where it does.

    Parameters
    ----------
    message : str
        What is wrong and what to do.
    file : str
        The file.
    line : int
        The line, from 1.
    column : int
        The column, in bytes, from 1.
    """

    def __init__(self, message: str, *, file: str, line: int, column: int) -> None:
        super().__init__(f"{file}:{line}:{column}: {message}")
        self.message = message
        self.file = file
        self.line = line
        self.column = column

    def __reduce__(self) -> tuple[object, ...]:
        return (_parse_error, (self.message, self.file, self.line, self.column))


class ModelFileError(InputError):
    """A model file that is foreign, damaged or written by another version."""


class StoreError(InputError):
    """A store of corrections that is damaged, full, read-only or of another version."""


class CertificateError(InputError):
    """A certificate that breaks its format."""


class InseparableError(InputError):
    """Classes that no hyperplane separates, where one was asked for; it carries the proof.

    Attributes
    ----------
    separation : Separation or None
        The answer of `separate`; its `explain` says why.
    certificate : Certificate or None
        Its proof, for `verify`.
    """

    def __init__(self, message: str, separation: Any = None) -> None:
        super().__init__(message)
        self.separation = separation

    @property
    def certificate(self) -> Any:
        """The proof, None if there is none."""
        return None if self.separation is None else self.separation.certificate

    def __reduce__(self) -> tuple[object, ...]:
        return (InseparableError, (str(self), self.separation))


class ClusterError(RosenblattError, RuntimeError):
    """A cluster that cannot be reached, or that lost what a run needs."""


class MissingExtraError(RosenblattError, ImportError):
    """An optional dependency that is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"{package} is not installed; run: pip install 'rosenblatt[{extra}]'", name=package
        )


def optional_module(name: str, extra: str) -> Any:
    """Import an optional dependency, or say how to install it."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(name.partition(".")[0], extra) from None


class GuessWarning(UserWarning):
    """What a column of a table holds was guessed, and may be meant otherwise."""


class LargeCopyWarning(UserWarning):
    """A large input had to be copied before it could be used."""


class LargeModelWarning(UserWarning):
    """The weights of a model take a gigabyte of memory or more."""


class ReadTwiceWarning(UserWarning):
    """A large file had to be read a second time."""


class UnknownColumnsWarning(UserWarning):
    """Columns of the data that the model was not trained on: they are ignored."""


def _parse_error(message: str, file: str, line: int, column: int) -> ParseError:
    return ParseError(message, file=file, line=line, column=column)


def levels_inside() -> int:
    """Count the frames of this package at the top of the stack: warnings name the caller's line."""
    frame, levels = sys._getframe(1), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("rosenblatt"):
        frame, levels = frame.f_back, levels + 1  # type: ignore[assignment]
    return levels
