"""The commands for models in images: an image for code that flies, a patch between two images."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kmcompile import console
from kmcompile.program_options import (
    FILE,
    FOLDER,
    choice,
    json_option,
    model_options,
    out_option,
    quiet_option,
)
from kmcompile.progress import Progress
from kmcompile.request.options import Options
from kmcompile.text.visible import printable


@click.command()
@click.argument("model", type=FILE)
@click.option(
    "--for",
    "folder",
    type=FOLDER,
    required=True,
    metavar="DIR",
    help="Code that flies: compiled with --tables image.",
)
@out_option("FILE", "The image [<model>.bin].")
@click.option("--data", type=FILE, help="Samples by which early exits are fitted; also verify.")
@click.option("--test-data", type=FILE, help="Test samples to verify with, instead of --data's.")
@choice("--verify", "Where the code is run [target if its tools are here, otherwise host].")
@model_options
@json_option
@quiet_option
def image_command(
    model: Path,
    folder: Path,
    out: Path | None,
    data: Path | None,
    test_data: Path | None,
    verify: str | None,
    as_json: bool,
    quiet: bool,
    **values: Any,
) -> None:
    """Write the image of a retrained model for code that flies already.

    The code in DIR is built again with its own recipe and the new image, run on the host and on
    the emulated target, and compared with the model. A model that is larger than the code's
    capacity exits 4; one that needs other code exits 3.
    """
    from kmcompile import imaging
    from kmcompile.request.plan import reading_of

    reading = reading_of(Options(**values))
    with Progress(enabled=not quiet) as progress:
        result = imaging.make_image(model, folder, out, data, test_data, verify, reading, progress)
    console.tell(result, _print_image, as_json=as_json, quiet=quiet)


@click.command()
@click.argument("old", type=FILE)
@click.argument("new", type=FILE)
@out_option("FILE", "The patch [<new>.patch].")
@click.option("--in-place", is_flag=True, help="To be applied to the old image's own memory.")
@json_option
@quiet_option
def patch_command(
    old: Path, new: Path, out: Path | None, in_place: bool, as_json: bool, quiet: bool
) -> None:
    """Write the patch that makes the image NEW of the image OLD, which is on board."""
    from kmcompile import imaging

    result = imaging.make_patch(old, new, out, in_place)
    console.tell(result, _print_patch, as_json=as_json, quiet=quiet)


def _print_image(result: dict[str, Any]) -> None:
    from kmcompile.report import terminal

    image = result["image"]
    terminal.print_verification(image["file"], result, console.styled())
    click.echo(
        f"\nwritten to {printable(image['file'])}: {image['bytes']:,} bytes, {_share(image)}"
    )
    click.echo(f"SHA-256 of the code    {image['layout_sha256']}")
    click.echo(f"SHA-256 of the model   {image['model_sha256']}")


def _share(image: dict[str, Any]) -> str:
    if not image["most_vectors"]:
        return "no support vectors"
    return f"{image['vectors']:,} support vectors of at most {image['most_vectors']:,}"


def _print_patch(result: dict[str, Any]) -> None:
    old, new = result["old"], result["new"]
    how = "in place or to another place" if result["in_place"] else "to another place"
    click.echo(
        f"written to {printable(result['patch'])}: {result['bytes']:,} bytes instead of "
        f"{new['bytes']:,}, to be applied {how}"
    )
    for name, one in (("old", old), ("new", new)):
        click.echo(f"SHA-256 of the {name} image   {one['sha256']}")
