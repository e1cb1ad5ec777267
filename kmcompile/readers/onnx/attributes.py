"""The attributes of an ONNX operator, each read with its checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import Label
from kmcompile.numeric.arrays import Float64Array
from kmcompile.readers.byte_budget import FLOAT_BYTES, current_budget
from kmcompile.readers.fields import MAX_CLASSES, MAX_LABEL_BYTES
from kmcompile.readers.record import short_ascii

_INT, _STRING, _FLOATS, _INTS, _STRINGS = 2, 3, 6, 7, 8
"""AttributeProto.AttributeType."""
_TYPE_NAMES = {_INT: "i", _STRING: "s", _FLOATS: "floats", _INTS: "ints", _STRINGS: "strings"}


def text(raw: bytes) -> str:
    """Return the bytes of a name or label as text.

    Raises
    ------
    InputError
        The bytes are no UTF-8.
    """
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise InputError(f"{short_ascii(str(raw))} is no UTF-8; save the model again") from None


_FLOAT_COPIES = 6
"""Number of float64 copies of an attribute's numbers, one of them as Python objects."""


class OnnxAttributes:
    """Reads attributes by name; every error names the operator, the attribute and what it must be.

    Parameters
    ----------
    node : NodeProto
    allowed : sequence of str
        Every attribute that the operator may have.
    """

    def __init__(self, node: Any, allowed: Sequence[str]) -> None:
        self.operator = short_ascii(text(node.op_type))
        self._attributes: dict[str, Any] = {}
        for attribute in node.attribute:
            name = text(attribute.name)
            if name not in allowed or name in self._attributes or attribute.ref_attr_name:
                raise InputError(
                    f"{self.operator} has the attribute {short_ascii(name)}, must have only "
                    f"{', '.join(allowed) or 'none'}, each once and by value; save the model again"
                )
            self._attributes[name] = attribute

    def error(self, name: str, found: str, allowed: str, remedy: str = "") -> InputError:
        """Return the error of one attribute."""
        remedy = remedy or "the model was altered or damaged, save it again"
        return InputError(f"{self.operator}.{name} {found}, must be {allowed}; {remedy}")

    def integer(self, name: str, default: int) -> int:
        """Return an integer."""
        value = self._value(name, _INT)
        return default if value is None else int(value)

    def choice(self, name: str, default: str, allowed: Sequence[str]) -> str:
        """Return a text out of `allowed`."""
        raw = self._value(name, _STRING)
        value = default if raw is None else text(raw)
        if value not in allowed:
            raise self.error(name, f"is '{short_ascii(value)}'", " or ".join(allowed))
        return value

    def floats(self, name: str, length: int | None = None) -> Float64Array:
        """Return finite numbers, exactly as the file's float32; none if the attribute is absent."""
        value = self._value(name, _FLOATS)
        n_bytes = _FLOAT_COPIES * FLOAT_BYTES * len(value or ())
        current_budget().spend(n_bytes, f"{self.operator}.{name}")
        with np.errstate(invalid="ignore"):  # NaNs that signal
            result = np.array([] if value is None else value, dtype=np.float64)
        if length is not None and len(result) != length:
            raise self.error(name, f"has {len(result)} values", f"{length}")
        bad = np.flatnonzero(~np.isfinite(result))
        if len(bad):
            found = f"is {result[bad[0]]}"
            raise self.error(f"{name}[{bad[0]}]", found, "finite", "retrain the model")
        return result

    def counts(self, name: str, length: int) -> tuple[int, ...]:
        """Return non-negative integers."""
        value = self._value(name, _INTS) or ()
        if len(value) != length:
            raise self.error(name, f"has {len(value)} values", f"{length}")
        current_budget().spend_items(length, f"{self.operator}.{name}")
        result = tuple(value)
        if min(result) < 0:
            raise self.error(name, f"has {min(result)}", "0 or more")
        return result

    def labels(self) -> tuple[Label, ...]:
        """Return `classlabels_ints` or `classlabels_strings`, all different."""
        listed = self._value("classlabels_ints", _INTS) or ()
        texts = self._value("classlabels_strings", _STRINGS) or ()
        current_budget().spend_items(len(listed) + len(texts), "the labels")
        integers, strings = tuple(listed), tuple(map(text, texts))
        if bool(integers) == bool(strings):
            found = "and classlabels_strings are both given or both missing"
            raise self.error("classlabels_ints", found, "one of them")
        labels: tuple[Label, ...] = integers or strings
        if not 2 <= len(labels) <= MAX_CLASSES or len(set(labels)) < len(labels):
            allowed = f"2 to {MAX_CLASSES} different labels"
            raise self.error("classlabels", f"has {len(labels)} labels", allowed)
        if any(len(label.encode()) > MAX_LABEL_BYTES for label in strings):
            raise self.error("classlabels_strings", "has a long label", f"{MAX_LABEL_BYTES} bytes")
        return labels

    def _value(self, name: str, kind: int) -> Any:
        """Return the value of an attribute of this type, None if it is absent."""
        attribute = self._attributes.get(name)
        if attribute is None:
            return None
        if attribute.type != kind:
            raise self.error(name, f"is of type {attribute.type}", f"of type {kind}")
        return getattr(attribute, _TYPE_NAMES[kind])
