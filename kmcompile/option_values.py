"""Which values an option may have, and which of them this version can do."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from kmcompile.errors import UsageError
from kmcompile.options import Options

CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "mode": ("exact", "certified", "statistical"),
        "risk_control": ("guaranteed", "expected"),
        "thresholds": ("risk", "maxsmoothed", "simple"),
        "format": ("float32", "int16", "int8", "auto"),
        "replay": ("none", "float64"),
        "verify": ("none", "host", "target"),
    }
)

# What is built of each option whose other values are still to come.
_BUILT: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "mode": ("exact",),
        "risk": (),
        "risk_control": (),
        "thresholds": (),
        "format": ("float32",),
        "replay": ("none",),
        "reduce": ("off",),
        "tolerance": (),
        "package": (),
    }
)

# These values say what happens anyway; `format` is not here, its default is the target's.
_SAME_AS_DEFAULT: Mapping[str, str] = MappingProxyType(
    {"mode": "exact", "replay": "none", "reduce": "off"}
)


def flag(field: str) -> str:
    """Return the command line's spelling of an option.

    Examples
    --------
    >>> flag("max_flash")
    '--max-flash'
    """
    return "--" + field.replace("_", "-")


def without_defaults(options: Options) -> Options:
    """Return the options with what merely repeats a default left out.

    Examples
    --------
    >>> without_defaults(Options(mode="exact")) == Options()
    True
    """
    repeated: dict[str, Any] = {
        field: None for field, value in _SAME_AS_DEFAULT.items() if getattr(options, field) == value
    }
    return dataclasses.replace(options, **repeated)


def check_options(options: Options) -> None:
    """Refuse a value that no version knows, then one that this version cannot do yet.

    Raises
    ------
    UsageError
        With every such option in one message.

    Examples
    --------
    >>> check_options(Options(mode="exact", reduce="off"))
    >>> check_options(Options(mode="certified"))
    Traceback (most recent call last):
    kmcompile.errors.UsageError: not built yet: --mode certified
    leave it out or use --mode exact
    """
    _check_values(options)
    if options.mode == "statistical" and options.data is None:
        raise UsageError(
            "--mode statistical needs calibration samples: give --data FILE\n"
            "it is not built yet either: leave it out or use --mode exact"
        )
    _check_built(options)


def _check_values(options: Options) -> None:
    for field, allowed in CHOICES.items():
        value = getattr(options, field)
        if value is not None and value not in allowed:
            raise UsageError(f"{flag(field)} {value}: must be one of {', '.join(allowed)}")
    if options.risk is not None and options.risk != "auto":
        _check_number("risk", options.risk, low=0.0, high=1.0)
    if options.tolerance is not None:
        _check_number("tolerance", options.tolerance, low=0.0, high=math.inf)
    if options.reduce is not None and options.reduce not in ("auto", "off"):
        _check_count("reduce", options.reduce)
    for field in ("max_flash", "max_ram"):
        if getattr(options, field) is not None:
            _check_count(field, getattr(options, field))


def _check_number(field: str, value: str | float, low: float, high: float) -> None:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not low < number < high:
        limits = "> 0" if high == math.inf else f"between {low:g} and {high:g}"
        raise UsageError(f"{flag(field)} {value}: must be a number {limits}")


def _check_count(field: str, value: str | int) -> None:
    text = str(value)
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise UsageError(f"{flag(field)} {value}: must be a whole number of at least 1")


def _check_built(options: Options) -> None:
    asked = [
        field
        for field, built in _BUILT.items()
        if getattr(options, field) is not None and getattr(options, field) not in built
    ]
    if not asked:
        return
    named = ", ".join(f"{flag(field)} {getattr(options, field)}" for field in asked)
    usable = [f"{flag(field)} {built}" for field in asked for built in _BUILT[field]]
    remedy = f"leave {'it' if len(asked) == 1 else 'them'} out"
    if usable:
        remedy += " or use " + " ".join(usable)
    raise UsageError(f"not built yet: {named}\n{remedy}")
