"""Options say what was asked for, whether by the command line or from Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kmcompile.errors import UsageError
from kmcompile.request.asked_stages import AskedStages
from kmcompile.request.option_values import check_options, without_default_replay, without_defaults
from kmcompile.request.options import Options

SAMPLES = Path("folder/a.npz")


@pytest.mark.parametrize(
    ("given", "mode"),
    [
        ({}, "certified"),
        ({"data": SAMPLES}, "statistical"),
        ({"data": SAMPLES, "mode": "exact"}, "exact"),
        ({"data": SAMPLES, "mode": "certified"}, "certified"),
        ({"test_data": SAMPLES}, "certified"),
    ],
)
def test_certified_is_the_default_mode_and_with_samples_statistical(
    given: dict[str, Any], mode: str
) -> None:
    assert Options(**given).mode_asked == mode


@pytest.mark.parametrize("risk", [0.01, "0.01", "1e-2", np.float64(0.01)])
def test_one_risk_gives_one_command_however_it_is_written(risk: Any) -> None:
    command = "kmcompile m.pkl --target host --data a.npz --risk 0.01"
    options = without_defaults(Options(data=SAMPLES, risk=risk, n_jobs=2))
    check_options(options)
    assert options.canonical_command("m.pkl") == command


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"mode": "certified"}, ""),
        ({"mode": "certified", "replay": "float64"}, ""),
        ({"mode": "exact", "replay": "none"}, " --mode exact"),
        ({"mode": "exact", "replay": "float64"}, " --mode exact --replay float64"),
        ({"replay": "none"}, " --replay none"),
        ({"data": SAMPLES, "mode": "certified"}, " --data a.npz --mode certified"),
        ({"data": SAMPLES, "mode": "statistical"}, " --data a.npz --mode statistical"),
        ({"data": SAMPLES, "reduce": "off", "risk": 1e-3}, " --data a.npz --reduce off"),
        ({"reduce": "off"}, ""),
    ],
)
def test_the_command_leaves_out_what_the_mode_does_anyway(
    given: dict[str, Any], words: str
) -> None:
    options = without_default_replay(without_defaults(Options(**given)))
    check_options(options)
    assert options.canonical_command("m.pkl") == f"kmcompile m.pkl --target host{words}"


@pytest.mark.parametrize(
    "given",
    [
        {"mode": "statistical", "data": SAMPLES, "risk": 1e-3},
        {"mode": "exact", "risk_control": "guaranteed"},
        {"mode": "certified", "data": SAMPLES, "replay": "float64"},
        {"data": SAMPLES, "thresholds": "simple", "risk": "0.001"},
        {"data": SAMPLES, "mode": "exact", "risk": "auto"},
    ],
)
def test_leaving_out_defaults_twice_changes_nothing_more(given: dict[str, Any]) -> None:
    once = without_defaults(Options(**given))
    assert without_defaults(once) == once


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"data": SAMPLES, "risk": [0.1]}, r"--risk \[0.1\]: must be a number between 0 and 1"),
        ({"data": SAMPLES, "risk": 1}, "--risk 1.0: must be a number between 0 and 1"),
        ({"n_jobs": 0}, "n_jobs is 0, must be"),
        ({"n_jobs": 1.5}, "n_jobs is 1.5, must be"),
        ({"risk": 1e-3}, "calibration samples are needed for --risk 0.001"),
    ],
)
def test_wrong_values_from_python_are_told_like_the_command_lines(
    given: dict[str, Any], text: str
) -> None:
    with pytest.raises(UsageError, match=text):
        check_options(without_defaults(Options(**given)))


@pytest.mark.parametrize(
    "given", ["linear_filter,bound_sequence", ["linear_filter", "bound_sequence"]]
)
def test_early_exits_are_one_list_however_they_are_given(given: Any) -> None:
    options = Options(data=SAMPLES, stages=given)
    check_options(options)
    words = "--data a.npz --stages linear_filter,bound_sequence"
    assert options.canonical_command("m.pkl") == f"kmcompile m.pkl --target host {words}"
    assert AskedStages.of(options).needed == ("linear_filter", "bound_sequence")


def test_the_last_stages_may_be_listed_and_are_implied() -> None:
    asked = AskedStages.of(Options(stages="sign_map,exact_sum,replay"))
    assert asked.listed == ("sign_map",)
    assert AskedStages.of(Options(stages="exact_sum")).listed == ()


def test_an_empty_list_asks_for_nothing() -> None:
    assert Options(require=()).require is None
    assert AskedStages.of(Options(require=())) == AskedStages()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"stages": "a", "mode": "exact"}, "--mode exact has no early exits"),
        ({"require": "a", "mode": "exact"}, "no use for --require a"),
        ({"stages": "a", "exclude": "b"}, "--stages lists all early exits"),
        ({"stages": "a,b,a"}, "--stages: a is given twice"),
        ({"require": "a,b", "exclude": "b"}, "--require and --exclude both name b"),
        ({"generated": 3}, "calibration samples are needed for --generated 3"),
        ({"data": SAMPLES, "generated": -1}, "--generated -1: must be a whole number"),
        (
            {"data": SAMPLES, "generated": 3, "thresholds": "simple"},
            "promises nothing, so it does not go with --generated 3",
        ),
        ({"data": SAMPLES, "window": 3}, "--window 3: it belongs to the NSV paper's scheme"),
        (
            {"data": SAMPLES, "dimensions": 3, "thresholds": "risk"},
            "--dimensions 3: it belongs to the NSV paper's scheme",
        ),
        (
            {"data": SAMPLES, "window": 3, "thresholds": "simple"},
            "--thresholds simple has no window",
        ),
        (
            {"data": SAMPLES, "dimensions": 0, "thresholds": "simple"},
            "--dimensions 0: must be a whole number of at least 1",
        ),
    ],
)
def test_lists_and_sizes_that_contradict_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        check_options(Options(**given))


@pytest.mark.parametrize(
    ("asked", "names", "met"),
    [
        (AskedStages(), ("a", "b"), True),
        (AskedStages(("a", "b")), ("a", "b"), True),
        (AskedStages(("a", "b")), ("b", "a"), False),
        (AskedStages(("a",)), ("a", "a"), True),
        (AskedStages(()), (), True),
        (AskedStages(()), ("a",), False),
        (AskedStages(None, ("b",)), ("a", "b"), True),
        (AskedStages(None, ("b",)), ("a",), False),
        (AskedStages(None, (), ("a",)), ("b",), True),
        (AskedStages(None, (), ("a",)), ("a",), False),
    ],
)
def test_what_a_program_must_have_and_may_have(
    asked: AskedStages, names: tuple[str, ...], met: bool
) -> None:
    assert asked.are_met_by(names) is met


def test_a_whole_number_given_as_text_is_the_number() -> None:
    given = Options(data=SAMPLES, generated="500", max_flash="4096")  # type: ignore[arg-type]
    check_options(given)
    assert without_defaults(given) == Options(data=SAMPLES, max_flash=4096)
    with pytest.raises(UsageError, match="--generated 5e2: must be a whole number"):
        check_options(Options(data=SAMPLES, generated="5e2"))  # type: ignore[arg-type]
