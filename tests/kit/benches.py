"""Boards of the tests that run `<name>_bench`: what it prints, and what a runner counts itself."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris
from sklearn.svm import SVC

import kmcompile
from kit.tools import run, succeed
from kmcompile.build import build
from kmcompile.build.recipe import Recipe, sha256_of
from kmcompile.machine_code import elf
from kmcompile.run import Runner, simavr
from kmcompile.target import load_target

HARNESS = """
#include <stdint.h>
#include "{name}_bench.h"
uint32_t {name}_harness_input_words(void);
uint32_t {name}_harness_record_words(void);
void {name}_harness_query(const uint32_t input[], uint32_t record[]);
uint32_t {name}_harness_self_test(void);
uint32_t {name}_harness_input_words(void) {{ return 1U; }}
uint32_t {name}_harness_record_words(void) {{ return {words}U; }}
void {name}_harness_query(const uint32_t input[], uint32_t record[])
{{
    static char text[{upper}_BENCH_TEXT_BYTES];
    {name}_bench_t result;
    (void)input;
    if (text[0] == 0) {{ /* the first query: others are told what it found */
        {name}_bench(&result);
        {name}_bench_text(&result, text);
    }}
    for (uint32_t i = 0U; i < {words}U; i++) {{
        record[i] = 0U;
        for (uint32_t byte = 0U; byte < 4U; byte++) {{
            const uint32_t at = (4U * i) + byte;
            const uint32_t letter = (at < sizeof(text)) ? (unsigned char)text[at] : 0U;
            record[i] |= letter << (8U * byte);
        }}
    }}
}}
uint32_t {name}_harness_self_test(void) {{ return 0U; }}
"""

OWN_COUNTER = """
uint32_t iris_bench_own_count(void);
uint32_t iris_bench_own_count(void)
{
    static uint32_t counts;
    counts += 7U;
    return counts;
}
"""

AVR_MAIN = """
#include <avr/io.h>
#include <avr/interrupt.h>
#include <avr/sleep.h>
#include "{name}_bench.h"
static {name}_bench_t result;
static char text[{upper}_BENCH_TEXT_BYTES];
int main(void)
{{
    UCSR0B = _BV(TXEN0);
    {name}_bench(&result);
    {name}_bench_text(&result, text);
    for (const char *at = text; *at != 0; at++) {{
        while ((UCSR0A & _BV(UDRE0)) == 0) {{ }}
        UDR0 = (uint8_t)*at;
    }}
    while ((UCSR0A & _BV(UDRE0)) == 0) {{ }}
    UDR0 = '\\n';
    while ((UCSR0A & _BV(TXC0)) == 0) {{ }}
    cli();
    sleep_cpu();
    return 0;
}}
"""


def compiled(out: Path, target: str, **options) -> kmcompile.Compiled:
    """Return iris in an output folder with `--package bench`."""
    asked = {"mode": "exact", "verify": "none", "name": "iris", "format": "float32", **options}
    model = SVC(gamma=0.5).fit(*load_iris(return_X_y=True))
    return kmcompile.compile_model(model, target=target, out=out, package="bench", **asked)


def recipe_of(folder: Path) -> Recipe:
    return Recipe.from_json((folder / "recipe.json").read_text())


def printed(folder: Path, runner: Runner, *defined: str) -> tuple[str, np.ndarray | None]:
    """Return the line that the bench writes in the runner's image, and the cycles of its queries.

    The runner counts these from the first instruction of a call to its return; without a count
    they are None.
    """
    recipe = recipe_of(folder)
    name, inside = recipe.name, folder / "bench" / f"{recipe.name}_bench"
    header = (inside / f"{name}_bench.h").read_text()
    n_bytes, n_queries = (
        int(re.search(rf"BENCH_{what} (\d+)U", header)[1]) for what in ("TEXT_BYTES", "N_QUERIES")
    )
    words = -(-n_bytes // 4)
    harness = HARNESS.format(name=name, upper=name.upper(), words=words)
    (inside / f"{name}_harness.c").write_text(harness)
    source = inside / f"{name}_bench.c"
    heads = "".join(f"#define {one} 1\n" for one in defined)
    ends = OWN_COUNTER if "IRIS_BENCH_OWN_COUNTER" in defined else ""
    source.write_text(heads + source.read_text() + ends)
    own = replace(
        recipe,
        sources=(*recipe.sources, source.name),
        input_words=1,
        record_words=words,
        sha256=sha256_of({}),
    )
    with build(own, inside, recipe.target) as artifact:
        result = runner.run(artifact, np.zeros((n_queries, 1), dtype=np.uint32), True, "classify")
    text = result.records[0].astype("<u4").tobytes().split(b"\0")[0].decode("ascii")
    return text, None if result.cycles is None else result.cycles[:, 0]


def printed_by_simavr(folder: Path, tmp_path: Path) -> tuple[str, np.ndarray]:
    """Return the same of a program of avr-libc, which sends the line over its serial port."""
    inside = folder / "bench" / "iris_bench"
    (inside / "main.c").write_text(AVR_MAIN.format(name="iris", upper="IRIS"))
    flags = [one for one in load_target("avr").compiler.flags if not one.startswith("-mmcu")]
    flags += ["-mmcu=atmega2560", "-DF_CPU=16000000UL", "-O2", "-ffp-contract=off", "-Wall"]
    parts = [inside / f"iris{one}.c" for one in ("", "_arithmetic", "_bench")]
    image = tmp_path / "image.elf"
    command = ["avr-gcc", *flags, "-Werror", "-I", inside, *parts, inside / "main.c", "-lm"]
    succeed([*command, "-o", image])
    (tmp_path / "flash.bin").write_bytes(elf.flash_image(image))
    simulated = [
        simavr._simulator(tmp_path),
        *("mcu=atmega2560", "clock=16000000", f"flash={tmp_path / 'flash.bin'}"),
        f"entry={elf.function_address(image, 'iris_classify'):#x}",
        f"out={tmp_path / 'cycles.txt'}",
    ]
    shown = run(simulated).stdout  # it stops as the part does
    return shown, np.loadtxt(tmp_path / "cycles.txt", dtype=np.int64)[:, 1]
