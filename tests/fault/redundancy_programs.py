"""Programs that flip bits of a model's tables and second copies, and look at the repairs."""

from __future__ import annotations

from kmcompile.program.redundancy import n_blocks

# What the tests of one process share: the places of all bytes, and the answers before any flip.
COMMON = """
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <float.h>
#include <stdio.h>
#include <string.h>
@BEFORE@
#include "iris.c"
typedef struct {
    const char *name; uint8_t *bytes; size_t size; uint32_t table; uint32_t width;
} place_t;
static place_t places[] = {
@PLACES@
};
#define N_PLACES (sizeof places / sizeof places[0])
static uint8_t healthy[@ALL@];
static const float inputs[][IRIS_N_FEATURES] = { @INPUTS@ };
#define N_INPUTS (sizeof inputs / sizeof inputs[0])
static iris_@ANSWER@_t before[N_INPUTS];
static void fail(const char *what, const char *name, unsigned long number)
{
    printf("%s: %s %lu\\n", what, name, number);
}
static void answer(iris_@ANSWER@_t found[N_INPUTS])
{
    iris_workspace_t workspace;
    memset(found, 0, N_INPUTS * sizeof *found);
    for (size_t i = 0U; i < N_INPUTS; ++i) {
        (void)iris_@CALL@_float(&workspace, inputs[i], &found[i]);
    }
}
static void keep(void)
{
    size_t at = 0U;
    for (size_t p = 0U; p < N_PLACES; ++p) {
        memcpy(&healthy[at], places[p].bytes, places[p].size);
        at += places[p].size;
    }
    answer(before);
}
static bool is_healthy(void)
{
    size_t at = 0U;
    bool same = true;
    for (size_t p = 0U; p < N_PLACES; ++p) {
        same = same && (memcmp(&healthy[at], places[p].bytes, places[p].size) == 0);
        at += places[p].size;
    }
    return same;
}
static iris_block_t last;
static iris_status_t test(iris_self_test_t *state)
{
    iris_status_t status = IRIS_OK;
    memset(state, 0, sizeof *state);
    memset(&last, 0, sizeof last);
    for (uint32_t step = 0U; (step < IRIS_N_TEST_STEPS) && !state->done; ++step) {
        status = iris_self_test_step(state);
        if (state->block.first_damaged || state->block.second_damaged
            || state->block.checksum_damaged) {
            last = state->block;
        }
    }
    return state->done ? status : IRIS_ERROR_CORRUPT;
}
"""

RANDOM_MAIN = (
    COMMON
    + """
static uint32_t draw(uint32_t *state, uint32_t limit)
{
    *state ^= *state << 13U;
    *state ^= *state >> 17U;
    *state ^= *state << 5U;
    return (uint32_t)(((uint64_t)*state * limit) >> 32U);
}
int main(void)
{
    static iris_self_test_t state;
    static iris_@ANSWER@_t after[N_INPUTS];
    uint32_t random = 20261126U;
    unsigned long repaired = 0UL;
    keep();
    for (unsigned long n = 0UL; n < @FLIPS@UL; ++n) {
        uint32_t at = draw(&random, sizeof healthy);
        const uint8_t mask = (uint8_t)(1U << draw(&random, 8U));
        size_t p = 0U;
        while (at >= places[p].size) {
            at -= (uint32_t)places[p].size;
            ++p;
        }
        places[p].bytes[at] ^= mask;
        if (test(&state) != IRIS_OK) { fail("status", places[p].name, at); }
        if ((state.damaged_blocks != 1U) || (state.repairs != 1U)) {
            fail("counts", places[p].name, at);
        }
        if (!last.repaired) { fail("not repaired", places[p].name, at); }
        if (places[p].table < IRIS_N_TABLES) {
            const uint32_t word = at / places[p].width;
            if ((last.table != places[p].table) || (word < last.position)
                || (word >= last.position + IRIS_STEP_WORDS)) {
                fail("place", places[p].name, at);
            }
        }
        if (!is_healthy()) { fail("bytes", places[p].name, at); }
        answer(after);
        for (size_t i = 0U; i < N_INPUTS; ++i) {
            /* Without the padding behind it. */
            const size_t size = offsetof(iris_@ANSWER@_t, in_range) + sizeof(bool);
            if (memcmp(&before[i], &after[i], size) != 0) { fail("answer", places[p].name, at); }
        }
        repaired += state.repairs;
    }
    if (repaired != @FLIPS@UL) { fail("repairs", "all", repaired); }
    return 0;
}
"""
)

