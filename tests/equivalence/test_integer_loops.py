"""The emitted inner products of integers are those of the table of codes, in every layout.

On the host by themselves, with random tables and codes at the ends of every scale; on boards with
their own instructions, as programs, beside the interpreter.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit import fixed_sums
from kit.emitted import Emitted
from kit.host_program import STRICT
from kit.tools import HANGS_S, need, need_tools, succeed
from kmcompile.build import build
from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.emit.code_table_view import TABLE, code_table_view
from kmcompile.emit.environment import render
from kmcompile.emit.tables import table_view
from kmcompile.emit.workspace_lines import member_lines
from kmcompile.lower.code_table import alike_features, code_table
from kmcompile.lower.codes import lossless_codes
from kmcompile.lower.integer_program import IntegerTableForm, lower_integers
from kmcompile.model.likely_inputs import ordinary_inputs
from kmcompile.passes import run_passes
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.stages import CodeTable
from kmcompile.program.stages.sums.code_table import CHUNKS, COLUMNS, FOURS, ROWS, SPARSE
from kmcompile.run import runner_for
from kmcompile.target import load_target

SCALES = {
    "uint8": (0, 255),
    "int8": (-128, 127),
    "int16": (-32767, 32767),
    "int16 lossless": (-32768, 32767),
    "int16 halves": (-32767, 32767),
    "int16 narrow": (-500, 500),
}
LAYOUTS = (ROWS, COLUMNS, FOURS, CHUNKS, SPARSE)
SANITIZED = ("-O1", "-fsanitize=undefined,address", "-fno-sanitize-recover=all")
COMPILERS = [(command, (level,)) for command in ("gcc", "clang") for level in ("-O0", "-O3")]
COMPILERS += [("gcc", SANITIZED)]

MAIN = """
#include <stdio.h>
int main(void)
{
    static k_workspace_t workspace;
    static k_input_t x[K_N_FEATURES];
    uint32_t block;
    uint32_t lane;

    while (fread(x, sizeof(x), 1U, stdin) == 1U) {
        k_pack(&workspace, x);
        @SPARSE@
        for (block = 0U; block < K_N_BLOCKS; ++block) {
            @TYPE@ product[K_LANES];

            k_block_products(&workspace, block, product);
            for (lane = 0U; lane < K_LANES; ++lane) {
                const uint64_t wide = product[lane];

                (void)fwrite(&wide, sizeof(wide), 1U, stdout);
            }
        }
        {
            const uint64_t square = k_code_square(x);

            (void)fwrite(&square, sizeof(square), 1U, stdout);
        }
    }
    return 0;
}
"""


class Vectors:
    """What a table is made of, in the place of `Coded`."""

    def __init__(self, codes: np.ndarray, scale: str) -> None:
        self.codes = codes
        self.width = scale.split()[0]
        self.low, self.high = SCALES[scale]


def random_codes(rng: np.random.Generator, scale: str, m: int, n: int) -> np.ndarray:
    """Return codes at the ends of the scale, anywhere, or 0, some columns 0 in all of them."""
    low, high = SCALES[scale]
    ends = rng.choice([low, high], size=(m, n))
    codes = np.where(rng.random((m, n)) < 0.6, ends, rng.integers(low, high + 1, size=(m, n)))
    return codes * (rng.random((m, n)) < rng.choice([0.05, 0.3, 1.0])) * (rng.random(n) < 0.9)


def random_table(rng: np.random.Generator, scale: str, layout: str, m: int, n: int) -> CodeTable:
    """Return the table of random vectors, some of which only fill up."""
    lanes = 16 if layout == ROWS else 4
    order = np.arange(-(-m // lanes) * lanes)
    codes = random_codes(rng, scale, len(order), n)
    if scale == "int16 halves":
        codes = codes // 2  # as scaled vectors are: inputs may lie twice as far from the middle
    return code_table(Vectors(codes, scale), order, order >= m, layout, lanes)


def source(table: CodeTable) -> str:
    """Return the C of a table's inner products with a main program around them."""
    view = code_table_view(table)
    names = {"name": "k", "upper": "K", "of_table": ""}
    sizes = {
        "LANES": table.lanes,
        "N_BLOCKS": table.n_slots // table.lanes,
        "N_FEATURES": table.n_features,
        "N_USED": table.n_used,
        "N_PADDED": table.n_padded,
        "N_FOURS": table.n_fours,
        "N_CHUNKS": table.n_padded // table.run if table.layout == CHUNKS else 0,
        "N_TURNS": table.n_turns if table.sparse else 0,
        "N_TOTALS": table.n_totals,
    }
    text = ["#include <stdbool.h>", "#include <stddef.h>", "#include <stdint.h>"]
    text += [f"#define K_{key} {value}U" for key, value in sizes.items()]
    text += ["#define K_MULTIPLIES_PAIRS 0", "#define K_HAS_VECTORS 0"]
    text += [f"typedef {table.width}_t k_input_t;"]
    text += ["typedef union { int16_t code[4]; int32_t word[2]; } k_four_t;"]
    members = (line for line, _ in member_lines(table.members("k")))
    text += ["typedef struct {", *members, "} k_workspace_t;"]
    for one in table.tables():
        union = table.in_fours and one.name == TABLE
        shown = table_view(one, as_words=union)
        head, tail = f"static const {shown.c_type} k_{one.name}[{shown.length}] = {{", "};"
        if union:
            members = f"{shown.c_type} code[{shown.length}]; uint32_t word[{shown.code_words}];"
            head, tail = f"static const union {{ {members} }} k_{one.name} = {{ {{", "} };"
        text += [head, shown.text, tail] if one.name != "squares" else []
    text += [
        render(f"{name}.c.j2", view=view, **names)
        for name in ("code_table/pack", "code_table/square", *view.templates)
    ]
    sparse = "k_sparse_products(&workspace);" if table.sparse else ""
    return "\n".join(text) + MAIN.replace("@SPARSE@", sparse).replace("@TYPE@", view.sum_type)


