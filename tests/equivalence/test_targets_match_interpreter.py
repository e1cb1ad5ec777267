"""Every model of every target gives the interpreter's answers bit for bit, and takes no more stack.

The models of a group are one image, asked in one run of the emulator. Targets to which the emitted
C is the same stand side by side, so that one worker fits and interprets its models once.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from kit.cascades import Cascade
from kit.coded import Coded, signed_bytes
from kit.covering import some
from kit.double_helpers import double_helpers
from kit.every_target import FEW, GROUPS, emitted_models, like, with_many_queries
from kit.tools import need_tools, succeed
from kmcompile.build import build_together
from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.program.interpreter import Status
from kmcompile.run import Asked, runner_for
from kmcompile.target import list_targets, load_target

ROOMY = 1 << 20
"""Bytes of flash for a group of models."""
ALONE = 1
"""Models in an image of less: near pointers reach 64 KB of tables only."""
SOME = 45
"""Queries for each model where 8 bits do all: more than 2,000 for the target."""

SMALL = Cascade("rbf", "binary", n_levels=2, pooled=True, n_trained=100)
"""A model that `make test` asks every target."""

TARGETS = sorted(list_targets(), key=lambda target: str(like(target.program)))


@pytest.mark.few
@pytest.mark.target
@pytest.mark.parametrize("group", some(list(GROUPS), (FEW,)))
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_every_answer_is_the_interpreters_bit_for_bit(target, group, tmp_path):
    """reliability 36: the stack that was used is no more than the compiler's figures say."""
    need_tools(target)
    models = emitted_models(group, like(target.program))
    flash_bytes = target.emulated_flash_bytes or ROOMY
    together = len(models) if flash_bytes >= ROOMY else ALONE
    for first in range(0, len(models), together):
        check(models[first : first + together], target, tmp_path)


@pytest.mark.target
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_a_small_cascade_answers_on_every_target(target, tmp_path):
    need_tools(target)
    check([("cascade", with_many_queries(SMALL.emit(like(target.program)), 30))], target, tmp_path)


def check(models, target, folder):
    """Build models into one image, and compare all that it answers."""
    rows = [asked_rows(target, emitted) for _, emitted in models]
    built = [(emitted.recipe, emitted.write(folder / emitted.name)) for _, emitted in models]
    with build_together(built, target) as artifact:
        asked = [Asked(e.inputs[own]) for (_, e), own in zip(models, rows, strict=True)]
        results = runner_for(target).run_together(artifact, asked)
        helpers = [double_helpers(artifact, model) for model in artifact.models]
    # Names of classes are data, which a target with tables apart copies into its RAM.
    assert artifact.ram_bytes == 0 or target.tables_apart
    for (name, emitted), own, model, result, of_double in zip(
        models, rows, artifact.models, results, helpers, strict=True
    ):
        np.testing.assert_array_equal(result.records, emitted.records[own], err_msg=name)
        assert result.self_test == Status.OK, name
        if result.painted_stack_bytes is not None:
            assert result.painted_stack_bytes <= model.stack_bytes, name
        if emitted.program.replay is None:
            assert not of_double or target.double_bits == 32, name


def asked_rows(target, emitted):
    """Return which queries a target is asked: of the slowest emulator, some of every kind."""
    n = len(emitted.inputs)
    return np.arange(n) if target.double_bits == 64 else np.arange(0, n, -(-n // SOME))


@pytest.mark.target
def test_the_vectors_of_cortex_m55_are_of_integers_only(tmp_path):
    """reliability 34: those of floats would flush subnormals."""
    target = load_target("cortex-m55")
    need_tools(target)
    emitted = Coded(signed_bytes, "int8").emit(target)
    source = emitted.write(tmp_path) / f"{emitted.name}.c"
    compiler = target.compiler
    flags = [*compiler.flags, *EXACT_FLAGS, "-ffreestanding", compiler.optimisation]
    assembler = succeed([compiler.command, *flags, "-S", source, "-o", "-"])
    assert "vmladava.s8" in assembler
    assert re.findall(r"\tv\w+\.f(?:16|32)\tq\d", assembler) == []