KINDS_MAIN = (
    COMMON
    + """
#ifdef IRIS_TABLES_IN_RAM
#define REPAIRS 1
#else
#define REPAIRS 0
#endif
static void set_back(void)
{
    size_t at = 0U;
    for (size_t p = 0U; p < N_PLACES; ++p) {
        memcpy(places[p].bytes, &healthy[at], places[p].size);
        at += places[p].size;
    }
}
/* What a pass says after the damage, and what is left. */
static void expect(const char *what, unsigned number, iris_status_t status, bool first,
    bool second, bool sum, bool repaired)
{
    static iris_self_test_t state;
    iris_block_t found;
    unsigned damaged = 0U;
    for (uint32_t block = 0U; block < IRIS_N_TABLE_BLOCKS; ++block) {
        if (iris_tables_state(block, &found) != IRIS_OK) {
            ++damaged;
            if ((found.first_damaged != first) || (found.second_damaged != second)
                || (found.checksum_damaged != sum) || found.repaired) {
                fail("tables_state", what, number);
            }
        }
    }
    if (damaged != 1U) { fail("blocks", what, damaged); }
    if (test(&state) != status) { fail("status", what, number); }
    if ((last.first_damaged != first) || (last.second_damaged != second)
        || (last.checksum_damaged != sum) || (last.repaired != repaired)) {
        fail("block", what, number);
    }
    if (last.table != number) { fail("table", what, number); }
    if ((state.damaged_blocks != 1U) || (state.repairs != (repaired ? 1U : 0U))) {
        fail("counts", what, number);
    }
    if (is_healthy() != repaired) { fail("bytes", what, number); }
    if (iris_self_test() != (repaired ? IRIS_OK : status)) { fail("again", what, number); }
    set_back();
}
int main(void)
{
    iris_block_t found;
    const iris_status_t bad = IRIS_ERROR_CORRUPT;
    const iris_status_t first_status = REPAIRS ? IRIS_OK : IRIS_ERROR_CORRUPT;
    uint32_t *const sums = (uint32_t *)(uintptr_t)iris_block_checksums;
    uint32_t *const others = (uint32_t *)(uintptr_t)iris_second_block_checksums;
    uint32_t block = 0U;
    keep();
    if (iris_self_test() != IRIS_OK) { fail("healthy", "", 0UL); }
    if (iris_tables_state(IRIS_N_TABLE_BLOCKS, &found) != IRIS_ERROR_RANGE) {
        fail("range", "", 0UL);
    }
    if (iris_tables_state(0U, NULL) != IRIS_ERROR_NULL) { fail("null", "", 0UL); }
    for (uint32_t t = 0U; t < IRIS_N_TABLES; ++t) {
        uint8_t *const one = places[2U * t].bytes;
        uint8_t *const two = places[(2U * t) + 1U].bytes;
        one[0] ^= 1U;
        expect("first", t, first_status, true, false, false, REPAIRS);
        two[0] ^= 128U;
        expect("second", t, IRIS_OK, false, true, false, REPAIRS);
        sums[block] ^= 0x80000000U;
        expect("sum", t, IRIS_OK, false, false, true, REPAIRS);
        others[block] ^= 1U;
        expect("other sum", t, IRIS_OK, false, false, true, REPAIRS);
        one[0] ^= 2U;
        sums[block] ^= 4U;
        expect("first and sum", t, first_status, true, false, true, REPAIRS);
        two[0] ^= 2U;
        others[block] ^= 4U;
        expect("second and other sum", t, IRIS_OK, false, true, true, REPAIRS);
        one[0] ^= 4U;
        two[0] ^= 8U;
        expect("both", t, bad, true, true, false, false);
        one[0] ^= 16U;
        two[0] ^= 16U;
        expect("both alike", t, bad, true, true, false, false);
        sums[block] ^= 1U;
        others[block] ^= 2U;
        expect("both sums", t, bad, true, true, true, false);
        one[0] ^= 1U;
        sums[block] ^= 1U;
        others[block] ^= 1U;
        expect("first and both sums", t, bad, true, true, false, false);
        block += (((uint32_t)iris_tables[t].n_words + IRIS_STEP_WORDS) - 1U) / IRIS_STEP_WORDS;
    }
    if (block != IRIS_N_TABLE_BLOCKS) { fail("number of blocks", "", block); }
    {
        /* A state that was damaged itself. */
        static iris_self_test_t state;
        state.part = 0xFFFFFFFFU;
        state.position = 0xFFFFFFFFU;
        if (iris_self_test_step(&state) != bad) { fail("state", "", 0UL); }
    }
    return 0;
}
"""
)


def written(emitted, text: str, before: str, flips: int = 0) -> str:
    """Return a program for a model: the places of its tables and copies, two ordinary inputs."""
    tables = emitted.program.tables()
    lines = []
    for number, table in enumerate(tables):
        width = table.values.dtype.itemsize if table.values.dtype.itemsize < 8 else 4
        for copy in ("", "second_"):
            name = f"iris_{copy}{table.name}"
            rest = f"{table.n_bytes}U, {number}U, {width}U"
            lines.append(f'    {{ "{name}", (uint8_t *)(uintptr_t)&{name}, {rest} }},')
    n_sums = 4 * n_blocks(tables)
    for name in ("iris_block_checksums", "iris_second_block_checksums"):
        rest = f"{n_sums}U, {len(tables)}U, 4U"
        lines.append(f'    {{ "{name}", (uint8_t *)(uintptr_t){name}, {rest} }},')
    rows = [", ".join(f"{value!r}f" for value in row) for row in emitted.queries[:8].tolist()]
    regression = emitted.program.is_regression
    call = "predict" if regression else "classify"
    parts = {
        "@BEFORE@": before,
        "@PLACES@": "\n".join(lines),
        "@ALL@": str(2 * (sum(table.n_bytes for table in tables) + n_sums)),
        "@INPUTS@": ", ".join(f"{{ {row} }}" for row in rows),
        "@ANSWER@": "prediction" if regression else "result",
        "@CALL@": call,
        "@FLIPS@": str(flips),
    }
    for place, value in parts.items():
        text = text.replace(place, value)
    return text
