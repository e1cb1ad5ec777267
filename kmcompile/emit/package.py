"""Package the C for a framework: a Zephyr module, an Arduino library, F´ component or cFS app.

Sources: docs.zephyrproject.org, "Modules"; Arduino's library specification 2.2 and PlatformIO's
library.json; F´'s user manual and FPP's language specification; the cFE user's guide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kmcompile.emit.environment import render
from kmcompile.emit.words import words_of
from kmcompile.program.program import Program
from kmcompile.version import VERSION

# Path in the package -> template under templates/package/, or the name of an emitted file.
_LAYOUTS: Mapping[str, Mapping[str, str]] = {
    "zephyr": {
        "{name}/zephyr/module.yml": "zephyr/module.yml",
        "{name}/CMakeLists.txt": "zephyr/CMakeLists.txt",
        "{name}/Kconfig": "zephyr/Kconfig",
        "{name}/include/{name}.h": "{name}.h",
        "{name}/src/{name}.c": "{name}.c",
        "{name}/samples/one_query/CMakeLists.txt": "zephyr/sample_CMakeLists.txt",
        "{name}/samples/one_query/prj.conf": "zephyr/prj.conf",
        "{name}/samples/one_query/src/main.c": "zephyr/main.c",
    },
    "arduino": {
        "{name}/library.properties": "arduino/library.properties",
        "{name}/library.json": "arduino/library.json",
        "{name}/src/{name}.h": "{name}.h",
        "{name}/src/{name}.c": "{name}.c",
        "{name}/examples/OneQuery/OneQuery.ino": "arduino/example.ino",
    },
    "fprime": {
        "{title}/CMakeLists.txt": "fprime/CMakeLists.txt",
        "{title}/{title}.fpp": "fprime/component.fpp",
        "{title}/{title}.hpp": "fprime/component.hpp",
        "{title}/{title}.cpp": "fprime/component.cpp",
        "{title}/{name}.h": "{name}.h",
        "{title}/{name}.c": "{name}.c",
    },
    "cfs": {
        "{name}_app/CMakeLists.txt": "cfs/CMakeLists.txt",
        "{name}_app/fsw/inc/{name}_app.h": "cfs/app.h",
        "{name}_app/fsw/inc/{name}.h": "{name}.h",
        "{name}_app/fsw/src/{name}_app.c": "cfs/app.c",
        "{name}_app/fsw/src/{name}.c": "{name}.c",
    },
}
KINDS = tuple(_LAYOUTS)


@dataclass(frozen=True, slots=True)
class PackageView:
    """Values for the templates of packages.

    Attributes
    ----------
    title : str
        The name in camel case, as F´ components are called.
    short : str
        The beginning of the name, short enough that cFS names made of it have at most 19 letters
        (OSAL's OS_MAX_API_NAME is 20).
    call, answer_type : str
        The function that takes float features, and the type of its answer.
    """

    command: str
    version: str
    name: str
    upper: str
    title: str
    short: str
    n_features: int
    is_regression: bool
    call: str
    answer_type: str


def package_files(
    kind: str | None, program: Program, command: str, sources: Mapping[str, str]
) -> dict[str, str]:
    """Return the files of a package, by their paths in the output folder.

    Parameters
    ----------
    kind : str or None
        One of `KINDS`, which also names the package's folder; None: no package.
    command : str
        The canonical command, for line 1.
    sources : mapping
        The emitted files by name: the package has its own copy of the C and the header.
    """
    if kind is None:
        return {}
    words = words_of(program)
    suffix = "" if program.codes is None else "_float"
    name = program.name
    view = PackageView(
        command=command,
        version=VERSION,
        name=name,
        upper=name.upper(),
        title="".join(word.capitalize() for word in name.split("_")),
        short=name.upper()[:14],
        n_features=program.n_features,
        is_regression=program.is_regression,
        call=f"{name}_{words.call}{suffix}",
        answer_type=f"{name}_{words.answer}_t",
    )
    names = {"name": view.name, "title": view.title}
    files: dict[str, str] = {}
    layout = dict(_LAYOUTS[kind])
    arithmetic = f"{name}_arithmetic.c"
    if arithmetic in sources:
        beside = next(path for path, origin in layout.items() if origin == "{name}.c")
        layout[beside.replace("{name}.c", arithmetic)] = arithmetic
    for path, origin in layout.items():
        source = origin.format_map(names)
        files[f"{kind}/{path.format_map(names)}"] = (
            sources[source] if source in sources else render(f"package/{source}.j2", view=view)
        )
    return files
