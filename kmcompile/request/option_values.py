"""The values that each option may have, and which options go together."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from kmcompile.errors import TargetError, UsageError
from kmcompile.numeric.width import FORMATS
from kmcompile.request.flight import FLIGHT, LARGEST, as_number, check_together, check_values
from kmcompile.request.options import (
    DEFAULT_GENERATED,
    DEFAULT_RISK,
    LISTS,
    NAMES,
    SIZES,
    Options,
    text_of,
)
from kmcompile.request.sizes import check_measure, check_size
from kmcompile.request.values import check_count, check_number, flag, named
from kmcompile.target import Target

CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "mode": ("exact", "certified", "statistical"),
        "risk_control": ("guaranteed", "expected"),
        "thresholds": ("risk", "maxsmoothed", "simple"),
        "format": (*FORMATS, "auto"),
        "replay": ("none", "float64"),
        "optimize": ("balanced", "mean", "worst", "flash"),
        # The frameworks of emit/packages, which this room does not know; a test compares them.
        "package": (
            "zephyr",
            "arduino",
            "esp-idf",
            "fprime",
            "cfs",
            "ros2",
            "rust",
            "micropython",
            "bench",
        ),
        "tables": ("code", "image"),
        "verify": ("none", "host", "target"),
    }
)

# The default values. `format` is not here: its default belongs to the target.
_SAME_AS_DEFAULT: Mapping[str, object] = MappingProxyType(
    {"reduce": "off", "optimize": "balanced", "tables": "code"}
)
PROMISED = ("risk", "loss")
"""The options that say what is promised: a program keeps one of them."""
DEFAULT_PROMISE: Mapping[str, object] = MappingProxyType(
    {
        "risk": DEFAULT_RISK,
        "loss": None,
        "risk_control": "guaranteed",
        "thresholds": "risk",
        "generated": DEFAULT_GENERATED,
    }
)


def without_defaults(options: Options) -> Options:
    """Return the options without those that repeat a default, and with the risk as a number.

    An option without any effect is kept, because `check_options` refuses it. A replay is kept
    too, because a replay that the user asks for must fit (`without_default_replay`).

    Examples
    --------
    >>> without_defaults(Options(mode="certified")) == Options()
    True
    >>> from pathlib import Path
    >>> samples = Options(data=Path("a.npz"))
    >>> without_defaults(dataclasses.replace(samples, optimize="balanced", risk="1e-3")) == samples
    True
    """
    options = dataclasses.replace(
        options,
        risk=as_number(options.risk),
        loss=as_number(options.loss),
        threshold=as_number(options.threshold),
        **{one.name: one.parse(getattr(options, one.name)) for one in FLIGHT},
    )
    same = dict(_SAME_AS_DEFAULT)
    same["mode"] = dataclasses.replace(options, mode=None).mode_asked
    # Without one of these, mode statistical may become certified, whose replay is another.
    settled = named(options, ("mode", "input_tolerance", *DEFAULT_PROMISE))
    if settled and dataclasses.replace(options, replay=None).replay_asked == "none":
        same["replay"] = "none"
    if options.max_instructions is not None:  # leaves that are too large are reduced unasked
        same.pop("reduce")
    if same["mode"] == "statistical":  # fewer vectors may take the place of its exits
        same.pop("mode")
        same.pop("reduce", None)
    if options.mode_asked == "statistical" and options.thresholds in (None, "risk"):
        same.update(DEFAULT_PROMISE)
    repeated: dict[str, Any] = {
        field: None for field, value in same.items() if getattr(options, field) == value
    }
    return dataclasses.replace(options, **repeated)


def without_default_replay(options: Options) -> Options:
    """Return the options without a replay in float64 if that is the default of the mode.

    Examples
    --------
    >>> without_default_replay(Options(replay="float64")) == Options()
    True
    """
    default = dataclasses.replace(options, replay=None)
    return default if options.replay == "float64" == default.replay_asked else options


def check_double(target: Target) -> None:
    """Refuse `--replay float64` for a target that has no double of 64 bits.

    Raises
    ------
    TargetError
    """
    if target.double_bits != 64:
        raise TargetError(
            f"--replay float64: the C type double of {target.name} has {target.double_bits} bits, "
            "must be 64\nuse --replay none"
        )


def check_options(options: Options) -> None:
    """Refuse values that an option cannot have, and options that do not go together.

    Raises
    ------
    UsageError

    Examples
    --------
    >>> check_options(Options(mode="exact", reduce="off"))
    >>> check_options(Options(reduce="auto"))
    Traceback (most recent call last):
    kmcompile.errors.UsageError: --reduce auto counts disagreements on samples
    give --data FILE
    """
    _check_values(options)
    _check_promise(options)
    _check_paper_scheme(options)
    _check_stages(options)
    if options.capacity is not None and not options.in_image:
        raise UsageError(
            f"--capacity {options.capacity}: only an image has a capacity\n"
            "leave it out, or use --tables image"
        )
    check_together(options)


def _check_promise(options: Options) -> None:
    """Refuse a risk or thresholds without mode statistical or without calibration samples."""
    if options.mode == "statistical" and options.data is None:
        raise UsageError("--mode statistical needs calibration samples\ngive --data FILE")
    asked = named(options, DEFAULT_PROMISE)
    _check_reduce(options)
    if options.reduce == "auto":
        asked = named(options, [field for field in DEFAULT_PROMISE if field not in PROMISED])
    if asked and options.mode in ("exact", "certified"):
        raise UsageError(
            f"--mode {options.mode} has no use for {asked}\n"
            "leave out one of them, or use --mode statistical with --data FILE"
        )
    if asked and options.data is None:
        raise UsageError(f"calibration samples are needed for {asked}\ngive --data FILE")
    if options.risk is not None and options.loss is not None:
        raise UsageError(
            f"{named(options, PROMISED)}: a program keeps a risk or a loss\nleave out one of them"
        )
    promise = named(options, (*PROMISED, "risk_control", "generated"))
    if promise and options.thresholds not in (None, "risk"):
        raise UsageError(
            f"--thresholds {options.thresholds} promises nothing, so it does not go with "
            f"{promise}\nleave out one of them, or use --thresholds risk"
        )


def _check_reduce(options: Options) -> None:
    """Refuse a replay of a reduced machine, and `auto` without samples or a risk in numbers."""
    if options.reduce not in (None, "off") and options.replay == "float64":
        raise UsageError(
            "--replay float64 brings a reduced machine no nearer to the trained one\n"
            "leave out one of --replay and --reduce"
        )
    if options.reduce != "auto":
        return
    if options.data is None:
        raise UsageError("--reduce auto counts disagreements on samples\ngive --data FILE")
    autos = [field for field in PROMISED if getattr(options, field) == "auto"]
    if autos or options.thresholds not in (None, "risk"):
        of = autos[0] if autos else "risk"
        raise UsageError(
            f"--reduce auto keeps a {of} that is a number, so it does not go with "
            f"{named(options, autos or ('thresholds',))}\ngive --{of} P"
        )


def _check_paper_scheme(options: Options) -> None:
    """Refuse the sizes of the NSV paper's scheme where its thresholds are not asked for."""
    sizes = named(options, ("window", "dimensions"))
    if sizes and options.thresholds in (None, "risk"):
        raise UsageError(
            f"{sizes}: it belongs to the NSV paper's scheme\n"
            "leave it out, or use --thresholds maxsmoothed"
        )
    if options.window is not None and options.thresholds == "simple":
        raise UsageError(
            f"--window {options.window}: --thresholds simple has no window\n"
            "leave it out, or use --thresholds maxsmoothed"
        )


