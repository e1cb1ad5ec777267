"""Callers that do wrong, and tables that memory no longer holds: the emitted C says so."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from guarded_calls import GUARDED, flip_main

from kit import catalogue, pairs
from kit.host_program import build_program, failures
from kmcompile.emit.self_test_steps import WORDS_PER_STEP

CASES = [catalogue.CORE[0], catalogue.CORE[5]]


REFUSED_MAIN = (
    GUARDED.replace("@FIRST@", "iris.h")
    + """
static float of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, 4U);
    return value;
}
static void expect(const float x[], iris_status_t status, unsigned number)
{
    poison();
    require(iris_classify(&workspace.value, x, &result.value) == status, "classify", number);
    require(iris_decision(&workspace.value, x, sums.value) == status, "decision", number);
    require((status == IRIS_OK) || !answer_written(), "answer written", number);
    require(!canary_died(), "canary", number);
}
int main(void)
{
    static const uint32_t not_finite[] = {
        0x7F800000U, 0xFF800000U,               /* infinities */
        0x7FC00000U, 0xFFC00000U, 0x7FFFFFFFU,  /* quiet NaN */
        0x7F800001U, 0xFF800001U, 0x7FBFFFFFU,  /* signalling NaN */
    };
    const float limit = IRIS_INPUT_LIMIT;
    float x[IRIS_N_FEATURES] = { 0.0f };
    uint32_t bits;
    memcpy(&bits, &limit, 4U);
    expect(x, IRIS_OK, 1000U);
    for (unsigned j = 0U; j < IRIS_N_FEATURES; ++j) {
        for (unsigned k = 0U; k < sizeof not_finite / sizeof not_finite[0]; ++k) {
            x[j] = of_bits(not_finite[k]);
            expect(x, IRIS_ERROR_NOT_FINITE, j);
        }
        x[j] = of_bits(bits + 1U);
        expect(x, IRIS_ERROR_RANGE, j);
        x[j] = -x[j];
        expect(x, IRIS_ERROR_RANGE, j);
        x[(j + 1U) % IRIS_N_FEATURES] = of_bits(0x7FC00000U);  /* NaN is the worse */
        expect(x, IRIS_ERROR_NOT_FINITE, j);
        x[(j + 1U) % IRIS_N_FEATURES] = 0.0f;
        x[j] = limit;
        expect(x, IRIS_OK, j);
        x[j] = -limit;
        expect(x, @NEGATIVE@, j);
        x[j] = 0.0f;
    }
    return 0;
}
"""
)

NULL_MAIN = (
    GUARDED.replace("@FIRST@", "iris.h")
    + """
int main(void)
{
    float x[IRIS_N_FEATURES] = { 0.0f };
    for (unsigned present = 0U; present < 7U; ++present) {
        iris_workspace_t *const w = (present & 1U) ? &workspace.value : NULL;
        const float *const input = (present & 2U) ? x : NULL;
        poison();
        require(iris_classify(w, input, (present & 4U) ? &result.value : NULL) == IRIS_ERROR_NULL,
            "classify", present);
        require(iris_decision(w, input, (present & 4U) ? sums.value : NULL) == IRIS_ERROR_NULL,
            "decision", present);
        require(!answer_written() && !differs(&workspace, sizeof workspace), "written", present);
    }
    require(iris_self_test_step(NULL) == IRIS_ERROR_NULL, "self_test_step", 0U);
    return 0;
}
"""
)


def check(case, folder, main, flags=("-O2",), sources=("iris.c",)):
    program = build_program(catalogue.emitted(case, "host"), folder, main, flags, sources=sources)
    assert failures(program) == []


@pytest.mark.few
@pytest.mark.parametrize("case", catalogue.CORE, ids=str)
def test_what_is_not_finite_or_too_large_is_refused_and_nothing_written(case, tmp_path):
    """reliability 29: every feature with NaN and infinities, both sides of the limit."""
    negative = "IRIS_ERROR_RANGE" if case.kernel in ("chi2", "additive_chi2") else "IRIS_OK"
    check(case, tmp_path, REFUSED_MAIN.replace("@NEGATIVE@", negative))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_null_argument_is_refused_and_nothing_written(case, tmp_path):
    """reliability 41: NULL in each place and in all of them."""
    check(case, tmp_path, NULL_MAIN)


@pytest.mark.few
@pytest.mark.parametrize("sanitized", [False, True], ids=["plain", "sanitized"])
@pytest.mark.parametrize("case", [*catalogue.FEW_VECTORS, *pairs.FEW_VECTORS], ids=str)
def test_every_flipped_bit_of_every_table_is_found_and_no_call_goes_astray(
    case, sanitized, tmp_path
):
    """reliability 37: the self-test finds it, other calls end and write nothing elsewhere."""
    emitted = catalogue.emitted(case, "host")
    flags = ["-O2", "-Wno-discarded-qualifiers"]
    if sanitized:
        # A damaged float may overflow to infinity, which is defined; nothing else may happen.
        flags += ["-g", "-fsanitize=address,undefined,bounds,float-cast-overflow"]
        flags += ["-fno-sanitize-recover=all"]
    program = build_program(emitted, tmp_path, flip_main(emitted), flags, sources=())
    assert failures(program) == []


DAMAGE_MAIN = (
    GUARDED.replace("@FIRST@", "iris.c")
    + """
