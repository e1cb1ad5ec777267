"""Compilers and modes of the processor that change the arithmetic."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

from kit import catalogue
from kit.covering import every_nth
from kit.host_program import BATCH_MAIN, build_program, run_batch
from kit.tools import need, run, succeed
from kmcompile.build import build
from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.model.reference import evaluate
from kmcompile.program.interpreter import Status
from kmcompile.target import load_target
from kmcompile.verify.records import answers_of

HARNESS = ("iris.c", "iris_harness.c")
SANITIZERS = "address,undefined,float-cast-overflow,float-divide-by-zero,bounds"
BINARY = [
    catalogue.Case("SVC", "rbf", "binary", "standard"),
    catalogue.Case("SVC", "rbf", "binary", "raw"),
    catalogue.Case("SVC", "poly", "binary", "minmax"),
    catalogue.Case("SVC", "sigmoid", "binary", "l2"),
    catalogue.Case("LinearSVC", "linear", "binary", "standard_pca_l2"),
]
# FTZ and DAZ; a subnormal result that is not flushed ends the program.
FLUSH = (
    "-DSET_UP=__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr()|0x8040U);"
    "volatile float least=0x1p-126f;least*=0.5f;if(least>0.0f){return 3;}"
)
CONTRACT = ("-O3", "-mfma", "-ffp-contract=fast")

x86_only = pytest.mark.skipif(os.uname().machine != "x86_64", reason="flags of x86-64")


def cpu_has(flag: str) -> bool:
    return flag in Path("/proc/cpuinfo").read_text().split()


fma_only = pytest.mark.skipif(not cpu_has("fma"), reason="this processor has no fused multiply-add")


def tiny_queries(emitted):
    """Return the emitted model's queries and shrunk ones, many of them subnormal."""
    rng = np.random.default_rng(5)
    ordinary = emitted.queries[:200]
    shrink = 10.0 ** rng.uniform(-46, -30, size=ordinary.shape)
    mixed = np.where(rng.random(ordinary.shape) < 0.5, ordinary, ordinary * shrink)
    small = np.concatenate([emitted.queries, ordinary * shrink, mixed]).astype(np.float32)
    magnitude = np.abs(small)
    assert ((magnitude > 0) & (magnitude < np.finfo(np.float32).tiny)).any()
    return small


def check_against_the_model(emitted, X, records):
    """Check the intervals and certificates of a binary machine; return the accepted share."""
    results, decisions = answers_of(records)
    accepted = results["status"] == Status.OK
    results, decisions = results[accepted], decisions[accepted]
    reference = evaluate(emitted.machine, X[accepted])
    exact, slack = reference.decisions, reference.error
    if emitted.program.n_decisions == 1:
        assert np.all(results["lower"] - slack[:, 0] <= exact[:, 0])
        assert np.all(exact[:, 0] <= results["upper"] + slack[:, 0])
        assert np.all(decisions[:, 0] <= results["upper"])
        assert np.all(decisions[:, 0] >= results["lower"])
    clear = np.all(np.abs(exact) > slack, axis=1)
    certified = results["certified"] & clear
    assert np.array_equal(results["label"][certified], reference.labels[certified])
    return results


@pytest.mark.few
@pytest.mark.parametrize("case", every_nth(catalogue.CORE, 4))
def test_sanitizers_find_nothing(case, tmp_path):
    """No undefined behaviour and no access outside an object, for edges and refused inputs too."""
    emitted = catalogue.emitted(case, "host")
    flags = ["-O1", "-g", f"-fsanitize={SANITIZERS}", "-fno-sanitize-recover=all"]
    program = build_program(emitted, tmp_path, BATCH_MAIN, flags, sources=HARNESS)
    records, self_test = run_batch(program, emitted, emitted.inputs)
    np.testing.assert_array_equal(records, emitted.records)
    assert self_test == Status.OK


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("flags", [["-ffast-math"], ["-Ofast"], ["-O2", "-ffast-math"]], ids=str)
def test_fast_math_does_not_compile(compiler, flags, tmp_path):
    """reliability 32: `-ffast-math`."""
    need(compiler)
    catalogue.emitted(BINARY[0], "host").write(tmp_path)
    done = run([compiler, "-std=c99", *flags, "-c", tmp_path / "iris.c", "-o", "/dev/null"])
    assert done.returncode != 0
    assert "fast-math reorders the sums" in done.stderr


@x86_only
def test_x87_does_not_compile(tmp_path):
    """reliability 32: x87, whose registers are wider than float."""
    need("gcc")
    catalogue.emitted(BINARY[0], "host").write(tmp_path)
    command = ["gcc", "-std=c99", "-mfpmath=387", "-c", tmp_path / "iris.c", "-o", "/dev/null"]
    done = run(command)
    assert done.returncode != 0
    assert "must be evaluated in float" in done.stderr


def fused(disassembly: str) -> list[str]:
    return [word for word in disassembly.split() if word.startswith(("vfma", "vfms", "vfnm"))]


