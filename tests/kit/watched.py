"""Programs with `--telemetry`: those of other lists, with the counters."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import cffi
import numpy as np

from kit import calibrated, cascades, catalogue, coded, regressions
from kit.emitted import Emitted
from kit.host_program import STRICT
from kit.sharing import shared
from kit.tools import need, succeed
from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.program.telemetry import n_words
from kmcompile.target import Target


class _Case(Protocol):
    def emit(self, target: str | Target, name: str = "iris") -> Emitted: ...


@dataclass(frozen=True)
class Watched:
    """A case with telemetry."""

    case: _Case

    def __str__(self) -> str:
        return f"watched-{self.case}"

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        emitted = self.case.emit(target, name)
        return replace(emitted, program=replace(emitted.program, telemetry=True))


CORE = [
    Watched(cascades.CORE[0]),
    Watched(catalogue.CORE[1]),
    Watched(coded.CORE[0]),
    Watched(calibrated.CORE[1]),
    Watched(regressions.CORE[1]),
    Watched(cascades.CORE[4]),
]
"""Each form of the struct: an audit with and without unlikeness, none, labels, values, codes."""


@dataclass(frozen=True)
class Doubled:
    """A case with a second copy of every table."""

    case: _Case

    def __str__(self) -> str:
        return f"doubled-{self.case}"

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        emitted = self.case.emit(target, name)
        return replace(emitted, program=replace(emitted.program, redundancy=2))


DOUBLED = [
    Doubled(catalogue.FEW_VECTORS[0]),
    Doubled(Watched(coded.CORE[0])),
    Doubled(regressions.CORE[1]),
    Doubled(cascades.CORE[0]),
]
"""Small tables, codes that are read as words, tables of double, and blocks in plenty."""


class Library:
    """The emitted C of the host with its types, called through cffi."""

    def __init__(self, emitted: Emitted, folder: Path) -> None:
        need("gcc")
        emitted.write(folder)
        flags = [*EXACT_FLAGS, *STRICT, "-O1", "-fPIC", "-shared"]
        succeed(["gcc", *flags, folder / "iris.c", "-o", folder / "model.so"])
        header = emitted.files["iris.h"].decode()
        macros = dict(re.findall(r"^#define IRIS_(N_\w+) (\d+)U", header, re.M))
        types = re.findall(r"^typedef (?:enum|struct|union) \{.*?^\} \w+;$", header, re.M | re.S)
        text = re.sub(r"/\*.*?\*/", "", "\n".join(types), flags=re.S)
        text = re.sub(r"\[IRIS_(N_\w+)\]", lambda found: f"[{macros[found[1]]}]", text)
        self.answer = "prediction" if emitted.program.is_regression else "result"
        self.call = "predict" if emitted.program.is_regression else "classify"
        self.program = emitted.program
        self.ffi = cffi.FFI()
        self.ffi.cdef(re.sub(r"\[(\d+)UL?\]", r"[\1]", text))
        status, telemetry = "iris_status_t", "iris_telemetry_t *"
        self.ffi.cdef(
            f"{status} iris_{self.call}(iris_workspace_t *, const void *, iris_{self.answer}_t *);"
            f"{status} iris_telemetry_reset({telemetry});"
            f"{status} iris_telemetry_count({telemetry}, {status}, const iris_{self.answer}_t *);"
            f"{status} iris_telemetry_test({telemetry}, {status});"
            f"{status} iris_telemetry_step({telemetry}, const iris_self_test_t *);"
            f"{status} iris_self_test_step(iris_self_test_t *);"
        )
        if emitted.program.takes_risk:
            self.ffi.cdef(f"{status} iris_telemetry_differences({telemetry}, iris_audit_t *);")
        self.lib: Any = self.ffi.dlopen(str(folder / "model.so"))

    def telemetry(self) -> Any:
        """Return a struct after a reset, whose bytes were not 0 before."""
        made = self.ffi.new("iris_telemetry_t *")
        self.ffi.memmove(made, b"\xaa" * self.ffi.sizeof("iris_telemetry_t"), 4)
        assert self.lib.iris_telemetry_reset(made) == 0
        return made

    def words(self, telemetry: Any) -> np.ndarray:
        """Return the words of a struct."""
        found = np.frombuffer(self.ffi.buffer(telemetry), dtype=np.uint32).copy()
        assert len(found) == n_words(self.program)
        return found

    def answer_of(self, **fields: Any) -> Any:
        """Return an answer with these fields."""
        return self.ffi.new(f"iris_{self.answer}_t *", fields)
