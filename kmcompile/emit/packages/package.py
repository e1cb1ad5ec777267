"""Package the C for a framework: the files of `--package`."""

from __future__ import annotations

from collections.abc import Mapping

from kmcompile.emit.environment import render
from kmcompile.emit.packages import (
    arduino,
    cfs,
    esp_idf,
    fprime,
    micropython,
    ros2,
    rust,
    zephyr,
)
from kmcompile.emit.packages.stack import Stack
from kmcompile.emit.packages.view import view_of
from kmcompile.program.program import Program
from kmcompile.target import Target

FILES: Mapping[str, Mapping[str, str]] = {
    "zephyr": zephyr.FILES,
    "arduino": arduino.FILES,
    "esp-idf": esp_idf.FILES,
    "fprime": fprime.FILES,
    "cfs": cfs.FILES,
    "ros2": ros2.FILES,
    "rust": rust.FILES,
    "micropython": micropython.FILES,
}
KINDS = tuple(FILES)


def package_files(
    kind: str | None,
    program: Program,
    command: str,
    target: Target,
    sources: Mapping[str, str],
    stack: Stack,
) -> dict[str, str]:
    """Return the files of a package, by their paths in the output folder.

    Parameters
    ----------
    kind : str or None
        One of `KINDS`, which also names the package's folder; None: no package.
    command : str
        The canonical command, for line 1.
    target : Target
    sources : mapping
        The emitted files by name: the package has its own copy of the C and the header.
    stack : Stack
        What a query and the self-test need.
    """
    if kind is None:
        return {}
    arithmetic = f"{program.name}_arithmetic.c"
    view = view_of(program, command, target, arithmetic in sources, stack)
    names = {
        "name": view.name,
        "title": view.title,
        "app": view.app.name,
        "library": view.library,
        "ros": view.ros2.package,
        "crate": view.rust.crate,
        "module": view.micropython.module,
    }
    files: dict[str, str] = {}
    layout = dict(FILES[kind])
    if view.has_arithmetic:
        beside = next(path for path, origin in layout.items() if origin == "{name}.c")
        layout[beside.replace("{name}.c", arithmetic)] = arithmetic
    for path, origin in layout.items():
        source = origin.format_map(names)
        files[f"{kind}/{path.format_map(names)}"] = (
            sources[source] if source in sources else render(f"package/{source}.j2", view=view)
        )
    return files
