"""Compilations at random end with success or with an exit code that the manual names."""

from __future__ import annotations

import pytest
from random_compilations import campaign, compile_case

from kit.random_models import KINDS
from kmcompile.readers.sklearn.classes import ESTIMATORS, OWN_ESTIMATORS

_MINUTES, _SHARE = 10.0, 0.05
"""Of the exhaustive test without `--minutes`, and its part of these: other tests need the rest."""
_SEED = 200_000
FOUND = [
    103182,
    7001025,
    8000000,
    8000042,
    8000380,
    20001909,
    21000016,
    30000301,
    30001940,
    31002240,
]
"""Seeds that ended as a defect once."""


def test_every_estimator_that_is_read_is_drawn():
    assert set(KINDS) == {*ESTIMATORS, *OWN_ESTIMATORS}


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", range(0, 30, 10))
def test_no_compilation_at_random_ends_as_a_defect(first):
    for seed in range(first, first + 10):
        found = compile_case(seed)
        assert not found.finding, _said(seed, found)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", FOUND)
def test_what_ended_as_a_defect_once_does_not_again(seed):
    found = compile_case(seed)
    assert not found.finding, _said(seed, found)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.exhaustive
def test_no_estimator_ends_as_a_defect(kind):
    for seed in range(20):
        found = compile_case(seed, kind)
        assert not found.finding, _said(seed, found, kind)


@pytest.mark.exhaustive
def test_no_compilation_ends_as_a_defect_for_minutes(request, capsys):
    minutes = request.config.getoption("--minutes")
    with capsys.disabled():
        _, findings = campaign(_MINUTES if minutes is None else _SHARE * minutes, _SEED)
    assert findings == 0


def _said(seed, found, kind=""):
    more = f" --kind {kind}" if kind else ""
    return (
        f"{found.ended}: {found.said}\n{found.finding}\nrepeat it: "
        f"python tests/fault/random_compilations.py --only {seed}{more}"
    )
