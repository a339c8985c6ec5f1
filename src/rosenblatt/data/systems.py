r"""Systems of linear inequalities, A w >= b, in files.

The rules
---------
- CSV: the first line names the columns. ``relation`` holds >=, >, =, ==, <= or < (without such a
  column all rows are >=), ``b`` the right-hand side, and every other column the coefficients of one
  unknown. Rows with <= and < are negated. `rosenblatt.checker`, which needs nothing but itself,
  reads the same numbers from the same file.
- ``.npz``: arrays ``A``, or the parts of a sparse matrix as `scipy.sparse.save_npz` writes them,
  and ``b``; perhaps ``strict`` and ``equal``, a truth value for each row or for all, and ``lower``
  and ``upper``, a number for each unknown or for all, infinite where there is no bound.
- ``.mps`` and ``.lp``: see `rosenblatt.data.programs`.
- All of them may be compressed. Numbers in text are exact, 1/10 for 0.1, unless the caller wants
  the nearest floats.
"""

from __future__ import annotations

import csv
import io
import math
import os
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.check.subjects import System
from rosenblatt.checker import RELATIONS, csv_cells
from rosenblatt.data.arrays import npz_arrays, numbers_of
from rosenblatt.data.files import replacing
from rosenblatt.data.programs import Bound, SystemFile, program_of_model, read_program
from rosenblatt.data.sources import beginning, contents, extension_of, files, is_pipe, shown
from rosenblatt.data.written import decimal_text, floats_of, kept_beside
from rosenblatt.decide.answers import less_reading
from rosenblatt.decide.systems.solve import Solution, solve_system
from rosenblatt.decide.systems.wording import Wording
from rosenblatt.decimals import Written, is_decimal, is_whole, marked
from rosenblatt.errors import InputError
from rosenblatt.exact.digest import AT_LEAST, EQUAL, LOWER, MORE_THAN
from rosenblatt.names import names_of, row_names

__all__ = ["SystemFile", "read_system", "solve", "system_format", "write_system_csv"]

Name = str | os.PathLike[str]

OTHER_RIGHTS = ("rhs", "right", "right-hand side", "right_hand_side")
WRITTEN = {AT_LEAST: ">=", MORE_THAN: ">", EQUAL: "="}
HEAD_BYTES = 1 << 12
BEGINNINGS = {
    "npz": re.compile(rb"PK\x03\x04"),
    "mps": re.compile(rb"(?:\*.*\n|\s*\n)*+(?:NAME|OBJSENSE|ROWS)\b"),
    "lp": re.compile(
        rb"(?:\s*\\.*\n)*+\s*(?:max|min|s\.?t\.?|subject|such)[^,\n]*\n", re.IGNORECASE
    ),
}


def read_system(path: Name, *, floats: bool = False) -> SystemFile:
    """Read a system of linear inequalities from CSV, ``.npz``, ``.mps`` or ``.lp``.

    Numbers in text are decimals, or their nearest floats if the caller wants these.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "system.csv")
    ...     write_system_csv(path, [[1, 2], [3, 4]], [5, 6], bounds=(0, None))
    ...     read_system(path).A.tolist()
    [[1.0, 2.0], [3.0, 4.0], [1.0, 0.0], [0.0, 1.0]]
    """
    names = files(path)
    if len(names) > 1:
        raise InputError(f"{shown(path)} stands for {len(names)} files; a system is one")
    found = _read(path, system_format(path))
    return _rounded(found) if floats and is_decimal(found.A) else found


def _read(path: Name, kind: str) -> SystemFile:
    if kind in ("mps", "lp"):
        return read_program(path, kind)
    return (_read_npz if kind == "npz" else _read_csv)(contents(path), shown(path))


def _rounded(found: SystemFile) -> SystemFile:
    """Take the nearest floats in place of decimals."""
    A = sparse.csr_matrix(found.A) if sparse.issparse(found.A) else np.asarray(found.A)
    bounds = found.bounds and [(_nearest(low), _nearest(high)) for low, high in found.bounds]
    return found._replace(A=A, b=np.asarray(found.b), bounds=bounds)


def _nearest(end: Bound) -> float | None:
    return None if end is None else float(end)


