"""ONNX's operators before the machine as preprocessing steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from kmcompile.numeric.arrays import Float64Array
from kmcompile.readers.onnx.attributes import OnnxAttributes
from kmcompile.readers.onnx.tensors import Constants
from kmcompile.steps import Affine, Clip, Normalization, Projection, Step

FLOATS = (1, 11)
"""TensorProto.DataType: float and double."""
N_CONSTANTS = {"Mul": 1, "Div": 1, "Add": 1, "Sub": 1, "MatMul": 1, "Clip": 2}
"""Operator -> number of constant inputs besides the data; other operators have none."""
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
    """Multiply by a constant: x c, either way round."""
    return _scaled(node, constants.vector(_constant(node, constants), n))


def _divide(node: Any, n: int, constants: Constants) -> tuple[Step, ...]:
    """Divide by a constant: x / c."""
    divisor = constants.vector(_second(node, constants), n)
    with np.errstate(divide="ignore", over="ignore"):
        return _scaled(node, 1.0 / divisor)


def _scaled(node: Any, factor: Float64Array) -> tuple[Step, ...]:
    attributes = OnnxAttributes(node, ())
    if not np.all((factor > 0) & np.isfinite(factor)):
        raise attributes.error("constant", f"gives the factor {factor.min()}", "> 0 and finite")
    return (Affine(np.zeros(len(factor)), factor, np.zeros(len(factor))),)


def _add(node: Any, n: int, constants: Constants) -> tuple[Step, ...]:
    """Add a constant: x + c, either way round."""
    OnnxAttributes(node, ())
    return (Affine(-constants.vector(_constant(node, constants), n), np.ones(n), np.zeros(n)),)


def _subtract(node: Any, n: int, constants: Constants) -> tuple[Step, ...]:
    """Subtract a constant: x - c."""
    OnnxAttributes(node, ())
    return (Affine(constants.vector(_second(node, constants), n), np.ones(n), np.zeros(n)),)


def _project(node: Any, n: int, constants: Constants) -> tuple[Step, ...]:
    """Multiply a row by a constant matrix: x C, PCA's components."""
    OnnxAttributes(node, ())
    return (Projection(constants.matrix(_second(node, constants), n).T),)


def _clip(node: Any, n: int, constants: Constants) -> tuple[Step, ...]:
    """min(max(x, low), high) of two constants."""
    attributes = OnnxAttributes(node, ())
    _second(node, constants)
    low, high = (constants.number(name) for name in node.input[1:])
    if low >= high:
        raise attributes.error("min and max", f"are {low} and {high}", "ascending")
    return (Clip(low, high, n),)


def _constant(node: Any, constants: Constants) -> bytes:
    """Return the name of the constant input."""
    return next(bytes(name) for name in node.input if name in constants)


def _second(node: Any, constants: Constants) -> bytes:
    """Return the name of the second input, which must be a constant."""
    name = bytes(node.input[1])
    if node.input[0] in constants or name not in constants:
        raise OnnxAttributes(node, ()).error("first input", "is the constant", "the data")
    return name


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
        "Div": _divide,
        "Add": _add,
        "Sub": _subtract,
        "MatMul": _project,
        "Clip": _clip,
        "Identity": _identity,
        "Cast": _cast,
    }
)
