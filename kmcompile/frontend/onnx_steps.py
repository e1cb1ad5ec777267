"""ONNX's operators before the machine as preprocessing steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from kmcompile.frontend.onnx_attributes import OnnxAttributes
from kmcompile.frontend.onnx_tensors import Constants
from kmcompile.ir.arrays import Float64Array
from kmcompile.ir.preprocessing import Affine, Normalization, Step

FLOATS = (1, 11)
"""TensorProto.DataType: float and double."""
WITH_CONSTANT = ("Mul", "Add")
"""Operators of two inputs, one of them a constant; the others have one."""
_NORMS: Mapping[str, Literal["l1", "l2"]] = MappingProxyType({"L1": "l1", "L2": "l2"})


def _scaler(node: Any, n: int, constants: Constants) -> tuple[Step, ...]:
    """(x - offset) scale, each of n values or one for all."""
    attributes = OnnxAttributes(node, ("offset", "scale"))
    offset, scale = (_one_each(attributes, name, n) for name in ("offset", "scale"))
    if np.any(scale <= 0):
        raise attributes.error("scale", f"has {scale.min()}", "> 0", "retrain the model")
    return (Affine(offset, scale, np.zeros(n)),)


def _one_each(attributes: OnnxAttributes, name: str, n: int) -> Float64Array:
    values = attributes.floats(name)
    return np.full(n, values[0]) if len(values) == 1 else attributes.floats(name, n)


def _normalizer(node: Any, n: int, constants: Constants) -> tuple[Step, ...]:
    """x / |x|; a row shorter than 10 times the epsilon of float64 stays, as in scikit-learn."""
    attributes = OnnxAttributes(node, ("norm",))
    norm = attributes.choice("norm", "MAX", ("L1", "L2", "MAX"))
    if norm == "MAX":
        found = "is MAX, in ONNX the largest value and not the largest magnitude"
        raise attributes.error("norm", found, "L1 or L2", "retrain with another norm")
    return (Normalization(_NORMS[norm], n),)


def _multiply(node: Any, n: int, constants: Constants) -> tuple[Step, ...]:
    """Multiply by a constant: x c."""
    attributes = OnnxAttributes(node, ())
    factor = constants.of(node, n)
    if np.any(factor <= 0):
        raise attributes.error("constant", f"has {factor.min()}", "> 0", "retrain the model")
    return (Affine(np.zeros(n), factor, np.zeros(n)),)


def _add(node: Any, n: int, constants: Constants) -> tuple[Step, ...]:
    """Add a constant: x + c."""
    OnnxAttributes(node, ())
    return (Affine(-constants.of(node, n), np.ones(n), np.zeros(n)),)


def _identity(node: Any, n: int, constants: Constants) -> tuple[Step, ...]:
    OnnxAttributes(node, ())
    return ()


def _cast(node: Any, n: int, constants: Constants) -> tuple[Step, ...]:
    check_cast(node, FLOATS)
    return ()


def check_cast(node: Any, allowed: tuple[int, ...]) -> None:
    """Raise InputError unless a Cast is to one of the types, which hold the values as they are."""
    attributes = OnnxAttributes(node, ("to", "saturate"))
    to = attributes.integer("to", 0)
    if to not in allowed:
        raise attributes.error("to", f"is {to}", f"one of {', '.join(map(str, allowed))}")


STEPS: Mapping[str, Callable[[Any, int, Constants], tuple[Step, ...]]] = MappingProxyType(
    {
        "Scaler": _scaler,
        "Normalizer": _normalizer,
        "Mul": _multiply,
        "Add": _add,
        "Identity": _identity,
        "Cast": _cast,
    }
)
