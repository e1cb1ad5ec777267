"""Building: a recipe and a toolchain give a shared library of the host or an emulator's image."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kmcompile.build.artifact import Artifact, BuiltModel, Memory
from kmcompile.build.compiling import Compiling
from kmcompile.build.image import render_image
from kmcompile.build.recipe import Recipe
from kmcompile.errors import BudgetError, InputError
from kmcompile.machine_code import elf
from kmcompile.machine_code.avr import read_avr_call_graph
from kmcompile.machine_code.call_graph import CallGraph, read_call_graph
from kmcompile.machine_code.library_calls import read_library_calls
from kmcompile.target import Boot, Target

# Without -fno-tree-loop-distribute-patterns gcc makes memset's loop a call of memset itself.
_BOOT_FLAGS = ("-O2", "-fno-tree-loop-distribute-patterns")
# Library routines keep their sections: the relocations then tell which routine calls which.
_KEEP_SECTIONS = ("-Wl,--unique=.text*", "-Wl,--unique=.rodata*")
_GLOBAL_OFFSET_TABLE = "_GLOBAL_OFFSET_TABLE_"
_MAIN_STACK_BYTES = 512  # main and start-up take less than 200
_IMAGE_RESERVE_BYTES = 65536  # flash of start-up code and harness


def build(
    recipe: Recipe,
    folder: Path,
    toolchain_target: Target,
    *,
    compiler: str | None = None,
    optimisation: str | None = None,
) -> Artifact:
    """Build a model with its harness in a temporary folder that the artifact owns.

    Parameters
    ----------
    folder : Path
        The folder of the emitted files.
    toolchain_target : Target
        The target to build for: the recipe's target, or the host.
    compiler, optimisation : str, optional
        Another compiler or optimisation than the toolchain's own, such as "clang" and "-O0".
        Memory is measured only with the toolchain's own compiler.

    Raises
    ------
    InputError
        If a file of the recipe is missing.
    ToolError
        If the compiler is missing or fails, or if the stack has no bound.
    BudgetError
        If the worst-case stack exceeds the stack of the emulated image.
    """
    return build_together(
        [(recipe, folder)], toolchain_target, compiler=compiler, optimisation=optimisation
    )


def build_together(
    models: Sequence[tuple[Recipe, Path]],
    toolchain_target: Target,
    *,
    compiler: str | None = None,
    optimisation: str | None = None,
) -> Artifact:
    """Build several models into one library or image, as `build` does with one.

    Parameters
    ----------
    models : sequence of (Recipe, Path)
        The recipe and the folder of each model. The names of the models differ.

    Raises
    ------
    InputError
        If two models have one name, if one has the name of another's harness, or if a file is
        missing.
    ToolError, BudgetError
        As in `build`.
    """
    name, times = Counter(recipe.name for recipe, _ in models).most_common(1)[0]
    if times > 1:
        raise InputError(f"{times} models are named {name}; compile them with different --name")
    names = {recipe.name for recipe, _ in models}
    for name in sorted(names):
        if f"{name}_harness" in names:
            raise InputError(
                f"a model is named {name}_harness, as the harness of the model {name} is; "
                "compile it with another --name"
            )
    for recipe, folder in models:
        for file in (*recipe.sources, recipe.harness):
            if not (folder / file).is_file():
                raise InputError(
                    f"{folder / file}: missing, but recipe.json lists it; compile again"
                )
    holder = tempfile.TemporaryDirectory(prefix="kmcompile-")
    try:
        compiling = Compiling(toolchain_target, compiler, optimisation, Path(holder.name))
        bench = _Linking(compiling, models, holder)
        boot = toolchain_target.boot
        return bench.library() if boot is None else bench.image(boot)
    except BaseException:
        holder.cleanup()
        raise


@dataclass(frozen=True, slots=True)
class _Objects:
    """The object files of a model and of its harness."""

    recipe: Recipe
    sources: list[Path]
    harness: Path


@dataclass(frozen=True, slots=True)
class _Calls:
    """Call graphs with the stack frame of each function.

    Attributes
    ----------
    models, harnesses : CallGraph
    helpers : mapping or None
        Worst-case stack of each routine of the compiler's library that is not in `models`. None if
        unknown.
    """

    models: CallGraph
    harnesses: CallGraph
    helpers: Mapping[str, int] | None


class _Linking:
    """One build: the objects of the models, linked to a library or an image."""

    def __init__(
        self,
        compiling: Compiling,
        models: Sequence[tuple[Recipe, Path]],
        holder: tempfile.TemporaryDirectory[str],
    ) -> None:
        self.compiling, self.target, self.work = compiling, compiling.target, compiling.work
        self.holder = holder
        (self.work / "parts").mkdir()
        self.models = [self._compiled(recipe, folder.resolve()) for recipe, folder in models]
        self.parts = [part for model in self.models for part in model.sources]
        self.harnesses = [model.harness for model in self.models]

    def _compiled(self, recipe: Recipe, folder: Path) -> _Objects:
        flags = (self.compiling.optimisation, f"-I{folder}")
        sources = [self.compiling.compile(folder / name, flags) for name in recipe.sources]
        return _Objects(recipe, sources, self.compiling.compile(folder / recipe.harness, flags))

    def library(self) -> Artifact:
        """Build a shared library of the host."""
        library = self.work / f"{self.models[0].recipe.name}.so"
        flags = [*self.target.compiler.link_flags, "-shared"]
        self.compiling.link(flags, [*self.parts, *self.harnesses], library)
        # The stack of the host's C library is unknown, and no board needs it.
        closed = _undefined(self.parts) <= {_GLOBAL_OFFSET_TABLE}
        sizes = [elf.sizes(part) for part in self.parts]
        return self._artifact(library, sizes, self._written_calls({} if closed else None))

    def image(self, boot: Boot) -> Artifact:
        """Build an image for the emulator, in which the models have their own sections."""
        boot_folder = self.work / "boot"
        boot_folder.mkdir()
        recipes = [model.recipe for model in self.models]
        render_image(recipes, self.target, boot, "flash", boot_folder)
        names = ("memory_functions", "startup", "exchange", "main")
        memory_functions, *others = (
            self.compiling.compile(boot_folder / f"{name}.c", _BOOT_FLAGS) for name in names
        )
        if _undefined(self.parts) & elf.defined_functions(memory_functions).keys():
            self.parts = [*self.parts, memory_functions]
        else:
            others.append(memory_functions)
        libraries = self.target.compiler.libraries
        model = self.work / "model.o"  # the linker script knows it by this name
        # A partial link takes exactly the helpers that the models need out of the library.
        own = self.target.compiler.link_flags
        partial = [*own, "-r", "-nostdlib", *_KEEP_SECTIONS]
        self.compiling.link(partial, self.parts, model, libraries)
        if boot.tables and elf.sizes(model).flash_bytes + _IMAGE_RESERVE_BYTES > boot.flash.bytes:
            render_image(recipes, self.target, boot, "tables", boot_folder)
        image = self.work / "image.elf"
        script = ["-nostdlib", "-static", "-T", str(boot_folder / "image.ld")]
        self.compiling.link([*own, *script], [model, *self.harnesses, *others], image, libraries)
        elf.check_placed(image, range(boot.ram.origin, boot.ram.origin + boot.ram.bytes))
        if self.target.compiler.calls_from == "compiler":
            known = dict(self.target.compiler.helper_stack_bytes)
            helpers = elf.helper_frames(image, ".model_text", self.parts, known)
            calls = read_library_calls(model)
            stacks = self._written_calls(calls.stack_bytes(helpers), calls.callers(helpers))
            library_bytes = elf.code_bytes(image, helpers)
        else:
            compiled = {name for part in self.parts for name in elf.defined_functions(part)}
            stacks = self._followed_calls(image)
            code_bytes = elf.sizes(image, ".model_text").code_bytes
            library_bytes = code_bytes - elf.code_bytes(image, compiled)
        sizes = [elf.sizes(image, ".model_")]
        artifact = self._artifact(image, sizes, stacks, library_bytes)
        for built in artifact.models:
            _check_stack(built, self.target.name, boot)
        return artifact

    def _written_calls(
        self,
        helpers: Mapping[str, int] | None,
        helper_calls: Mapping[str, frozenset[str]] | None = None,
    ) -> _Calls:
        """Return the call graphs that the compiler wrote to files beside the objects."""
        if not self.compiling.measured:
            return _Calls(CallGraph({}, {}), CallGraph({}, {}), None)
        models = read_call_graph(part.with_suffix(".ci") for part in self.parts)
        harnesses = read_call_graph(harness.with_suffix(".ci") for harness in self.harnesses)
        return _Calls(models.with_calls(helper_calls or {}), harnesses, helpers)

    def _followed_calls(self, image: Path) -> _Calls:
        """Return the call graphs that the image's instructions show, with those of the library."""
        own = {name for harness in self.harnesses for name in elf.defined_functions(harness)}
        entries = {name for part in self.parts for name in elf.defined_functions(part, True)}
        graph = read_avr_call_graph(image, sorted(own | entries))
        frames = {name: graph.frames[name] for name in own}
        return _Calls(graph, CallGraph(frames, graph.calls), {})

    def _artifact(
        self, path: Path, sizes: list[elf.Sizes], calls: _Calls, library_bytes: int = 0
    ) -> Artifact:
        models = tuple(_built(model, calls) for model in self.models)
        stacks = [model.stack_bytes for model in models if model.stack_bytes is not None]
        memory = Memory(
            code_bytes=sum(part.code_bytes for part in sizes),
            constants_bytes=sum(part.constants_bytes for part in sizes),
            library_bytes=library_bytes,
            flash_bytes=sum(part.flash_bytes for part in sizes),
            ram_bytes=sum(part.ram_bytes for part in sizes),
            stack_bytes=max(stacks, default=None),
        )
        return Artifact(
            path=path,
            models=models,
            toolchain=self.target,
            memory=memory if self.compiling.measured else None,
            _folder=self.holder,
        )


