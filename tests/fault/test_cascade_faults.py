"""Damaged tables of early exits: every call ends, reads and writes only what it may."""

from __future__ import annotations

import re

import numpy as np
import pytest

from kit import cascades, catalogue, certified
from kit.covering import every_nth
from kit.tools import need, succeed
from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.program.stages import ExactSum

SANITIZED = (
    "-g",
    "-fsanitize=address,undefined,bounds,float-cast-overflow",
    "-fno-sanitize-recover=all",
)

MAIN = """
#include <stdio.h>
#include <string.h>
#include "iris.c"
typedef struct { void *start; size_t size, width; } table_t;
static const table_t tables[] = {
@TABLES@
};
static const float queries[][IRIS_N_FEATURES] = { @QUERIES@ };
static const uint32_t damages[] = {
    0x00000000UL, 0xFFFFFFFFUL, 0x7F800000UL, 0xFF800000UL, 0x7FC00000UL, 0x7F7FFFFFUL, 0x00000001UL
};
static unsigned n_corrupt, n_calls;
static void ask(void)
{
    for (size_t q = 0U; q < sizeof queries / sizeof queries[0]; ++q) {
        iris_workspace_t workspace;
        iris_result_t result;
        iris_status_t status;
        memset(&workspace, 0xA5, sizeof workspace);
        memset(&result, 0xA5, sizeof result);
        status = iris_classify(&workspace, queries[q], &result);
        ++n_calls;
        if (status == IRIS_ERROR_CORRUPT) {
            ++n_corrupt;
        } else if ((status != IRIS_OK) || (result.label < 0)
            || (result.label >= (int32_t)IRIS_N_CLASSES) || (result.stage >= IRIS_N_STAGES)
            || (result.kernel_evals > @MOST@)) {
            printf("query %u: status %d\\n", (unsigned)q, (int)status);
        }
    }
}
int main(void)
{
    for (size_t t = 0U; t < sizeof tables / sizeof tables[0]; ++t) {
        const size_t n = tables[t].size / tables[t].width, step = n / 60U + 1U;
        for (size_t i = 0U; i < n; i += step) {
            for (size_t d = 0U; d < sizeof damages / sizeof damages[0]; ++d) {
                char *const element = (char *)tables[t].start + i * tables[t].width;
                char kept[4];
                memcpy(kept, element, tables[t].width);
                memcpy(element, &damages[d], tables[t].width);
                ask();
                memcpy(element, kept, tables[t].width);
            }
        }
    }
    printf("%u calls\\n", n_calls);
    return 0;
}
"""


def most_kernels(program) -> int:
    """Return how many kernels no input may exceed: fillings may be taken for vectors."""
    exits = sum(stage.kernel_evaluations() for stage in program.early_exits)
    exact = program.ends.exact
    summed = exact.n_slots if isinstance(exact, ExactSum) else exact.kernel_evaluations()
    replayed = 0 if program.replay is None else program.replay.kernel_evaluations()
    return int(exits + summed + replayed)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", every_nth([*cascades.CORE, *certified.EVERY], 6))
@pytest.mark.parametrize("target", ["host", "cortex-m7"])
def test_no_damage_of_a_table_leads_a_call_astray(case, target, tmp_path):
    """reliability 37: zeros, ones, infinities, NaN and the extremes in the place of elements."""
    need("gcc")
    emitted = catalogue.emitted(case, target)
    emitted.write(tmp_path)
    text = emitted.files["iris.c"].decode()
    text = re.sub(
        r"^static const (float|uint16_t|uint32_t) (iris_\w+\[)", r"static \1 \2", text, flags=re.M
    )
    (tmp_path / "iris.c").write_text(text)
    damaged = [
        table
        for table in emitted.program.tables()
        if re.search(rf"^static (float|uint16_t|uint32_t) iris_{table.name}\[", text, re.M)
        and not table.name.startswith("known_")
    ]
    tables = [
        f"    {{ iris_{table.name}, sizeof iris_{table.name}, sizeof iris_{table.name}[0] }},"
        for table in damaged
    ]
    main = MAIN.replace("@TABLES@", "\n".join(tables)).replace("@QUERIES@", queries(emitted))
    (tmp_path / "main.c").write_text(main.replace("@MOST@", str(most_kernels(emitted.program))))
    command = ["gcc", *EXACT_FLAGS, "-O1", *SANITIZED, tmp_path / "main.c", "-o", tmp_path / "main"]
    succeed(command)
    lines = succeed([tmp_path / "main"]).splitlines()
    assert len(lines) == 1
    elements = sum(len(range(0, n, n // 60 + 1)) for n in (table.values.size for table in damaged))
    n_queries = 2 * len(emitted.program.exit_stages)
    assert int(lines[0].split()[0]) == elements * 7 * n_queries > 4_000


FLIPPED = """
#include <stdio.h>
#include "iris.c"
typedef struct { float *start; size_t n; } table_t;
static const table_t tables[] = {
@TABLES@
};
static const float queries[][IRIS_N_FEATURES] = { @QUERIES@ };
int main(void)
{
    unsigned n_wrong = 0U, n_last = 0U;
    for (size_t t = 0U; t < sizeof tables / sizeof tables[0]; ++t) {
        for (size_t i = 0U; i < tables[t].n; ++i) {
            tables[t].start[i] = -tables[t].start[i];
        }
    }
    for (size_t q = 0U; q < sizeof queries / sizeof queries[0]; ++q) {
        iris_workspace_t workspace;
        iris_result_t result;
        if (iris_classify(&workspace, queries[q], &result) != IRIS_OK) {
            ++n_wrong;
        } else if (result.stage == IRIS_N_STAGES - 1U) {
            ++n_last;
        }
    }
    printf("%u %u\\n", n_wrong, n_last);
    return 0;
}
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", cascades.CORE, ids=str)
def test_half_widths_with_their_sign_bits_flipped_decide_nothing(case, tmp_path):
    need("gcc")
    emitted = catalogue.emitted(case, "host")
    emitted.write(tmp_path)
    text = emitted.files["iris.c"].decode()
    pattern = r"^static const float (iris_\w+_half_width\[)"
    text, n_tables = re.subn(pattern, r"static float \1", text, flags=re.M)
    assert n_tables == len(emitted.program.early_exits)
    (tmp_path / "iris.c").write_text(text)
    tables = [
        f"    {{ iris_{table.name}, sizeof iris_{table.name} / sizeof(float) }},"
        for table in emitted.program.tables()
        if table.name.endswith("_half_width")
    ]
    asked = queries(emitted)
    main = FLIPPED.replace("@TABLES@", "\n".join(tables)).replace("@QUERIES@", asked)
    (tmp_path / "main.c").write_text(main)
    succeed(["gcc", *EXACT_FLAGS, "-O1", *SANITIZED, tmp_path / "main.c", "-o", tmp_path / "main"])
    n_queries = 2 * len(emitted.program.exit_stages)
    assert succeed([tmp_path / "main"]).split() == ["0", str(n_queries)]


def queries(emitted) -> str:
    """Return two queries of each stage as C initialisers."""
    results = emitted.answers.results
    rows = []
    for stage in range(len(emitted.program.exit_stages)):
        of_stage = (results["status"] == 0) & (results["stage"] == stage)
        rows += emitted.queries[np.flatnonzero(of_stage)[[0, -1]]].tolist()
    return ", ".join("{ " + ", ".join(f"{v!r}f" for v in row) + " }" for row in rows)
