"""The cosine in float32: C equals numpy, is as near as it claims, and even to the bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scalar_library import ScalarLibrary, compile_source, floats, mismatches, over_chunks

from kit.roundings import CONTRACT, FUSED, need_fma
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.scalar.cosine import ABSOLUTE_ERROR, LIMIT, cosine

LAST = int(LIMIT.view(np.uint32))
LEAST = int(np.float32(2.0**-14).view(np.uint32))
"""Below it the result is 1, off by less than 2^-29."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ScalarLibrary:
    return ScalarLibrary(compile_source(tmp_path_factory.mktemp("cosine"), "gcc", ["-O2"]))


def check(library: ScalarLibrary, v: Float32Array) -> float:
    """Check arguments >= 0; return the largest error."""
    result = library.apply("cosine", v)
    assert mismatches(result, cosine(v)) == 0
    assert mismatches(result, library.apply("cosine", -v)) == 0
    assert result.max() <= 1.0
    assert result.min() >= -1.0
    return library.worst("cosine", v, result)


def every_512th() -> Float32Array:
    return np.append(np.arange(LEAST, LAST, 512, dtype=np.uint32), LAST).view(np.float32)


def near_multiples() -> Float32Array:
    """Return floats around all multiples of pi / 2, where k or the sign of the result changes."""
    middle = (np.arange(1, 2 * LIMIT / np.pi) * (np.pi / 2)).astype(np.float32)
    near = [middle.view(np.int32) + step for step in range(-3, 4)]
    v = np.concatenate(near).astype(np.int32).view(np.float32)
    return v[v <= LIMIT]


def test_every_512th_float_and_the_multiples_of_half_pi_keep_the_bound(
    library: ScalarLibrary,
) -> None:
    worst = max(check(library, every_512th()), check(library, near_multiples()))
    print(f"cosine: {worst * 2**24:.4f} * 2^-24")
    assert worst <= ABSOLUTE_ERROR


@pytest.mark.exhaustive
def test_every_float_keeps_the_bound(library: ScalarLibrary) -> None:
    worst = over_chunks(lambda v: check(library, v), LEAST, LAST + 1)
    print(f"cosine: {worst * 2**24:.4f} * 2^-24")
    assert worst <= ABSOLUTE_ERROR


def test_it_is_1_near_0(library: ScalarLibrary) -> None:
    tiny = np.concatenate([floats(0, 1000), floats(LEAST - 1000, LEAST)])
    assert (library.apply("cosine", np.concatenate([tiny, -tiny])) == 1.0).all()


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_it_keeps_its_bound_where_the_compiler_contracts(compiler: str, tmp_path: Path) -> None:
    """reliability 32: bounds hold with and without FMA."""
    need_fma()
    fused = ScalarLibrary(compile_source(tmp_path, compiler, [*FUSED, CONTRACT]))
    for v in (every_512th(), near_multiples()):
        assert fused.worst("cosine", v, fused.apply("cosine", v)) <= ABSOLUTE_ERROR


@pytest.mark.exhaustive
def test_every_float_keeps_the_bound_where_the_compiler_contracts(tmp_path: Path) -> None:
    """reliability 32: bounds hold with and without FMA."""
    need_fma()
    fused = ScalarLibrary(compile_source(tmp_path, "gcc", [*FUSED, CONTRACT]))

    def checked(v: Float32Array) -> float:
        return fused.worst("cosine", v, fused.apply("cosine", v))

    worst = over_chunks(checked, LEAST, LAST + 1)
    print(f"cosine, contracted: {worst * 2**24:.4f} * 2^-24")
    assert worst <= ABSOLUTE_ERROR
