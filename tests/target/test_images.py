"""The small model as an image of every emulated board: bits, memory, stack, faults."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import small_model
from small_model import model_with

from kit.covering import some
from kit.double_helpers import double_helpers
from kit.tools import need_tools
from kmcompile.build import build
from kmcompile.errors import BudgetError, ToolError, UsageError
from kmcompile.machine_code.elf import sizes
from kmcompile.run import QemuRunner, runner_for
from kmcompile.target import list_targets, load_target
from kmcompile.tools import toolchain

BOARDS = [target for target in list_targets() if target.emulator is not None]
# Of each start-up, for what costs time and is the same on all of a family.
FIRST_OF_FAMILIES = list({target.boot.startup: target for target in reversed(BOARDS)}.values())
CORTEX_M = [target for target in BOARDS if target.name.startswith("cortex-m")]
WITH_LIBRARY = [target for target in BOARDS if target.compiler.libraries]
LEON3 = load_target("leon3")
M0 = load_target("cortex-m0")
M4 = load_target("cortex-m4")
M7 = load_target("cortex-m7")

# The sum begins with 1 instead of 0 if one of the products, all of about 2^-130, is lost.
SUBNORMALS = """float tiny[16], half[16];
for (uint32_t i = 0U; i < 16U; i++) { tiny[i] = x[i % 3U] * 0x1p-129f; }
for (uint32_t i = 0U; i < 16U; i++) { half[i] = tiny[i] * 0.5f; }
for (uint32_t i = 0U; i < 16U; i++) { sum = (half[i] == 0.0f) ? 1.0f : sum; }"""

# Without an instruction for it on any board.
DIVIDES = """
#ifdef __SIZEOF_INT128__
volatile unsigned __int128 a = 5U, b = 7U;
#else
volatile uint64_t a = 5U, b = 7U;
#endif
a = a / b; sum = 0.0f * (float)a;"""

SMALL_WORD = "extern const uint32_t small_word;\nconst uint32_t small_word = 7U;\n"

pytestmark = pytest.mark.target


# A stack that leaves the RAM of an AVR writes over registers, and a trap is a jump to address 0.
SHOWS_FAULTS = [target for target in BOARDS if target.name != "avr"]


def by_name(target):
    return target.name


def chunk_queries(target) -> int:
    """Return how many queries of the small model an image takes at a time."""
    free_words = (target.boot.ram.bytes - target.boot.stack_bytes) // 4
    return min(16384, free_words // 4) // small_model.N_FEATURES


def check_bits(artifact, n_queries):
    inputs = small_model.queries(n_queries)
    result = runner_for(artifact.toolchain).run(artifact, inputs)
    np.testing.assert_array_equal(result.records, small_model.expected_records(inputs))
    assert result.self_test == 0
    assert result.instructions is None


SOME_BOARDS = ("cortex-m0", "cortex-m7", "leon3")
"""What `make test` takes of the boards."""


@pytest.mark.parametrize("target", some(BOARDS, SOME_BOARDS, by_name))
def test_any_number_of_queries_gives_the_expected_bits(built, target):
    artifact = built(target)
    many = min(20000, 4 * chunk_queries(target))  # a small board has a slow serial port
    for n_queries in (0, 1, many) if target in FIRST_OF_FAMILIES else (0, 1):
        check_bits(artifact, n_queries)


@pytest.mark.parametrize("target", some(BOARDS, SOME_BOARDS, by_name))
def test_subnormals_are_kept_by_loops_that_a_compiler_may_vectorise(built, target):
    text = model_with(SUBNORMALS)
    inputs = small_model.queries(100)
    result = runner_for(target).run(built(target, text, "-O3"), inputs)
    np.testing.assert_array_equal(result.records, small_model.expected_records(inputs))


@pytest.mark.few
@pytest.mark.parametrize("target", FIRST_OF_FAMILIES, ids=by_name)
def test_a_count_of_one_chunk_exactly_ends(built, target):
    inputs = small_model.queries(2 * chunk_queries(target))
    result = runner_for(target).run(built(target), inputs)
    np.testing.assert_array_equal(result.records, small_model.expected_records(inputs))


def test_where_the_compiler_has_no_library_what_needs_it_is_refused(built):
    with pytest.raises(ToolError, match="undefined reference to `__udivdi3'"):
        built(LEON3, model_with(DIVIDES))


@pytest.mark.parametrize("target", some(WITH_LIBRARY, SOME_BOARDS, by_name))
def test_memory_is_that_of_the_model_with_its_helpers(built, target):
    """reliability 40: no mutable data."""
    plain = built(target)
    helped = built(target, model_with(DIVIDES))
    assert plain.ram_bytes == helped.ram_bytes == 0
    assert 0 < plain.flash_bytes < 3000
    assert helped.flash_bytes > plain.flash_bytes + 200
    assert sizes(plain.path).flash_bytes > plain.flash_bytes


@pytest.mark.parametrize("target", some(BOARDS, SOME_BOARDS, by_name))
@pytest.mark.parametrize("optimisation", [None, "-O0"])
@pytest.mark.parametrize(
    "statement",
    [
        "",
        "volatile float deep[300]; deep[0] = x[0]; deep[299] = x[1];",
        DIVIDES,
        "volatile double w = x[0]; w = (w * w) / 3.0; sum = (float)w * 0.0f;",
        "struct { uint32_t words[40]; } volatile a = { { 1U } }, b; b = a;",
    ],
)
def test_the_painted_stack_stays_within_the_static_figure(built, target, optimisation, statement):
    """reliability 36: static figure at least the painted one."""
    if statement == DIVIDES and target not in WITH_LIBRARY:
        pytest.skip("no library divides")
    artifact = built(target, model_with(statement), optimisation)
    result = runner_for(target).run(artifact, small_model.queries(50))
    assert result.painted_stack_bytes <= artifact.stack_bytes
    if "deep" in statement:
        assert result.painted_stack_bytes >= 1200
        assert artifact.stack_bytes < 1400


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("volatile char space[(int)x[0]]; space[0] = 1;", "has no fixed size"),
        ("float (*volatile f)(const float *) = small_decision; sum = f(x);", "through a pointer"),
        ("sum = (x[0] > 0.0f) ? small_classify(x) + 1.0f : 0.0f; sum += sum;", "is recursive"),
    ],
)
def test_a_stack_without_a_bound_is_an_error(built, statement, why):
    """reliability 36: the static figure is never a guess."""
    with pytest.raises(ToolError, match=why):
        built(M7, model_with(statement), "-O0")


def test_double_in_software_is_noticed(built):
    text = model_with("volatile double w = x[0]; w = w * w; sum = (float)w * 0.0f;")
    artifact, without = built(M4, text), built(M4)
    assert {"__aeabi_dmul", "__aeabi_f2d"} <= double_helpers(artifact, *artifact.models)
    assert double_helpers(without, *without.models) == set()


@pytest.mark.few
@pytest.mark.parametrize("target", CORTEX_M, ids=by_name)
def test_tables_larger_than_the_flash_are_verified_too(built, target):
    table = "static const uint8_t table[15700000] = { 1U, 2U };\n"
    text = model_with("sum = (float)table[(uint32_t)x[0] + 15699999U];")
    text = text.replace("static const float rows", table + "static const float rows")
    artifact = built(target, text)
    inputs = np.zeros((5, small_model.N_FEATURES), dtype=np.uint32)
    result = runner_for(target).run(artifact, inputs)
    np.testing.assert_array_equal(result.records, small_model.expected_records(inputs))
    assert 15_700_000 < artifact.flash_bytes < target.emulated_flash_bytes


def test_a_model_larger_than_the_board_is_an_error_of_the_linker(built):
    table = "static const uint8_t table[17000000] = { 1U, 2U };\n"
    text = model_with("sum = (float)table[(uint32_t)x[0]];")
    text = text.replace("static const float rows", table + "static const float rows")
    with pytest.raises(ToolError, match=r"linking image\.elf for cortex-m7") as caught:
        built(M7, text)
    assert "overflowed" in str(caught.value) or "will not fit" in str(caught.value)


@pytest.mark.few
@pytest.mark.parametrize("target", SHOWS_FAULTS, ids=by_name)
@pytest.mark.parametrize(
    "statement",
    [
        "extern uint32_t stack_bottom[];*(volatile uint32_t *)((uintptr_t)stack_bottom - 4U) = 1U;",
        "__builtin_trap();",
    ],
    ids=["below the stack", "undefined instruction"],
)
def test_a_fault_is_said_so(built, target, statement):
    """reliability 36: where the board can show it, an overflow of the stack is a fault."""
    artifact = built(target, model_with(statement))
    with pytest.raises(ToolError, match="took a fault") as caught:
        runner_for(target).run(artifact, small_model.queries(2))
    assert caught.value.exit_code == 5


@pytest.mark.parametrize(
    "statement",
    [
        '__asm__ volatile(".hword 0xF240, 0x0001");',
        '__asm__ volatile(".hword 0xFBB0, 0xF0F1");',
        '__asm__ volatile(".hword 0xEE30, 0x0A20");',
        "sum = *(volatile float *)((uintptr_t)x + 1U);",
    ],
    ids=["movw", "udiv", "vadd.f32", "unaligned load"],
)
def test_cortex_m0_faults_on_what_larger_cores_can(built, statement):
    artifact = built(M0, model_with(statement))
    with pytest.raises(ToolError, match="took a fault"):
        QemuRunner().run(artifact, small_model.queries(2))


@pytest.mark.parametrize("instruction", ["cbz r0, 1f", "it eq"])
def test_what_the_emulated_cortex_m0_would_execute_is_refused_by_its_assembler(built, instruction):
    with pytest.raises(ToolError, match=r"compiling small\.c for cortex-m0"):
        built(M0, model_with(f'__asm__ volatile("{instruction}\\n1:");'))


@pytest.mark.parametrize("target", some(BOARDS, SOME_BOARDS, by_name))
def test_a_stack_larger_than_the_image_has_is_refused(built, target):
    """reliability 36: an overflow is never run."""
    n_bytes = min(600000, target.largest_object_bytes - 1000)
    with pytest.raises(BudgetError, match=r"can take [\d,]+ bytes of stack") as caught:
        built(target, model_with(f"volatile char deep[{n_bytes}]; deep[0] = 1;"))
    assert caught.value.exit_code == 4


@pytest.mark.exhaustive
def test_an_emulator_that_hangs_is_stopped(built):
    """reliability 28: emulator hangs."""
    artifact = built(M7, model_with("for (volatile int i = 0;; i++) { }"))
    with pytest.raises(ToolError, match="did not end within 2 s, was stopped") as caught:
        QemuRunner(timeout_s=2.0).run(artifact, small_model.queries(2))
    assert caught.value.exit_code == 5


@pytest.mark.parametrize("counts", [False, True])
def test_an_emulator_that_ends_well_without_an_answer_is_an_error(built, counts):
    artifact = built(M7)
    ends = replace(M7, emulator=replace(M7.emulator, command="true"))
    with pytest.raises(ToolError, match=r"the emulator ended and wrote no answers\.bin"):
        QemuRunner().run(replace(artifact, toolchain=ends), small_model.queries(2), counts)


def test_a_compiler_that_ends_well_without_an_object_is_an_error(tmp_path):
    target = replace(M7, compiler=replace(M7.compiler, command="true"))
    recipe = small_model.write_model(tmp_path, target)
    with pytest.raises(ToolError, match=r"small\.o: the compiler ended well and did not write it"):
        build(recipe, tmp_path, target)


def test_constants_that_no_start_up_loads_are_an_error(tmp_path):
    """A small external constant that the compiler puts among small data of its own."""
    board = load_target("ppc750")
    need_tools(board)
    flags = tuple(flag for flag in board.compiler.flags if flag != "-msdata=none")
    target = replace(board, compiler=replace(board.compiler, flags=flags))
    text = model_with("sum += 0.0f * (float)small_word;")
    text = text.replace("static const float rows", SMALL_WORD + "static const float rows")
    recipe = small_model.write_model(tmp_path, target, text)
    with pytest.raises(ToolError, match=r"section \.sdata\S* lies where no start-up code loads it"):
        build(recipe, tmp_path, target)
    build(recipe, tmp_path, board).close()


def test_every_emulator_ends_with_the_process_that_started_it(built, monkeypatch):
    artifact = built(M7)
    wrapped = []
    ending = toolchain.ending_with_this_process
    monkeypatch.setattr(
        toolchain,
        "ending_with_this_process",
        lambda command: wrapped.append(command) or ending(command),
    )
    QemuRunner().run(artifact, small_model.queries(1))
    assert [command[0].endswith("qemu-system-arm") for command in wrapped] == [True]


def test_an_absent_emulator_says_how_to_install_it(built, monkeypatch, tmp_path):
    """reliability 27: toolchain absent."""
    artifact = built(M7)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match=r"apt-get install .* qemu-system-arm"):
        QemuRunner().run(artifact, small_model.queries(2))


def test_an_absent_cross_compiler_says_how_to_install_it(tmp_path, monkeypatch):
    """reliability 27: toolchain absent."""
    recipe = small_model.write_model(tmp_path, M7)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match=r"apt-get install .* gcc-arm-none-eabi"):
        build(recipe, tmp_path, M7)


def test_queries_of_another_shape_are_refused(built):
    with pytest.raises(UsageError, match="must be uint32 of shape"):
        QemuRunner().run(built(M7), np.zeros((2, 4), np.uint32))
