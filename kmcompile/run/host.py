"""Running a shared library of the host in this process, through cffi."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cffi
import numpy as np

from kmcompile.build.artifact import Artifact
from kmcompile.build.recipe import Recipe
from kmcompile.errors import ToolError
from kmcompile.run.runner import Asked, Runner, RunResult, Words, checked

_DECLARATIONS = """
uint32_t {name}_harness_input_words(void);
uint32_t {name}_harness_record_words(void);
void {name}_harness_batch(uint32_t n_queries, const uint32_t inputs[], uint32_t records[]);
uint32_t {name}_harness_self_test(void);
"""


class HostRunner(Runner):
    """Runs a library by `<name>_harness_batch`. A fault in the library would end this process."""

    def run_together(
        self, artifact: Artifact, asked: Sequence[Asked], count_instructions: bool = False
    ) -> tuple[RunResult, ...]:
        """Answer the queries of all models. Instructions are not counted on the host."""
        asked = checked(artifact, asked)
        ffi = cffi.FFI()
        for model in artifact.models:
            ffi.cdef(_DECLARATIONS.format(name=model.recipe.name))
        try:
            library = ffi.dlopen(str(artifact.path))
        except OSError as error:
            raise ToolError(f"{artifact.path.name}: cannot be loaded: {error}") from error
        try:
            return tuple(
                _ask(ffi, library, model.recipe, one.inputs)
                for model, one in zip(artifact.models, asked, strict=True)
            )
        finally:
            ffi.dlclose(library)


def _ask(ffi: cffi.FFI, library: Any, recipe: Recipe, inputs: Words) -> RunResult:
    """Return the answers of one model of a library."""
    harness = f"{recipe.name}_harness"
    words = tuple(getattr(library, f"{harness}_{kind}_words")() for kind in ("input", "record"))
    if words != (recipe.input_words, recipe.record_words):
        raise ToolError(
            f"{recipe.harness}: has {words} words of input and record, the recipe "
            f"{(recipe.input_words, recipe.record_words)}"
        )
    records = np.zeros((len(inputs), recipe.record_words), dtype=np.uint32)
    getattr(library, f"{harness}_batch")(
        len(inputs),
        ffi.from_buffer("uint32_t[]", inputs),
        ffi.from_buffer("uint32_t[]", records, require_writable=True),
    )
    self_test = int(getattr(library, f"{harness}_self_test")())
    return RunResult(
        None,
        "counted on emulators only",
        records=records,
        painted_stack_bytes=None,
        self_test=self_test,
    )
