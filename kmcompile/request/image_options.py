"""The options of `--tables image`: what goes with it, and what does not yet."""

from __future__ import annotations

from dataclasses import fields

from kmcompile.errors import UsageError
from kmcompile.request.options import Options, text_of

_WITH_IMAGE = frozenset(
    (
        *("target", "data", "test_data", "threshold", "mode", "format", "replay", "optimize"),
        *("stages", "require", "exclude", "tolerance", "tables", "capacity", "max_flash"),
        *("max_ram", "max_instructions", "out", "name", "trust_pickle", "verify", "n_jobs"),
        *("telemetry",),
    )
)
"""The options that go with an image; every other one has to be built for images first."""


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
    kmcompile.errors.UsageError: --tables image is not built yet for --format int8 in mode certified
    use --mode exact or --format float32
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
    if options.format in ("int8", "int16") and options.mode_asked != "exact":
        raise UsageError(
            f"--tables image is not built yet for --format {options.format} in mode "
            f"{options.mode_asked}\nuse --mode exact or --format float32"
        )
    default = Options()
    for field in fields(Options):
        value = getattr(options, field.name)
        if field.name in _WITH_IMAGE or value in (getattr(default, field.name), "off"):
            continue
        flag = "--" + field.name.replace("_", "-")
        given = flag if value is True else f"{flag} {text_of(value)}"
        raise UsageError(f"--tables image is not built yet for {given}\nleave out one of them")
