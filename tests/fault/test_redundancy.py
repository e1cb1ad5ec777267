"""`--redundancy 2`: flipped bits in either copy, in both and in the checksums, in flash and RAM."""

from __future__ import annotations

import re
import subprocess

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile

from kit import catalogue
from kit.host_program import STRICT, build_program, failures
from kit.tools import need, need_tools, succeed
from kit.watched import DOUBLED, Doubled
from kmcompile.build import build
from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.numeric.table import Table
from kmcompile.program.interpreter import Status
from kmcompile.program.redundancy import BLOCK_WORDS, block_checksums, n_blocks
from kmcompile.run import HostRunner, runner_for
from kmcompile.target import load_target

SMALL, CODES = DOUBLED[0], DOUBLED[1]

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


@pytest.mark.parametrize("case", [SMALL, CODES, DOUBLED[2]], ids=str)
def test_each_of_10000_flips_is_repaired_and_the_answers_are_as_before(case, tmp_path):
    emitted = catalogue.emitted(case, "host")
    main = written(emitted, RANDOM_MAIN, "#define IRIS_TABLES_IN_RAM", 10_000)
    flips = 10_000 if case is SMALL else 1_000
    main = main.replace("10000UL", f"{flips}UL")
    assert failures(build_program(emitted, tmp_path, main, ["-O2"], sources=())) == []


@pytest.mark.parametrize("where", ["flash", "ram"])
@pytest.mark.parametrize("case", [SMALL, CODES, DOUBLED[2]], ids=str)
def test_every_kind_of_damage_is_told_and_repaired_in_ram(case, where, tmp_path):
    """In flash the same C without `const`, so that the test can damage it."""
    emitted = catalogue.emitted(case, "host")
    before = "#define IRIS_TABLES_IN_RAM" if where == "ram" else "#define const"
    main = written(emitted, KINDS_MAIN, before)
    flags = ["-O2", "-fsanitize=address,undefined,bounds", "-fno-sanitize-recover=all"]
    assert failures(build_program(emitted, tmp_path, main, flags, sources=())) == []


# One flip in each block of each copy in turn; the number of blocks that were not repaired.
FLIPPING = """
uint32_t iris_flips(void);
uint32_t iris_flips(void)
{
    static iris_self_test_t state;
    uint32_t failed = 0U;
    uint32_t copy;
    uint32_t block;
    for (copy = 0U; copy < 3U; ++copy) {
        for (block = 0U; block < IRIS_N_TABLE_BLOCKS; ++block) {
            static const iris_self_test_t zero;
            iris_block_t found;
            uint32_t step;
            uint8_t *byte;
            iris_find_block(block, &found);
            byte = (uint8_t *)(uintptr_t)&iris_block_checksums[block];
            if (copy < 2U) {
                byte = (uint8_t *)(uintptr_t)((copy == 0U) ? &iris_tables[found.table]
                    : &iris_second_tables[found.table])->elements.as_@FIRST@;
                byte = &byte[@WIDTH@[found.table] * found.position];
            }
            *byte ^= 16U;
            state = zero;
            for (step = 0U; (step < IRIS_N_TEST_STEPS) && !state.done; ++step) {
                (void)iris_self_test_step(&state);
            }
            if ((state.status != IRIS_OK) || (state.repairs != 1U)) {
                ++failed;
            }
        }
    }
    return failed;
}
"""


def flipping(emitted, folder) -> None:
    """Put the tables into RAM, and let the harness's self-test damage every block before it."""
    source, harness = folder / "iris.c", folder / "iris_harness.c"
    tables = emitted.program.tables()
    widths = ", ".join(
        f"{t.values.dtype.itemsize if len(t.words()) == t.values.size else 4}U" for t in tables
    )
    text = source.read_text()
    member = re.findall(r"\*as_(\w+);", text)[0]
    added = FLIPPING.replace("@FIRST@", member).replace("@WIDTH@", "widths")
    added = f"\nstatic const uint32_t widths[] = {{ {widths} }};\n{added}"
    source.write_text(f"#define IRIS_TABLES_IN_RAM\n{text}{added}")
    whole = harness.read_text()
    call = "iris_status_t status = iris_self_test();\n"
    assert whole.count(call) == 1
    failed = "uint32_t iris_flips(void);\n    const uint32_t failed = iris_flips();\n    "
    whole = whole.replace(call, f"{failed}{call}")
    harness.write_text(whole.replace("return (uint32_t)status;", "return failed + status;"))


@pytest.mark.parametrize("case", [SMALL, CODES], ids=str)
@pytest.mark.parametrize(
    "target",
    [
        "host",
        pytest.param("cortex-m7", marks=pytest.mark.target),
        pytest.param("leon3", marks=[pytest.mark.target, pytest.mark.exhaustive]),
    ],
)
def test_a_board_with_tables_in_ram_repairs_a_flip_in_every_block(target, case, tmp_path):
    board = load_target(target)
    need_tools(board)
    emitted = catalogue.emitted(case, target)
    emitted.write(tmp_path)
    flipping(emitted, tmp_path)
    with build(emitted.recipe, tmp_path, board) as artifact:
        runner = HostRunner() if target == "host" else runner_for(board)
        result = runner.run(artifact, emitted.inputs)
    assert result.self_test == Status.OK
    np.testing.assert_array_equal(result.records, emitted.records)