def solve(
    A: Any = None,
    b: Any = 1,
    *,
    strict: Any = False,
    equal: Any = None,
    bounds: Any = None,
    A_ub: Any = None,
    b_ub: Any = None,
    A_eq: Any = None,
    b_eq: Any = None,
    max_seconds: float | None = None,
    method: str = "auto",
    max_steps: int | None = None,
    floats: bool = False,
) -> Solution:
    """Find w with A w >= b, exactly, or prove that there is none.

    Parameters
    ----------
    A : array-like or sparse matrix of shape (n_rows, n_unknowns), path or model, default=None
        The coefficients; also nested lists of Python integers and fractions; or a file with the
        whole system, ``.mps``, ``.lp``, ``.csv`` or ``.npz``, plain or compressed; or a model of
        HiGHS, ``highspy.Highs``. The columns of a data frame name the unknowns, its index the rows.
    b : float or array-like of shape (n_rows,), default=1
        The right-hand sides.
    strict : bool or array-like of bool, default=False
        Which rows are a·w > b; True for all that are not equations.
    equal : bool, array-like of bool or None, default=None
        Which rows are a·w = b.
    bounds : pair, sequence of pairs or None, default=None
        (lower, upper) for each unknown, or one pair for all; None or infinity for no bound.
    A_ub : array-like, sparse matrix or None, default=None
        In place of A and b, as for `scipy.optimize.linprog`: A_ub w <= b_ub and A_eq w = b_eq.
        Unknowns are then at least 0 unless `bounds` says otherwise, as in SciPy.
    b_ub : array-like or None, default=None
        The right-hand sides of A_ub.
    A_eq : array-like, sparse matrix or None, default=None
        The equations.
    b_eq : array-like or None, default=None
        The right-hand sides of A_eq.
    max_seconds : float or None, default=None
        The time limit, after which the verdict is "undecided", as it is after Ctrl-C.
    method : {"auto", "perceptron", "rescaled", "smoothed"}, default="auto"
        ``"auto"`` always decides, given time. The others are the methods of theory D11 and D13,
        for study: they search for a point and may not find one.
    max_steps : int or None, default=None
        Maximum number of steps of such a method, after which the verdict is "undecided".
    floats : bool, default=False
        Whether the numbers of a text file stand for their nearest floats, not for the decimals
        that are written. Numbers that are no text are exact as they are; see `as_decimals`.

    Returns
    -------
    Solution
        A point or a proof that there is none.

    See Also
    --------
    separate : The same about two classes.
    verify : Check the certificate.
    as_decimals : Let floats stand for the decimals that they print as.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> found = rb.solve([[1, 2], [-1, 0], [0, -1]], [3, -1, -1])
    >>> found.verdict, found.w.tolist()
    ('feasible', [1.0, 1.0])
    >>> rb.solve([[1, 2], [-1, 0], [0, -1]], [4, -1, -1]).verdict
    'infeasible'
    """
    options: dict[str, Any] = {"method": method, "max_seconds": max_seconds, "max_steps": max_steps}
    began = time.perf_counter()
    if A_ub is not None or A_eq is not None:
        if A is not None or equal is not None:
            raise InputError("A_ub and A_eq stand in place of A, b and equal; leave those out")
        return _of_linprog(A_ub, b_ub, A_eq, b_eq, bounds).solved(strict, **options)
    whole = isinstance(A, str | os.PathLike)
    if whole or hasattr(A, "getLp"):
        if not (np.isscalar(b) and b == 1) or equal is not None or bounds is not None:
            what = shown(A) if whole else "a model"
            raise InputError(
                f"{what} holds its own right-hand sides, equations and bounds; leave out b, "
                "equal and bounds"
            )
        system = read_system(A, floats=floats) if whole else program_of_model(A)
        return system.solved(strict, **less_reading(options, began))
    if A is None:
        raise InputError("there is no system; give A, a file, or A_ub and A_eq")
    found = solve_system(lambda: System(A, b, strict, equal, bounds), **options)
    unknowns, rows = names_of(A) or (), row_names(A) or ()
    return replace(found, names=unknowns, wording=Wording(unknowns, rows))


def _of_linprog(A_ub: Any, b_ub: Any, A_eq: Any, b_eq: Any, bounds: Any) -> SystemFile:
    """Take a system as `scipy.optimize.linprog` does."""
    given = ((A_ub, b_ub, -1, "ub"), (A_eq, b_eq, 1, "eq"))
    parts = [_signed(*part) for part in given if part[0] is not None]
    if len({A.shape[1] for A, _, _ in parts}) > 1:
        raise InputError("A_ub and A_eq differ in the number of columns")
    matrices, rights, negated = zip(*parts, strict=True)
    either = any(map(sparse.issparse, matrices))
    A = sparse.csr_matrix(sparse.vstack(matrices)) if either else np.concatenate(matrices)
    below, b = np.concatenate(negated), np.concatenate(rights)
    bounds = (0, None) if bounds is None else bounds
    strict = np.zeros(b.size, bool)
    unknowns, rows = _names_of_linprog([part[0] for part in given if part[0] is not None])
    unknowns = unknowns or unnamed(A.shape[1])
    return SystemFile(A, b, strict, ~below, bounds, unknowns, rows, (), below)


