"""exp, tanh, log and the square root in double: the C gives the interpreter's bits.

reliability 32: where a compiler contracts, the functions keep their bounds.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from kit.host_program import STRICT
from kit.roundings import CONTRACT, FUSED, need_fma
from kit.tools import need, succeed
from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.emit.environment import DOUBLE, render
from kmcompile.numeric.scalar import (
    cosine_double,
    exp_negative_double,
    log1p,
    square_root,
    square_root_double,
    tanh_double,
)
from kmcompile.numeric.scalar.functions import LOG1P

DIGITS = 40
HEAD = """#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
typedef union { float value; uint32_t bits; } k_bits_t;
typedef union { double value; uint64_t bits; } d_bits_t;
static double d_magnitude(const double v)
{
    d_bits_t number;
    number.value = v;
    number.bits &= 0x7FFFFFFFFFFFFFFFULL;
    return number.value;
}
"""
APPLY = """
void apply_{0}(const double *in, double *out, size_t count);
void apply_{0}(const double *in, double *out, size_t count)
{{
    size_t i;
    for (i = 0U; i < count; ++i) {{
        out[i] = d_{0}(in[i]);
    }}
}}
"""


@dataclass(frozen=True)
class Function:
    """A function with its Python, its bound, its real meaning and arguments of every kind."""

    of: Callable[[np.ndarray], np.ndarray]
    bound: float
    exact: Callable[[Any], Any]
    arguments: np.ndarray
    absolute: bool = False


RNG = np.random.default_rng(1)
HALVES = (np.arange(1020) + 0.5) * np.log(2.0)
FUNCTIONS = {
    "exp_negative": Function(
        exp_negative_double.exp_negative,
        exp_negative_double.RELATIVE_ERROR,
        lambda z: mp.exp(-z),
        np.concatenate([RNG.random(20_000) * 707, RNG.random(20_000), HALVES[HALVES < 707]]),
    ),
    "tanh": Function(
        tanh_double.tanh,
        tanh_double.RELATIVE_ERROR,
        mp.tanh,
        np.concatenate([RNG.normal(size=20_000), 10.0 ** RNG.uniform(-290, 2, 20_000)]),
    ),
    "cosine": Function(
        cosine_double.cosine,
        cosine_double.ABSOLUTE_ERROR,
        mp.cos,
        np.concatenate(
            [
                RNG.uniform(-1, 1, 20_000) * cosine_double.LIMIT,
                RNG.normal(size=20_000),
                (np.arange(5000) + 0.5) * np.pi,
            ]
        ),
        absolute=True,
    ),
    "log1p": Function(
        log1p.log1p,
        LOG1P[np.float64].relative_error,
        mp.log1p,
        np.concatenate(
            [RNG.random(20_000) * 4, 2.0 ** RNG.uniform(-1020, 126, 20_000), 2.0 ** np.arange(53)]
        ),
    ),
    "square_root": Function(
        square_root_double.square_root,
        square_root_double.RELATIVE_ERROR,
        mp.sqrt,
        np.concatenate([RNG.random(20_000), 2.0 ** RNG.uniform(-180, 126, 20_000)]),
    ),
}


def library(folder: Path, compiler: str, flags: tuple[str, ...]) -> ctypes.CDLL:
    """Return the compiled functions."""
    need(compiler)
    names = {"name": "d", "base": "k", **DOUBLE}
    parts = [HEAD, render("scalar/square_root.c.j2", scalar=square_root.VIEW, name="k")]
    for module in (exp_negative_double, tanh_double, cosine_double, square_root_double):
        template = module.__name__.rpartition(".")[2]
        parts.append(render(f"scalar/{template}.c.j2", scalar=module, **names))
    parts.append(render("scalar/log1p.c.j2", scalar=log1p.VIEW_DOUBLE, **names))
    parts += [APPLY.format(function) for function in FUNCTIONS]
    source, binary = folder / "double.c", folder / "double.so"
    source.write_text("\n".join(parts))
    succeed([compiler, *EXACT_FLAGS, *STRICT, *flags, "-shared", "-fPIC", source, "-o", binary])
    return ctypes.CDLL(str(binary))


def apply(compiled: ctypes.CDLL, function: str, values: np.ndarray) -> np.ndarray:
    """Return the C function's results."""
    result = np.empty_like(values)
    call = compiled[f"apply_{function}"]
    call.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    call(values.ctypes.data, result.ctypes.data, values.size)
    return result


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("optimisation", ["-O0", "-O2", "-O3", "-Os"])
def test_the_c_gives_the_interpreter_s_bits(compiler, optimisation, tmp_path):
    compiled = library(tmp_path, compiler, (optimisation,))
    for name, function in FUNCTIONS.items():
        edges = (
            [16384.0]
            if function.absolute
            else [0.0, 5e-324, 2.0**-1022, 2.0**-193, 1e-30, 706.9999, 707.0, 1e30]
        )
        values = np.concatenate([function.arguments, edges])
        found = apply(compiled, name, values)
        assert np.array_equal(found.view(np.uint64), function.of(values).view(np.uint64)), name


@pytest.mark.few
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_contracted_functions_keep_their_bounds(name, compiler, tmp_path):
    need_fma()
    function = FUNCTIONS[name]
    compiled = library(tmp_path, compiler, (*FUSED, CONTRACT))
    values = function.arguments[::10].copy()
    found = apply(compiled, name, values)
    with mp.workdps(DIGITS):
        pairs = zip(values.tolist(), found.tolist(), strict=True)
        assert max(_error(function, v, value) for v, value in pairs) <= mpf(function.bound)


def _error(function: Function, v: float, value: float) -> Any:
    exact = function.exact(mpf(v))
    return abs(mpf(value) - exact) if function.absolute else abs(mpf(value) / exact - 1)
