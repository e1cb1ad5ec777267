"""Recipe + toolchain -> Artifact: a shared library of the host or an image for the emulator."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from kmcompile.build import elf, toolchain
from kmcompile.build.artifact import Artifact, Memory
from kmcompile.build.call_graph import CallGraph, read_call_graph
from kmcompile.build.image import render_image
from kmcompile.build.library_calls import read_library_calls
from kmcompile.build.recipe import Recipe
from kmcompile.errors import BudgetError, InputError
from kmcompile.target import Boot, Target

# The results are exact only so: no fused multiply-add that the source does not ask for.
EXACT_FLAGS = ("-std=c99", "-ffp-contract=off")
_SECTION_FLAGS = ("-ffunction-sections", "-fdata-sections")
# Unwind tables are of no use in C and would count as flash.
_NO_UNWIND = ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
# Identical functions are not folded into one: the call graph would name the one that is gone.
_STACK_FLAGS = ("-fstack-usage", "-fcallgraph-info=su,da", "-fno-ipa-icf")
# -ffreestanding also lets gcc find its own <stdint.h> where no C library is installed.
_BARE_FLAGS = ("-ffreestanding",)
# Without the second one gcc turns the loop of memset into a call of memset.
_BOOT_FLAGS = ("-O2", "-fno-tree-loop-distribute-patterns")
# Each helper keeps its sections, so that the relocations tell which of them calls which.
_KEEP_SECTIONS = ("-Wl,--unique=.text*", "-Wl,--unique=.rodata*")
_GLOBAL_OFFSET_TABLE = "_GLOBAL_OFFSET_TABLE_"
_TIMEOUT_S = 120.0
_SOURCE_BYTES_PER_S = 100_000  # of a slow machine; tables are most of a large source
_MAIN_STACK_BYTES = 512  # of main and start-up, which take less than 200
_IMAGE_RESERVE_BYTES = 65536  # of the flash, for start-up code and harness


def build(
    recipe: Recipe,
    folder: Path,
    toolchain_target: Target,
    *,
    compiler: str | None = None,
    optimisation: str | None = None,
) -> Artifact:
    """Build a model with its harness, all in a temporary folder that the artifact owns.

    Parameters
    ----------
    folder : Path
        Where the emitted files are.
    toolchain_target : Target
        The recipe's target, or the host: the same C runs on both.
    compiler, optimisation : str, optional
        Others than the toolchain's own, such as "clang" and "-O0"; memory is measured only with
        its own compiler.

    Raises
    ------
    InputError
        If a file of the recipe is missing.
    ToolError
        If the compiler is missing or fails, or if no bound of the stack can be given.
    BudgetError
        If the stack does not fit into that of the emulated image.
    """
    for name in (*recipe.sources, recipe.harness):
        if not (folder / name).is_file():
            raise InputError(f"{folder / name}: missing, but recipe.json lists it; compile again")
    holder = tempfile.TemporaryDirectory(prefix="kmcompile-")
    try:
        bench = _Bench(recipe, folder.resolve(), toolchain_target, compiler, optimisation, holder)
        boot = toolchain_target.boot
        return bench.library() if boot is None else bench.image(boot)
    except BaseException:
        holder.cleanup()
        raise


class _Bench:
    """One build: the paths and flags that its steps share."""

    def __init__(
        self,
        recipe: Recipe,
        folder: Path,
        target: Target,
        compiler: str | None,
        optimisation: str | None,
        holder: tempfile.TemporaryDirectory[str],
    ) -> None:
        own = target.compiler
        self.recipe, self.folder, self.target, self.holder = recipe, folder, target, holder
        self.work = Path(holder.name)
        self.measured = compiler in (None, own.command)
        self.command = toolchain.find(
            compiler or own.command, own.packages if self.measured else ()
        )
        self.cpu_flags = own.flags
        self.optimisation = (optimisation or own.optimisation,)

    def library(self) -> Artifact:
        """Build a shared library of the host."""
        parts, harness = self._model_and_harness()
        library = self.work / f"{self.recipe.name}.so"
        self._link([*self.target.compiler.link_flags, "-shared"], [*parts, harness], library)
        # What a call into the host's C library takes is unknown, and no board's concern.
        closed = _undefined(parts) <= {_GLOBAL_OFFSET_TABLE}
        sizes = [elf.sizes(part) for part in parts]
        return self._artifact(library, parts, harness, sizes, {} if closed else None)

    def image(self, boot: Boot) -> Artifact:
        """Build an image for the emulator, with the model in sections of its own."""
        parts, harness = self._model_and_harness()
        boot_folder = self.work / "boot"
        boot_folder.mkdir()
        render_image(self.recipe, boot, "flash", boot_folder)
        memory_functions = self._compile(boot_folder / "memory_functions.c", _BOOT_FLAGS)
        others = [
            self._compile(boot_folder / name, _BOOT_FLAGS)
            for name in ("startup.c", "exchange.c", "main.c")
        ]
        if _undefined(parts) & elf.defined_functions(memory_functions).keys():
            parts = [*parts, memory_functions]
        else:
            others.append(memory_functions)
        libraries = self.target.compiler.libraries
        model = self.work / "model.o"  # the linker script knows it by this name
        # A partial link takes exactly the helpers that the model needs out of the library.
        self._link(["-r", "-nostdlib", *_KEEP_SECTIONS], parts, model, libraries)
        if boot.tables and elf.sizes(model).flash_bytes + _IMAGE_RESERVE_BYTES > boot.flash.bytes:
            render_image(self.recipe, boot, "tables", boot_folder)
        image = self.work / "image.elf"
        script = ["-nostdlib", "-static", "-T", str(boot_folder / "image.ld")]
        flags = [*self.target.compiler.link_flags, *script]
        self._link(flags, [model, harness, *others], image, libraries)
        known = dict(self.target.compiler.helper_stack_bytes)
        helpers = elf.helper_frames(image, ".model_text", parts, known)
        calls = read_library_calls(model)
        artifact = self._artifact(
            image,
            parts,
            harness,
            [elf.sizes(image, ".model_")],
            calls.stack_bytes(helpers),
            calls.callers(helpers),
            elf.code_bytes(image, helpers),
        )
        _check_stack(artifact, boot)
        return artifact

    def _model_and_harness(self) -> tuple[list[Path], Path]:
        (self.work / "parts").mkdir()
        flags = (*self.optimisation, f"-I{self.folder}")
        parts = [self._compile(self.folder / name, flags) for name in self.recipe.sources]
        return parts, self._compile(self.folder / self.recipe.harness, flags)

    def _compile(self, source: Path, flags: Iterable[str]) -> Path:
        """Compile one file; boot files and the model's have folders of their own."""
        place = source.parent if source.is_relative_to(self.work) else self.work / "parts"
        result = place / f"{source.stem}.o"
        bare = _BARE_FLAGS if self.target.boot else ()
        stack = _STACK_FLAGS if self.measured else ()
        arguments = [*self.cpu_flags, *EXACT_FLAGS, *_SECTION_FLAGS, *_NO_UNWIND, *bare, *stack]
        arguments += [*flags, "-c", str(source), "-o", str(result)]
        timeout_s = _TIMEOUT_S + source.stat().st_size / _SOURCE_BYTES_PER_S
        self._run(arguments, timeout_s, f"compiling {source.name} for {self.target.name}")
        return result

    def _link(
        self, flags: list[str], objects: list[Path], result: Path, libraries: Sequence[str] = ()
    ) -> None:
        # Relative names, because linker scripts match objects by them.
        names = [str(path.relative_to(self.work)) for path in objects]
        arguments = [*self.cpu_flags, *flags, *names, *libraries, "-o", str(result)]
        self._run(arguments, _TIMEOUT_S, f"linking {result.name} for {self.target.name}")

    def _run(self, arguments: list[str], timeout_s: float, what: str) -> None:
        toolchain.run_tool([self.command, *arguments], self.work, timeout_s, what)

    def _artifact(
        self,
        path: Path,
        parts: list[Path],
        harness: Path,
        sizes: list[elf.Sizes],
        helpers: Mapping[str, int] | None,
        helper_calls: Mapping[str, frozenset[str]] | None = None,
        library_bytes: int = 0,
    ) -> Artifact:
        memory, frames = None, CallGraph({}, {})
        if self.measured:
            graph = read_call_graph(part.with_suffix(".ci") for part in parts)
            graph = graph.with_calls(helper_calls or {})
            frames = read_call_graph([harness.with_suffix(".ci")])
            entries = sorted({name for part in parts for name in elf.defined_functions(part, True)})
            memory = Memory(
                code_bytes=sum(part.code_bytes for part in sizes),
                constants_bytes=sum(part.constants_bytes for part in sizes),
                library_bytes=library_bytes,
                flash_bytes=sum(part.flash_bytes for part in sizes),
                ram_bytes=sum(part.ram_bytes for part in sizes),
                stack_bytes=None
                if helpers is None
                else max(graph.stack_bytes(entry, helpers) for entry in entries),
            )
        name = self.recipe.name
        return Artifact(
            path=path,
            recipe=self.recipe,
            toolchain=self.target,
            memory=memory,
            double_helpers=tuple(sorted({h for part in parts for h in elf.double_helpers(part)})),
            query_frame_bytes=frames.own_stack_bytes(f"{name}_harness_query"),
            self_test_frame_bytes=frames.own_stack_bytes(f"{name}_harness_self_test"),
            _folder=self.holder,
        )


def _check_stack(artifact: Artifact, boot: Boot) -> None:
    """Refuse what could leave the image's stack: not every emulated board faults there."""
    frame = max(artifact.query_frame_bytes, artifact.self_test_frame_bytes)
    needed = (artifact.stack_bytes or 0) + frame + _MAIN_STACK_BYTES
    if needed > boot.stack_bytes:
        raise BudgetError(
            f"{artifact.toolchain.name}: the model with its harness can take {needed:,} bytes of "
            f"stack, the emulated image has {boot.stack_bytes:,}"
        )


def _undefined(parts: Iterable[Path]) -> set[str]:
    """Return what the parts need and none of them has."""
    parts = list(parts)
    needed = {name for part in parts for name in elf.undefined_symbols(part)}
    return needed - {name for part in parts for name in elf.defined_functions(part)}
