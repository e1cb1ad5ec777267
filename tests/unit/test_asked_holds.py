"""What the user asks for holds where the tool falls back, and line 1 of the C asks for it again."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC, SVR

import kmcompile
from kmcompile.commands import compile_command
from kmcompile.compiled import Compiled
from kmcompile.errors import InputError, KmcompileError, UsageError
from kmcompile.request.options import Options
from kmcompile.request.plan import Request

X, y = (part[50:] for part in load_iris(return_X_y=True))
_RNG = np.random.default_rng(0)
SAMPLES = np.float32(X[_RNG.integers(0, 100, 1000)] + _RNG.normal(size=(1000, 4)) * 0.3)
MODELS = {
    "sigmoid": SVC(C=10, kernel="sigmoid", gamma=0.02).fit(X[::3], y[::3]),
    "linear": SVC(kernel="linear").fit(X[::3], y[::3]),
    "poly": SVC(C=10, kernel="poly", gamma=0.02).fit(X[::3], y[::3]),
    "values": SVR(kernel="sigmoid", gamma=0.02).fit(X[::3], y[::3]),
}
FALLBACKS: dict[str, tuple[str, int, dict[str, Any]]] = {
    "too few samples": ("sigmoid", 30, {}),
    "too few for the risk": ("sigmoid", 600, {}),
    "too few beside the monitor": ("sigmoid", 150, {"monitor": 0.2}),
    "no exit is possible": ("linear", 30, {}),
    "another format": ("poly", 30, {"format": "auto", "target": "cortex-m7"}),
    "a regression": ("values", 60, {"tolerance": 0.1}),
    "a tolerance": ("sigmoid", 60, {"input_tolerance": 0.001}),
    "an image": ("sigmoid", 60, {"tables": "image", "mode": "certified"}),
    "fewer vectors": ("poly", 60, {"reduce": 5}),
}
"""Models, samples and options with which the mode, the format or the stages are not the first."""


def has(name: str, value: Any) -> Callable[[Compiled], bool]:
    """Return whether the report has the option."""
    return lambda made: made.report["options"][name] == value


HOLDS: dict[tuple[str, Any], Callable[[Compiled], bool]] = {
    ("replay", "none"): lambda made: made.program.replay is None,
    ("replay", "float64"): lambda made: made.program.replay is not None,
    ("stages", "exact_sum"): lambda made: not made.program.early_exits,
    ("exclude", "quadratic_bounds"): lambda made: "quadratic_bounds" not in str(made.program),
    ("require", "quadratic_bounds"): lambda made: "quadratic_bounds" in str(made.program),
    ("format", "float32"): lambda made: made.program.codes is None,
    ("format", "int16"): lambda made: made.program.number_format == "int16",
    ("mode", "exact"): lambda made: made.program.mode == "exact",
    ("mode", "statistical"): lambda made: made.program.mode == "statistical",
    ("risk", 0.001): lambda made: made.program.mode == "statistical",
    ("optimize", "worst"): has("optimize", "worst"),
    ("threshold", 0.1): has("threshold", 0.1),
    ("max_flash", 60_000): has("max_flash", 60_000),
    ("reduce", "off"): has("reduce", "off"),
    ("verify", "none"): lambda made: made.report["verification"]["exact"]["host"] is None,
    ("package", "zephyr"): lambda made: any("zephyr" in name for name in made.report["files"]),
    ("telemetry", True): lambda made: made.program.telemetry,
    ("redundancy", 2): lambda made: made.program.redundancy == 2,
    ("step", 5_000): lambda made: made.program.step is not None,
}
REFUSED = (2, 3, 4)
_WITHOUT_MODE = {("no exit is possible", "mode"), ("no exit is possible", "risk")}
"""A linear machine is exact in every mode, and a note says so."""


def compiled(fallback: str, **options: Any) -> Compiled:
    model, n, given = FALLBACKS[fallback]
    given = {"name": "m", "verify": "none"} | given | options
    return kmcompile.compile_model(MODELS[model], data=SAMPLES[:n], **given)


@cache
def options_of_the_command() -> dict[str, click.Option]:
    return {o.opts[0]: o for o in compile_command.params if isinstance(o, click.Option)}


def asked_in(line: str) -> dict[str, Any]:
    """Return the options in line 1 of the C, without the samples."""
    words, found = shlex.split(line)[2:], {}
    while words:
        option = options_of_the_command()[words.pop(0)]
        assert option.name is not None
        value = option.is_flag or words.pop(0)
        if option.name != "data":
            found[option.name] = option.type.convert(value, option, None)
    return found


@pytest.mark.parametrize(("name", "value"), HOLDS, ids=str)
@pytest.mark.parametrize("fallback", FALLBACKS)
def test_what_is_asked_for_holds_or_is_refused(fallback: str, name: str, value: Any) -> None:
    try:
        made = compiled(fallback, **{name: value})
    except KmcompileError as error:
        assert error.exit_code in REFUSED
        return
    assert HOLDS[name, value](made) or (fallback, name) in _WITHOUT_MODE
    instead = {name: value} if name in FALLBACKS[fallback][2] else {}
    again = compiled(fallback, **instead | asked_in(made.report["tool"]["command"]))
    assert str(again.program) == str(made.program)


@pytest.mark.parametrize(
    ("fallback", "mode"),
    [
        ("too few samples", "certified"),
        ("too few for the risk", "certified"),
        ("a regression", "certified"),
        ("no exit is possible", "exact"),
    ],
)
def test_they_are_fallbacks(fallback: str, mode: str) -> None:
    options = compiled(fallback).report["options"]
    assert (options["mode"], options["replay"]) == (mode, "none")


def test_few_samples_choose_no_exits_of_a_regression_unless_its_mode_is_asked_for() -> None:
    model = SVR(gamma=0.02).fit(X[::3], y[::3])
    given: dict[str, Any] = {"data": SAMPLES[:30], "tolerance": 0.1, "verify": "none"}
    report = kmcompile.compile_model(model, **given).report
    told = "as without samples: --data has 30 usable samples, must have at least 50"
    assert report["choice"]["notes"][0].startswith(told)
    assert report["choice"]["queries_source"] == "generated"
    with pytest.raises(InputError, match="leave out --data"):
        kmcompile.compile_model(model, mode="certified", **given)


def test_samples_beyond_the_limit_do_not_count_for_mode_certified() -> None:
    model = SVC(C=10, gamma=0.02).fit(X[::3], y[::3])
    samples = np.concatenate([SAMPLES[:30], np.full((60, 4), 1e30, np.float32)])
    with pytest.warns(UserWarning, match="66.7 % of the samples lie far outside"):
        made = kmcompile.compile_model(model, data=samples, verify="none")
    assert made.report["choice"]["queries_source"] == "generated"


def test_a_replay_that_does_not_fit_is_refused_after_a_fallback() -> None:
    with pytest.raises(UsageError, match="replayed for the rbf kernel only"):
        compiled("too few samples", format="int16", replay="float64")
    assert compiled("too few samples", format="int16").program.replay is None


def test_few_samples_do_not_undo_what_must_be_there() -> None:
    with pytest.raises(InputError, match="must have at least 200 for mode statistical"):
        compiled("too few samples", require="quadratic_bounds")


@pytest.mark.parametrize("asked", [{"mode": "statistical"}, {"risk": 0.001}, {"generated": 500}])
def test_line_1_asks_for_mode_statistical_where_a_default_was_given(asked: dict[str, Any]) -> None:
    """Without it, line 1 gives a program of mode certified where exits do not pay."""
    given = {"data": Path("samples.npz")} | asked
    command = Request.of(Path("m.pkl"), Options(**given)).options.canonical_command("m.pkl")
    assert command == "kmcompile m.pkl --target host --data samples.npz --mode statistical"


@pytest.mark.exhaustive
@pytest.mark.parametrize("replay", ["none", "float64"])
def test_a_replay_holds_where_proved_exits_cost_as_little(replay: str) -> None:
    options = {"data": SAMPLES, "format": "int16", "name": "m", "verify": "none"}
    model = SVC(C=10, gamma=0.02).fit(X[::3], y[::3])
    made = kmcompile.compile_model(model, replay=replay, **options)
    assert made.report["options"]["mode"] == "certified"
    assert made.report["options"]["replay"] == replay


def test_a_list_without_early_exits_holds_where_samples_are_too_few() -> None:
    options = {"data": SAMPLES[:30], "name": "m", "verify": "none"}
    model = SVC(C=10, gamma=0.02).fit(X[::3], y[::3])
    made = kmcompile.compile_model(model, stages="exact_sum", **options)
    assert made.program.mode == "certified" and not made.program.early_exits
