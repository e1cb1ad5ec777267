"""Runs a shared library of the host in this process, through cffi."""

from __future__ import annotations

import cffi
import numpy as np

from kmcompile.build.artifact import Artifact
from kmcompile.errors import ToolError
from kmcompile.run.runner import Counted, RunResult, Words, checked_inputs

_DECLARATIONS = """
uint32_t {name}_harness_input_words(void);
uint32_t {name}_harness_record_words(void);
void {name}_harness_batch(uint32_t n_queries, const uint32_t inputs[], uint32_t records[]);
uint32_t {name}_harness_self_test(void);
"""


class HostRunner:
    """Calls `<name>_harness_batch` of a library; a fault in it would end this process too."""

    def run(
        self,
        artifact: Artifact,
        inputs: Words,
        count_instructions: bool = False,
        counted: Counted = "classify",
    ) -> RunResult:
        """Answer all queries; instructions are counted on emulators only."""
        inputs = checked_inputs(artifact, inputs)
        name, recipe = artifact.recipe.name, artifact.recipe
        ffi = cffi.FFI()
        ffi.cdef(_DECLARATIONS.format(name=name))
        try:
            library = ffi.dlopen(str(artifact.path))
        except OSError as error:
            raise ToolError(f"{artifact.path.name}: cannot be loaded: {error}") from error
        try:
            words = tuple(
                getattr(library, f"{name}_harness_{kind}_words")() for kind in ("input", "record")
            )
            if words != (recipe.input_words, recipe.record_words):
                raise ToolError(
                    f"{recipe.harness}: has {words} words of input and record, the recipe "
                    f"{(recipe.input_words, recipe.record_words)}"
                )
            records = np.zeros((len(inputs), recipe.record_words), dtype=np.uint32)
            getattr(library, f"{name}_harness_batch")(
                len(inputs),
                ffi.from_buffer("uint32_t[]", inputs),
                ffi.from_buffer("uint32_t[]", records, require_writable=True),
            )
            self_test = int(getattr(library, f"{name}_harness_self_test")())
        finally:
            ffi.dlclose(library)
        return RunResult(records, None, "counted on emulators only", None, self_test)
