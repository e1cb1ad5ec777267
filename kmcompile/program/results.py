"""What a call of the C returns, as Python holds it: the status and the result."""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Status(IntEnum):
    """The C's status codes."""

    OK = 0
    ERROR_NULL = 1
    ERROR_NOT_FINITE = 2
    ERROR_RANGE = 3
    ERROR_CORRUPT = 4


RESULT_DTYPE = np.dtype(
    [
        ("status", np.int32),
        ("label", np.int32),
        ("value", np.float32),
        ("lower", np.float32),
        ("upper", np.float32),
        ("kernel_evals", np.uint32),
        ("stage", np.uint16),
        ("certified", np.bool_),
        ("in_range", np.bool_),
    ]
)
"""One `_result_t` with the status of the call; all zero where the status is not OK.

In a regression it stands for one `_prediction_t`: label is -1, and certified says whether the
interval is within the tolerance, which the C does not return. A classifier has value 0."""
