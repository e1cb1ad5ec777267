"""Whether the user asks for a mode, and which of his options another mode has no use for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kmcompile.request.option_values import DEFAULT_PROMISE, PROMISED
from kmcompile.request.options import LISTS, Options
from kmcompile.request.values import flag


def settling(given: Options) -> list[str]:
    """Return the given options that ask for a mode: without any, samples may not decide it.

    Examples
    --------
    >>> settling(Options(mode="statistical", risk=0.01))
    ['--mode', '--risk']
    """
    fields = ("mode", *DEFAULT_PROMISE)
    return [flag(field) for field in fields if getattr(given, field) is not None]


def with_settled_mode(options: Options, given: Options) -> Options:
    """Return the options with mode statistical if it was asked for by repeating a default.

    Without any such option, few samples may make it mode certified: another program.

    Examples
    --------
    >>> from pathlib import Path
    >>> with_settled_mode(Options(data=Path("a")), Options(data=Path("a"), risk=0.001)).mode
    'statistical'
    """
    repeats = settling(given) and not settling(options) and options.mode_asked == "statistical"
    return replace(options, mode="statistical") if repeats else options


def instead(mode: str, given: Options, also: Sequence[str] = ()) -> str:
    """Return the option of a mode, and which of the given options do not go with it, `also` others.

    Examples
    --------
    >>> instead("certified", Options(mode="statistical", risk=0.01, stages="linear_filter"))
    '--mode certified without --risk'
    """
    left_out = [flag(field) for field in (*_useless(mode, given), *also)]
    return f"--mode {mode}" + (f" without {' and '.join(left_out)}" if left_out else "")


def _useless(mode: str, given: Options) -> Iterator[str]:
    """Yield the given options that mode exact or mode certified refuses."""
    fields = [*DEFAULT_PROMISE, "window", "dimensions"]
    if mode == "exact":
        fields += [*LISTS, *(["tolerance"] if given.replay != "float64" else [])]
    for field in fields:
        kept = field in PROMISED and given.reduce == "auto"
        if getattr(given, field) is not None and not kept:
            yield field
