"""Machines whose sums skip zeros: bit for bit everywhere, within their bounds of the real model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mpmath import mpf
from test_c_matches_interpreter import COMPILERS, check_on_host

from kit import catalogue
from kit.covering import every_pair
from kit.emitted import Emitted
from kit.lowered import lowered, program_of
from kit.real_model import RealModel
from kit.sparse_digits import CASES, N_TRAINED, SparseDigits
from kmcompile.kernels import Rbf
from kmcompile.lower.sum_constants import SumContext
from kmcompile.lower.sums import lower_sum
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.stages import ExactSum, Nonzeros
from kmcompile.program.storage import load, save

EXACT = [case for case in CASES if not case.scheme]


@pytest.mark.few
@pytest.mark.parametrize(
    ("case", "compiler", "target"), every_pair(CASES, COMPILERS, ["host", "cortex-m7"]), ids=str
)
def test_sums_that_skip_zeros_match_the_interpreter_bit_for_bit(case, target, compiler, tmp_path):
    check_on_host(catalogue.emitted(case, target), compiler, tmp_path)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_each_of_these_machines_skips_zeros_and_lists_them_once(case):
    program = catalogue.emitted(case, "host").program
    exact = program.ends.exact
    assert isinstance(exact, ExactSum)
    assert exact.skip_zeros
    assert exact.expands == (case.kernel == "rbf")
    assert [isinstance(stage, Nonzeros) for stage in program.stages[:2]] == [False, True]
    assert sum(isinstance(stage, Nonzeros) for stage in program.stages) == 1


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_stage_of_these_machines_answers_some_query(case):
    emitted: Emitted = catalogue.emitted(case, "host")
    results = emitted.answers.results
    reached = set(results["stage"][results["status"] == Status.OK])
    assert reached == set(range(len(emitted.program.exit_stages)))


@pytest.mark.parametrize("case", EXACT, ids=str)
def test_a_stored_program_skips_zeros_too(case):
    program = catalogue.emitted(case, "host").program
    assert save(load(save(program), "program.npz")) == save(program)


@pytest.mark.parametrize("case", EXACT, ids=str)
def test_decisions_that_skip_zeros_lie_within_their_bounds_of_the_real_numbers(case: SparseDigits):
    estimator, X = case.fitted(), case.inputs()
    low, real = lowered(estimator), RealModel(estimator)
    answers = low.answers(X)
    assert (answers.results["status"] == Status.OK).all()
    for x, decisions, bounds in zip(X, answers.decisions, answers.bounds, strict=True):
        for f, decision, bound in zip(real.decisions(x), decisions, bounds, strict=True):
            assert abs(f - mpf(float(decision))) <= mpf(float(bound))


@pytest.mark.parametrize("case", EXACT, ids=str)
def test_skipping_zeros_certifies_no_fewer_labels(case: SparseDigits):
    low = lowered(case.fitted())
    fresh = case.data[0][N_TRAINED:].astype(np.float32)
    dense = lower_sum(low.machine, low.program.sum.lanes, SumContext())
    summed = replace(low.program, exits=(), sum=dense)
    certified = interpret(summed, fresh).results["certified"]
    assert certified.mean() > 0.9
    assert (low.answers(fresh).results["certified"] >= certified).all()


def test_data_far_from_0_and_close_together_keep_their_distances():
    """Half of the features are 0, the others 1000 +- 0.01: expanded, the distance would cancel."""
    low = lowered(SparseDigits("rbf", "binary").fitted())
    machine = low.machine
    assert isinstance(machine.kernel, Rbf)
    assert isinstance(low.program.ends.exact, ExactSum) and low.program.ends.exact.expands
    vectors = np.where(machine.support_vectors > 0, 1000 + machine.support_vectors / 64, 0.0)
    far = program_of(replace(machine, support_vectors=vectors))
    assert isinstance(far.ends.exact, ExactSum) and not far.ends.exact.skip_zeros
    assert not any(isinstance(stage, Nonzeros) for stage in far.stages)
