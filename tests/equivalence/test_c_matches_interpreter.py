"""The emitted C gives the interpreter's answers bit for bit, whatever the host's compiler does.

reliability 42: a compiler bug. gcc and clang, four levels of optimisation and the vector
instructions of this machine agree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from kit import (
    additive,
    calibrated,
    cascades,
    catalogue,
    certified,
    coded,
    coded_polynomials,
    input_tolerances,
    leaf_expansions,
    long_replays,
    monitors,
    pairs,
    polynomials,
    ratios,
    regressions,
    replays,
    routed,
    taylor,
)
from kit.covering import by_fields, every_pair, some
from kit.emitted import Emitted
from kit.package_classes import concrete
from kit.tools import need
from kmcompile import resources
from kmcompile.build import build
from kmcompile.kernels import CATALOGUE as KERNELS
from kmcompile.program.interpreter import Status
from kmcompile.program.stages import CATALOGUE as STAGES
from kmcompile.program.stages import ExactSum, FixedSum, Prepare
from kmcompile.run import HostRunner
from kmcompile.steps import PrepareStep
from kmcompile.target import load_target

HOST = load_target("host")


@dataclass(frozen=True)
class Compiler:
    """A compiler with its optimisation, with or without this machine's own instructions."""

    command: str
    optimisation: str
    native: bool = False

    def __str__(self) -> str:
        return f"{self.command}{self.optimisation}{'-native' if self.native else ''}"


COMPILERS = [
    Compiler(command, optimisation)
    for command in ("gcc", "clang")
    for optimisation in ("-O0", "-O2", "-O3", "-Os")
]
COMPILERS += [Compiler(command, "-O3", native=True) for command in ("gcc", "clang")]

EVERY_STAGE = [
    *catalogue.CORE,
    *cascades.CORE,
    *certified.EVERY,
    *ratios.CORE,
    *replays.CORE,
    *replays.SPARSE,
    *long_replays.QUICK,
    *coded.CORE,
    *coded.REPLAYED,
    *regressions.CORE,
    *calibrated.CORE,
    *pairs.CORE,
    *polynomials.CORE,
    *coded_polynomials.CORE,
    *additive.CORE,
    *routed.CORE,
    *routed.VOTES,
    *leaf_expansions.CORE,
    *leaf_expansions.STATISTICAL,
    *taylor.CORE,
    *monitors.CORE,
    *input_tolerances.CORE,
]

# Of cascades, exits and codes many have a template, and four compilers each; the same programs as
# those without a replay are there with one, so that two compilers do. Class scores are in two only.
WITHOUT_SCORES = [case for case in cascades.CORE if not case.n_scores]
OFTEN = (*WITHOUT_SCORES, *certified.EVERY, *coded.CORE, *coded.REPLAYED, *calibrated.CORE)
COMPILERS_IN_A_HALF = {
    **dict.fromkeys(OFTEN, 2),
    **dict.fromkeys(catalogue.CORE, 1),
    **{case: 1 for case in coded.CORE for other in coded.REPLAYED if case.made == other.made},
}
ON_COMPILERS = every_pair(EVERY_STAGE, COMPILERS, ["host", "cortex-m7"], COMPILERS_IN_A_HALF)
SOME = {*catalogue.CORE, *EVERY_STAGE[::2]}

COMBINATIONS = [
    *by_fields([*catalogue.every_combination(), *catalogue.SPECIAL]),
    *some(
        [
            *(*cascades.EVERY, *replays.SOME, *pairs.MORE, *polynomials.MORE, *additive.MORE),
            *coded_polynomials.MORE,
        ],
        (str(cascades.EVERY[-1]),),
    ),
]


def check_on_host(emitted: Emitted, compiler: Compiler, folder: Path) -> None:
    """Build for the host and compare all records with the interpreter's."""
    need(compiler.command)
    own = ("-march=native",) if compiler.native else ()
    host = replace(HOST, compiler=replace(HOST.compiler, flags=(*HOST.compiler.flags, *own)))
    emitted.write(folder)
    with build(
        emitted.recipe,
        folder,
        host,
        compiler=compiler.command,
        optimisation=compiler.optimisation,
    ) as artifact:
        result = HostRunner().run(artifact, emitted.inputs)
    np.testing.assert_array_equal(result.records, emitted.records)
    assert result.self_test == Status.OK


@pytest.mark.few
@pytest.mark.parametrize("case", COMBINATIONS)
def test_every_combination_matches_the_interpreter_bit_for_bit(case, tmp_path):
    """With one compiler each, all compilers in turn."""
    compiler = COMPILERS[sum(str(case).encode()) % len(COMPILERS)]
    check_on_host(catalogue.emitted(case, "host"), compiler, tmp_path)


@pytest.mark.few
@pytest.mark.parametrize(
    ("case", "compiler", "target"),
    [
        one if one.values[0] in SOME else pytest.param(*one.values, marks=pytest.mark.exhaustive)
        for one in ON_COMPILERS
    ],
    ids=str,
)
def test_every_compiler_matches_the_interpreter_bit_for_bit(case, target, compiler, tmp_path):
    """reliability 42: the C for the host and, with its loops unrolled, that for a board.

    `make test` takes some cases with one compiler each. In `make test-all` every case meets all
    compilers on both targets.
    """
    check_on_host(catalogue.emitted(case, target), compiler, tmp_path)