#include <sys/mman.h>
#include <unistd.h>
static void make_writable(const void *start, size_t size)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = (uintptr_t)start & ~(page - 1U);
    require(mprotect((void *)first, (uintptr_t)start + size - first, PROT_READ | PROT_WRITE) == 0,
        "mprotect", 0U);
}
static void ask(const char *name, unsigned number)
{
    static const float x[IRIS_N_FEATURES] = { 0.0f };
    poison();
    require(iris_classify(&workspace.value, x, &result.value) == IRIS_ERROR_CORRUPT, name, number);
    require(!answer_written() && !canary_died(), name, number);
}
int main(void)
{
    iris_self_test_t state = { 0 };
    make_writable(iris_group_ends, sizeof iris_group_ends);
    for (unsigned group = 0U; group < IRIS_N_GROUPS; ++group) {
        volatile uint16_t *const end = (volatile uint16_t *)&iris_group_ends[group];
        *end ^= 0x4000U;  /* no block has this number: the group is never added */
        ask("group_ends", group);
        *end ^= 0x4000U;
    }
    make_writable(iris_group_decisions, sizeof iris_group_decisions);
    for (unsigned i = 0U; i < IRIS_N_GROUPS * IRIS_N_ROWS; ++i) {
        volatile uint16_t *const decision = (volatile uint16_t *)&iris_group_decisions[i];
        *decision ^= 0x4000U;
        ask("group_decisions", i);
        *decision ^= 0x4000U;
    }
    *(volatile uint16_t *)&iris_group_ends[0] ^= 0x4000U;
    while (!state.done) {
        (void)iris_self_test_step(&state);
    }
    require(iris_self_test_step(&state) == IRIS_ERROR_CORRUPT, "a failure stays", 0U);
    *(volatile uint16_t *)&iris_group_ends[0] ^= 0x4000U;
    require(iris_self_test_step(&state) == IRIS_ERROR_CORRUPT, "a failure stays", 1U);
    state = (iris_self_test_t){ 0 };
    state.part = 0x40000000U;
    require(iris_self_test_step(&state) == IRIS_ERROR_CORRUPT && state.done, "no such part", 0U);
    return 0;
}
"""
)


@pytest.mark.parametrize("case", [c for c in CASES if "linear" not in str(c)], ids=str)
def test_damaged_indices_refuse_to_answer_and_a_failed_self_test_stays_failed(case, tmp_path):
    """reliability 37: what can be seen at no cost is seen by every call."""
    flags = ("-O2", "-Wno-discarded-qualifiers", "-Wno-cast-qual")
    check(case, tmp_path, DAMAGE_MAIN, flags, sources=())


STEP_MAIN = """
#include <stdio.h>
#include <string.h>
#include "iris.h"
int main(void)
{
    iris_self_test_t state;
    memset(&state, 0, sizeof state);
    while (!state.done) {
        if (iris_self_test_step(&state) != IRIS_OK) {
            printf("not OK\\n");
            return 0;
        }
        printf("%u %u\\n", (unsigned)state.part, (unsigned)state.position);
    }
    printf("%d\\n", (int)iris_self_test_step(&state));
    return 0;
}
"""


@pytest.mark.few
@pytest.mark.parametrize("case", catalogue.CORE, ids=str)
def test_a_step_of_the_self_test_does_constant_work(case, tmp_path):
    """reliability 39: at most so many words or one answer, and as many steps as the header says."""
    emitted = catalogue.emitted(case, "host")
    program = build_program(emitted, tmp_path, STEP_MAIN)
    *steps, again = failures(program)
    assert again == "0"  # a step after the last does nothing
    places = [(0, 0), *(tuple(int(word) for word in step.split()) for step in steps)]
    lengths = [table.values.size for table in emitted.program.tables()]
    n_parts = len(lengths) + len(emitted.program.known_answers)
    for (part, position), (later, moved) in pairwise(places[:-1]):
        if later == part:
            assert moved - position == WORDS_PER_STEP
        else:
            assert (later, moved) == (part + 1, 0)
            if part < len(lengths):
                assert lengths[part] - position <= WORDS_PER_STEP
    assert places[-1] == places[-2] == (n_parts, 0)
    header = emitted.files["iris.h"].decode()
    assert f"at most {len(steps)} times" in re.sub(r"\s+\*\s+", " ", header)


def test_known_answers_are_certified_and_of_several_labels():
    for case in catalogue.CORE:
        known = catalogue.emitted(case, "host").program.known_answers
        assert len(known) >= 2
        assert len(np.unique(known.labels)) >= 2
        assert np.all(known.lower < known.upper)
