"""Arguments for the scalar functions of emitted C, which no input of a model can choose freely."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.evidence.vectors.inner import static_functions
from kmcompile.numeric.scalar import (
    cosine,
    cosine_double,
    exp_negative,
    exp_negative_double,
    logistic,
    root_bound,
    square_root,
    square_root_double,
    tanh,
    tanh_double,
)
from kmcompile.program.program import Program
from kmcompile.program.stages import RangeGate

_SEED = 20030705
_END = re.compile(r"\(square [<>] (0x[0-9a-f.]+p[+-]\d+)f\)")
_N_RANDOM = 64


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar function of a C file.

    Attributes
    ----------
    name : str
        In the C.
    is_double : bool
    of : callable
        Its meaning, of an array.
    arguments : ndarray of float32 or float64
    gives : str
        The C type of the result, if it is not that of the argument.
    """

    name: str
    is_double: bool
    of: Callable[[Any], Any]
    arguments: NDArray[Any]
    gives: str = ""

    @property
    def words(self) -> NDArray[np.uint32]:
        """The bits of what it gives, the lower half of a double first."""
        values: NDArray[Any] = self.of(self.arguments)
        return np.ascontiguousarray(values).view(np.uint32)

    @property
    def literals(self) -> list[str]:
        """The arguments as hexadecimal literals."""
        suffix = "" if self.is_double else "f"
        return [
            f"({'-' if value < 0 else ''}INFINITY)"
            if np.isinf(value)
            else f"{float(value).hex()}{suffix}"
            for value in self.arguments
        ]


def _sizes(lowest: int, highest: int) -> NDArray[np.float64]:
    """Return numbers of all sizes from 2^lowest to 2^highest."""
    rng = np.random.default_rng(_SEED)
    exponents = np.linspace(lowest, highest, _N_RANDOM)
    return np.asarray(np.exp2(exponents) * (1 + rng.random(_N_RANDOM) / 64))


_ROOTS = np.array([0.0, 2.0**-149, 3 * 2.0**-149, 2.0**-127, 2.0**-126, 0.25, 1.0, 2.0, 3.0, 4.0])
_DOUBLE_ROOTS = np.array([0.0, 2.0**-200, 2.0**-193, 2.0**-180, 2.0**-65, 2.0**-64, 1.0, 2.0])
_BOTH = np.concatenate([_sizes(-130, 7), -_sizes(-130, 7), [0.0]])
_FUNCTIONS: dict[tuple[str, bool], tuple[Callable[[Any], Any], NDArray[np.float64]]] = {
    ("square_root", False): (square_root.square_root, np.append(_ROOTS, _sizes(-148, 120))),
    ("square_root", True): (
        square_root_double.square_root,
        np.append(_DOUBLE_ROOTS, _sizes(-180, 120)),
    ),
    ("exp_negative", False): (
        exp_negative.exp_negative,
        np.append([0.0, float(exp_negative.CUTOFF), 1e30, np.inf], _sizes(-30, 7)),
    ),
    ("exp_negative", True): (
        exp_negative_double.exp_negative,
        np.append([0.0, float(exp_negative_double.CUTOFF), 1e30, np.inf], _sizes(-60, 10)),
    ),
    ("tanh", False): (tanh.tanh, _BOTH),
    ("tanh", True): (tanh_double.tanh, _BOTH),
    ("logistic", False): (logistic.logistic, np.append(_BOTH, [np.inf, -np.inf])),
    ("cosine", False): (cosine.cosine, np.append(_sizes(-60, 12), -_sizes(-60, 12))),
    ("cosine", True): (cosine_double.cosine, np.append(_sizes(-60, 12), -_sizes(-60, 12))),
    ("root_bound", False): (root_bound.root_bound, np.append(0.0, _sizes(-120, 120))),
}


def scalars(source: str, program: Program) -> tuple[Scalar, ...]:
    """Return the scalar functions of a C file that have a meaning in Python, with arguments."""
    found, prefix = list(_dissimilarity(source, program)), program.name
    for name, function in static_functions(source, prefix).items():
        is_double = function.c_type == "double"
        own = name.removeprefix("replay_")
        if (own, is_double) in _FUNCTIONS and len(function.names) == 1:
            of, arguments = _FUNCTIONS[own, is_double]
            kept = arguments.astype(np.float64 if is_double else np.float32)
            found.append(Scalar(function.name, is_double, of, kept))
    return tuple(found)


def _dissimilarity(source: str, program: Program) -> Iterator[Scalar]:
    """Yield the function that an audit asks how unlike the samples an input is, if there is one.

    Its arguments are the ends of its intervals, their neighbours, and numbers far away.
    """
    name = f"{program.name}_dissimilarity"
    gate = next((one for one in program.exits if isinstance(one, RangeGate)), None)
    if gate is not None and len(gate.usual) and f" {name}(" in source:
        ends = [float.fromhex(text) for text in _END.findall(source)]
        at = np.array([*ends, 0.0, 1e30], dtype=np.float32)
        around = [np.nextafter(at, np.float32(far)) for far in (-np.inf, np.inf)]
        arguments = np.maximum(np.concatenate([at, *around]), np.float32(0))
        yield Scalar(name, False, _counted(gate.dissimilarity), arguments, "uint32_t")


def _counted(of: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the function with whole results as words."""
    return lambda v: np.asarray(of(v)).astype(np.uint32)