@pytest.mark.exhaustive
def test_every_template_meets_every_compiler():
    met = {
        (template, compiler)
        for case, compiler, _ in (one.values for one in ON_COMPILERS if not one.marks)
        for template in templates_of(catalogue.emitted(case, "host").program)
    }
    assert met == {(name, compiler) for name, _ in met for compiler in COMPILERS}
    needed = (templates("stages") | templates("steps")) - {"sums"}
    assert {name for name, _ in met} >= needed


def templates_of(program) -> set[str]:
    """Return the stages of a program, their steps, kernels and what these call."""
    stages = [*program.stages, *program.exit_stages]
    if program.replay is not None:
        stages += [program.replay.prepare, program.replay.sum]
    used = {stage.template for stage in stages}
    for stage in stages:
        if isinstance(stage, Prepare):
            used |= {step.name for step in stage.steps}
        if isinstance(stage, ExactSum):
            used |= {stage.kernel.name, *(template for template, _ in stage.kernel.scalars())}
    return used


@pytest.mark.few
@pytest.mark.parametrize("case", catalogue.CORE, ids=str)
def test_the_queries_reach_every_status_and_both_certificates(case):
    emitted = catalogue.emitted(case, "host")
    results = emitted.answers.results
    assert len(results) >= 150
    assert set(results["status"]) == {Status.OK, Status.ERROR_NOT_FINITE, Status.ERROR_RANGE}
    accepted = results[results["status"] == Status.OK]
    assert set(accepted["label"]) == set(range(len(emitted.program.classes)))
    assert accepted["certified"].any()
    assert not accepted["certified"].all()


def templates(folder: str) -> set[str]:
    return {p.name.split(".")[0] for p in (resources.templates_dir() / folder).glob("*.c.j2")}


def programs(target: str):
    cases = [*catalogue.CORE, *coded.CORE]
    return [catalogue.emitted(case, target).program for case in cases]


def test_every_stage_has_its_template():
    assert {stage.template for stage in STAGES} == templates("stages")


@pytest.mark.exhaustive
def test_every_stage_has_a_bit_exact_case():
    names = {stage.template for stage in STAGES}
    used = [catalogue.emitted(case, "host").program for case in EVERY_STAGE]
    assert names == {
        stage.template for program in used for stage in (*program.stages, *program.exit_stages)
    }


def test_every_kernel_has_its_template_and_a_bit_exact_case():
    names = {kernel.name for kernel in KERNELS}
    assert names == set(catalogue.KERNELS)
    # A linear machine is summed up beforehand: its stage, linear_sum, is the template.
    parts = {"rbf_term", "rbf_value"}  # of rbf: early exits before sums of integers take them alone
    parts |= {"exponential_terms"}  # of laplacian and chi2
    parts |= {"exponential_values"}  # of these and rbf
    parts |= {"product_term"}  # of poly, sigmoid and fourier
    parts |= {"values_of_own_error"}  # of fourier and additive_values
    parts |= {"additive_values", "chi2_term"}  # of intersection, additive_chi2 and chi2
    parts |= {"argument_values"}  # of matern and rational_quadratic
    assert names - {"linear"} == templates("kernels") - parts
    assert names == {case.kernel for case in catalogue.CORE}


def test_every_step_has_its_template_and_a_bit_exact_case():
    names = {step.name for step in concrete(PrepareStep)}
    assert {*names, "sums"} == templates("steps")  # sums: what the steps share
    cases = (*coded.REPLAYED, *long_replays.QUICK)
    replayed = [catalogue.emitted(case, "host").program.replay for case in cases]
    prepared = [stage.prepare for stage in (*programs("host"), *replayed)]
    assert names == {step.name for prepare in prepared for step in prepare.steps}


@pytest.mark.exhaustive
def test_every_scalar_function_has_a_bit_exact_case():
    used = {"square_root", "square_root_double", "root_bound"}
    told = [catalogue.emitted(case, "host").program for case in calibrated.CORE]
    for program in (*programs("host"), *told):
        for stage in program.stages:
            if isinstance(stage, ExactSum):
                used |= {template for template, _ in stage.kernel.scalars()}
            if isinstance(stage, FixedSum):
                used.add("exp2_fixed")
        if program.probability is not None:
            used.add("logistic")
    for case in replays.CORE:
        summed = catalogue.emitted(case, "host").program.replay.sum
        if isinstance(summed, ExactSum):
            used |= {template for template, _ in summed.kernel.scalars()}
    assert used == templates("scalar")


@pytest.mark.exhaustive
def test_every_task_has_a_bit_exact_case():
    cases = [*catalogue.CORE, *catalogue.SPECIAL, *regressions.CORE]
    machines = [catalogue.emitted(case, "host").machine for case in cases]
    assert {machine.task for machine in machines} == set(type(machines[0].task))
    assert {machine.break_ties for machine in machines} == {False, True}
    assert {machine.zero_is_positive for machine in machines} == {False, True}
