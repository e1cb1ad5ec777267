"""The scalar functions: C equals numpy bit for bit, and both are as near as they claim."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scalar_library import (
    FUNCTIONS,
    ScalarLibrary,
    compile_source,
    floats,
    mismatches,
    over_chunks,
)

from kit.covering import every_float
from kit.tools import HANGS_S
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.rounding import LARGEST_INTERMEDIATE
from kmcompile.numeric.scalar import cosine, exp_negative, log1p, tanh
from kmcompile.numeric.scalar.functions import LOG1P

INFINITY_BITS = 0x7F800000
MIN_NORMAL = np.float32(2.0**-126)
LOG1P_SMALLEST = np.float32(2.0**-124)
"""From here on the error of log1p is relative."""


def _bits(value: np.float32 | float) -> int:
    return int(np.float32(value).view(np.uint32))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ScalarLibrary:
    return ScalarLibrary(compile_source(tmp_path_factory.mktemp("scalar"), "gcc", ["-O2"]))


def _sample(function: str) -> Float32Array:
    """Return edge values, values of every exponent and values of usual size."""
    generator = np.random.default_rng(2)
    patterns = generator.integers(0, INFINITY_BITS, 300_000, dtype=np.uint32).view(np.float32)
    usual = (generator.random(300_000) * 100).astype(np.float32)
    edges = [floats(0, 1000), floats(INFINITY_BITS - 1000, INFINITY_BITS)]
    for centre in (exp_negative.CUTOFF, tanh.LIMIT, MIN_NORMAL, np.float32(1.0)):
        edges.append(floats(_bits(centre) - 1000, _bits(centre) + 1000))
    values = np.concatenate([patterns, usual, *edges])
    if function.startswith("power"):
        values = values[(values < 1e5)]
    if function == "cosine":
        values = values[values <= cosine.LIMIT]
    if function == "exp_negative":
        return np.append(values, np.float32(np.inf))
    return values if function in ("square_root", "log1p") else np.concatenate([values, -values])


def _has_avx2() -> bool:
    cpuinfo = Path("/proc/cpuinfo")
    return platform.machine() == "x86_64" and "avx2" in cpuinfo.read_text()


@pytest.mark.few
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3", "-Os", "-O3 -march=haswell"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_scalar_c_matches_numpy_bit_for_bit(compiler: str, level: str, tmp_path: Path) -> None:
    if "haswell" in level and not _has_avx2():
        pytest.skip("this processor has no AVX2")
    built = ScalarLibrary(compile_source(tmp_path, compiler, level.split()))
    for function, reference in FUNCTIONS.items():
        values = _sample(function)
        assert mismatches(built.apply(function, values), reference(values)) == 0, function


def test_scalar_c_has_no_undefined_behaviour(tmp_path: Path) -> None:
    calls = "".join(f"sink = k_{function}(number.value);" for function in FUNCTIONS)
    main = f"""
    int main(void)
    {{
        volatile float sink = 0.0f;
        uint32_t i;
        for (i = 0U; i < 0x10000U; ++i) {{
            k_bits_t number;
            number.bits = i << 16U;  /* negative, infinite and NaN too */
            {calls}
        }}
        return (int)(sink < 0.0f) & 0;
    }}
    """
    flags = "-O1 -fsanitize=undefined,float-cast-overflow -fsanitize-undefined-trap-on-error"
    program = compile_source(tmp_path, "gcc", flags.split(), main)
    assert subprocess.run([program], timeout=HANGS_S).returncode == 0


@every_float
def test_exp_negative_keeps_its_bound_and_matches_numpy(library: ScalarLibrary, every: int) -> None:
    def check(z: Float32Array) -> float:
        k = library.apply("exp_negative", z)
        assert mismatches(k, exp_negative.exp_negative(z)) == 0
        assert k.min() >= MIN_NORMAL
        assert k.max() <= 1.0
        return library.worst("exp_negative", z, k)

    worst = over_chunks(check, 0, _bits(exp_negative.CUTOFF), every)
    print(f"exp_negative: {worst * 2**24:.4f} * 2^-24")
    assert worst <= exp_negative.RELATIVE_ERROR


@pytest.mark.exhaustive
def test_exp_negative_is_zero_on_every_float_from_the_cutoff_on(library: ScalarLibrary) -> None:
    def check(z: Float32Array) -> float:
        return float(np.count_nonzero(library.apply("exp_negative", z).view(np.uint32)))

    assert over_chunks(check, _bits(exp_negative.CUTOFF), INFINITY_BITS + 1) == 0.0


@every_float
def test_tanh_keeps_its_bound_is_odd_and_matches_numpy(library: ScalarLibrary, every: int) -> None:
    def check(v: Float32Array) -> float:
        result = library.apply("tanh", v)
        assert mismatches(result, tanh.tanh(v)) == 0
        assert mismatches(-result, library.apply("tanh", -v)) == 0
        assert result.max() < 1.0
        return library.worst("tanh", v, result)

    def check_beyond(v: Float32Array) -> float:
        return float(np.count_nonzero(library.apply("tanh", v) != largest))

    limit = _bits(tanh.LIMIT)
    largest = library.apply("tanh", floats(limit, limit + 1))[0]
    worst = over_chunks(check, 1, limit + 1, every)
    print(f"tanh: {worst * 2**24:.4f} * 2^-24")
    assert worst <= tanh.RELATIVE_ERROR
    assert 1.0 - float(largest) <= tanh.RELATIVE_ERROR
    assert over_chunks(check_beyond, limit, INFINITY_BITS, every) == 0.0


@every_float
def test_log1p_keeps_its_bound_and_matches_numpy(library: ScalarLibrary, every: int) -> None:
    def check(u: Float32Array) -> float:
        result = library.apply("log1p", u)
        assert mismatches(result, log1p.log1p(u)) == 0
        return library.worst("log1p", u, result)

    worst = over_chunks(check, _bits(LOG1P_SMALLEST), _bits(LARGEST_INTERMEDIATE), every)
    print(f"log1p: {worst * 2**24:.4f} * 2^-24")
    assert worst <= LOG1P[np.float32].relative_error


@pytest.mark.few
def test_log1p_of_tiny_numbers_is_within_its_absolute_error(library: ScalarLibrary) -> None:
    def check(u: Float32Array) -> float:
        result = library.apply("log1p", u)
        assert mismatches(result, log1p.log1p(u)) == 0
        # The logarithm is u (1 - u / 2 + ..), and float64 has it but for 2^-53 of it.
        off = np.abs(result.astype(np.float64) - u)
        return float((off - LOG1P[np.float32].relative_error * u).max())

    assert over_chunks(check, 0, _bits(LOG1P_SMALLEST), 7) <= LOG1P[np.float32].absolute_error


def _is_nearest(root: Float32Array, v: Float32Array) -> bool:
    """Whether v lies between the squares of the midpoints to root's neighbours.

    A midpoint has 25 significant bits, so its square is exact in float64.
    """
    below = (root.astype(np.float64) + np.nextafter(root, np.float32(0.0))) / 2.0
    above = (root.astype(np.float64) + np.nextafter(root, np.float32(np.inf))) / 2.0
    return bool(np.all((below * below < v) & (v < above * above)))


@pytest.mark.few
@pytest.mark.parametrize(
    ("first", "end"),
    [(1, 0x00800000), (0x3F000000, 0x40000000), (0x00800000, 0x01000000), (0x7F000000, 0x7F800000)],
    ids=["subnormal", "every-significand-and-parity", "smallest-normal", "largest"],
)
def test_square_root_is_correctly_rounded_and_matches_numpy(
    library: ScalarLibrary, first: int, end: int
) -> None:
    # Other exponents only shift: the significand's path depends on the parity alone.
    def check(v: Float32Array) -> float:
        root = library.apply("square_root", v)
        assert _is_nearest(root, v)
        return float(mismatches(root, np.sqrt(v)))

    assert over_chunks(check, first, end) == 0.0