def _built(model: _Objects, calls: _Calls) -> BuiltModel:
    """Return the built model with its worst-case stack."""
    name = model.recipe.name
    entries = sorted(
        {entry for part in model.sources for entry in elf.defined_functions(part, external=True)}
    )
    return BuiltModel(
        recipe=model.recipe,
        stack_bytes=None
        if calls.helpers is None
        else max(calls.models.stack_bytes(entry, calls.helpers) for entry in entries),
        query_frame_bytes=calls.harnesses.own_stack_bytes(f"{name}_harness_query"),
        self_test_frame_bytes=calls.harnesses.own_stack_bytes(f"{name}_harness_self_test"),
    )


def _check_stack(model: BuiltModel, board: str, boot: Boot) -> None:
    """Refuse a model that could overflow the image's stack: not every board would fault."""
    frame = max(model.query_frame_bytes, model.self_test_frame_bytes)
    needed = (model.stack_bytes or 0) + frame + _MAIN_STACK_BYTES
    if needed > boot.stack_bytes:
        raise BudgetError(
            f"{board}: {model.recipe.name} with its harness can take {needed:,} bytes of "
            f"stack, the emulated image has {boot.stack_bytes:,}"
        )


def _undefined(parts: Iterable[Path]) -> set[str]:
    """Return the symbols that some objects use and no object defines."""
    parts = list(parts)
    needed = {name for part in parts for name in elf.undefined_symbols(part)}
    return needed - {name for part in parts for name in elf.defined_functions(part)}