def _names_of_linprog(matrices: Sequence[Any]) -> tuple[list[str], list[str]]:
    """Give the names of unknowns, which frames must agree on, and of rows, if all have them."""
    named = {names for names in map(names_of, matrices) if names is not None}
    if len(named) > 1:
        raise InputError("A_ub and A_eq name their columns differently; give them the same names")
    rows = [row_names(matrix) for matrix in matrices]
    return list(*named), [name for names in rows for name in names or ()] if all(rows) else []


def _signed(A: Any, b: Any, sign: int, name: str) -> tuple[Any, np.ndarray, np.ndarray]:
    """Give rows times a sign, their right-hand sides, and whether the sign is negative."""
    rows = A if sparse.issparse(A) else np.atleast_2d(np.asarray(A))
    right = np.atleast_1d(np.asarray(b))
    if b is None or right.shape != rows.shape[:1]:
        raise InputError(f"A_{name} has {rows.shape[0]} rows; give b_{name} as many numbers")
    return rows * sign, right * sign, np.full(right.size, sign < 0)


def system_format(path: Name) -> str:
    """Give the format of a file by its extension, that of a compression taken off.

    A pipe has none: its format is known by how it begins.
    """
    extension = extension_of(path)
    if extension in (".npz", ".mps", ".lp"):
        return extension[1:]
    head = beginning(path, HEAD_BYTES) if is_pipe(path) else b""
    return next((kind for kind, begins in BEGINNINGS.items() if begins.match(head)), "csv")


# ---- CSV


def _read_csv(content: np.ndarray, name: str) -> SystemFile:
    stream = io.TextIOWrapper(io.BytesIO(content.tobytes()), "utf-8-sig", newline="\n")
    rows, relations = [], []
    texts: set[str] = set()
    number = 1
    try:
        header = _Header(csv_cells(stream.readline()))
        for number, line in enumerate(stream, start=2):  # noqa: B007 (complaints name it)
            cells = csv_cells(line)
            if any(cells):
                relations.append(RELATIONS[header.relation(cells)])
                rows.append(floats_of(cells))
                texts.update(cells)
    except (ValueError, csv.Error) as fault:
        reason = "it is not UTF-8 text" if isinstance(fault, UnicodeDecodeError) else fault
        raise InputError(f"{name}:{number}: {reason}") from None
    if not rows:
        raise InputError(f"{name} holds no rows below its first line; write one for each relation")
    signs, tags = np.array(relations).T
    values = np.array(rows) * signs[:, None] + 0.0  # without -0.0
    A, b = np.delete(values, header.right, axis=1), values[:, header.right].copy()
    if not is_whole(values):
        written = _kept_beside(texts, name)
        A, b = marked(A, written), marked(b, written)
    negated = signs < 0
    return SystemFile(
        A, b, tags == MORE_THAN, tags == EQUAL, None, header.unknowns, negated=negated
    )


def _kept_beside(texts: set[str], name: str) -> Written:
    try:
        return kept_beside(texts)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


class _Header:
    """The first line of a CSV file."""

    def __init__(self, names: list[str]) -> None:
        twice = sorted(name for name in set(names) if names.count(name) > 1)
        if twice:
            raise ValueError(f"the first line names {twice[0][:40]!a} twice")
        numbers = [name for name in names if name != "relation"]
        if "b" not in numbers or len(numbers) == 1:
            raise ValueError(
                "the first line names the columns of a system: its unknowns, b and perhaps relation"
            )
        other = next((name for name in numbers if name.lower() in OTHER_RIGHTS), None)
        if other is not None:
            raise ValueError(
                f"the first line names b, which is the right-hand side here, and {other!a}; call "
                "the right-hand side b, and that unknown otherwise"
            )
        self.names, self.right = names, numbers.index("b")
        self.unknowns = [name for name in numbers if name != "b"]

    def relation(self, cells: list[str]) -> str:
        """Take the relation of a row out of its cells; numbers are left."""
        if len(cells) != len(self.names):
            raise ValueError(f"the number of cells is {len(cells)} and not {len(self.names)}")
        if "relation" not in self.names:
            return ">="
        found = cells.pop(self.names.index("relation"))
        if found not in RELATIONS:
            raise ValueError(f"{found[:40]!a} is not one of the relations {' '.join(RELATIONS)}")
        return found


