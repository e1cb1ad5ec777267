"""The logistic function: C equals numpy, is as near as it claims, and never decreases."""

from __future__ import annotations

import numpy as np
import pytest
from scalar_library import ScalarLibrary, compile_source, floats, mismatches, over_chunks

from kit.roundings import CONTRACT, FUSED, need_fma
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.scalar.exp_negative import CUTOFF
from kmcompile.numeric.scalar.logistic import RELATIVE_ERROR, logistic

CUTOFF_BITS = int(CUTOFF.view(np.uint32))
INFINITY_BITS = 0x7F800000
LEAST = int(np.float32(2.0**-26).view(np.uint32))
"""Below it the result is 1/2 on both sides."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ScalarLibrary:
    return ScalarLibrary(compile_source(tmp_path_factory.mktemp("logistic"), "gcc", ["-O2"]))


def check(library: ScalarLibrary, v: Float32Array) -> float:
    """Check increasing arguments of one sign; return the largest relative error."""
    result = library.apply("logistic", v)
    assert mismatches(result, logistic(v)) == 0
    assert result.min() >= 0.0
    assert result.max() <= 1.0
    steps = np.diff(result) * (1.0 if v[0] >= 0 else -1.0)
    assert steps.min(initial=0.0) >= 0.0
    return library.worst("logistic", v, result)


def test_every_64th_float_keeps_the_bound_and_none_decreases(library: ScalarLibrary) -> None:
    v = np.arange(LEAST, CUTOFF_BITS, 64, dtype=np.uint32).view(np.float32)
    worst = max(check(library, v), check(library, -v))
    print(f"logistic: {worst * 2**24:.4f} * 2^-24")
    assert worst <= RELATIVE_ERROR


@pytest.mark.exhaustive
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_every_float_keeps_the_bound_and_none_decreases(
    library: ScalarLibrary, sign: float
) -> None:
    def checked(v: Float32Array) -> float:
        following = np.nextafter(v[-1:], np.float32(np.inf))  # so that chunks overlap
        ordered = np.append(v, following[following < CUTOFF])
        return check(library, (ordered * np.float32(sign)))

    worst = over_chunks(checked, LEAST, CUTOFF_BITS)
    print(f"logistic: {worst * 2**24:.4f} * 2^-24")
    assert worst <= RELATIVE_ERROR


def test_it_is_a_half_near_0_and_0_or_1_from_the_cutoff_on(library: ScalarLibrary) -> None:
    tiny = np.concatenate([floats(0, 1000), floats(LEAST - 1000, LEAST + 1)])
    assert (library.apply("logistic", np.concatenate([tiny, -tiny])) == 0.5).all()
    large = np.append(floats(CUTOFF_BITS, CUTOFF_BITS + 1000), np.float32(np.inf))
    assert (library.apply("logistic", large) == 1.0).all()
    assert (library.apply("logistic", -large) == 0.0).all()
    assert library.apply("logistic", np.full(1, np.nan, dtype=np.float32))[0] == 0.0


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_it_keeps_its_bound_where_the_compiler_contracts(compiler: str, tmp_path) -> None:
    """reliability 32: bounds hold with and without FMA."""
    need_fma()
    fused = ScalarLibrary(compile_source(tmp_path, compiler, [*FUSED, CONTRACT]))
    v = np.arange(LEAST, CUTOFF_BITS, 64, dtype=np.uint32).view(np.float32)
    for values in (v, -v):
        assert fused.worst("logistic", values, fused.apply("logistic", values)) <= RELATIVE_ERROR
