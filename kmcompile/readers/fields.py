"""The attributes of a fitted estimator, each read with its checks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import Label
from kmcompile.numeric.arrays import Float64Array
from kmcompile.readers.byte_budget import FLOAT_BYTES, ITEM_BYTES, current_budget
from kmcompile.readers.record import Record, describe, short_ascii
from kmcompile.readers.scipy_sparse import dense_matrix, is_sparse

Shape = tuple[int | None, ...]

_MISSING: Any = object()

_MAX_FEATURES = 2**31 - 1
MAX_CLASSES = 4096
"""Largest number of classes: coefficients grow with its square, and no microcontroller has room."""
MAX_LABEL_BYTES = 4095
"""Longest label: C99, 5.2.4.1, does not require compilers to accept longer string literals."""

_FIELDS_BYTES = 40 * ITEM_BYTES
"""Cost of an object whose attributes are read; its checks take some dozen microseconds."""
_ARRAY_COPIES = 3
"""Number of float64 copies: the result of `array`, the copy in a machine or step, one between."""


class Fields:
    """Reads attributes by name; every error names the attribute, its value and what it must be.

    Parameters
    ----------
    record : Record
    prefix : str
        Precedes the names in messages: "StandardScaler." for a step of a pipeline.
    """

    def __init__(self, record: Record, prefix: str = "") -> None:
        current_budget().spend(_FIELDS_BYTES, f"a {short_ascii(record.name)}")
        self.record = record
        self.prefix = prefix

    def has(self, name: str) -> bool:
        """Whether the attribute exists."""
        return name in self.record.attributes

    def require_fitted(self, name: str) -> None:
        """Raise InputError if the attribute `name`, which `fit` sets, is missing."""
        if not self.has(name):
            raise InputError(
                f"{self.record.name} is not fitted ({name} is missing); "
                "call fit before it is saved or compiled"
            )

    def require_width(self, width: int) -> None:
        """Raise InputError unless the estimator was fitted for `width` features."""
        if self.integer("n_features_in_", 1, _MAX_FEATURES) != width:
            found = f"is {describe(self.get('n_features_in_'))}"
            raise self.error("n_features_in_", found, f"{width}, as the vectors have")

    def get(self, name: str, default: Any = _MISSING) -> Any:
        """Return the attribute without any check."""
        value = self.record.attributes.get(name, default)
        if value is _MISSING:
            raise InputError(f"{self.prefix}{name} is missing; the model is damaged, save it again")
        return value

    def error(self, name: str, found: str, allowed: str, remedy: str = "") -> InputError:
        """Return the error for one attribute."""
        remedy = remedy or "the model was altered or damaged, save it again"
        return InputError(f"{self.prefix}{name} {found}, must be {allowed}; {remedy}")

    def flag(self, name: str, default: Any = _MISSING) -> bool:
        """Return a boolean."""
        value = self.get(name, default)
        if not isinstance(value, bool | np.bool_):
            raise self.error(name, f"is {describe(value)}", "True or False")
        return bool(value)

    def choice(self, name: str, allowed: Sequence[str]) -> str:
        """Return a string out of `allowed`."""
        value = self.get(name)
        if not isinstance(value, str) or value not in allowed:
            raise self.error(name, f"is {describe(value)}", " or ".join(allowed))
        return str(value)

    def integer(self, name: str, low: int, high: int, remedy: str = "") -> int:
        """Return an integer, Python's or numpy's, within [low, high]."""
        value = self.get(name)
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole or not low <= int(value) <= high:
            allowed = f"an integer from {low} to {high}"
            raise self.error(name, f"is {describe(value)}", allowed, remedy)
        return int(value)

    def number(self, name: str) -> float:
        """Return a finite real number, Python's or numpy's."""
        return self.finite_number(name, self.get(name))

    def first_number(self, name: str) -> float:
        """Return a finite number, also one that is an array of one element."""
        value = self.get(name)
        if isinstance(value, np.ndarray) and value.ndim and value.size == 1:
            return float(self.array(name, (1,) * value.ndim).ravel()[0])
        return self.number(name)

    def finite_number(self, name: str, value: Any) -> float:
        """Return `value`, a part of the attribute, if it is a finite real number."""
        real = isinstance(value, int | float | np.integer | np.floating)
        if isinstance(value, np.ndarray) and value.shape == () and value.dtype.kind in "iuf":
            real, value = True, value[()]
        if not real or isinstance(value, bool):
            raise self.error(name, f"is {describe(value)}", "a number")
        try:
            result = float(value)
        except OverflowError:
            result = math.inf
        if not math.isfinite(result):
            raise self.error(name, f"is {describe(value)}", "finite", "retrain the model")
        return result

    def array(self, name: str, shape: Shape) -> Float64Array:
        """Return a dense or sparse array of finite numbers in float64, of a given shape.

        A None in `shape` stands for any length.
        """
        value = self.raw_array(name)
        fits = len(value.shape) == len(shape) and all(
            wanted in (None, length) for wanted, length in zip(shape, value.shape, strict=True)
        )
        if not fits:
            wanted = "".join("any, " if n is None else f"{n}, " for n in shape)
            wanted = f"({wanted.rstrip() if len(shape) == 1 else wanted[:-2]})"
            raise self.error(name, f"has shape {value.shape}", f"of shape {wanted}")
        n_bytes = _ARRAY_COPIES * FLOAT_BYTES * value.size
        current_budget().spend(n_bytes, f"{self.prefix}{name} of {value.size} numbers")
        result = value.astype(np.float64)
        finite = np.isfinite(result)
        if not finite.all():
            bad = np.unravel_index(int(finite.argmin()), result.shape)  # the first one only
            where = ", ".join(str(int(i)) for i in bad)
            raise self.error(f"{name}[{where}]", f"is {result[bad]}", "finite", "retrain the model")
        return result

    def raw_array(self, name: str) -> np.ndarray[Any, Any]:
        """Return a numeric array in its own dtype; a sparse one becomes dense."""
        value = self.get(name)
        if is_sparse(value):
            return dense_matrix(value, f"{self.prefix}{name}")
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "iuf":
            raise self.error(name, f"is {describe(value)}", "an array of numbers")
        return np.asarray(value)

    def counts(self, name: str, length: int) -> tuple[int, ...]:
        """Return non-negative integers."""
        value = self.get(name)
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "iu":
            raise self.error(name, f"is {describe(value)}", "an array of integers")
        if value.shape != (length,):
            raise self.error(name, f"has shape {value.shape}", f"of shape ({length},)")
        current_budget().spend_items(length, f"{self.prefix}{name} of {length} integers")
        result = tuple(int(n) for n in value)
        if min(result) < 0:
            raise self.error(name, f"has {min(result)}", "0 or more")
        return result

    def whole_numbers(self, name: str) -> NDArray[np.int64]:
        """Return integers of either sign, of any length."""
        value = self.raw_array(name)
        if value.dtype.kind not in "iu" or value.ndim != 1:
            raise self.error(name, f"is {describe(value)}", "integers in one dimension")
        current_budget().spend_items(len(value), f"{self.prefix}{name} of {len(value)} integers")
        return value.astype(np.int64)

    def labels(self, name: str) -> tuple[Label, ...]:
        """Return class labels as Python's str, int, float or bool, all different."""
        value = self.get(name)
        if not isinstance(value, np.ndarray) or value.ndim != 1:
            raise self.error(name, f"is {describe(value)}", "an array of one dimension")
        if len(value) > MAX_CLASSES:
            raise self.error(name, f"has {len(value)} classes", f"at most {MAX_CLASSES}")
        current_budget().spend(value.nbytes, f"{self.prefix}{name}")
        try:
            items = value.tolist()
        except (ValueError, SystemError):  # an estimator's array whose bytes are no text
            raise self.error(name, "is not text", "text or numbers") from None
        labels = tuple(self._label(name, item) for item in items)
        if len(labels) < 2:
            found = f"has {len(labels)} class{'es' if len(labels) != 1 else ''}"
            raise self.error(name, found, "2 or more", "retrain the model")
        if len(set(labels)) < len(labels):
            raise self.error(name, "has a class twice", "all different")
        return labels

    def _label(self, name: str, item: Any) -> Label:
        if isinstance(item, np.generic):  # inside an array of objects
            item = item.item()
        if isinstance(item, str):
            self._check_length(name, item)
            if not any("\ud800" <= c <= "\udfff" for c in item):
                return str(item)
        if isinstance(item, bool):
            return item
        if isinstance(item, int) and item.bit_length() <= 64:
            return int(item)
        if isinstance(item, float) and math.isfinite(item):
            return float(item)
        allowed = "text, integers, finite floats or booleans"
        raise self.error(name, f"has {describe(item)}", allowed, "retrain with other labels")

    def _check_length(self, name: str, label: str) -> None:
        n_bytes = len(label)  # at least; an array may have one text of a megabyte in every place
        if n_bytes <= MAX_LABEL_BYTES:
            n_bytes = len(label.encode(errors="replace"))
        if n_bytes > MAX_LABEL_BYTES:
            found, allowed = f"has a label of {n_bytes} bytes", f"at most {MAX_LABEL_BYTES}"
            raise self.error(name, found, allowed, "retrain with other labels")
