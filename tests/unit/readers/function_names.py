"""Names of tests of kernels that are functions: the same in every process."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def function_name(kernel: Callable[..., Any]) -> str:
    """Return the name of a function, of a partial one with its arguments."""
    if isinstance(kernel, functools.partial):
        return "-".join([f"partial {kernel.func.__name__}", *kernel.keywords])
    return str(getattr(kernel, "__name__", kernel))
