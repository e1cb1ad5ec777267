"""Machines in kmcompile's own `.npz` layout, one array a field."""

from __future__ import annotations

from kmcompile.errors import InputError
from kmcompile.ir.kernel_machine import KernelMachine

FIRST_MEMBER = "format_version.npy"
"""By it the layout is told from other zip archives."""


def read_npz_model(content: bytes) -> KernelMachine:
    """Return the machine of an archive in this layout."""
    raise InputError("an .npz model, not supported yet; save an estimator with joblib.dump")
