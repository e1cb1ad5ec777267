"""Code that an analysis could follow for ever: each ends, with a figure or with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmcompile.errors import ToolError
from kmcompile.machine_code import elf
from kmcompile.machine_code.avr import read_avr_call_graph
from kmcompile.machine_code.c_source.constant_expressions import evaluate
from kmcompile.machine_code.call_graph import CallGraph
from kmcompile.machine_code.library_calls import LibraryCalls
from kmcompile.machine_code.limits import MOST_LOOPS, MOST_NESTED, MOST_STEPS, drained
from kmcompile.machine_code.worst_case import analysis
from kmcompile.machine_code.worst_case.disassembly import Disassembly
from kmcompile.machine_code.worst_case.flow_graph import read_flow_graph
from kmcompile.machine_code.worst_case.instruction import Instruction, NotUnderstoodError
from kmcompile.machine_code.worst_case.jump_tables import table_targets
from kmcompile.machine_code.worst_case.one_entry import with_one_entry
from kmcompile.machine_code.worst_case.source_lines import SourceLines
from kmcompile.target import load_target

COPY_SP = (0xB7CD, 0xB7DE)  # in r28, SPL; in r29, SPH
PUSH, RET, NOP = 0x920F, 0x9508, 0x0000
LEVELS = 64


@pytest.fixture
def avr_frame(monkeypatch):
    def frame(*words):
        code = b"".join(word.to_bytes(2, "little") for word in words)
        monkeypatch.setattr(elf, "code_and_functions", lambda image: (code, {"f": 0}))
        return read_avr_call_graph(Path("image.elf"), ["f"]).frames["f"]

    return frame


def program_of(machine, lines, functions, size=2):
    """Return the disassembly of some lines, (mnemonic, operands, target), from address 0 on."""
    instructions = {
        size * n: Instruction(size * n, size * (n + 1), mnemonic, operands, "", target)
        for n, (mnemonic, operands, target) in enumerate(lines)
    }
    names = {address: name for name, address in functions.items()}
    return Disassembly(machine, True, instructions, functions, names, {}, ())


def test_a_pointer_that_steps_through_an_array_on_the_stack_is_followed(avr_frame):
    movw, subi, sbci, brne = 0x018E, 0x5F0C, 0x4F1F, 0xF7E9  # r17:r16 += 4, back to subi
    assert avr_frame(PUSH, *COPY_SP, movw, subi, sbci, brne, 0x900F, RET) == 3 + 1


def test_a_stack_pointer_whose_copy_depends_on_the_path_is_not_known(avr_frame):
    branch, step, write = 0xF009, 0x9724, (0xBFDE, 0xBFCD)  # breq over sbiw r28, 4; out SP
    with pytest.raises(ToolError, match="what is not known to the stack pointer"):
        avr_frame(*COPY_SP, branch, step, *write, RET)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((PUSH, 0xCFFE), "f pushes in a loop"),
        ((NOP, NOP), "f leaves the code, to 0x4"),
        ((0xCFFD,), "f leaves the code, to -0x4"),
    ],
)
def test_code_without_an_end_has_no_frame(words, why, avr_frame):
    with pytest.raises(ToolError, match=why):
        avr_frame(*words)


def test_calls_with_very_many_paths_are_added_up():
    """Each of 64 functions calls two that call both of the next."""
    frames = {f"{side}{n}": 1 for n in range(LEVELS) for side in "ab"}
    calls = {f"{s}{n}": frozenset([f"a{n + 1}", f"b{n + 1}"]) for n in range(LEVELS) for s in "ab"}
    ends = {f"{side}{LEVELS}": 1 for side in "ab"}
    assert CallGraph(frames, calls).stack_bytes("a0", ends) == LEVELS + 1
    sections = {
        2 * n + i: frozenset([f"{s}{n}"]) for n in range(LEVELS) for i, s in enumerate("ab")
    }
    below = {
        2 * n + i: frozenset({2 * n + 2, 2 * n + 3}) for n in range(LEVELS - 1) for i in (0, 1)
    }
    assert LibraryCalls(sections, below, {}).stack_bytes(frames)["a0"] == LEVELS


def test_calls_that_nest_too_deep_have_no_stack():
    n = 20 * MOST_NESTED
    frames = {str(i): 1 for i in range(n)}
    with pytest.raises(ToolError, match=rf"calls: given up, more than {MOST_NESTED}"):
        CallGraph(frames, {str(i): frozenset([str(i + 1)]) for i in range(n)}).stack_bytes("0", {})
    sections = {i: frozenset([str(i)]) for i in range(n)}
    below = {i: frozenset([i + 1]) for i in range(n - 1)}
    with pytest.raises(ToolError, match=r"library: given up, more than"):
        LibraryCalls(sections, below, {}).stack_bytes(frames)


def test_calls_that_nest_too_deep_have_no_worst_case(monkeypatch):
    n = 20 * MOST_NESTED
    lines = [line for i in range(n) for line in (("call", "", 4 * i + 4), ("ret", "", None))]
    program = program_of("EM_AVR", lines, {f"f{i}": 4 * i for i in range(n)})
    monkeypatch.setattr(analysis, "disassemble", lambda image, compiler: program)
    lines = SourceLines((), (), ())
    monkeypatch.setattr(analysis, "read_source_lines", lambda image, sources: lines)
    compiler = load_target("avr").compiler
    with pytest.raises(ToolError, match="calls: given up"):
        analysis.worst_case(Path("image.elf"), "f", (), compiler, (), entry="f0")


def test_a_list_that_never_ends_is_given_up():
    to_do = [0]
    with pytest.raises(ToolError, match=r"f: given up after 100,000 steps"):
        for item in drained(to_do, "f"):
            to_do.append(item + 1)
    assert list(drained([1, 2], "f", most=2)) == [2, 1]


def test_a_function_of_too_many_instructions_is_given_up():
    lines = [("nop", "", None)] * (MOST_STEPS + 1)
    with pytest.raises(ToolError, match="the instructions of f: given up"):
        read_flow_graph(program_of("EM_AVR", lines, {"f": 0}), 0)


def test_a_function_of_too_many_loops_is_given_up():
    lines = [("brne", "", 2 * n) for n in range(MOST_LOOPS + 1)]  # each instruction to itself
    graph = read_flow_graph(program_of("EM_AVR", [*lines, ("ret", "", None)], {"f": 0}), 0)
    with pytest.raises(ToolError, match="the loops of the code at 0x0: given up"):
        with_one_entry(graph)


@pytest.mark.parametrize(("machine", "line"), [("EM_AVR", "sbrc"), ("EM_SPARC", "b")])
def test_code_that_ends_within_a_skip_or_a_jump_is_not_understood(machine, line):
    with pytest.raises(NotUnderstoodError, match="f goes to 0x2, where no instruction is"):
        read_flow_graph(program_of(machine, [(line, "", 0)], {"f": 0}), 0)


def test_a_table_of_very_many_jumps_is_not_read():
    lines = [("cmp", "r3, #4294967295", None), ("jr", "a5", None)]
    program = program_of("EM_RISCV", lines, {"f": 0})
    with pytest.raises(NotUnderstoodError, match="the table of the jump 'jr a5' is not known"):
        list(table_targets(program, program.instructions[2]))


def test_an_expression_that_nests_very_deep_is_no_constant():
    with pytest.raises(ValueError, match="20,001 characters is too long"):
        evaluate("1" + "+1" * 10_000, {})
