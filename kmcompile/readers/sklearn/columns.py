"""The columns of a part of a ColumnTransformer, from any form of specification."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kmcompile.errors import InputError
from kmcompile.readers.byte_budget import current_budget
from kmcompile.readers.fields import Fields
from kmcompile.readers.record import Record, describe

_TELL = "a list of columns: indices, names, a mask or a slice"

MOST_COLUMNS = 1_000_000
"""Largest number of columns, more than any board holds; a file may claim any number."""


def feature_names(fields: Fields, n_features: int) -> list[str]:
    """Return the names of the columns of the training data; empty if it had no names."""
    if not fields.has("feature_names_in_"):
        return []
    names = told_names(fields, n_features)
    if len(set(names)) != n_features:
        value = fields.get("feature_names_in_")
        found, allowed = f"is {describe(value)}", f"{n_features} different names"
        raise fields.error("feature_names_in_", found, allowed)
    return names


def told_names(fields: Fields, n_features: int) -> list[str]:
    """Return the names of the columns of the training data; empty if not each has a text."""
    value = fields.get("feature_names_in_", None)
    names = _as_list(value) if isinstance(value, np.ndarray) and value.ndim == 1 else []
    texts = all(isinstance(name, str) for name in names)
    return list(names) if texts and len(names) == n_features else []


class Columns:
    """Turns a specification of columns into indices, as sklearn.utils._indexing does.

    Parameters
    ----------
    what : str
        Owner of the columns, for messages.
    n_features : int
        Number of features of the input.
    names : list of str
        Names of the input's columns; may be empty.
    """

    def __init__(self, what: str, n_features: int, names: list[str]) -> None:
        self.what = what
        self.n_features = n_features
        self._index_of = {name: index for index, name in enumerate(names)}

    def of(self, value: Any) -> list[int]:
        """Return the indices; a list keeps its order and its repetitions."""
        if isinstance(value, slice):
            ends = (self._end(value.start, 0), self._end(value.stop, 1), value.step)
            if ends[2] is not None and (not _is_index(ends[2]) or ends[2] == 0):
                raise self._error(value)
            return self._listed(range(self.n_features)[slice(*ends)])
        items = _items(value)
        if items is None:
            raise self._error(value)
        if items and all(isinstance(item, bool) for item in items):
            if len(items) != self.n_features:
                found = f"are a mask of {len(items)}"
                raise InputError(f"{self.what} {found}, must be of {self.n_features}")
            return [index for index, taken in enumerate(items) if taken]
        return [self._index(item) for item in self._listed(items)]

    def _listed(self, items: Sequence[Any]) -> list[Any]:
        if len(items) > MOST_COLUMNS:
            raise InputError(
                f"{self.what} are {len(items)}, must be at most {MOST_COLUMNS}; "
                "the model was altered or damaged, save it again"
            )
        current_budget().spend_items(len(items), self.what)
        return list(items)

    def _index(self, item: Any) -> int:
        if isinstance(item, str):
            if item in self._index_of:
                return self._index_of[item]
            raise InputError(
                f"{self.what} have {describe(item)}, must be in feature_names_in_; "
                "the model was altered or damaged, save it again"
            )
        if _is_index(item) and -self.n_features <= item < self.n_features:
            return int(item) % self.n_features
        found = f"{self.what} have {describe(item)}"
        raise InputError(
            f"{found}, must be names or integers below {self.n_features}; "
            "the model was altered or damaged, save it again"
        )

    def _end(self, item: Any, beyond: int) -> int | None:
        """Return an end of a slice; a slice of names includes its last name."""
        if item is None or _is_index(item):
            return None if item is None else int(item)
        if isinstance(item, str):
            return self._index(item) + beyond
        raise self._error(item)

    def _error(self, value: Any) -> InputError:
        return InputError(
            f"{self.what} are {describe(value)}, must be {_TELL};\nfit it with such a list"
        )


def _is_index(item: Any) -> bool:
    return isinstance(item, int) and not isinstance(item, bool) and abs(item) < 2**31


def _items(value: Any) -> list[Any] | None:
    """Return the elements of a list, an array or an index of pandas; None for other values.

    Releases 1.5 to 1.8 keep the remaining columns in a list of a class of their own.
    """
    if isinstance(value, Record):
        value = value.attributes.get("data") if value.name == "_RemainderColsList" else None
    elif type(value).__name__ == "_RemainderColsList":
        value = value.data
    if hasattr(value, "tolist"):
        value = _as_list(value)
    if not isinstance(value, list | tuple):
        return None
    current_budget().spend_items(len(value), "the columns of a ColumnTransformer")
    return [item.item() if isinstance(item, np.generic) else item for item in value]


def _as_list(value: Any) -> Any:
    """Return the elements of an array or an index of pandas."""
    if isinstance(value, np.ndarray):
        budget = current_budget()
        budget.spend(value.nbytes, "the columns of a ColumnTransformer")
        budget.spend_items(value.size, "the columns of a ColumnTransformer")
    return value.tolist()
