"""The probability function of the C under wrong arguments, wrong inputs and damaged tables."""

from __future__ import annotations

import pytest

from kit import calibrated, catalogue
from kit.host_program import build_program, failures

MAIN = """
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "iris.c"
typedef struct { uint8_t before[64]; float value[IRIS_N_CLASSES]; uint8_t after[64]; } told_t;
static iris_workspace_t workspace;
static told_t told;
static float bound;
static void poison(void)
{
    memset(&told, 0xA5, sizeof told);
    memset(&bound, 0xA5, sizeof bound);
}
static int differs(const void *memory, size_t size)
{
    const uint8_t *const bytes = memory;
    for (size_t i = 0U; i < size; ++i) {
        if (bytes[i] != 0xA5U) {
            return 1;
        }
    }
    return 0;
}
static int written(void) { return differs(&told, sizeof told) || differs(&bound, sizeof bound); }
static void require(int condition, const char *what, unsigned number)
{
    if (!condition) {
        printf("%s (%u)\\n", what, number);
    }
}
static void check_null(const float x[])
{
    for (unsigned present = 0U; present < 15U; ++present) {
        poison();
        require(iris_probability@FLOAT@((present & 1U) ? &workspace : NULL,
            (present & 2U) ? x : NULL, (present & 4U) ? told.value : NULL,
            (present & 8U) ? &bound : NULL) == IRIS_ERROR_NULL, "NULL", present);
        require(!written(), "written for NULL", present);
    }
}
static void check_refused(float x[])
{
    static const uint32_t wrong[] = { 0x7F800000U, 0xFF800000U, 0x7FC00000U, 0x7F800001U };
    for (unsigned j = 0U; j < IRIS_N_FEATURES; ++j) {
        const float healthy = x[j];
        for (unsigned k = 0U; k < sizeof wrong / sizeof wrong[0]; ++k) {
            memcpy(&x[j], &wrong[k], 4U);
            poison();
            require(iris_probability@FLOAT@(&workspace, x, told.value, &bound)
                == IRIS_ERROR_NOT_FINITE, "not finite", j);
            require(!written(), "written for what is not finite", j);
        }
        x[j] = 3.0e38f;
        require(iris_probability@FLOAT@(&workspace, x, told.value, &bound) == IRIS_ERROR_RANGE,
            "range", j);
        require(!written(), "written beyond the range", j);
        x[j] = healthy;
    }
}
static void ask(const float x[], const char *name, unsigned number)
{
    poison();
    if (iris_probability@FLOAT@(&workspace, x, told.value, &bound) == IRIS_OK) {
        for (unsigned c = 0U; c < IRIS_N_CLASSES; ++c) {
            require((told.value[c] >= 0.0f) && (told.value[c] <= 1.0f), name, number);
        }
        require((bound > 0.0f) && (bound <= 1.0f), name, number);
    } else {
        require(!written(), name, number);
    }
    require(!differs(told.before, 64U) && !differs(told.after, 64U), name, number);
}
static void flip(const float x[], const char *name, const volatile void *start, size_t size)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = (uintptr_t)start & ~(page - 1U);
    require(mprotect((void *)first, (uintptr_t)start + size - first, PROT_READ | PROT_WRITE) == 0,
        name, 0U);
    for (unsigned bit = 0U; bit < 8U * size; bit += 8U * size > 20000U ? 37U : 1U) {
        volatile uint8_t *const byte = (volatile uint8_t *)start + bit / 8U;
        *byte ^= (uint8_t)(1U << (bit % 8U));
        ask(x, name, bit);
        *byte ^= (uint8_t)(1U << (bit % 8U));
    }
}
int main(void)
{
    float x[IRIS_N_FEATURES] = { @INPUT@ };
    check_null(x);
    check_refused(x);
    ask(x, "healthy", 0U);
@FLIPS@
    return 0;
}
"""


@pytest.mark.few
@pytest.mark.parametrize("sanitized", [False, True], ids=["plain", "sanitized"])
@pytest.mark.parametrize("case", calibrated.CORE, ids=str)
def test_wrong_arguments_inputs_and_tables_lead_no_call_astray(case, sanitized, tmp_path):
    """reliability 29, 37, 41: NaN, NULL, flipped bits: what is told is from 0 to 1 or nothing."""
    emitted = catalogue.emitted(case, "host")
    tables = [table.name for table in emitted.program.tables()]
    flips = [f'    flip(x, "{name}", iris_{name}, sizeof iris_{name});' for name in tables]
    sample = calibrated.samples(case.model)[0][0].astype("float32")
    parts = {
        "@INPUT@": ", ".join(f"{value!r}f" for value in sample.tolist()),
        "@FLIPS@": "\n".join(flips),
        "@FLOAT@": "" if emitted.program.codes is None else "_float",
    }
    main = MAIN
    for place, text in parts.items():
        main = main.replace(place, text)
    flags = ["-O2", "-Wno-discarded-qualifiers"]
    if sanitized:
        # A damaged float may overflow to infinity, which is defined; nothing else may happen.
        flags += ["-g", "-fsanitize=address,undefined,bounds,float-cast-overflow"]
        flags += ["-fno-sanitize-recover=all"]
    program = build_program(emitted, tmp_path, main, flags, sources=())
    assert failures(program) == []
