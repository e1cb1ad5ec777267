"""The emitted scalar functions as a library that goes through ranges of float32 bit patterns."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from kit.host_program import STRICT
from kit.tools import HANGS_S
from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.emit.environment import FLOAT, environment
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.scalar import cosine, exp_negative, log1p, logistic, power, square_root, tanh

CHUNK = 1 << 18

_HEAD = """#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
typedef union { float value; uint32_t bits; } k_bits_t;
static float k_magnitude(const float v)
{
    k_bits_t number;
    number.value = v;
    number.bits &= 0x7FFFFFFFUL;
    return number.value;
}
"""
_APPLY = """
void apply_{0}(const float *in, float *out, size_t count);
void apply_{0}(const float *in, float *out, size_t count)
{{
    size_t i;
    for (i = 0U; i < count; ++i) {{
        out[i] = k_{0}(in[i]);
    }}
}}
"""
# The reference is the host's double function, within 2 units in the last place: 2^-51 is added.
_WORST = """
double exp(double z);
double tanh(double v);
double fabs(double v);
double cos(double v);
double log1p(double v);
static double log1p_of(const float u) { return log1p((double)u); }
static double cosine_of(const float v) { return cos((double)v); }
static double exp_of_minus(const float z) { return exp(-(double)z); }
static double tanh_of(const float v)
{
    const double d = (double)v;
    return (d < 0x1p-12) ? (d * (1.0 - (d * d / 3.0))) : tanh(d);
}
static double logistic_of(const float v)
{
    const double e = exp(-fabs((double)v));
    return ((v >= 0.0f) ? 1.0 : e) / (1.0 + e);
}
"""
_WORST_OF = """
double worst_{0}(const float *in, const float *out, size_t count);
double worst_{0}(const float *in, const float *out, size_t count)
{{
    double worst = 0.0;
    size_t i;
    for (i = 0U; i < count; ++i) {{
        const double error = {2};
        worst = (error > worst) ? error : worst;
    }}
    return worst + 0x1p-51;
}}
"""
_RELATIVE = "fabs(((double)out[i] / {0}(in[i])) - 1.0)"
_ABSOLUTE = "fabs((double)out[i] - {0}(in[i]))"
_ERRORS = {
    "exp_negative": ("exp_of_minus", _RELATIVE),
    "tanh": ("tanh_of", _RELATIVE),
    "logistic": ("logistic_of", _RELATIVE),
    "log1p": ("log1p_of", _RELATIVE),
    "cosine": ("cosine_of", _ABSOLUTE),
}
"""The real function and how an error counts."""
FUNCTIONS: dict[str, Callable[[Float32Array], Float32Array]] = {
    "exp_negative": exp_negative.exp_negative,
    "tanh": tanh.tanh,
    "logistic": logistic.logistic,
    "log1p": log1p.log1p,
    "cosine": cosine.cosine,
    "square_root": square_root.square_root,
    "power_0": lambda v: power.power(v, 0),
    "power_1": lambda v: power.power(v, 1),
    "power_6": lambda v: power.power(v, 6),
    "power_7": lambda v: power.power(v, 7),
}


def source() -> str:
    """Return the C of all scalar functions with the loops around them."""
    views = [
        ("exp_negative", exp_negative),
        ("tanh", tanh),
        ("logistic", logistic),
        ("log1p", log1p.VIEW),
        ("cosine", cosine),
        ("square_root", square_root.VIEW),
        *(("power", power.power_view(degree)) for degree in (0, 1, 6, 7)),
    ]
    parts = [_HEAD]
    for template, view in views:
        text = environment().get_template(f"scalar/{template}.c.j2")
        parts.append(text.render(name="k", scalar=view, **FLOAT))
    parts += [_APPLY.format(function) for function in FUNCTIONS]
    parts += [_WORST]
    for function, (exact, error) in _ERRORS.items():
        parts.append(_WORST_OF.format(function, exact, error.format(exact)))
    return "\n".join(parts)


def require(tool: str) -> str:
    """Return the tool's path; without it skip, or fail in CI."""
    path = shutil.which(tool)
    if path is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"{tool} is not installed")
    return path


def compile_source(folder: Path, compiler: str, flags: Iterable[str], main: str = "") -> Path:
    """Compile the source to a library, or with `main` to a program; no warning is allowed."""
    code, binary = folder / "scalar.c", folder / ("scalar" if main else "scalar.so")
    code.write_text(source() + main)
    kind = [] if main else ["-shared", "-fPIC"]
    command = [
        require(compiler),
        *EXACT_FLAGS,
        *STRICT,
        *flags,
        *kind,
        str(code),
        "-o",
        str(binary),
        "-lm",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS_S)
    assert done.returncode == 0, done.stderr
    return binary


class ScalarLibrary:
    """The compiled functions, called on arrays."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))

    def apply(self, function: str, values: Float32Array) -> Float32Array:
        """Return the C function's results."""
        result = np.empty_like(values)
        self._function(f"apply_{function}")(values.ctypes.data, result.ctypes.data, values.size)
        return result

    def worst(self, function: str, values: Float32Array, results: Float32Array) -> float:
        """Return an upper limit on the largest error of the results, relative or absolute."""
        call = self._function(f"worst_{function}")
        call.restype = ctypes.c_double
        return float(call(values.ctypes.data, results.ctypes.data, values.size))

    def _function(self, name: str) -> ctypes._NamedFuncPointer:
        call = self._library[name]
        call.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
        return call


def floats(first: int, end: int, every: int = 1) -> Float32Array:
    """Return the float32 with the bit patterns first, first + every, .. below end."""
    return np.arange(first, end, every, dtype=np.uint32).view(np.float32)


def mismatches(left: Float32Array, right: Float32Array) -> int:
    """Return how many bit patterns differ."""
    return int(np.count_nonzero(left.view(np.uint32) != right.view(np.uint32)))


def over_chunks(
    check: Callable[[Float32Array], float], first: int, end: int, every: int = 1
) -> float:
    """Return the largest result of `check` over the patterns of `floats`, on all cores."""
    size = CHUNK * every
    starts = range(first, end, size)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return max(pool.map(lambda s: check(floats(s, min(s + size, end), every)), starts))
