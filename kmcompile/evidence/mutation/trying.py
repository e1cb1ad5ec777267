"""Building each mutant of a C file and asking it the vectors until one word differs."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from tempfile import TemporaryDirectory

from kmcompile.errors import ToolError
from kmcompile.evidence.mutation.mutants import Mutant
from kmcompile.evidence.vectors.vectors import EXACT, EXPECTED, QUERIES, Vectors
from kmcompile.tools.toolchain import run_process, run_tool

_TIMEOUT_S = 600.0
MUTANTS = "mutants.json"
_PROGRAM, _OBJECT = "mutated", "mutated.o"
_SANITIZED = (
    "-O1",
    "-g",
    "-fsanitize=address,undefined,bounds-strict",
    "-fno-sanitize-recover=all",
)
_PATIENCE = 10
"""A mutant hangs if it takes so many times as long as the C without a fault."""


class Fate(Enum):
    """What became of a mutant."""

    KILLED = "killed"
    EQUIVALENT = "equivalent"
    """The compiler makes the same instructions of it."""
    ASTRAY = "astray"
    """It gives every word, and reads or writes beyond an object, which sanitizers see."""
    SURVIVED = "survived"
    NOT_BUILT = "not built"


_REPEATED = {
    Fate.KILLED: "found",
    Fate.NOT_BUILT: "not built",
    Fate.EQUIVALENT: "not found",
    Fate.ASTRAY: "not found",
    Fate.SURVIVED: "not found",
}
"""What becomes of a mutant when it is built and asked once more."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A mutant and what became of it.

    Attributes
    ----------
    by : str
        What killed it: the first words that differed, or how the program ended.
    """

    mutant: Mutant
    fate: Fate
    by: str


class Workshop:
    """The folders in which mutants of one C file are built and run.

    Parameters
    ----------
    vectors : Vectors
    folder : Path
        An empty folder.
    """

    def __init__(self, vectors: Vectors, folder: Path) -> None:
        self._vectors, self._folder = vectors, folder
        self.name = vectors.subject.program.name
        self.source = vectors.subject.files[f"{self.name}.c"].decode("ascii")
        vectors.write(folder)
        self.compiler, self._flags = self._chosen_compiler()
        self._seconds = self._time_limit()
        self._object = self._compiled(folder)

    def active_lines(self) -> frozenset[int]:
        """Return the lines that the preprocessor of the host leaves."""
        arguments = ["gcc", "-std=c99", "-E", f"{self.name}.c"]
        text = run_tool(arguments, self._folder, _TIMEOUT_S, f"reading {self.name}.c")
        lines, line, is_own = set(), 0, False
        for one in text.splitlines():
            if (found := re.match(r'# (\d+) "([^"]*)"', one)) is not None:
                line, is_own = int(found[1]) - 1, found[2] == f"{self.name}.c"
            else:
                line += 1
                if is_own and one.strip():
                    lines.add(line)
        return frozenset(lines)

    def tried(self, mutants: Sequence[Mutant]) -> Iterator[Tried]:
        """Yield what becomes of each mutant, on all processors."""
        workers = os.cpu_count() or 1
        with TemporaryDirectory(dir=self._folder) as made:
            places = [Path(made) / str(k) for k in range(workers)]
            for place in places:
                place.mkdir()
                self._prepare(place)
            shares = [mutants[k::workers] for k in range(workers)]
            with ThreadPoolExecutor(workers) as pool:
                for own in pool.map(self._try_all, places, shares):
                    yield from own

    def keep(self, folder: Path, tried: Sequence[Tried]) -> None:
        """Write what `repeat.py` needs to repeat the mutants into a folder, which is made."""
        folder.mkdir(parents=True, exist_ok=True)
        self._prepare(folder)
        told = {
            "source": f"{self.name}.c",
            "build": self._command(),
            "ask": [f"./{_PROGRAM}", QUERIES, EXPECTED, str(self._seconds)],
            "mutants": [
                {
                    "start": one.mutant.start,
                    "end": one.mutant.end,
                    "replacement": one.mutant.replacement,
                    "fate": _REPEATED[one.fate],
                    "told": one.mutant.told(self.source),
                }
                for one in tried
            ],
        }
        (folder / MUTANTS).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")

    def _prepare(self, place: Path) -> None:
        for one in self._folder.iterdir():
            if one.is_file() and one.suffix in (".c", ".h", ".bin"):
                shutil.copy(one, place / one.name)

    def _try_all(self, place: Path, mutants: Sequence[Mutant]) -> list[Tried]:
        return [self._try(place, one) for one in mutants]

    def _try(self, place: Path, mutant: Mutant) -> Tried:
        """Build one mutant, ask it, and look whether its instructions differ."""
        (place / f"{self.name}.c").write_text(mutant.applied(self.source), encoding="ascii")
        program = place / _PROGRAM
        code, _ = run_process(self._command(), place, _TIMEOUT_S, "building a mutant")
        if code != 0:
            return Tried(mutant, Fate.NOT_BUILT, "")
        asked = [str(program), QUERIES, EXPECTED, str(self._seconds)]
        try:
            code, said = run_process(asked, place, 10.0 * self._seconds + 10.0, "asking a mutant")
        except ToolError:
            return Tried(mutant, Fate.KILLED, "it hangs")
        if code != 0:
            by = said.strip().splitlines()[0] if said.strip() else f"it ends with {code}"
            return Tried(mutant, Fate.KILLED, by)
        if self._compiled(place) == self._object:
            return Tried(mutant, Fate.EQUIVALENT, "")
        return self._try_sanitized(place, mutant)

    def _try_sanitized(self, place: Path, mutant: Mutant) -> Tried:
        """Ask a mutant that gives every word once more, and look where it reads and writes."""
        command = self._vectors.command("gcc", _SANITIZED, _PROGRAM)
        run_tool(command, place, _TIMEOUT_S, "building a mutant with sanitizers")
        asked = [str(place / _PROGRAM), QUERIES, EXPECTED]
        code, said = run_process(asked, place, _TIMEOUT_S, "asking a mutant with sanitizers")
        if code == 0:
            return Tried(mutant, Fate.SURVIVED, "")
        found = re.search(r"runtime error: [^\n]{0,60}|ERROR: AddressSanitizer: \S+", said)
        return Tried(mutant, Fate.ASTRAY, found[0] if found else said.strip()[:80])

    def _compiled(self, place: Path) -> bytes:
        """Return the instructions that gcc makes of the C file in a folder."""
        arguments = ["gcc", *EXACT, "-O2", "-c", f"{self.name}.c", "-o", _OBJECT]
        code, _ = run_process(arguments, place, _TIMEOUT_S, "compiling a mutant")
        return (place / _OBJECT).read_bytes() if code == 0 else b""

    def _command(self) -> list[str]:
        return self._vectors.command(self.compiler, self._flags, _PROGRAM)

    def _chosen_compiler(self) -> tuple[str, tuple[str, ...]]:
        """Return the fastest compiler here whose build of the C gives what it must."""
        self._vectors.record(self._folder, "gcc")
        if shutil.which("tcc") is not None:
            try:
                program = self._vectors.build(self._folder, "tcc", (), _PROGRAM)
                if self._vectors.run(self._folder, program)[0] == 0:
                    return "tcc", ()
            except ToolError:
                pass  # a construct that it does not know
        return "gcc", ("-O1",)

    def _time_limit(self) -> int:
        """Return the seconds after which a mutant hangs."""
        program = self._vectors.build(self._folder, self.compiler, self._flags, _PROGRAM)
        began = time.monotonic()
        code, said = self._vectors.run(self._folder, program)
        if code != 0:
            raise ToolError(f"{self.name}: the C without a fault differs: {said.strip()}")
        return 1 + int(_PATIENCE * (time.monotonic() - began))
