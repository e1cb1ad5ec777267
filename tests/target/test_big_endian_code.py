"""What is in the machine code of the big-endian targets, and what is not."""

from __future__ import annotations

import pytest

from kit import cascades, catalogue, coded, pairs, replays, sign_maps
from kit.tools import need, run, succeed
from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.machine_code import elf
from kmcompile.target import load_target

LEON3, PPC750 = load_target("leon3"), load_target("ppc750")
INSERTED = {"memcpy", "memset"}  # by compilers, where the C has neither
# Sums of 64 bits, in the first; stages that the images of every board leave out, in the others.
WIDE = [case for case in coded.CORE if "wide_poly" in str(case)]
CASES = [*WIDE, cascades.EVERY[-1], replays.SOME[0], pairs.MORE[0], sign_maps.CORE[0]]

pytestmark = pytest.mark.target


def compiled(target, folder, source, *more):
    """Compile one file as a build does; return the object file."""
    need(target.compiler.command)
    result = folder / "object.o"
    flags = [*target.compiler.flags, target.compiler.optimisation, *EXACT_FLAGS, "-ffreestanding"]
    succeed([target.compiler.command, *flags, *more, "-c", source, "-o", result])
    return result


@pytest.mark.few
@pytest.mark.parametrize("case", CASES, ids=str)
def test_emitted_c_needs_no_routine_of_a_library_on_leon3(case, tmp_path):
    emitted = catalogue.emitted(case, "leon3")
    emitted.write(tmp_path)
    needed = {
        name
        for source in emitted.recipe.sources
        for name in elf.undefined_symbols(compiled(LEON3, tmp_path, tmp_path / source))
    }
    assert needed <= INSERTED


@pytest.mark.parametrize("type_name", ["float", "double"])
def test_a_multiplication_and_an_addition_stay_two_instructions_on_ppc750(tmp_path, type_name):
    """reliability 32: FMA contraction."""
    source = tmp_path / "sum.c"
    declared = f"{type_name} sum({type_name} a, {type_name} b, {type_name} c)"
    source.write_text(f"{declared};\n{declared} {{ return (a * b) + c; }}\n")
    code = disassembled(compiled(PPC750, tmp_path, source))
    assert "fmul" in code and "fadd" in code and "fmadd" not in code
    fused = disassembled(compiled(PPC750, tmp_path, source, "-ffp-contract=fast"))
    assert "fmadd" in fused


def disassembled(path):
    """Return the instructions of an object."""
    objdump = "powerpc-linux-gnu-objdump"
    need(objdump)
    return run([objdump, "-d", "--no-show-raw-insn", path]).stdout
