"""Compiling and linking C for one target, in a working folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from kmcompile.target import Target
from kmcompile.tools import toolchain

# Without fused multiply-adds: they would change the bits of the results.
EXACT_FLAGS = ("-std=c99", "-ffp-contract=off")
_SECTION_FLAGS = ("-ffunction-sections", "-fdata-sections")
# C needs no unwind tables, and they would count as flash.
_NO_UNWIND = ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
# Without folding of identical functions: the call graph would name functions that are gone.
_STACK_FLAGS = ("-fstack-usage", "-fcallgraph-info=su,da", "-fno-ipa-icf")
# Line numbers for the static worst case in instructions; they change no code.
_LINE_FLAGS = ("-gdwarf-4", "-fno-var-tracking")
# -ffreestanding also lets gcc find its own <stdint.h> where no C library is installed.
_BARE_FLAGS = ("-ffreestanding",)
_TIMEOUT_S = 120.0
_SOURCE_BYTES_PER_S = 100_000  # on a slow machine; most of a large source are tables


class Compiling:
    """The compiler of a target, or another one for the same CPU.

    Parameters
    ----------
    compiler, optimisation : str or None
        Another compiler or optimisation than the toolchain's own; None for the toolchain's own.
    work : Path
        The folder for objects and images.

    Attributes
    ----------
    measured : bool
        Whether this is the toolchain's own compiler, which also writes the stack frame of each
        function.
    """

    def __init__(
        self, target: Target, compiler: str | None, optimisation: str | None, work: Path
    ) -> None:
        own = target.compiler
        self.target, self.work = target, work
        self.measured = compiler in (None, own.command)
        self.optimisation = optimisation or own.optimisation
        self._command = toolchain.find(
            compiler or own.command, own.packages if self.measured else ()
        )

    def compile(self, source: Path, flags: Iterable[str]) -> Path:
        """Compile one file; boot files and each model's files have separate folders."""
        place = source.parent if source.is_relative_to(self.work) else self.work / "parts"
        result = place / f"{source.stem}.o"
        bare = _BARE_FLAGS if self.target.boot else ()
        own = self.target.compiler
        stack = _STACK_FLAGS if self.measured and own.calls_from == "compiler" else ()
        lines = _LINE_FLAGS if self.measured and self.target.boot else ()
        # A target's flags may select GNU C, if tables need an extension of C99.
        arguments = [*EXACT_FLAGS, *own.flags, *_SECTION_FLAGS, *_NO_UNWIND, *bare, *stack, *lines]
        arguments += [*flags, "-c", str(source), "-o", str(result)]
        timeout_s = _TIMEOUT_S + source.stat().st_size / _SOURCE_BYTES_PER_S
        self._run(arguments, timeout_s, f"compiling {source.name} for {self.target.name}")
        return result

    def link(
        self,
        flags: Sequence[str],
        objects: Iterable[Path],
        result: Path,
        libraries: Sequence[str] = (),
    ) -> None:
        """Link objects under their paths relative to the folder, which linker scripts match."""
        names = [str(path.relative_to(self.work)) for path in objects]
        arguments = [*self.target.compiler.flags, *flags, *names, *libraries, "-o", str(result)]
        self._run(arguments, _TIMEOUT_S, f"linking {result.name} for {self.target.name}")

    def _run(self, arguments: list[str], timeout_s: float, what: str) -> None:
        toolchain.run_tool([self._command, *arguments], self.work, timeout_s, what)