# ---- arrays


def _read_npz(content: np.ndarray, name: str) -> SystemFile:
    made_of = "a system is made of A and b, or of data, indices, indptr, shape and b"
    with npz_arrays(content, name, made_of) as arrays:
        A, b = numbers_of(arrays, "A"), numbers_of({"b": arrays["b"]}, "b")
    try:
        return _system_of(A, b, arrays)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _system_of(A: Any, b: np.ndarray, arrays: dict[str, np.ndarray]) -> SystemFile:
    if A.ndim != 2 or not min(A.shape):
        raise InputError(f"A has the shape {A.shape}; a system has rows and columns")
    rows, columns = A.shape
    if not np.isfinite(A.data if sparse.issparse(A) else A).all():
        raise InputError("A contains NaN or infinity")
    A = A.astype(np.float64) if A.dtype.kind == "f" and A.dtype.itemsize < 8 else A
    right = _spread(b, rows, "b")
    if not np.isfinite(right).all():
        raise InputError("b contains NaN or infinity")
    strict, equal = (_truths(arrays.get(key), rows, key) for key in ("strict", "equal"))
    bounds = _bounds(arrays, columns)
    return SystemFile(A, right, strict, equal, bounds, unnamed(columns))


def unnamed(columns: int) -> list[str]:
    """Give unknowns the names that they have where a file gives none."""
    return [f"x{j}" for j in range(columns)]


def _spread(values: np.ndarray, size: int, key: str) -> np.ndarray:
    if values.shape not in ((), (size,)):
        raise InputError(f"{key} has the shape {values.shape} in place of ({size},)")
    return np.ascontiguousarray(np.broadcast_to(values, (size,)))


def _truths(values: np.ndarray | None, size: int, key: str) -> np.ndarray:
    if values is None:
        return np.zeros(size, bool)
    if values.dtype != bool:
        raise InputError(f"{key} holds {values.dtype}, not truth values")
    return _spread(values, size, key)


def _bounds(arrays: dict[str, np.ndarray], columns: int) -> list[tuple[Bound, Bound]] | None:
    if "lower" not in arrays and "upper" not in arrays:
        return None
    sides = []
    for key, none in (("lower", -math.inf), ("upper", math.inf)):
        ends = _spread(arrays.get(key, np.array(none)), columns, key)
        if ends.dtype.kind not in "iuf" or not (np.isfinite(ends) | (ends == none)).all():
            raise InputError(f"{key} holds something else than numbers, and {none} for no bound")
        sides.append([None if end == none else end for end in ends.tolist()])
    return list(zip(*sides, strict=True))


# ---- writing


def write_system_csv(
    path: Name,
    A: Any,
    b: Any,
    strict: Any = False,
    equal: Any = None,
    bounds: Any = None,
    *,
    names: Iterable[str] | None = None,
) -> None:
    """Write a system as the CSV that `rosenblatt.checker` reads; bounds become further rows.

    Numbers are written in full: floats that are no short decimals have many digits. The arguments
    are those of `solve`. A certificate for the system with its bounds does not fit
    the file, in which there are more rows: solve what was written.
    """
    system = System(A, b, strict, equal, bounds)
    rows = list(_written_rows(system))
    header = [*_distinct(names or unnamed(system.columns), system.columns), "relation", "b"]
    with replacing(path) as file:
        text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
        text.detach()


def _distinct(names: Iterable[str], columns: int) -> list[str]:
    """Give names that a header can hold: in one line, and none of them twice or reserved."""
    found: list[str] = []
    taken = {"relation", "b"}
    for j, name in enumerate(names):
        free = " ".join(name.split()) or f"x{j}"
        while free in taken:
            free += "_"
        found.append(free)
        taken.add(free)
    if len(found) != columns:
        raise InputError(f"there are {len(found)} names for {columns} unknowns; give one for each")
    return found


def _written_rows(system: System) -> Iterator[list[str]]:
    for i, tag in enumerate(system.tags.tolist()):
        *entries, (_, right) = system.row(i)
        yield _cells(entries, system.columns, WRITTEN[tag], right)
    for tag, column, end in system.bounds:
        yield _cells([(column, 1)], system.columns, ">=" if tag == LOWER else "<=", end)


def _cells(entries: Any, columns: int, relation: str, right: Any) -> list[str]:
    cells = ["0"] * columns
    for column, value in entries:
        cells[column] = decimal_text(value)
    return [*cells, relation, decimal_text(right)]
