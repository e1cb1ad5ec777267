"""Sign maps over integer codes: whole units, room for what rounding to codes moves, few steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kit.integer_exits import DATA
from kmcompile import readers
from kmcompile.exits.certified.lattice import EXPANDED, lattice
from kmcompile.exits.certified.sign_map import build_sign_map
from kmcompile.lower.formats import lower_in_format
from kmcompile.model.reference import evaluate
from kmcompile.numeric.batch import Batch
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.stages.early_exits.sign_map import NEGATIVE, OPEN, POSITIVE
from kmcompile.target import load_target

UNIT = 2.0**-15
MAX_BYTES = 2000


@pytest.fixture(scope="module", params=["moons", "hundredths"])
def mapped(request):
    """A machine with codes, the accepted samples prepared, and its map."""
    model, fresh = DATA[request.param].fitted()
    lowered = lower_in_format(readers.load_model(model), load_target("cortex-m7"), "iris", "int16")
    program = lowered.program
    X = fresh[interpret(program, fresh).results["status"] == Status.OK]
    stage = build_sign_map(lowered.machine, program, X, MAX_BYTES)
    assert stage is not None
    return lowered, program.prepare.run(Batch.of(X, 1)), stage, X


def test_boxes_are_whole_codes_and_nothing_rounds(mapped):
    lowered, _, stage, _ = mapped
    unit = float(lowered.program.prepare.quantize.unit)
    for grid in (stage.low, stage.width, 1 / stage.scale):
        codes = grid.astype(np.float64) / unit
        np.testing.assert_array_equal(codes, np.rint(codes))


def test_signs_hold_as_far_away_as_the_deviation_says(mapped):
    lowered, batch, stage, _ = mapped
    kind, _ = stage.kinds(batch.x)
    decided = kind < 2
    assert decided.mean() > 0.5
    rng = np.random.default_rng(0)
    direction = rng.normal(size=batch.x.shape)
    direction /= np.sqrt((direction**2).sum(axis=1, keepdims=True))
    exact = batch.x + direction * float(stage.deviation)
    prepared = replace(lowered.machine, preprocessing=())
    f = evaluate(prepared, exact[decided]).decisions[:, 0]
    np.testing.assert_array_equal(f > 0, kind[decided] == POSITIVE)
    assert (np.abs(f) >= stage.least).all()
    assert (np.abs(f) <= stage.largest).all()
    assert {POSITIVE, NEGATIVE} == set(kind[decided])


def test_a_larger_deviation_leaves_an_input_open(mapped):
    lowered, batch, stage, _ = mapped
    ends = lowered.program.ends
    beyond = np.full_like(batch.deviation, np.nextafter(stage.deviation, np.float32(1)))
    assert not stage.decide(replace(batch, deviation=beyond), ends)[1].any()
    kind, _ = stage.kinds(batch.x)
    near = np.zeros_like(batch.deviation)
    decided = stage.decide(replace(batch, deviation=near), ends)[1]
    np.testing.assert_array_equal(decided, kind != OPEN)


def test_a_map_is_as_shallow_as_its_operations_allow(mapped):
    lowered, _, stage, X = mapped
    program = lowered.program
    most = stage.worst_operations(program.ends) - 1
    shallow = build_sign_map(lowered.machine, program, X, MAX_BYTES, most)
    assert shallow is not None
    assert shallow.worst_operations(program.ends) <= most
    assert shallow.depth == stage.depth - 1


def test_boxes_of_codes_are_no_smaller_than_the_deviation_allows():
    X = np.random.default_rng(0).integers(-9000, 9000, size=(500, 2)) * UNIT
    for deviation in (0.0, UNIT, 8 * UNIT):
        boxes = lattice(X, np.ones(2), UNIT, deviation)
        assert boxes is not None
        smallest = boxes.half_widths(boxes.last_level)
        assert (2 * smallest >= UNIT).all()
        assert (smallest * 2.0**-4 >= deviation).all()
        assert boxes.inflation(boxes.last_expanded) <= EXPANDED
        assert boxes.inflation(3) >= deviation / boxes.half_widths(3).min()


def test_codes_with_a_deviation_as_wide_as_the_data_have_no_map():
    X = np.random.default_rng(0).integers(-9, 9, size=(50, 2)) * UNIT
    assert lattice(X, np.ones(2), UNIT, UNIT) is None
