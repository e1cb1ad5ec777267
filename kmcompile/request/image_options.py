"""The options of `--tables image`: what goes with it, and what does not yet."""

from __future__ import annotations

from kmcompile.errors import UsageError
from kmcompile.request.options import Options, text_of

_ALONE = ("reduce", "package", "input_tolerance")
"""The options that no image goes with."""


def in_image(options: Options) -> bool:
    """Return whether the tables lie in an image instead of the code."""
    return options.tables == "image"


def check_image_options(options: Options) -> None:
    """Refuse a capacity without an image, and what no image holds yet.

    Raises
    ------
    UsageError

    Examples
    --------
    >>> check_image_options(Options(tables="image", mode="exact", capacity=100))
    >>> check_image_options(Options(tables="image", format="int8"))
    Traceback (most recent call last):
    kmcompile.errors.UsageError: --tables image is not built yet for --format int8
    use --format float32
    """
    if not in_image(options):
        if options.capacity is not None:
            raise UsageError(
                f"--capacity {options.capacity}: only an image has a capacity\n"
                "leave it out, or use --tables image"
            )
        return
    if options.mode_asked == "statistical":
        raise UsageError(
            "--tables image is not built yet for mode statistical\n"
            "use --mode exact or --mode certified, or leave out --tables image"
        )
    if options.format not in (None, "float32", "auto"):
        raise UsageError(
            f"--tables image is not built yet for --format {options.format}\nuse --format float32"
        )
    asked = [
        ("--telemetry", options.telemetry),
        ("--redundancy", options.redundancy not in (None, 1)),
        ("--step", options.step is not None),
    ]
    for flag in (flag for flag, given in asked if given):
        raise UsageError(f"--tables image is not built yet for {flag}\nleave out one of them")
    for field in _ALONE:
        value = getattr(options, field)
        if value not in (None, "off"):
            raise UsageError(
                f"--tables image is not built yet for --{field.replace('_', '-')} {text_of(value)}"
                "\nleave out one of them"
            )
