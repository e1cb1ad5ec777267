"""Early exits before sums of integers: C and interpreter agree, every exit decides, proofs hold."""

from __future__ import annotations

import numpy as np
import pytest
from test_c_matches_interpreter import Compiler, check_on_host

from kit import catalogue, integer_exits
from kit.covering import every_nth
from kit.host_program import STRICT
from kit.tools import need, succeed
from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.model.reference import evaluate
from kmcompile.program.interpreter import Status


@pytest.mark.parametrize("compiler", [Compiler("gcc", "-O2"), Compiler("clang", "-O3")], ids=str)
@pytest.mark.parametrize("case", every_nth(integer_exits.CORE, 6))
def test_c_gives_the_interpreter_s_answers_bit_for_bit(case, compiler, tmp_path):
    check_on_host(catalogue.emitted(case, "host"), compiler, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", every_nth(integer_exits.CORE, 6))
def test_c_has_no_warnings(case, tmp_path):
    need("gcc")
    folder = catalogue.emitted(case, "cortex-m7").write(tmp_path / "model")
    flags = [*EXACT_FLAGS, *STRICT, "-O2", "-c"]
    succeed(["gcc", *flags, folder / "iris.c", "-o", tmp_path / "iris.o"])


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", integer_exits.CORE, ids=str)
def test_every_exit_decides_inputs_of_either_entry(case):
    emitted = catalogue.emitted(case, "host")
    for answers in (emitted.answers, emitted.answers_of_codes):
        results = answers.results
        stages = results["stage"][results["status"] == Status.OK]
        assert set(stages) == set(range(len(emitted.program.exit_stages)))


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "case", [c for c in integer_exits.CORE if isinstance(c, integer_exits.Certified)], ids=str
)
def test_certified_labels_are_those_of_the_real_input(case):
    emitted = catalogue.emitted(case, "host")
    scale = emitted.program.scale
    assert scale is not None and emitted.codes is not None
    asked = (
        (emitted.queries, emitted.answers),
        (scale.values(emitted.codes), emitted.answers_of_codes),
    )
    for X, answers in asked:
        results = answers.results
        rows = (results["status"] == Status.OK) & results["certified"]
        labels = evaluate(emitted.machine, X[rows]).labels
        np.testing.assert_array_equal(results["label"][rows], labels)