@pytest.mark.few
@settings(max_examples=4)
@given(st.sampled_from(COMPILERS), st.integers(1, 40), st.integers(1, 70), st.integers(0, 10**6))
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_c_has_the_tables_products(layout, scale, compiler, m, n, seed):
    command, flags = compiler
    need(command)
    rng = np.random.default_rng(seed)
    table = random_table(rng, scale, layout, m, n)
    low, high = SCALES[scale]
    x = np.concatenate(
        [random_codes(rng, scale, 6, n), np.full((1, n), low), np.full((1, n), high)]
    ).astype(table.width)
    with TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "k.c").write_text(source(table), encoding="ascii")
        strict = [flag for flag in STRICT if flag != "-Wunused-macros"]
        succeed([command, *EXACT_FLAGS, *strict, *flags, path / "k.c", "-o", path / "k"])
        done = subprocess.run(
            [path / "k"], input=x.tobytes(), capture_output=True, timeout=HANGS_S, check=False
        )
    assert (done.returncode, done.stderr) == (0, b"")
    got = np.frombuffer(done.stdout, dtype=np.uint64).reshape(len(x), -1)
    modulus = 1 << (64 if table.wide else 32)
    wide = x.astype(np.int64)
    wanted = np.column_stack([table.products(wide), (wide**2).sum(axis=1)])
    assert (got == wanted.astype(object) % modulus).all()


GRIDS = {"uint8": 7, "int8": 10, "quarters": 10, "int16": 10}
"""Machines of `fixed_sums` by their grids, with 16 or 60 features."""


def emitted(grid: str, sparse: bool, target: str) -> Emitted:
    """Return a random machine as a program for a target."""
    machine = fixed_sums.random_machine(GRIDS[grid], grid)
    moved = run_passes(machine, centers=False)
    coded = lossless_codes(moved)
    assert coded is not None
    number_format = "int16" if coded.width == "int16" else "int8"
    loaded = load_target(target)
    layout = IntegerTableForm(sparse, wide_coefficients=sparse)
    known = ordinary_inputs(moved, 8)
    program = lower_integers(coded, loaded, "iris", known, layout, number_format)
    return Emitted(machine, program, loaded)


@pytest.mark.exhaustive
@pytest.mark.target
@pytest.mark.parametrize("board", ["cortex-m0", "cortex-m7", "cortex-m55"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("grid", GRIDS)
def test_the_instructions_of_a_board_give_the_same_integers(grid, sparse, board, tmp_path):
    """Products of two codes, of vector registers, and by halves; sparse lists on each."""
    case = emitted(grid, sparse, board)
    need_tools(case.target)
    case.write(tmp_path)
    with build(case.recipe, tmp_path, case.target) as artifact:
        result = runner_for(case.target).run(artifact, case.inputs)
    np.testing.assert_array_equal(result.records, case.records)
    assert result.self_test == Status.OK


def test_these_machines_have_every_width_and_both_sums():
    tables = [
        emitted(grid, sparse, "cortex-m7").program.codes for grid in GRIDS for sparse in (0, 1)
    ]
    found = {(table.width, table.wide, table.sparse) for table in tables}
    kinds = (("uint8", False), ("int8", False), ("int16", False), ("int16", True))
    assert found == {(*kind, sparse) for kind in kinds for sparse in (False, True)}


@pytest.mark.parametrize("grid", GRIDS)
def test_a_layout_is_no_part_of_the_meaning(grid):
    case = emitted(grid, False, "cortex-m7")
    other = emitted(grid, False, "cortex-m55")
    assert other.program.codes.layout != case.program.codes.layout
    answers = interpret(case.program, case.codes)
    np.testing.assert_array_equal(interpret(other.program, case.codes).results, answers.results)


def test_lists_leave_out_what_zeros_do():
    """As many products as there are stored in the fours where an input is not 0."""
    rng = np.random.default_rng(2)
    table = random_table(rng, "uint8", SPARSE, 24, 37)
    x = random_codes(rng, "uint8", 9, 37)
    x[0] = 0
    visited = x[:, table.columns] != 0
    stored = table.stored()
    least = [int((stored & (row != 0)).sum()) for row in visited]
    counted = table.operations_of(x)
    assert counted[0] == 0
    assert (counted >= least).all()
    assert (counted <= table.operations()).all()
    assert table.operations_of(np.full((1, 37), 255))[0] == table.operations()


@settings(max_examples=30)
@given(st.integers(1, 60), st.integers(1, 40), st.integers(0, 10**6))
def test_features_of_a_four_are_put_together_and_none_is_lost(m, n, seed):
    nonzero = np.random.default_rng(seed).random((m, n)) < 0.3
    order = alike_features(nonzero)
    assert sorted(order) == list(range(n))
