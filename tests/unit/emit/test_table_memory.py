"""Tables of processors whose program memory is not in their data space."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from kit import (
    additive,
    calibrated,
    cascades,
    catalogue,
    certified,
    coded,
    coded_polynomials,
    pairs,
    polynomials,
    ratios,
    regressions,
    replays,
)
from kit.covering import every_nth
from kit.emitted import Emitted
from kit.tools import need, run
from kmcompile.build.compiling import EXACT_FLAGS

CASES = [
    *catalogue.CORE,
    *cascades.CORE,
    *replays.CORE[:3],
    *coded.CORE,
    *coded.REPLAYED,
    *calibrated.CORE,
    *certified.EVERY,
    *ratios.CORE,
    *pairs.CORE,
    *polynomials.CORE,
    *coded_polynomials.CORE,
    *additive.CORE,
    *regressions.SIGNED,
]

APART = "-DIRIS_TABLE=__attribute__((address_space(1)))"
"""clang's own: it converts no pointer to another address space by itself."""


def with_tables_apart(case) -> Emitted:
    """Return a case for a host whose tables are in program memory."""
    emitted = catalogue.emitted(case, "host")
    program = replace(emitted.target.program, memory_space="program")
    return replace(emitted, target=replace(emitted.target, program=program))


@pytest.mark.few
@pytest.mark.parametrize("case", every_nth(CASES, 6))
def test_lines_are_short_with_a_long_prefix(case):
    emitted = with_tables_apart(case)
    program = replace(emitted.program, name="a_name_of_20_letters")
    emitted = replace(emitted, program=program)
    text = emitted.files["a_name_of_20_letters.c"].decode()
    assert max(map(len, text.splitlines())) <= 100


def check(text: str, folder: Path) -> subprocess.CompletedProcess:
    """Check the types of a model by clang, which wants parameters written as pointers."""
    need("clang")
    text = re.sub(r"(const IRIS_TABLE \w+) (\w+)\[[\w *]+\]([,)])", r"\1 *\2\3", text)
    (folder / "iris.c").write_text(text, encoding="ascii")
    flags = [*EXACT_FLAGS, "-Wall", "-Werror", APART, "-fsyntax-only"]
    return run(["clang", *flags, folder / "iris.c"])


@pytest.mark.few
@pytest.mark.parametrize("case", every_nth(CASES, 6))
def test_every_pointer_through_which_tables_are_read_is_qualified(case, tmp_path):
    emitted = with_tables_apart(case)
    emitted.write(tmp_path)
    done = check(emitted.files["iris.c"].decode(), tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_pointer_that_lacks_the_qualifier_is_noticed(tmp_path):
    emitted = with_tables_apart(CASES[0])
    emitted.write(tmp_path)
    text = emitted.files["iris.c"].decode()
    qualified = "const IRIS_TABLE float *const s ="
    assert qualified in text
    done = check(text.replace(qualified, "const float *const s ="), tmp_path)
    assert "changes address space" in done.stderr


def test_where_tables_are_data_there_is_no_qualifier():
    assert b"_TABLE " not in catalogue.emitted(CASES[0], "cortex-m7").files["iris.c"]
