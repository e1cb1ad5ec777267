"""The options of `--tables image`: what goes with it, and what does not yet."""

from __future__ import annotations

from collections.abc import Iterator
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
    kmcompile manual image says what goes with it
    """
    if not in_image(options):
        if options.capacity is not None:
            raise UsageError(
                f"--capacity {options.capacity}: only an image has a capacity\n"
                "leave it out, or use --tables image"
            )
        return
    refused = list(_not_in_an_image(options))
    others = " and ".join(option.split()[0] for option in refused)
    remedies = [f"leave out {others}, or leave out --tables image"] if refused else []
    if options.format in ("int8", "int16") and options.mode_asked != "exact":
        refused.insert(0, f"--format {options.format} in mode {options.mode_asked}")
        remedies.insert(0, "use --mode exact or --format float32")
    elif options.mode_asked == "statistical":
        refused.insert(0, "mode statistical")
        remedies.insert(0, "use --mode exact or --mode certified")
    if refused:
        raise UsageError(
            f"--tables image is not built yet for {', '.join(refused)}\n{', '.join(remedies)}\n"
            "kmcompile manual image says what goes with it"
        )


def _not_in_an_image(options: Options) -> Iterator[str]:
    """Yield each other option that no image holds, as it is spelled."""
    default = Options()
    for field in fields(Options):
        value = getattr(options, field.name)
        if field.name in _WITH_IMAGE or value in (getattr(default, field.name), "off"):
            continue
        flag = "--" + field.name.replace("_", "-")
        yield flag if value is True else f"{flag} {text_of(value)}"
