"""Samples from a file: `.npz`, `.npy`, `.csv` or svmlight, recognised by content, not by extension.

Every value is rounded to the nearest float32, which is what the C receives. NaN, infinities and
values beyond float32 are refused; nothing is ever unpickled.
"""

from __future__ import annotations

import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError, UsageError
from kmcompile.model.kernel_machine import Label
from kmcompile.numeric.arrays import Float32Array
from kmcompile.readers.byte_budget import budget_of_file, current_budget
from kmcompile.readers.samples.arrays import read_npy, read_npz
from kmcompile.readers.samples.text import read_text

Part = Literal["calibration", "test"]

# Names of X; the first one in the archive counts. Its labels have this name with y.
_NAMES: dict[Part, tuple[str, ...]] = {
    "calibration": ("X", "X_train"),
    "test": ("X_test", "X", "X_train"),
}
_WIDENED_BYTES = 6
"""Cost of a number of X: its float32, the test for finite numbers, and the test's working copy."""
_PICKLE, _GZIP = b"\x80", b"\x1f\x8b"


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Samples in the form in which the C receives them.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32
    y : ndarray of shape (n_samples,) or None
        The labels in the file's type: integers, floats, booleans or text.
    """

    X: Float32Array
    y: NDArray[Any] | None

    def __len__(self) -> int:
        return len(self.X)

    def class_numbers(
        self, classes: Sequence[Label], name: str, trained: Sequence[Label] = ()
    ) -> NDArray[np.int64] | None:
        """Return the labels as indices of a model's classes, shape (n_samples,); None without any.

        Numbers are compared as numbers, and anything else as text.

        Parameters
        ----------
        classes : sequence of labels
        name : str
            The file's name, for the error.
        trained : sequence of labels
            Where the classes have names of their own, the labels of the training data in their
            order: they may stand in the place of the names.

        Raises
        ------
        InputError
            If a label is not one of the classes.
        """
        if self.y is None:
            return None
        matches = _matches(self.y, classes)
        if trained and not matches.any(axis=1).all():
            others = _matches(self.y, trained)
            matches = others if others.any(axis=1).all() else matches
        unknown = np.flatnonzero(~matches.any(axis=1))
        if len(unknown):
            row = int(unknown[0])
            raise InputError(
                f"{name}: y[{row}] is {self.y[row]!s}, must be one of the model's classes: "
                f"{', '.join(map(str, classes))}"
            )
        numbers_of: NDArray[np.int64] = matches.argmax(axis=1)
        return numbers_of


def _matches(y: NDArray[Any], classes: Sequence[Label]) -> NDArray[np.bool_]:
    """Return whether label n is class k, shape (n_samples, n_classes)."""
    numbers = y.dtype.kind in "biuf" and not any(isinstance(c, str) for c in classes)
    meant = np.array([float(c) if numbers else str(c) for c in classes])
    given = y.astype(np.float64) if numbers else y.astype(np.str_)
    matches: NDArray[np.bool_] = given[:, None] == meant
    return matches


def read_samples(path: Path, n_features: int, part: Part = "calibration") -> Samples:
    """Read samples of `n_features` features.

    `.npz`: `X` (with `y`) or `X_train` (with `y_train`), for the part "test" `X_test` before
    them. `.npy`: one array. CSV: a header line or none, separated by comma, semicolon or tab,
    `n_features` columns, or one more with the label last. svmlight: indices count from 1, or
    from 0 if an index 0 occurs in the file.

    Parameters
    ----------
    path : Path
    n_features : int
    part : "calibration" or "test"

    Returns
    -------
    Samples

    Raises
    ------
    UsageError
        If the file does not exist.
    InputError
        If the file cannot be used; the text names file, field, value and rule.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(f"{path} is not a file; data files are .npz, .npy, .csv or svmlight")
        with path.open("rb") as file, budget_of_file(status.st_size):
            X, y = _read(file, path.name, n_features, part)
            return Samples(
                _as_float32(X, n_features, path.name), _checked_labels(y, len(X), path.name)
            )
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError(f"{path} does not exist; check the path of the data file") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except MemoryError as error:
        raise InputError(f"{path} does not fit into memory; use fewer samples") from error


def _read(
    file: BinaryIO, name: str, n_features: int, part: Part
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    start = file.read(6)
    file.seek(0)
    if start.startswith(b"PK"):
        return read_npz(file, name, _NAMES[part])
    if start == b"\x93NUMPY":
        return read_npy(file, f"{name}: the array"), None
    if start.startswith((_PICKLE, _GZIP)):
        kind = "a pickle" if start.startswith(_PICKLE) else "a gzip archive"
        raise InputError(f"{name} is {kind}; data files are .npz, .npy, .csv or svmlight")
    return read_text(file, name, n_features)


def _as_float32(X: NDArray[Any], n_features: int, name: str) -> Float32Array:
    if X.dtype.kind not in "biuf":
        raise InputError(f"{name}: X has type {X.dtype}, must be integers or floats")
    if X.ndim != 2 or X.shape[1] != n_features:
        raise InputError(
            f"{name}: X has shape {X.shape}, must be (n_samples, {n_features}): the model has "
            f"{n_features} features"
        )
    if not len(X):
        raise InputError(f"{name}: X has no samples, must have 1 or more")
    current_budget().spend(_WIDENED_BYTES * X.size, f"{name}: X of {X.size} numbers")
    _require_finite(X, X, name, "must be finite")
    with np.errstate(over="ignore", under="ignore"):
        rounded = X.astype(np.float32, order="C")
    _require_finite(rounded, X, name, "beyond float32, must be within -3.4e38 to 3.4e38")
    rounded.setflags(write=False)
    return rounded


def _require_finite(checked: NDArray[Any], shown: NDArray[Any], name: str, rule: str) -> None:
    """Raise InputError for the first value of `checked` that is NaN or infinite."""
    finite = np.isfinite(checked)
    if not finite.all():
        row, column = divmod(int(finite.argmin()), checked.shape[1])  # the first one
        raise InputError(f"{name}: X[{row}, {column}] is {shown[row, column]!s}, {rule}")


def _checked_labels(y: NDArray[Any] | None, n_samples: int, name: str) -> NDArray[Any] | None:
    if y is None:
        return None
    if y.dtype.kind not in "biufU":
        raise InputError(f"{name}: y has type {y.dtype}, must be numbers or text")
    if y.shape != (n_samples,):
        raise InputError(f"{name}: y has shape {y.shape}, must be ({n_samples},): one a sample")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise InputError(f"{name}: y[{row}] is {y[row]!s}, must be finite")
    current_budget().spend(y.nbytes, f"{name}: y")
    labels = y.copy()
    labels.setflags(write=False)
    return labels
