"""The square root of a target is an instruction of its core, or integers."""

from __future__ import annotations

import json

import pytest

from kmcompile import resources
from kmcompile.emit.environment import render
from kmcompile.numeric.scalar.square_root import INSTRUCTIONS
from kmcompile.target import list_targets, load_target


def test_every_instruction_that_a_target_may_name_is_known():
    schema = json.loads((resources.targets_dir() / "schema.json").read_text("utf-8"))
    named = schema["properties"]["program"]["properties"]["square_root"]["enum"]
    assert set(named) == set(INSTRUCTIONS)


def test_a_description_keeps_the_instruction():
    for target in list_targets():
        assert target.to_dict()["program"]["square_root"] == target.program.square_root


@pytest.mark.parametrize(
    ("name", "instruction"),
    [("cortex-m7", "vsqrt.f32"), ("leon3", "fsqrts"), ("cortex-m0", ""), ("ppc750", "")],
)
def test_cores_with_a_square_root_name_it(name, instruction):
    assert load_target(name).program.square_root == instruction


@pytest.mark.parametrize("instruction", sorted(set(INSTRUCTIONS) - {""}))
def test_the_integers_stay_for_every_other_compiler(instruction):
    """The C of one board also runs on the host, where the instruction does not exist."""
    text = render("scalar/square_root.c.j2", scalar=INSTRUCTIONS[instruction], name="iris")
    of_core, others = text.split("#else")
    assert f'__asm__("{instruction} ' in of_core
    assert "Loop bound: 25." in others and "__asm__" not in others


def test_a_core_without_the_instruction_has_the_integers_only():
    text = render("scalar/square_root.c.j2", scalar=INSTRUCTIONS[""], name="iris")
    assert "__asm__" not in text and "#if" not in text
