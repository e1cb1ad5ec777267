"""The options for flight: all that is said of each before a model is read.

What a program with such an option is stands in the other rooms: a field of `Program`, a view of
`emit/`, a section of `report/flight/`.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from kmcompile.errors import UsageError
from kmcompile.numeric.width import IN_INTEGERS
from kmcompile.request.flight_option import Exclusion, FlightOption
from kmcompile.request.options import Options, text_of
from kmcompile.request.values import check_count, check_number, flag

LARGEST = 2**32 - 1
"""Of the numbers that stand in the C."""

_OF_A_PROMISE = ("risk", "loss", "risk_control", "thresholds", "generated", "window", "dimensions")


def as_number(value: Any) -> Any:
    """Return the text as a number: `--risk 0.010` and `--risk 1e-2` give one canonical command."""
    try:
        return value if value is None else float(value)
    except (TypeError, ValueError):
        return value  # "auto", or what is refused later


def _as_tolerance(value: float | Path | str | None) -> float | Path | None:
    """Return a number as a number, and any other text as the path of a file."""
    number = value if isinstance(value, Path) else as_number(value)
    return Path(number) if isinstance(number, str) else number


def _check_tolerance(value: float | Path) -> None:
    if isinstance(value, float) and not 0 <= value < math.inf:
        raise UsageError(
            f"--input-tolerance {text_of(value)}: must be a number of at least 0\n"
            "give how far a feature may be off, or a file with one number a feature"
        )


def _check_telemetry(value: object) -> None:
    if type(value) is not bool:
        raise UsageError(f"telemetry is {value!r}, must be True or False")


def _check_redundancy(value: object) -> None:
    if type(value) is not int or value != 2:
        raise UsageError(
            f"--redundancy {value}: must be 2, a second copy of every table\n"
            "leave it out for one copy"
        )


_DEFAULT = Options()

_SINGLE_INPUTS = "a risk is about single inputs, not all within a tolerance"
_SHAPES = "shapes that samples choose are code"

FLIGHT = (
    FlightOption(
        "tables",
        "Where the model is: in the code, or in an image to uplink [code].",
        value="image",
        excludes=(
            Exclusion(("mode",), _SHAPES, values=("statistical",), instead="--mode certified"),
            Exclusion((*_OF_A_PROMISE, "reduce"), _SHAPES),
            Exclusion(
                ("format",),
                "exits on integers read no image yet",
                values=IN_INTEGERS,
                instead="--format float32",
                but_in_mode="exact",
            ),
            Exclusion(("monitor",), "its limits are in the code"),
            Exclusion(("input_tolerance",), "its bounds read no image yet"),
            Exclusion(("package",), "no framework opens one yet"),
            Exclusion(("step",), "it counts the blocks of one model"),
            Exclusion(("redundancy",), "its copy is another image"),
        ),
        only_float32=True,
    ),
    FlightOption(
        "monitor",
        "in_range false for unusual inputs, at most P of usual.",
        {"type": float, "metavar": "P"},
        parse=as_number,
        check=lambda value: check_number("monitor", value, low=0.0, high=1.0),
        needs=("data", "needs samples\ngive --data FILE"),
    ),
    FlightOption(
        "input_tolerance",
        "Certify for inputs as far off as this [off].",
        {"metavar": "T|FILE"},
        parse=_as_tolerance,
        check=_check_tolerance,
        excludes=(
            Exclusion(
                ("mode",), _SINGLE_INPUTS, values=("statistical",), instead="--mode certified"
            ),
            Exclusion(_OF_A_PROMISE, _SINGLE_INPUTS),
            Exclusion(
                ("replay",),
                "sums in double leave as many labels open as sums in float",
                values=("float64",),
            ),
            Exclusion(("reduce",), "its bounds are those of the trained machine"),
        ),
        only_float32=True,
    ),
    FlightOption(
        "step",
        "Also in steps of N multiply-adds at most.",
        {"type": int, "metavar": "N"},
        check=lambda value: check_count("step", value, most=LARGEST),
        takes=("RAM",),
    ),
    FlightOption(
        "telemetry",
        "Counters for housekeeping messages.",
        {"is_flag": True},
        check=_check_telemetry,
    ),
    FlightOption(
        "redundancy",
        "A second copy of every table.",
        {"type": int, "metavar": "2"},
        check=_check_redundancy,
        excludes=(
            Exclusion(
                ("package",), "its crate declares the self-test of one copy", values=("rust",)
            ),
        ),
        takes=("flash", "addresses"),
    ),
)


def check_values(options: Options) -> None:
    """Refuse values that an option for flight cannot have.

    Raises
    ------
    UsageError

    Examples
    --------
    >>> check_values(Options(input_tolerance=-1.0))
    Traceback (most recent call last):
    kmcompile.errors.UsageError: --input-tolerance -1.0: must be a number of at least 0
    give how far a feature may be off, or a file with one number a feature
    """
    for option in FLIGHT:
        value = getattr(options, option.name)
        if value is not getattr(_DEFAULT, option.name):
            option.check(value)


def check_together(options: Options) -> None:
    """Refuse all options for flight that do not go together at once, then those that lack others.

    Raises
    ------
    UsageError

    Examples
    --------
    >>> check_together(Options(tables="image", mode="exact", telemetry=True))
    >>> check_together(Options(redundancy=2, package="cfs,rust"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    kmcompile.errors.UsageError: --redundancy 2 does not go with --package rust (its crate ...
    """
    told, excluding = [], []
    others, instead = dict[str, None](), dict[str, str]()
    for option in FLIGHT:
        if not option.is_asked(options):
            continue
        reasons: dict[str, list[str]] = {}
        for exclusion in option.excludes:
            given = exclusion.given(options)
            if given:
                reasons.setdefault(exclusion.why, []).extend(given.values())
            if given and exclusion.instead:
                instead[exclusion.instead.split()[0]] = exclusion.instead
            else:
                others |= dict.fromkeys(map(flag, given))
        if reasons:
            named = ", ".join(f"{', '.join(said)} ({why})" for why, said in reasons.items())
            told.append(f"{option.said(options)} does not go with {named}")
            excluding.append(option.asked)
    if told:
        ways = [f"use {one}" for one in instead.values()]
        ways += [f"leave out {' and '.join(others)}"] if others else []
        said = [told[0], ", and ".join(told[1:])] if told[1:] else told
        advice = f"leave out {' and '.join(excluding)}, or {' and '.join(ways)}"
        raise UsageError("\n".join([*said, f"{advice}; kmcompile manual flight has the table"]))
    for option in FLIGHT:
        needed, else_said = option.needs
        if needed and option.is_asked(options) and getattr(options, needed) is None:
            raise UsageError(f"{option.said(options)} {else_said}")


def is_excluded(field: str, options: Options) -> bool:
    """Return whether an option for flight is asked for that no value of another goes with."""
    return any(
        field in exclusion.others and not exclusion.values
        for option in FLIGHT
        if option.is_asked(options)
        for exclusion in option.excludes
    )


def keeps_float32(options: Options) -> bool:
    """Return whether an option for flight is asked for with which `--format auto` is float32."""
    return any(option.only_float32 and option.is_asked(options) for option in FLIGHT)
