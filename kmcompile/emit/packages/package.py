"""Package the C for a framework: the files of `--package`."""

from __future__ import annotations

from collections.abc import Mapping

from kmcompile.emit.environment import render
from kmcompile.emit.packages import (
    arduino,
    bench,
    cfs,
    esp_idf,
    fprime,
    micropython,
    ros2,
    rust,
    zephyr,
)
from kmcompile.emit.packages.framework import Framework
from kmcompile.emit.packages.view import PackageView
from kmcompile.program.program import Program
from kmcompile.target import Target

FRAMEWORKS: Mapping[str, Framework] = {
    "zephyr": zephyr.FRAMEWORK,
    "arduino": arduino.FRAMEWORK,
    "esp-idf": esp_idf.FRAMEWORK,
    "fprime": fprime.FRAMEWORK,
    "cfs": cfs.FRAMEWORK,
    "ros2": ros2.FRAMEWORK,
    "rust": rust.FRAMEWORK,
    "micropython": micropython.FRAMEWORK,
    "bench": bench.FRAMEWORK,
}
KINDS = tuple(FRAMEWORKS)


def package_files(
    kind: str,
    view: PackageView,
    program: Program,
    target: Target,
    sources: Mapping[str, str],
) -> dict[str, str]:
    """Return the files of a package, by their paths in the output folder.

    Packages of several frameworks have no path in common: each has a folder of its own.

    Parameters
    ----------
    kind : str
        One of `KINDS`, which also names the package's folder.
    view : PackageView
    program : Program
    target : Target
    sources : mapping
        The emitted files by name: the package has its own copy of the C and the header.
    """
    arithmetic = f"{program.name}_arithmetic.c"
    framework = FRAMEWORKS[kind]
    own = framework.own(program, target)
    layout = dict(framework.files)
    if view.has_arithmetic:
        beside = next(path for path, origin in layout.items() if origin == "{name}.c")
        layout[beside.replace("{name}.c", arithmetic)] = arithmetic
    files: dict[str, str] = {}
    for path, origin in layout.items():
        source = origin.format(name=view.name)
        files[f"{kind}/{path.format(name=view.name, own=own)}"] = (
            sources[source]
            if source in sources
            else render(f"package/{source}.j2", view=view, own=own)
        )
    return files
