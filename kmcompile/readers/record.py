"""Record: an object of a model file as plain data, and how values appear in messages."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from kmcompile.readers.older_names import add_newer_names

_MAX_SHOWN = 100


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """The class name and the attributes of an object, without any behaviour.

    Parameters
    ----------
    module, name : str
        Module and name of the class.
    attributes : dict
        As the object's `__dict__`.
    """

    module: str
    name: str
    attributes: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Function:
    """The name of a library's function, which is recognised by its name and never called."""

    module: str
    name: str


def record_of(value: object) -> Record:
    """Return a record, or make that of a fitted object; both with the names of today."""
    if isinstance(value, Record):
        add_newer_names(value.module, value.name, value.attributes)
        return value
    kind = type(value)
    attributes = dict(getattr(value, "__dict__", {}))
    if kind.__module__.startswith("sklearn."):
        # `BaseEstimator.__getstate__` adds it.
        attributes.setdefault("_sklearn_version", version("scikit-learn"))
    add_newer_names(kind.__module__, kind.__qualname__, attributes)
    return Record(kind.__module__, kind.__qualname__, attributes)


def short_ascii(text: str) -> str:
    """Return `text` as short ASCII: a file must not write control codes to a terminal."""
    shown = ascii(text[: _MAX_SHOWN + 1])[1:-1]  # a text may be as large as the file
    return shown if len(shown) <= _MAX_SHOWN else shown[: _MAX_SHOWN - 3] + "..."


def describe(value: object) -> str:
    """Return a short description; never the repr of a container, which may be endless."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and type {short_ascii(str(value.dtype))}"
    if isinstance(value, np.generic):
        return describe(_python_scalar(value))
    if isinstance(value, str):
        return f"'{short_ascii(value)}'"
    if isinstance(value, int) and value.bit_length() > 64:
        return f"an integer of {value.bit_length()} bits"
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    if isinstance(value, Record | Function):
        return short_ascii(f"{value.module}.{value.name}")
    kind = type(value)
    return f"of type {short_ascii(f'{kind.__module__}.{kind.__qualname__}')}"


def _python_scalar(value: np.generic) -> object:
    try:
        item: object = value.item()
    except ValueError:  # a str_ made of bytes that are no text
        return None
    return float(item) if isinstance(item, np.floating) else item  # a longdouble stays one
