"""Options for flight: what goes together is as the list says; conflicts are told at once."""

from __future__ import annotations

from dataclasses import fields
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from kmcompile.errors import UsageError
from kmcompile.request.flight import FLIGHT, check_together, is_excluded
from kmcompile.request.flight_option import Exclusion, FlightOption
from kmcompile.request.option_values import check_options, without_defaults
from kmcompile.request.options import Options

SAMPLES = Path("samples.npz")
GIVEN: dict[str, dict[str, Any]] = {
    "tables": {"tables": "image"},
    "monitor": {"monitor": 0.05, "data": SAMPLES, "mode": "certified"},
    "input_tolerance": {"input_tolerance": 0.1},
    "step": {"step": 900},
    "telemetry": {"telemetry": True},
    "redundancy": {"redundancy": 2},
}
"""How each option is asked for where nothing keeps it from being."""

OTHERS: dict[str, Any] = {
    **{"mode": "statistical", "risk": 0.1, "loss": 0.1, "risk_control": "expected"},
    **{"thresholds": "simple", "generated": 0, "window": 3, "dimensions": 4, "reduce": 9},
    **{"format": "int8", "replay": "float64", "package": ("cfs", "rust")},
}
"""A value of each other option that one for flight does not go with."""

WITH_IMAGE = {
    *("target", "data", "test_data", "threshold", "mode", "format", "replay", "optimize"),
    *("stages", "require", "exclude", "tolerance", "tables", "capacity", "max_flash"),
    *(
        "max_ram",
        "max_instructions",
        "max_time",
        "clock",
        "out",
        "name",
        "trust_pickle",
        "verify",
        "n_jobs",
    ),
    *("telemetry", "before", "labels", "entry"),
}
"""The options that go with an image, at least with some value; each other one has to be built for
images first."""

EXCLUDED = [
    (option, exclusion, other)
    for option in FLIGHT
    for exclusion in option.excludes
    for other in exclusion.others
]


def conflicts(options: Options) -> str:
    """Return what a message says before its last line, which says what to do."""
    with pytest.raises(UsageError) as told:
        check_together(options)
    said, _, advice = str(told.value).rpartition("\n")
    assert advice.startswith("leave out ") and "kmcompile manual flight" in advice
    lines = str(told.value).split("\n")
    assert len(lines) <= 3 and all(len(line) <= 500 for line in lines)  # none is cut
    return said


def test_each_pair_is_declared_once() -> None:
    pairs = [
        (frozenset((option.name, other)), value)
        for option, exclusion, other in EXCLUDED
        for value in exclusion.values or ("",)
    ]
    assert len(set(pairs)) == len(pairs)


@pytest.mark.parametrize("pair", list(combinations(GIVEN, 2)), ids="-".join)
def test_two_options_for_flight_go_together_unless_the_list_excludes_them(
    pair: tuple[str, str],
) -> None:
    options = without_defaults(Options(**GIVEN[pair[0]], **GIVEN[pair[1]]))
    if any({option.name, other} == set(pair) for option, _, other in EXCLUDED):
        first = conflicts(options)
        assert all(one.said(options) in first for one in FLIGHT if one.name in pair)
    else:
        check_options(options)


@pytest.mark.parametrize(
    ("option", "exclusion", "other"),
    EXCLUDED,
    ids=[f"{option.name}-{other}" for option, _, other in EXCLUDED],
)
def test_what_is_excluded_is_told_with_its_reason(
    option: FlightOption, exclusion: Exclusion, other: str
) -> None:
    value = {name: one for given in GIVEN.values() for name, one in given.items()} | OTHERS
    first = conflicts(Options(**{**GIVEN[option.name], other: value[other]}))
    assert f"{option.asked} " in first and "does not go with --" in first
    assert f"({exclusion.why})" in first


def test_all_conflicts_are_in_one_message() -> None:
    given: dict[str, Any] = {name: one for each in GIVEN.values() for name, one in each.items()}
    promise = {"mode": "statistical", "risk": 0.05, "risk_control": "expected", "generated": 9}
    others = {"package": ("rust", "cfs"), "reduce": 9, "replay": "float64", "format": "int16"}
    first = conflicts(Options(**given | promise | others))
    for said in ("--monitor", "--step", "--package", "--input-tolerance", "--reduce", "--replay"):
        assert said in first
    assert first.count("does not go with") == 3 and "--telemetry" not in first


def test_every_option_is_known_to_go_with_an_image_or_not_to() -> None:
    excluded = {
        other
        for option, exclusion, other in EXCLUDED
        if option.name == "tables" and not exclusion.values
    }
    assert excluded.isdisjoint(WITH_IMAGE)
    assert excluded | WITH_IMAGE == {field.name for field in fields(Options)}


def test_an_option_is_excluded_by_what_is_asked_for() -> None:
    assert is_excluded("reduce", Options(tables="image"))
    assert is_excluded("reduce", Options(input_tolerance=0.1))
    assert not is_excluded("reduce", Options(redundancy=2, telemetry=True, step=9))
    assert not is_excluded("mode", Options(tables="image"))
