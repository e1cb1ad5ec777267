"""Early exits in C: every path is taken, no kernel is computed twice, the audit counts right."""

from __future__ import annotations

import re
from dataclasses import replace

import cffi
import numpy as np
import pytest

from kit import cascades, catalogue
from kit.covering import every_nth
from kit.host_program import STRICT
from kit.tools import need, succeed
from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.program.interpreter import Status, classify
from kmcompile.program.stages import NearestVectors, Nonzeros

UINT32_MAX = 0xFFFFFFFF


def library(folder, text, declarations):
    """Build a shared library of the model's text with additions; return cffi and the library."""
    need("gcc")
    (folder / "iris.c").write_text(text)
    result = folder / "model.so"
    flags = [*EXACT_FLAGS, *STRICT, "-O2", "-fPIC", "-shared"]
    succeed(["gcc", *flags, folder / "iris.c", "-o", result])
    ffi = cffi.FFI()
    ffi.cdef(declarations)
    return ffi, ffi.dlopen(str(result))


def declarations(emitted) -> str:
    """Return what cffi has to know of the header."""
    header = emitted.files["iris.h"].decode()
    types = re.findall(r"^typedef (?:enum|struct) \{.*?^\} \w+;$", header, re.M | re.S)
    text = "\n".join(["typedef float iris_input_t;", *types])
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"\[(\d+)UL?\]", r"[\1]", text)
    return f"""{text}
iris_status_t iris_classify(iris_workspace_t *, const float *, iris_result_t *);
iris_status_t iris_audit(iris_workspace_t *, const float *, iris_result_t *, iris_audit_t *);
"""


@pytest.mark.few
@pytest.mark.parametrize("case", every_nth([*cascades.CORE, *cascades.EVERY], 6))
def test_the_queries_take_every_path(case):
    emitted = catalogue.emitted(case, "host")
    results = emitted.answers.results
    accepted = results[results["status"] == Status.OK]
    n_stages = len(emitted.program.exit_stages)
    assert set(accepted["stage"]) == set(range(n_stages))
    last = accepted["stage"] == n_stages - 1
    assert accepted["in_range"][~last].all()
    assert accepted["in_range"][last].any()
    assert not accepted["in_range"][last].all()
    assert not accepted["certified"][~last].any()
    nearest = emitted.program.early_exits[-1]
    assert isinstance(nearest, NearestVectors)
    touched = set(accepted["kernel_evals"][accepted["stage"] == n_stages - 2])
    assert touched <= set(nearest.steps.tolist())
    assert len(touched) >= 3
    assert set(accepted["kernel_evals"][last]) == {emitted.program.ends.exact.n_vectors}


