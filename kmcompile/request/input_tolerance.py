"""The input tolerance of each raw feature, as `--input-tolerance` gives it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kmcompile.errors import InputError, UsageError
from kmcompile.numeric.arrays import Float64Array, frozen
from kmcompile.readers.samples.file import read_samples
from kmcompile.request.options import Options


def input_tolerance(options: Options, n_features: int) -> Float64Array | None:
    """Return the tolerance of each raw feature, or None without the option.

    Raises
    ------
    UsageError, InputError
        If the file does not exist, or has not one row of numbers of at least 0.
    """
    given = options.input_tolerance
    if given is None:
        return None
    if isinstance(given, float):
        return frozen(np.full(n_features, given))
    path = Path(given)
    if not path.exists():
        raise UsageError(
            f"--input-tolerance {path}: it is no number, and there is no such file\n"
            "give how far a feature may be off, or a file with one number a feature"
        )
    rows = read_samples(path, n_features).X
    if len(rows) != 1:
        raise InputError(
            f"{path.name}: it has {len(rows)} rows, must have 1: a tolerance for each feature"
        )
    row = rows[0]
    if (row < 0).any():
        column = int((row < 0).argmax())
        raise InputError(f"{path.name}: feature {column} has {row[column]:g}, must be >= 0")
    # The file's numbers are rounded to float32: one step up is no less than what it says.
    above = np.nextafter(row, np.float32(np.inf)).astype(np.float64)
    return frozen(np.where(row == 0, 0.0, above))
