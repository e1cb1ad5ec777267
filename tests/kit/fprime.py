"""Build `--package fprime` as F´ would, with its own autocoder and stand-ins for its framework."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from kit.packages import C
from kit.tools import need, succeed

STUBS = Path(__file__).parents[1] / "package" / "stubs" / "fprime"

# Those of F´'s reference deployment (4.1.0, Ref/CMakeLists.txt), and its C++14.
FLAGS = [
    *("-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion"),
    *("-Wdouble-promotion", "-Wformat-security", "-Wnon-virtual-dtor", "-Wold-style-cast"),
    *("-Woverloaded-virtual", "-Wundef"),
]
CXX = ["g++", "-std=c++14", "-DBUILD_UT"]

HEADERS = """
Fw/FPrimeBasicTypes.hpp Fw/Types/BasicTypes.h Fw/Types/BasicTypes.hpp Fw/Types/Assert.hpp
Fw/Types/ExternalString.hpp Fw/Types/Serializable.hpp Fw/Types/String.hpp Fw/CmdArgBuffer.hpp
Fw/LogBuffer.hpp Fw/TextLogString.hpp Fw/TlmBuffer.hpp Fw/Time.hpp Fw/Cmd/CmdString.hpp
Fw/Log/LogString.hpp Fw/Tlm/TlmString.hpp Fw/Comp/ActiveComponentBase.hpp
Fw/Comp/PassiveComponentBase.hpp Fw/Port/InputPortBase.hpp Fw/Port/InputSerializePort.hpp
Fw/Port/OutputPortBase.hpp Fw/Port/OutputSerializePort.hpp Os/Mutex.hpp
"""
"""Headers that autocoded files include; `fprime.hpp` stands for each of them."""


def fpp(name: str, *arguments: str | Path) -> None:
    """Run one of FPP's tools, which must succeed; skip the test where FPP has no wheel."""
    path = Path(sys.executable).with_name(name)
    if not path.exists():
        pytest.skip(f"{name} has no wheel for this system")
    succeed([path, *arguments])


def models(libraries: tuple[Path, ...]) -> dict[Path, Path]:
    """Return the FPP files of the stand-ins and of libraries, with their roots."""
    roots = (STUBS, *libraries)
    return {path: root for root in roots for path in sorted(root.rglob("*.fpp"))}


@dataclass(frozen=True)
class Project:
    """A build of libraries.

    Attributes
    ----------
    libraries : tuple of Path
        Their roots, as `library_locations` has them.
    build : Path
        A folder, made here: autocoded files by their path from a root, objects, programs.
    """

    libraries: tuple[Path, ...]
    build: Path

    def autocode(self) -> None:
        """Autocode the stand-ins, the components and their unit tests."""
        for header in HEADERS.split():
            path = self.build / header
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text('#include "fprime.hpp"\n')
        known = models(self.libraries)
        prefixes = ",".join(str(root) for root in {STUBS, *self.libraries})
        for path, root in known.items():
            folder = self.build / path.parent.relative_to(root)
            folder.mkdir(parents=True, exist_ok=True)
            others = ",".join(str(other) for other in known if other != path)
            command = ["-i", others, "-p", prefixes, "-d", str(folder), str(path)]
            fpp("fpp-to-cpp", *command)
            if root != STUBS:
                fpp("fpp-to-cpp", "-u", "-a", *command)

    @cached_property
    def objects(self) -> list[Path]:
        """All objects but those of unit tests."""
        need("gcc", "g++")
        self.autocode()
        made = [self._autocoded(folder, "*Ac.cpp") for folder in sorted(self.build.rglob("*"))]
        for library in self.libraries:
            for source in sorted(library.glob("Models/*/*.c*")):
                if source.suffix in (".c", ".cpp"):
                    made.append(self._compiled(source))
        return [path for path in made if path]

    def program(self, *sources: Path) -> Path:
        """Link a program of all objects and of sources of its own."""
        return self._link(sources[0].stem, self.objects, sources)

    def unit_test(self, component: str) -> Path:
        """Link the unit test that a component brings."""
        objects = self.objects
        folder = self.build / "Models" / component
        tester = self._autocoded(folder, "*Test*.cpp", self._tests(component)[0].parent)
        assert tester
        return self._link(f"{component}_ut", [*objects, tester], self._tests(component))

    def _tests(self, component: str) -> tuple[Path, ...]:
        pattern = f"Models/{component}/test/ut/*.cpp"
        return tuple(path for library in self.libraries for path in sorted(library.glob(pattern)))

    def _includes(self) -> list[str]:
        """Return the include path. What is not the package's may have warnings."""
        ours = [f"-I{library}" for library in self.libraries]
        return [*ours, "-isystem", str(self.build), "-isystem", str(STUBS)]

    def _autocoded(self, folder: Path, pattern: str, tests: Path | None = None) -> Path | None:
        """Compile what was autocoded in a folder; None if nothing was."""
        found = sorted(folder.glob(pattern)) if folder.is_dir() else []
        if not found:
            return None
        name = "_".join(folder.relative_to(self.build).parts)
        source = self.build / f"{name}_{'ut' if tests else 'ac'}.cpp"
        source.write_text("".join(f'#include "{path}"\n' for path in found))
        return self._compiled(source, "-w", *([f"-I{tests}"] if tests else []))

    def _compiled(self, source: Path, *options: str) -> Path:
        made = self.build / f"{source.name}.o"
        compiler = C if source.suffix == ".c" else [*CXX, *FLAGS]
        succeed([*compiler, *options, *self._includes(), "-c", source, "-o", made])
        return made

    def _link(self, name: str, objects: list[Path], sources: tuple[Path, ...]) -> Path:
        made = self.build / name
        succeed([*CXX, *FLAGS, *self._includes(), *sources, *objects, "-o", made])
        return made
