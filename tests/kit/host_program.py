"""Programs of the host around emitted C, for tests that a library in this process cannot make.

For tests that need a process of their own: sanitizers, faults, other flags.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kit.emitted import Emitted
from kit.tools import HANGS_S, need, succeed
from kmcompile.build.compiling import EXACT_FLAGS

# The warnings that style.md requires for emitted C, and more.
STRICT = (
    "-pedantic",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wdouble-promotion",
    "-Wfloat-equal",
    "-Wshadow",
    "-Wmissing-prototypes",
    "-Wstrict-prototypes",
    "-Wundef",
    "-Wcast-qual",
    "-Wswitch-enum",
    "-Wunused-macros",
    "-Wvla",
    "-Wwrite-strings",
    "-Werror",
)

# Reads queries as words from standard input; writes the records and then the self-test's status.
BATCH_MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include "iris.h"
#ifndef SET_UP
#define SET_UP
#endif
uint32_t iris_harness_input_words(void);
uint32_t iris_harness_record_words(void);
void iris_harness_query(const uint32_t input[], uint32_t record[]);
uint32_t iris_harness_self_test(void);
int main(void)
{
    const size_t n_in = iris_harness_input_words(), n_out = iris_harness_record_words();
    uint32_t *const input = malloc(n_in * sizeof(uint32_t));
    uint32_t *const record = malloc(n_out * sizeof(uint32_t));
    uint32_t status;
    SET_UP
    while (fread(input, sizeof(uint32_t), n_in, stdin) == n_in) {
        iris_harness_query(input, record);
        fwrite(record, sizeof(uint32_t), n_out, stdout);
    }
    status = iris_harness_self_test();
    fwrite(&status, sizeof(uint32_t), 1U, stdout);
    free(input);
    free(record);
    return 0;
}
"""


def build_program(
    emitted: Emitted,
    folder: Path,
    main: str,
    flags: Sequence[str] = (),
    compiler: str = "gcc",
    sources: Sequence[str] = ("iris.c",),
) -> Path:
    """Write the emitted files and a main program, compile them, return the program."""
    need(compiler)
    emitted.write(folder)
    (folder / "main.c").write_text(main, encoding="ascii")
    program = folder / "program"
    files = [folder / name for name in (*sources, "main.c")]
    # The program's own flags come last and win.
    command = [compiler, *EXACT_FLAGS, "-D_DEFAULT_SOURCE", *flags, *files, "-o", program]
    succeed(command)
    return program


def run_batch(program: Path, emitted: Emitted, inputs: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the records of a program of `BATCH_MAIN`, and the self-test's status."""
    done = subprocess.run(
        [program], input=inputs.tobytes(), capture_output=True, timeout=HANGS_S, check=False
    )
    assert (done.returncode, done.stderr.decode()) == (0, "")
    words = np.frombuffer(done.stdout, dtype=np.uint32)
    return words[:-1].reshape(len(inputs), emitted.recipe.record_words), int(words[-1])


def failures(program: Path) -> list[str]:
    """Run a program that prints a line for each failure; return the lines."""
    done = subprocess.run([program], capture_output=True, timeout=HANGS_S, check=False, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()
