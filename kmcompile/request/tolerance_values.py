"""The values of `--input-tolerance`, and the options that do not go with it."""

from __future__ import annotations

import math
from pathlib import Path

from kmcompile.errors import UsageError
from kmcompile.request.options import Options, text_of

_OF_A_PROMISE = ("risk", "loss", "risk_control", "thresholds", "generated")


def as_tolerance(value: float | Path | str | None) -> float | Path | None:
    """Return a number as a number, and any other text as the path of a file.

    Examples
    --------
    >>> as_tolerance("0.010"), as_tolerance("noise.npy").name
    (0.01, 'noise.npy')
    """
    if value is None or isinstance(value, Path):
        return value
    try:
        return float(value)
    except ValueError:
        return Path(str(value))


def check_input_tolerance(options: Options) -> None:
    """Refuse a tolerance that is no number of at least 0, and options that do not go with one.

    Raises
    ------
    UsageError

    Examples
    --------
    >>> check_input_tolerance(Options(input_tolerance=0.01))
    >>> check_input_tolerance(Options(input_tolerance=-1.0))
    Traceback (most recent call last):
    kmcompile.errors.UsageError: --input-tolerance -1.0: must be a number of at least 0
    give how far a feature may be off, or a file with one number a feature
    """
    tolerance = options.input_tolerance
    if tolerance is None:
        return
    given = f"--input-tolerance {text_of(tolerance)}"
    if isinstance(tolerance, float) and not 0 <= tolerance < math.inf:
        raise UsageError(
            f"{given}: must be a number of at least 0\n"
            "give how far a feature may be off, or a file with one number a feature"
        )
    promise = [field for field in _OF_A_PROMISE if getattr(options, field) is not None]
    if options.mode == "statistical" or promise:
        asked = "--mode statistical" if not promise else "--" + promise[0].replace("_", "-")
        raise UsageError(
            f"{given}: {asked} is about single inputs, not about all within a tolerance\n"
            "leave out one of them"
        )
    if options.replay == "float64":
        raise UsageError(
            f"{given}: sums in double leave as many labels open as sums in float\n"
            "leave out --replay"
        )
    if options.reduce not in (None, "off"):
        raise UsageError(
            f"{given}: its bounds are those of the trained machine\nleave out --reduce"
        )
