"""Decision values in __float128: reference.c, compiled with gcc and called by cffi."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import cffi
import numpy as np

from kit.tools import need, succeed
from kmcompile.kernels import (
    AdditiveChi2,
    Chi2,
    Intersection,
    Laplacian,
    Linear,
    Matern,
    Poly,
    RationalQuadratic,
    Rbf,
    Sigmoid,
)
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.steps import Affine, Clip, Normalization, Projection, Step

KERNELS = (
    *(Linear, Poly, Rbf, Sigmoid, Laplacian, Chi2, Intersection, AdditiveChi2, Matern),
    RationalQuadratic,
)
_NORMS = ("l1", "l2", "max")
_DECLARATIONS = """
typedef struct {
    int32_t n_features, n_vectors, n_decisions, kernel, degree, n_steps, widest;
    double gamma, coef0, alpha;
    const double *vectors, *coefficients, *intercept;
    const int32_t *steps;
    const double *values;
} machine_t;
int32_t decide(const machine_t *machine, uint32_t n_queries, const float inputs[], double high[],
    double low[], double size[]);
"""


@dataclass(frozen=True, eq=False)
class Decisions:
    """f = high + low and sum |beta K| + |b|, each of shape (n_queries, n_decisions), float64."""

    high: np.ndarray
    low: np.ndarray
    size: np.ndarray


def decisions(machine: KernelMachine, X: np.ndarray) -> Decisions:
    """Return the decision values of inputs of shape (n_queries, n_features), float32."""
    ffi, library = _library()
    kernel = machine.kernel
    steps = [(_kind(step), step.n_out) for step in machine.preprocessing]
    held = {
        "vectors": machine.support_vectors,
        "coefficients": decision_coefficients(machine),
        "intercept": machine.intercept,
        "values": np.concatenate([np.zeros(0), *map(_values, machine.preprocessing)]),
    }
    held = {name: np.array(array, dtype=np.float64) for name, array in held.items()}
    held["steps"] = np.array(steps, dtype=np.int32).reshape(-1, 2)
    as_given = ffi.new("machine_t *")
    as_given.n_features, as_given.n_vectors = machine.n_features, machine.n_support_vectors
    as_given.n_decisions, as_given.n_steps = machine.n_decisions, len(steps)
    as_given.widest = max([machine.n_features, *(width for _, width in steps)])
    as_given.kernel = KERNELS.index(type(kernel))
    as_given.degree = getattr(kernel, "degree", 0)
    as_given.gamma, as_given.coef0 = getattr(kernel, "gamma", 1.0), getattr(kernel, "coef0", 0.0)
    as_given.alpha = getattr(kernel, "alpha", 0.0)
    for name, array in held.items():
        kind = "int32_t *" if name == "steps" else "double *"
        setattr(as_given, name, ffi.cast(kind, ffi.from_buffer(array)))
    X = np.ascontiguousarray(X, dtype=np.float32)
    found = [np.empty((len(X), machine.n_decisions)) for _ in range(3)]
    outputs = [ffi.from_buffer("double[]", array, require_writable=True) for array in found]
    assert library.decide(as_given, len(X), ffi.from_buffer("float[]", X), *outputs) == 0
    return Decisions(*found)


def _kind(step: Step) -> int:
    if isinstance(step, Normalization):
        return 3 + _NORMS.index(step.norm)
    return (Affine, Clip, Projection).index(type(step))


def _values(step: Step) -> np.ndarray:
    if isinstance(step, Affine):
        return np.concatenate([step.offset, step.factor])
    if isinstance(step, Clip):
        return np.array([step.low, step.high])
    return step.matrix.ravel() if isinstance(step, Projection) else np.zeros(0)


@cache
def _library() -> tuple[Any, Any]:
    need("gcc")
    ffi = cffi.FFI()
    ffi.cdef(_DECLARATIONS)
    source = Path(__file__).with_name("reference.c")
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "reference.so"
        flags = ["-std=gnu99", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
        succeed(["gcc", *flags, source, "-o", built, "-lquadmath"])
        return ffi, ffi.dlopen(str(built))