def _check_stages(options: Options) -> None:
    """Refuse early exits that contradict the mode or each other, and names given twice."""
    asked = named(options, LISTS)
    if asked and options.mode == "exact":
        raise UsageError(
            f"--mode exact has no early exits, so it has no use for {asked}\nleave out one of them"
        )
    others = named(options, ("require", "exclude"))
    if options.stages and others:
        raise UsageError(
            f"--stages lists all early exits, so it does not go with {others}\n"
            "leave out one of them"
        )
    for field in NAMES:
        names = getattr(options, field) or ()
        repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if repeated:
            raise UsageError(f"{flag(field)}: {repeated[0]} is given twice, must be given once")
    both = sorted({*(options.require or ())} & {*(options.exclude or ())})
    if both:
        raise UsageError(f"--require and --exclude both name {both[0]}\nleave out one of them")


def _check_values(options: Options) -> None:
    for field, allowed in CHOICES.items():
        given = getattr(options, field)
        for value in given if isinstance(given, tuple) else (given,):
            if value is not None and value not in allowed:
                raise UsageError(f"{flag(field)} {value}: must be one of {', '.join(allowed)}")
    if "" in text_of(options.before).split(","):
        raise UsageError("--before: the name of a file is empty; give FILE or FILE,FILE")
    for field in PROMISED:
        if getattr(options, field) not in (None, "auto"):
            check_number(field, getattr(options, field), low=0.0, high=1.0)
    if options.tolerance is not None:
        check_number("tolerance", options.tolerance, low=0.0, high=math.inf)
    if options.threshold is not None:
        check_number("threshold", options.threshold, low=-math.inf, high=math.inf)
    if options.generated is not None:
        check_count("generated", options.generated, least=0)
    if options.window is not None:
        check_count("window", options.window, least=0)
    if options.dimensions is not None:
        check_count("dimensions", options.dimensions)
    if options.reduce is not None and options.reduce not in ("auto", "off"):
        check_count("reduce", options.reduce)
    if options.n_jobs is not None and (type(options.n_jobs) is not int or options.n_jobs == 0):
        raise UsageError(f"n_jobs is {options.n_jobs!r}, must be a whole number other than 0")
    check_values(options)
    for field in SIZES:
        check_size(flag(field), getattr(options, field))
    check_measure("--max-time", options.max_time, "s, ms and us")
    check_measure("--clock", options.clock, "Hz, kHz, MHz and GHz")
    if options.max_instructions is not None:
        check_count("max_instructions", options.max_instructions)
    if options.capacity is not None:
        check_count("capacity", options.capacity, most=LARGEST)