@pytest.mark.target
@pytest.mark.parametrize("target", ["cortex-m7", "avr", "leon3"])
def test_a_board_with_tables_in_flash_answers_and_passes(target, tmp_path):
    board = load_target(target)
    need_tools(board)
    emitted = catalogue.emitted(SMALL, target)
    emitted.write(tmp_path)
    with build(emitted.recipe, tmp_path, board) as artifact:
        result = runner_for(board).run(artifact, emitted.inputs)
    assert result.self_test == Status.OK
    np.testing.assert_array_equal(result.records, emitted.records)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("flags", [["-O3"], ["-Os", "-DIRIS_TABLES_IN_RAM"]], ids=["flash", "ram"])
def test_no_compiler_makes_one_of_both_copies_and_sections_are_the_builds(
    compiler, flags, tmp_path
):
    need(compiler)
    emitted = catalogue.emitted(CODES, "host")
    emitted.write(tmp_path)
    sections = [
        f'-DIRIS_{which}TABLE_SECTION=__attribute__((section("{name}")))'
        for which, name in (("", ".bank_a"), ("SECOND_", ".bank_b"))
    ]
    strict = [flag for flag in STRICT if flag != "-Wunused-macros" or compiler == "gcc"]
    command = [compiler, *EXACT_FLAGS, *strict, *flags, *sections, "-c", tmp_path / "iris.c"]
    succeed([*command, "-o", tmp_path / "iris.o"])
    with (tmp_path / "iris.o").open("rb") as file:
        elf = ELFFile(file)
        found = {
            symbol.name: (elf.get_section(symbol["st_shndx"]).name, symbol["st_value"])
            for symbol in elf.get_section_by_name(".symtab").iter_symbols()
            if symbol["st_info"]["type"] == "STT_OBJECT"
        }
        writable = {
            name: bool(elf.get_section_by_name(name)["sh_flags"] & 1)
            for name in (".bank_a", ".bank_b")
        }
    names = [table.name for table in emitted.program.tables()] + ["block_checksums"]
    assert {found[f"iris_{name}"][0] for name in names} == {".bank_a"}
    assert {found[f"iris_second_{name}"][0] for name in names} == {".bank_b"}
    assert len(set(found.values())) == len(found)
    assert set(writable.values()) == {"-DIRIS_TABLES_IN_RAM" in flags}


def test_the_checksums_are_those_of_blocks_of_256_words():
    rng = np.random.default_rng(0)
    floats = Table("f", rng.normal(size=600).astype(np.float32), "x: [i]")
    doubles = Table("d", rng.normal(size=200), "x: [i]")
    found = block_checksums((floats, doubles))
    assert len(found) == 3 + 2 == n_blocks((floats, doubles))
    assert found[2] == Table("f", floats.values[512:], "x: [i]").checksum()
    assert found[4] == Table("d", doubles.values[BLOCK_WORDS // 2 :], "x: [i]").checksum()


def test_telemetry_counts_damage_and_repairs(tmp_path):
    need("gcc")
    emitted = catalogue.emitted(CODES, "host")
    main = written(
        emitted,
        COMMON
        + """
int main(void)
{
    static iris_self_test_t state;
    iris_telemetry_t telemetry;
    (void)iris_telemetry_reset(&telemetry);
    places[0].bytes[0] ^= 1U;
    places[3].bytes[0] ^= 1U;
    while (!state.done) {
        (void)iris_self_test_step(&state);
        (void)iris_telemetry_step(&telemetry, &state);
    }
    if ((telemetry.damaged_blocks != 2U) || (telemetry.repairs != 2U)
        || (telemetry.self_test_passes != 1U)) {
        fail("telemetry", "", telemetry.repairs);
    }
    (void)keep, (void)is_healthy, (void)test;
    return 0;
}
""",
        "#define IRIS_TABLES_IN_RAM",
    )
    assert failures(build_program(emitted, tmp_path, main, sources=())) == []


def test_a_program_that_repairs_nothing_is_found_out(tmp_path):
    """The tests above would see it: the copying is what they rest on."""
    emitted = catalogue.emitted(SMALL, "host")
    main = written(emitted, RANDOM_MAIN, "#define IRIS_TABLES_IN_RAM", 20)
    program = build_program(emitted, tmp_path, main, sources=())
    assert failures(program) == []
    source = tmp_path / "iris.c"
    right = "target.as_float[i] = source.as_float[i];"
    assert source.read_text().count(right) == 1
    source.write_text(source.read_text().replace(right, "(void)target;"))
    files = [tmp_path / "main.c", "-o", tmp_path / "program"]
    succeed(["gcc", *EXACT_FLAGS, "-D_DEFAULT_SOURCE", *files])
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, check=True)
    assert "not repaired" in done.stdout


@pytest.mark.parametrize("case", DOUBLED, ids=str)
def test_without_it_the_c_is_as_before(case):
    plain = catalogue.emitted(case.case, "host")
    assert b"second" not in plain.files["iris.h"] and b"iris_second_" not in plain.files["iris.c"]
    assert isinstance(case, Doubled)
