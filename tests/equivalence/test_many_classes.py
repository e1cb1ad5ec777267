"""A bound sequence before a sum of pairs: each is laid out for lanes of its own."""

from __future__ import annotations

import numpy as np
import pytest
from test_c_matches_interpreter import Compiler, check_on_host

from kit import catalogue
from kit.host_program import STRICT
from kit.many_classes import ManyClasses
from kit.tools import need, succeed
from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.model.reference import evaluate
from kmcompile.program.interpreter import Status

CASES = [ManyClasses(), ManyClasses(replays=True)]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("target", ["host", "cortex-m7"])
def test_c_gives_the_interpreter_s_answers_bit_for_bit(case, target, tmp_path):
    check_on_host(catalogue.emitted(case, target), Compiler("gcc", "-O2"), tmp_path)


def test_the_sequence_and_the_sum_have_lanes_of_their_own():
    program = catalogue.emitted(CASES[0], "host").program
    (sequence,) = program.early_exits
    assert sequence.lanes != program.ends.exact.lanes


@pytest.mark.parametrize("case", CASES, ids=str)
def test_certified_labels_are_the_model_s_and_every_exit_decides(case):
    emitted = catalogue.emitted(case, "host")
    results = emitted.answers.results
    accepted = results["status"] == Status.OK
    assert set(results["stage"][accepted]) >= set(range(len(emitted.program.early_exits) + 1))
    rows = accepted & results["certified"]
    labels = evaluate(emitted.machine, emitted.queries[rows]).labels
    np.testing.assert_array_equal(results["label"][rows], labels)


def test_c_has_no_warnings(tmp_path):
    need("gcc")
    folder = catalogue.emitted(CASES[0], "cortex-m7").write(tmp_path / "model")
    flags = [*EXACT_FLAGS, *STRICT, "-O2", "-c"]
    succeed(["gcc", *flags, folder / "iris.c", "-o", tmp_path / "iris.o"])
