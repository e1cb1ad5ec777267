"""LIBSVM's `.model` text files as kernel machines."""

from __future__ import annotations

from kmcompile.errors import InputError
from kmcompile.ir.kernel_machine import KernelMachine


def read_libsvm(content: bytes) -> KernelMachine:
    """Return the machine of a LIBSVM model."""
    raise InputError("a LIBSVM model, not supported yet; save an estimator with joblib.dump")
