"""Instructions of the small model, as the plugin counts them on every emulated board."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import small_model
from small_model import model_with

from kit.covering import some
from kmcompile.run import QemuRunner, runner_for
from kmcompile.target import list_targets, load_target
from kmcompile.tools import toolchain

BOARDS = [target for target in list_targets() if target.emulator is not None]
LEON3 = load_target("leon3")
M7 = load_target("cortex-m7")

pytestmark = pytest.mark.target


@dataclass(frozen=True)
class HandCounted:
    """A loop of two instructions a turn, and a function that calls it, in assembler."""

    loop: str
    besides_turns: int
    call: str
    of_call: int
    naked: bool = True


_ARM = HandCounted(
    r".syntax unified\nldr r1, ={turns}\n1: subs r1, #1\nbne 1b\nbx lr",
    2,
    r"push {lr}\nbl inner\npop {pc}",
    3,
)
# By the start-up of their family.
HAND_COUNTED = {
    "boot/cortex_m.c.j2": _ARM,
    "boot/arm.c.j2": _ARM,
    "boot/aarch64.c.j2": HandCounted(
        r"ldr x1, ={turns}\n1: subs x1, x1, #1\nb.ne 1b\nret",
        2,
        r"mov x9, x30\nbl inner\nret x9",
        3,
        naked=False,
    ),
    "boot/riscv.c.j2": HandCounted(
        r"lui t0, %hi({turns})\naddi t0, t0, %lo({turns})\n1: addi t0, t0, -1\nbnez t0, 1b\nret",
        3,
        r"mv t1, ra\njal ra, inner\njr t1",
        3,
    ),
    # A branch executes the instruction after it, too; the first test comes before the loop.
    "boot/sparc.c.j2": HandCounted(
        r"sethi %hi({turns}), %g1\nor %g1, %lo({turns}), %g1\nsubcc %g1, 1, %g1\n"
        r"1: bne 1b\nsubcc %g1, 1, %g1\nretl\nnop",
        5,
        r"mov %o7, %g2\ncall inner\nnop\njmp %g2 + 8\nnop",
        5,
        naked=False,
    ),
    "boot/powerpc.c.j2": HandCounted(
        r"lis 9, {turns}@h\nori 9, 9, {turns}@l\n1: addic. 9, 9, -1\nbne 1b\nblr",
        3,
        r"mflr 10\nbl inner\nmtlr 10\nblr",
        4,
        naked=False,
    ),
    # Four instructions for two turns: a pair of registers counts to 65535.
    "boot/avr.c.j2": HandCounted(
        r"ldi r24, lo8({turns}/2)\nldi r25, hi8({turns}/2)\n"
        r"1: nop\nnop\nsbiw r24, 1\nbrne 1b\nret",
        3,
        r"call inner\nret",
        2,
    ),
}
BY_HAND = [target for target in BOARDS if target.boot.startup in HAND_COUNTED]


def by_name(target):
    return target.name


COUNTED = ("cortex-m0", "cortex-m7", "leon3", "rv32imac")
"""What `make test` takes of the boards."""


@pytest.mark.few
@pytest.mark.parametrize("target", some(BY_HAND, COUNTED, by_name))
@pytest.mark.parametrize("turns", [1000, 101000])
@pytest.mark.parametrize("calls_itself_out", [False, True])
def test_instructions_are_those_counted_by_hand(built, target, turns, calls_itself_out):
    by_hand = HAND_COUNTED[target.boot.startup]
    start, end = (small_model.MODEL_C.index(f"float small_{f}") for f in ("classify", "decision"))
    # Where gcc has no naked functions these take no stack and so have no prologue.
    naked = "__attribute__((naked)) " if by_hand.naked else ""
    loop = f'{{ __asm__ volatile("{by_hand.loop.format(turns=turns)}"); }}\n'
    classify = f"{naked}float small_classify(const float x[3])"
    if calls_itself_out:
        code = f"{naked}float inner(void);\n{naked}float inner(void) {loop}"
        code += f'{classify} {{ __asm__ volatile("{by_hand.call}"); }}\n'
    else:
        code = f"{classify} {loop}"
    text = small_model.MODEL_C[:start] + code + small_model.MODEL_C[end:]
    result = runner_for(target).run(built(target, text), small_model.queries(3), True)
    expected = by_hand.besides_turns + 2 * turns + (by_hand.of_call if calls_itself_out else 0)
    assert result.instructions.tolist() == [expected] * 3


def test_traps_of_register_windows_are_not_counted(built):
    """A LEON3 has eight windows: deeper calls spill them, and blocks end where that happens."""
    start, end = (small_model.MODEL_C.index(f"float small_{f}") for f in ("classify", "decision"))
    counts = []
    for depth in (2, 11, 20):
        code = "NOIPA static float call_0(float x) { return x; }\n"
        for n in range(1, depth):
            code += f"NOIPA static float call_{n}(float x) {{ return call_{n - 1}(x) + 1.0f; }}\n"
        code = code.replace("NOIPA", "__attribute__((noipa))")
        code += (
            f"float small_classify(const float x[3]) {{ return call_{depth - 1}(x[0]) + x[1]; }}\n"
        )
        text = small_model.MODEL_C[:start] + code + small_model.MODEL_C[end:]
        result = runner_for(LEON3).run(built(LEON3, text), small_model.queries(3), True)
        assert len(set(result.instructions.tolist())) == 1
        counts.append(int(result.instructions[0]))
    assert counts[1] - counts[0] == counts[2] - counts[1] < 9 * 12


@pytest.mark.few
@pytest.mark.parametrize("target", some(BOARDS, COUNTED, by_name))
def test_instructions_repeat_and_follow_the_work(built, target):
    text = model_with("for (volatile int i = 0; i < (int)x[0]; i++) { }")
    inputs = np.zeros((4, small_model.N_FEATURES), dtype=np.float32)
    inputs[:, 0] = [0, 100, 200, 300]
    artifact = built(target, text)
    first, second = (
        runner_for(target).run(artifact, inputs.view(np.uint32), True).instructions
        for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)
    # Not always by the same number: floats in software take what their bits need.
    assert (np.diff(first) > 0).all()


def test_without_a_host_compiler_there_are_no_counts_but_a_reason(built, monkeypatch):
    artifact = built(M7)
    monkeypatch.setattr(toolchain, "host_compiler", lambda: None)
    result = QemuRunner().run(artifact, small_model.queries(2), True)
    assert result.instructions is None
    assert "no C compiler on the host" in result.no_instructions_reason
