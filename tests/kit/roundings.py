"""The emitted C under other roundings: fused multiply-adds, subnormals flushed to zero.

For tests of bounds and certificates, which must hold under these, too.
"""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kit.emitted import Emitted
from kit.tools import succeed
from kmcompile.build import build
from kmcompile.run import HostRunner, RunResult
from kmcompile.target import load_target

FUSED = ("-O3", "-mfma", "-mavx2")
CONTRACT = "-ffp-contract=fast"


def need_fma() -> None:
    cpuinfo = Path("/proc/cpuinfo")
    if platform.machine() != "x86_64" or " fma " not in cpuinfo.read_text():
        pytest.skip("this processor has no x86 FMA instructions")


def run(model: Emitted, X: np.ndarray, folder: Path, compiler: str, fused: bool) -> RunResult:
    """Build the emitted C, with contraction if `fused`, and run it."""
    host = load_target("host")
    model.write(folder)
    if fused:
        flags = (*host.compiler.flags, *FUSED)
        host = replace(host, compiler=replace(host.compiler, flags=flags))
    optimisation = CONTRACT if fused else "-O2"
    inputs = np.ascontiguousarray(X).view(np.uint32)
    with build(
        model.recipe, folder, host, compiler=compiler, optimisation=optimisation
    ) as artifact:
        return HostRunner().run(artifact, inputs)


@contextmanager
def flushing_subnormals(folder: Path, *models: Emitted) -> Iterator[None]:
    """Set flush-to-zero and denormals-are-zero in this thread.

    Parameters
    ----------
    models
        The models to run. Their C is written before, because its constants may be subnormal.
    """
    for model in models:
        model.write(folder)
    source, library = folder / "mxcsr.c", folder / "mxcsr.so"
    source.write_text(
        "#include <xmmintrin.h>\n"
        "unsigned get(void);\nunsigned get(void) { return _mm_getcsr(); }\n"
        "void set(unsigned v);\nvoid set(unsigned v) { _mm_setcsr(v); }\n"
    )
    succeed(["gcc", "-shared", "-fPIC", source, "-o", library])
    register = ctypes.CDLL(str(library))
    before = register.get()
    register.set(before | 0x8040)
    try:
        assert np.float32(1e-38) * np.float32(0.01) == 0.0
        yield
    finally:
        register.set(before)
