"""The canonical bytes of a model, which its SHA-256 covers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np

from kmcompile.steps.step import Step

NamedArrays = list[tuple[str, np.ndarray]]


def described_steps(steps: Sequence[Step]) -> tuple[list[dict[str, object]], NamedArrays]:
    """Return what the header says of preprocessing steps, and their trained arrays by name."""
    found, arrays = [], []
    for number, step in enumerate(steps):
        described: dict[str, object] = {"step": step.name}
        for field in step.fields():
            value = getattr(step, field.name)
            if not field.metadata.get("trained", True):
                continue
            if isinstance(value, np.ndarray):
                arrays.append((f"preprocessing.{number}.{field.name}", value))
            else:
                described[field.name] = value
        found.append(described)
    return found, arrays


def canonical_parts(header: dict[str, object], arrays: NamedArrays) -> Iterator[bytes | memoryview]:
    """Yield a header with the shapes of the arrays, then the arrays as they are, little-endian.

    Parameters
    ----------
    header : dict
        What JSON can hold.
    arrays : list of (str, ndarray)
        In the order of the bytes; each as float64.
    """
    header = {**header, "arrays": [[name, list(array.shape)] for name, array in arrays]}
    yield json.dumps(header, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    for _, array in arrays:
        if array.size:
            yield array.astype("<f8", copy=False).reshape(-1).view(np.uint8).data
