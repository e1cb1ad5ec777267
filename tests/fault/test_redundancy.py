"""`--redundancy 2`: flipped bits in either copy, in both and in the checksums, in flash and RAM."""

from __future__ import annotations

import re
import subprocess

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile
from redundancy_programs import COMMON, KINDS_MAIN, RANDOM_MAIN, written

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


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", [SMALL, CODES, DOUBLED[2]], ids=str)
def test_each_of_10000_flips_is_repaired_and_the_answers_are_as_before(case, tmp_path):
    emitted = catalogue.emitted(case, "host")
    main = written(emitted, RANDOM_MAIN, "#define IRIS_TABLES_IN_RAM", 10_000)
    flips = 10_000 if case is SMALL else 1_000
    main = main.replace("10000UL", f"{flips}UL")
    assert failures(build_program(emitted, tmp_path, main, ["-O2"], sources=())) == []


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
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
