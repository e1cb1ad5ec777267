"""Operations of float32 exits before sums of integers count as often as the target says."""

from __future__ import annotations

import numpy as np
import pytest

from kit.integer_exits import CORE, Certified
from kmcompile.exits.certified.choice import TriedExit
from kmcompile.numeric.batch import Batch
from kmcompile.program.cost import stage_worst_operations, weight_notes, worst_operations
from kmcompile.program.interpreter import Status, interpret
from kmcompile.target import load_target

TARGETS = ("cortex-m0", "cortex-m7")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("width", ["int16", "int8", "uint8"])
def test_the_weight_is_the_quotient_of_measured_products(target, width):
    cost = load_target(target).cost
    integers = cost.int16 if width == "int16" else cost.int8
    assert cost.float_weight(width) == round(cost.float32.product / integers.product) >= 2


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", [c for c in CORE if isinstance(c, Certified)], ids=str)
def test_each_stage_counts_its_weight(case):
    emitted = case.emit("cortex-m7")
    program, X = emitted.program, emitted.queries
    answers = interpret(program, X)
    X = X[answers.results["status"] == Status.OK]
    batch = program.prepare.run(Batch.of(X, program.n_decisions))
    stage = program.early_exits[0]
    plain = stage.decide(batch, program.ends)[0].operations
    weight = 1 if stage.template == "sign_map" else program.float_weight
    own = interpret(program, X).stage_operations[:, 1]
    np.testing.assert_array_equal(own, weight * plain)
    fitted = TriedExit.of(stage, "", batch, program.ends)
    np.testing.assert_array_equal(fitted.operations, own)
    assert stage_worst_operations(program, stage) == weight * stage.worst_operations(program.ends)


@pytest.mark.exhaustive
def test_codes_in_float_are_counted_where_an_exit_needs_them():
    emitted = [case.emit("cortex-m7") for case in (CORE[0], CORE[2])]
    maps, folded = (one.program for one in emitted)
    assert maps.float_codes_operations == 0
    assert folded.float_codes_operations == folded.n_features * folded.float_weight
    for program, X in ((one.program, one.queries) for one in emitted):
        most = [stage_worst_operations(program, stage) for stage in program.stages]
        assert worst_operations(program) == sum(most)
        assert (interpret(program, X).stage_operations <= most).all()
    assert weight_notes(maps) == ()
    assert f"one counts for {folded.float_weight} of integers" in weight_notes(folded)[0]
