"""What fits an ATmega2560: bits, stack, float operations, the call graph by instruction."""

from __future__ import annotations

import numpy as np
import pytest
import small_model
import soft_float

from kit import cascades, catalogue, coded
from kit.covering import every_nth
from kit.every_target import with_many_queries
from kit.tools import need_tools
from kmcompile.build import build
from kmcompile.errors import BudgetError, ToolError
from kmcompile.program.interpreter import Status
from kmcompile.program.memory import check_tables
from kmcompile.run import runner_for
from kmcompile.target import load_target

AVR = load_target("avr")
CASES = (*catalogue.CORE[::3], *coded.CORE[1:5:2], coded.CORE[10], cascades.CORE[0])
N_QUERIES = 50
"""Of each case: each takes some 10 ms on the emulated board."""

pytestmark = pytest.mark.target


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", every_nth(CASES, 4))
def test_answers_match_the_interpreter_bit_for_bit(case, tmp_path):
    """reliability 36: the stack that was used is no more than the static figure."""
    need_tools(AVR)
    emitted = with_many_queries(catalogue.emitted(case, "avr"))
    emitted.write(tmp_path)
    some = np.linspace(0, len(emitted.inputs) - 1, N_QUERIES).astype(int)
    with build(emitted.recipe, tmp_path, AVR) as artifact:
        result = runner_for(AVR).run(artifact, emitted.inputs[some])
    np.testing.assert_array_equal(result.records, emitted.records[some])
    assert result.self_test == Status.OK
    assert 0 < result.painted_stack_bytes <= artifact.stack_bytes
    names = [*emitted.program.classes, *(stage.name for stage in emitted.program.exit_stages)]
    assert artifact.ram_bytes == sum(len(str(name)) + 1 for name in names) + 2 * len(names)


def test_float_operations_are_those_of_ieee_754(tmp_path):
    """avr-libc's products and quotients below 2^-126 are not: the model brings its own."""
    need_tools(AVR)
    queries = np.concatenate([soft_float.special_queries()[::19], soft_float.random_queries(80)])
    with build(soft_float.write_model(tmp_path, AVR), tmp_path, AVR) as artifact:
        result = runner_for(AVR).run(artifact, queries)
    assert not soft_float.wrong(result.records, queries).any()


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("volatile char space[(int)x[0]]; space[0] = 1;", "to the stack pointer"),
        ("float (*volatile f)(const float *) = small_decision; sum = f(x);", "computed address"),
        ("sum = (x[0] > 0.0f) ? small_classify(x) + 1.0f : 0.0f; sum += sum;", "is recursive"),
    ],
)
def test_a_stack_without_a_bound_is_an_error(statement, why, tmp_path):
    need_tools(AVR)
    text = small_model.MODEL_C.replace("float sum = 0.0f;", f"float sum = 0.0f;\n{statement}", 1)
    recipe = small_model.write_model(tmp_path, AVR, text)
    with pytest.raises(ToolError, match=why):
        build(recipe, tmp_path, AVR, optimisation="-O0")


@pytest.mark.parametrize("size", [256, 512])
def test_a_frame_of_whole_pages_is_known(size, tmp_path):
    """avr-gcc moves the high byte of the stack pointer alone: INC, DEC or SUBI."""
    need_tools(AVR)
    statement = f"volatile char space[{size}]; space[(unsigned char)x[0]] = 1; sum += space[0];"
    text = small_model.MODEL_C.replace("float sum = 0.0f;", f"float sum = 0.0f;\n{statement}", 1)
    recipe = small_model.write_model(tmp_path, AVR, text)
    with build(recipe, tmp_path, AVR) as artifact:
        assert size < artifact.stack_bytes < size + 256


def test_a_table_larger_than_an_array_can_be_is_refused():
    program = catalogue.emitted(cascades.CORE[2], "avr").program
    with pytest.raises(
        BudgetError, match=r"vectors has 40,448 bytes, an array of avr at most 32,767"
    ):
        check_tables(program, AVR)


def test_tables_beyond_64_kb_are_refused(monkeypatch):
    """avr-gcc 5.4 reads wrong values there: the self-test of such an image fails."""
    program = catalogue.emitted(CASES[0], "avr").program
    check_tables(program, AVR)
    monkeypatch.setattr(type(program), "table_bytes", property(lambda self: 65_000))
    with pytest.raises(BudgetError, match="65,000 bytes, avr reads them below address 65,536 only"):
        check_tables(program, AVR)