def counting(text: str) -> str:
    """Return the model with a counter of every slot whose kernel total is computed."""
    counter = "extern unsigned iris_slots[IRIS_N_SLOTS];\nunsigned iris_slots[IRIS_N_SLOTS];\n\n"
    one = "    float total = 0.0f;\n"
    sparse = "iris_block_totals(vectors, workspace, input, total);" in text
    x = "workspace, input" if sparse else "input->x"
    for spaces, i in ((12, "p"), (8, "lane")):
        block = f"\n{' ' * spaces}iris_block_totals(vectors, {x}, total);\n"
        assert text.count(block) == 1 or (i == "lane" and "IRIS_LANES 1U" in text)
        each = f"    for ({i} = 0U; {i} < IRIS_LANES; ++{i}) {{\n"
        each += f"        iris_slots[(block * IRIS_LANES) + {i}] += 1U;\n    }}\n"
        text = text.replace(block, block + each)
    at = text.index(one, text.index("static float iris_vector_total("))
    text = text[:at] + one + "    iris_slots[slot] += 1U;\n" + text[at + len(one) :]
    return text.replace("/* |v|, of any v", counter + "/* |v|, of any v", 1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", every_nth(cascades.CORE, 3))
@pytest.mark.parametrize("target", ["host", "cortex-m7"])
def test_a_total_is_computed_twice_only_where_its_whole_block_takes_less(case, target, tmp_path):
    emitted = catalogue.emitted(case, target)
    emitted.write(tmp_path)
    text = counting(emitted.files["iris.c"].decode())
    exact = emitted.program.ends.exact
    n_slots = exact.n_slots
    more = f"extern unsigned iris_slots[{n_slots}];"
    ffi, lib = library(tmp_path, text, declarations(emitted) + more)
    workspace, result = ffi.new("iris_workspace_t *"), ffi.new("iris_result_t *")
    counts = np.frombuffer(ffi.buffer(lib.iris_slots), dtype=np.uint32)
    last = len(emitted.program.exit_stages) - 1
    reused = 0
    for x, expected in zip(emitted.queries, emitted.answers.results, strict=True):
        counts[:] = 0
        status = lib.iris_classify(workspace, ffi.from_buffer("float[]", x), result)
        assert status == expected["status"]
        if status == Status.OK:
            twice = (counts.reshape(-1, exact.lanes) == 2).sum(axis=1)
            assert counts.max() <= 2
            assert (exact.lanes - twice[twice > 0] > exact.most_single).all()
            if expected["stage"] == last:
                assert counts.min() == 1
            else:
                assert counts.sum() == expected["kernel_evals"]
            reused += expected["stage"] == last and bool(expected["in_range"])
    assert reused > 0


def drawn(state: int, period: int) -> tuple[int, bool]:
    """Return the next state of the audit's generator and whether it picks the query."""
    number = state or 0x9E3779B9
    number ^= (number << 13) & UINT32_MAX
    number ^= number >> 17
    number ^= (number << 5) & UINT32_MAX
    mixed = (number * 0x9E3779BB) & UINT32_MAX
    return number, (mixed * period) >> 32 == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", every_nth(cascades.CORE, 3))
@pytest.mark.parametrize(("period", "state"), [(0, 1), (1, 0), (3, 7), (50, 0xFFFFFFFF)])
def test_the_audit_counts_what_the_interpreter_counts(case, period, state, tmp_path):
    emitted = catalogue.emitted(case, "host")
    emitted.write(tmp_path)
    text = emitted.files["iris.c"].decode()
    ffi, lib = library(tmp_path, text, declarations(emitted))
    workspace, result = ffi.new("iris_workspace_t *"), ffi.new("iris_result_t *")
    audit = ffi.new("iris_audit_t *", {"period": period, "state": state})
    exact = without_exits(emitted.program)
    X = emitted.queries
    early, sums = emitted.answers.results, classify(exact, X)[0]
    counted = {"queries": 0, "checked": 0, "differences": 0}
    for x, quick, slow in zip(X, early, sums, strict=True):
        status = lib.iris_audit(workspace, ffi.from_buffer("float[]", x), result, audit)
        assert status == quick["status"]
        if status != Status.OK:
            continue
        counted["queries"] += 1
        picked = False
        if period:
            state, picked = drawn(state, period)
        counted["checked"] += picked
        counted["differences"] += picked and bool(quick["label"] != slow["label"])
        expected = slow if picked else quick
        assert result.label == expected["label"]
        assert np.float32(result.lower) == expected["lower"]
        assert np.float32(result.upper) == expected["upper"]
        assert result.kernel_evals == expected["kernel_evals"]
        assert result.certified == bool(expected["certified"])
        assert result.in_range == bool(quick["in_range"])
    assert {name: getattr(audit, name) for name in counted} == counted
    assert audit.period == period
    if period == 1:
        assert counted["checked"] == counted["queries"]
        assert counted["differences"] > 0


def without_exits(program):
    """Return the program without its early exits, with the list of nonzeros if there is one."""
    lists = tuple(stage for stage in program.exits if isinstance(stage, Nonzeros))
    return replace(program, mode="exact", exits=lists)


def test_the_audit_s_counters_stay_at_their_largest_value(tmp_path):
    emitted = catalogue.emitted(cascades.CORE[0], "host")
    emitted.write(tmp_path)
    ffi, lib = library(tmp_path, emitted.files["iris.c"].decode(), declarations(emitted))
    workspace, result = ffi.new("iris_workspace_t *"), ffi.new("iris_result_t *")
    full = {"period": 1, "queries": UINT32_MAX, "checked": UINT32_MAX, "differences": 5}
    audit = ffi.new("iris_audit_t *", full)
    for x in emitted.queries:
        lib.iris_audit(workspace, ffi.from_buffer("float[]", x), result, audit)
    assert {name: getattr(audit, name) for name in full} == full


@pytest.mark.few
@pytest.mark.parametrize("missing", range(4))
def test_the_audit_refuses_null(missing, tmp_path):
    emitted = catalogue.emitted(cascades.CORE[0], "host")
    emitted.write(tmp_path)
    ffi, lib = library(tmp_path, emitted.files["iris.c"].decode(), declarations(emitted))
    types = ("iris_workspace_t *", f"float[{emitted.program.n_features}]")
    types += ("iris_result_t *", "iris_audit_t *")
    arguments = [ffi.new(kind) for kind in types]
    arguments[missing] = ffi.NULL
    assert lib.iris_audit(*arguments) == Status.ERROR_NULL


@pytest.mark.parametrize("period", [2, 10, 1000])
def test_the_audit_picks_its_share(period):
    """A binomial count lies within 6 standard deviations but for 2e-9."""
    n, state, picked = 200_000, 12345, 0
    for _ in range(n):
        state, hit = drawn(state, period)
        picked += hit
    assert abs(picked - n / period) <= 6 * np.sqrt(n / period)


@pytest.mark.parametrize("period", [2, 10, 1000])
def test_the_audit_picks_its_share_from_small_states(period):
    """Boards begin with 0, a serial number or a counter: their first draws are no likelier."""
    n, picked = 20_000, 0
    for seed in range(n):
        state = seed
        for _ in range(5):
            state, hit = drawn(state, period)
            picked += hit
    assert abs(picked - 5 * n / period) <= 6 * np.sqrt(5 * n / period)
