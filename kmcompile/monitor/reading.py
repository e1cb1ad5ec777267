"""What a program's monitor reads of inputs: floats as received, or codes of an integer format."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.interpreter import Status, prepared
from kmcompile.program.program import Program


def read(program: Program, X: Float32Array) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Return which inputs the C accepts, and what the monitor reads of these.

    Returns
    -------
    accepted : ndarray of shape (n,), bool
    values : ndarray of shape (n_accepted, n_features), float32 or int64
    """
    status, batch = prepared(program, X)
    unit = per_unit(program)
    if unit is None:
        return status == Status.OK, batch.raw
    return status == Status.OK, (batch.x * unit).astype(np.int64)


def per_unit(program: Program) -> np.float32 | None:
    """Return the codes in one unit of the prepared input; None in float32."""
    quantize = program.prepare.quantize
    return None if program.codes is None or quantize is None else np.float32(quantize.per_unit)


def most_code(program: Program) -> int:
    """Return the largest magnitude of a code; 0 in float32."""
    codes = program.codes
    return 0 if codes is None else max(abs(int(codes.low)), abs(int(codes.high)))