@pytest.mark.few
@x86_only
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("case", every_nth(catalogue.CORE, 4))
def test_the_recipe_s_flags_fuse_nothing(case, compiler, tmp_path):
    """reliability 32: FMA contraction, seen in the disassembly."""
    need(compiler, "objdump")
    catalogue.emitted(case, "host").write(tmp_path)
    found = {}
    for name, flags in (("exact", EXACT_FLAGS), ("fused", ("-std=c99", "-ffp-contract=fast"))):
        result = tmp_path / f"{name}.o"
        command = [compiler, *flags, "-O3", "-mavx2", "-mfma", "-c", tmp_path / "iris.c"]
        succeed([*command, "-o", result])
        found[name] = fused(succeed(["objdump", "-d", result]))
    assert found["exact"] == []
    assert found["fused"] != []  # otherwise this would show nothing


@x86_only
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_build_as_gnu_c_without_the_flag_fuses_nothing(compiler, tmp_path):
    """reliability 32: the pragma in the C stands for a forgotten flag."""
    need(compiler, "objdump")
    catalogue.emitted(catalogue.CORE[0], "host").write(tmp_path)
    source, result = tmp_path / "iris.c", tmp_path / "iris.o"
    flags = ["-std=gnu17", "-O3", "-mfma", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    succeed([compiler, *flags, "-c", source, "-o", result])
    assert fused(succeed(["objdump", "-d", result])) == []
    source.write_text(re.sub("#pragma .*contract.*", "", source.read_text(), flags=re.IGNORECASE))
    succeed([compiler, *flags, "-c", source, "-o", result])
    assert fused(succeed(["objdump", "-d", result])) != []  # otherwise this would show nothing


@pytest.mark.target
@pytest.mark.parametrize("target", ["cortex-m4", "cortex-m55"])
def test_a_board_s_gnu_c_without_the_flag_fuses_nothing(target, tmp_path):
    """reliability 32: as an Arduino core or ESP-IDF compiles, which know nothing of the flag."""
    need("arm-none-eabi-gcc", "arm-none-eabi-objdump")
    catalogue.emitted(catalogue.CORE[0], target).write(tmp_path)
    result = tmp_path / "iris.o"
    flags = [*load_target(target).compiler.flags, "-std=gnu17", "-O2", "-Wall", "-Werror"]
    succeed(["arm-none-eabi-gcc", *flags, "-c", tmp_path / "iris.c", "-o", result])
    assert fused(succeed(["arm-none-eabi-objdump", "-d", result])) == []


@pytest.mark.target
def test_the_board_s_image_fuses_nothing(tmp_path):
    """reliability 32: FMA contraction, seen in the disassembly."""
    need("arm-none-eabi-gcc", "arm-none-eabi-objdump")
    emitted = catalogue.emitted(catalogue.CORE[0], "cortex-m7")
    emitted.write(tmp_path)
    with build(emitted.recipe, tmp_path, load_target("cortex-m7")) as artifact:
        assert fused(succeed(["arm-none-eabi-objdump", "-d", artifact.path])) == []


@pytest.mark.few
@x86_only
@fma_only
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("case", BINARY, ids=str)
def test_bounds_hold_with_contraction_and_the_self_test_passes(case, compiler, tmp_path):
    """reliability 32: bounds hold with FMA; a contracting compiler is not called corrupt."""
    emitted = catalogue.emitted(case, "host")
    program = build_program(emitted, tmp_path, BATCH_MAIN, CONTRACT, compiler, HARNESS)
    X = tiny_queries(emitted)
    records, self_test = run_batch(program, emitted, X.view(np.uint32))
    assert self_test == Status.OK
    assert check_against_the_model(emitted, X, records)["certified"].mean() > 0.5


@pytest.mark.few
@x86_only
@fma_only
@pytest.mark.parametrize("case", every_nth(catalogue.CORE, 4))
def test_the_self_test_passes_with_contraction(case, tmp_path):
    """reliability 32: known answers are intervals."""
    emitted = catalogue.emitted(case, "host")
    program = build_program(emitted, tmp_path, BATCH_MAIN, CONTRACT, sources=HARNESS)
    records, self_test = run_batch(program, emitted, emitted.inputs)
    assert self_test == Status.OK
    check_against_the_model(emitted, emitted.queries, records)


@pytest.mark.few
@x86_only
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("case", [*BINARY, *catalogue.CORE[1:4]], ids=str)
def test_bounds_hold_where_subnormals_are_flushed(case, compiler, tmp_path):
    """reliability 34: FTZ and DAZ on; with them off the bits are the interpreter's."""
    emitted = catalogue.emitted(case, "host")
    program = build_program(emitted, tmp_path, BATCH_MAIN, ["-O2", FLUSH], compiler, HARNESS)
    X = tiny_queries(emitted)
    records, self_test = run_batch(program, emitted, X.view(np.uint32))
    assert self_test == Status.OK
    check_against_the_model(emitted, X, records)
