"""reliability 44: of sums and labels, a program has those of the catalogue only."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cache

import pytest

from kit.coded import Coded, few_pixels
from kit.package_classes import concrete
from kit.pairs import Pairs
from kmcompile.program.program import Program
from kmcompile.program.stages import CATALOGUE, OF_REPLAYS, Stage

CASES = {
    "codes": Coded(few_pixels, "int8", low_parts=True),
    "by_pairs": Pairs(n_samples=60, n_features=5, has_exit=True),
}


@cache
def program(name: str) -> Program:
    return CASES[name].emit("host").program


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("field", ["sum", "label"])
def test_a_class_made_from_a_sum_or_label_is_refused(name, field):
    """Whoever tells them apart by their class would take it for its parent."""
    made = replace(program(name), replay=None)
    with pytest.raises(ValueError, match="is none of the sums and labels"):
        replace(made, **{field: made_from(getattr(made, field))})


@pytest.mark.parametrize("field", ["sum", "label"])
def test_a_replay_has_no_sum_or_label_made_from_another_either(field):
    made = program("codes")
    own = {field: made_from(getattr(made.replay, field))}
    with pytest.raises(ValueError, match="is none of the sums and labels"):
        replace(made, replay=replace(made.replay, **own))


def test_a_sum_that_only_a_replay_has_is_no_sum_of_a_program():
    made = program("codes")
    assert type(made.replay.sum) in OF_REPLAYS
    with pytest.raises(ValueError, match="is none of the sums and labels"):
        replace(made, sum=made.replay.sum, replay=None)


@pytest.mark.parametrize("name", Program.values)
def test_a_value_that_the_package_does_not_know_is_refused(name):
    with pytest.raises(ValueError, match=f"{name} is 'other', none of "):
        replace(program("codes"), **{name: "other"})


def test_the_catalogue_has_every_stage_of_the_package_once():
    assert len(CATALOGUE) == len({*CATALOGUE})
    assert {*CATALOGUE, *OF_REPLAYS} == concrete(Stage)
    assert not {*CATALOGUE} & {*OF_REPLAYS}


def test_no_field_of_a_stage_takes_an_inherited_member_for_its_default():
    """`dataclass` does, where a field has the name of a property of a parent."""
    for stage in concrete(Stage):
        assert not any(isinstance(field.default, property) for field in fields(stage)), stage


def made_from(stage):
    """Return an equal stage of a class made from its class."""

    @dataclass(frozen=True, slots=True, eq=False)
    class Made(type(stage)):
        pass

    return Made(**{field.name: getattr(stage, field.name) for field in fields(stage)})
