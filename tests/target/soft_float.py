"""A model that does every float operation the emitted C uses, on pairs of bit patterns."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kmcompile.build.recipe import Recipe, sha256_of
from kmcompile.emit.environment import render
from kmcompile.target import Target

PAIRS = 16
"""Pairs of one query: (a + k step_a, b + k step_b), k = 0 .. 15, modulo 2^32."""

OPERATIONS = (
    *("add", "subtract", "multiply", "divide", "comparisons"),
    *("int32 to float", "uint32 to float", "float to int32", "float to uint32"),
    *("int64 to float", "uint64 to float", "negate"),
)

MODEL_H = """
#include <stdint.h>
void ops_classify(const uint32_t input[4], uint32_t record[]);
"""

MODEL_C = """
#include "ops.h"
typedef union { uint32_t bits; float value; } word_t;
static uint32_t bits(float value)
{
    word_t word;
    word.value = value;
    return word.bits;
}
static uint32_t compared(float a, float b)
{
    return ((a < b) ? 1UL : 0UL) + ((a <= b) ? 2UL : 0UL) + ((a == b) ? 4UL : 0UL)
        + ((a != b) ? 8UL : 0UL) + ((a >= b) ? 16UL : 0UL) + ((a > b) ? 32UL : 0UL)
        + ((!(a < b)) ? 64UL : 0UL) + ((!(a >= b)) ? 128UL : 0UL);
}
static uint64_t wide(uint32_t high, uint32_t low)
{
    return ((uint64_t)high << 32U) | low;
}
static void all(const word_t a, const word_t b, uint32_t record[])
{
    const float limit = 2147483648.0f;
    record[0] = bits(a.value + b.value);
    record[1] = bits(a.value - b.value);
    record[2] = bits(a.value * b.value);
    record[3] = bits(a.value / b.value);
    record[4] = compared(a.value, b.value);
    record[5] = bits((float)(int32_t)a.bits);
    record[6] = bits((float)a.bits);
    record[7] = ((a.value > -limit) && (a.value < limit)) ? (uint32_t)(int32_t)a.value : 0UL;
    record[8] = ((a.value >= 0.0f) && (a.value < 2.0f * limit)) ? (uint32_t)a.value : 0UL;
    record[9] = bits((float)(int64_t)wide(a.bits, b.bits));
    record[10] = bits((float)wide(b.bits, a.bits));
    record[11] = bits(-a.value);
}
void ops_classify(const uint32_t input[4], uint32_t record[])
{
    for (uint8_t k = 0U; k < 16U; k++) {
        word_t a, b;
        a.bits = input[0] + (k * input[2]);
        b.bits = input[1] + (k * input[3]);
        all(a, b, &record[12U * k]);
    }
}
"""

HARNESS_C = """
#include "ops.h"
uint32_t ops_harness_input_words(void);
uint32_t ops_harness_record_words(void);
void ops_harness_query(const uint32_t input[], uint32_t record[]);
uint32_t ops_harness_self_test(void);
uint32_t ops_harness_input_words(void) { return 4U; }
uint32_t ops_harness_record_words(void) { return 192U; }
void ops_harness_query(const uint32_t input[], uint32_t record[]) { ops_classify(input, record); }
uint32_t ops_harness_self_test(void) { return 0U; }
"""

SPECIAL = np.array(
    [
        *(0x00000000, 0x00000001, 0x00000002, 0x000FFFFF, 0x007FFFF0, 0x00800000, 0x00800010),
        *(0x00FFFFF8, 0x01000000, 0x0C7FFFF8, 0x19FFFFF0, 0x33800000, 0x34000000, 0x337FFFF8),
        *(0x3EFFFFF8, 0x3F000000, 0x3F7FFFF8, 0x3F800000, 0x3FC00000, 0x40490FDB, 0x4AFFFFF8),
        *(0x4B000000, 0x4B7FFFF8, 0x4B800000, 0x4EFFFFF8, 0x4F000000, 0x4F7FFFF8, 0x5F000000),
        *(0x7E7FFFF8, 0x7EFFFFF8, 0x7F000000, 0x7F7FFFF0, 0x7F800000, 0x7F800001, 0x7FC00000),
    ],
    dtype=np.uint32,
)
"""Zero, subnormals, powers of two and their neighbours, limits of integers, overflow, NaN."""


def write_model(folder: Path, target: Target) -> Recipe:
    """Write the three files into a folder and return their recipe."""
    contents = {"ops.h": MODEL_H, "ops.c": MODEL_C, "ops_harness.c": HARNESS_C}
    if target.program.arithmetic:
        view = {"command": "the test of float operations", "name": "ops"}
        contents["ops_arithmetic.c"] = render(target.program.arithmetic, view=view)
    for name, text in contents.items():
        (folder / name).write_text(text, encoding="ascii")
    return Recipe(
        name="ops",
        sources=tuple(name for name in contents if name in ("ops.c", "ops_arithmetic.c")),
        harness="ops_harness.c",
        target=target,
        input_words=4,
        record_words=PAIRS * len(OPERATIONS),
        sha256=sha256_of(contents),
    )


def special_queries() -> np.ndarray:
    """Return queries of all pairs of special numbers, of both signs, with their neighbours."""
    signed = np.concatenate([SPECIAL, SPECIAL | np.uint32(1 << 31)])
    a, b = (part.reshape(-1) for part in np.meshgrid(SPECIAL, signed))
    ones = np.ones(len(a), dtype=np.uint32)
    return np.column_stack([a, b, ones, np.tile([0, 1], (len(a) + 1) // 2)[: len(a)]]).astype(
        np.uint32
    )


def random_queries(n: int) -> np.ndarray:
    """Return n queries, half of them of numbers whose exponents lie near each other."""
    rng = np.random.default_rng(0)
    queries = rng.integers(0, 1 << 32, size=(n, 4), dtype=np.uint32)
    near = queries[::2]
    near[:, 1] = near[:, 0] + rng.integers(-(1 << 28), 1 << 28, len(near)).astype(np.uint32)
    near[:, 2:] &= np.uint32(0x801FFFFF)
    return queries


def expected(queries: np.ndarray) -> np.ndarray:
    """Return the records as numpy's float32 has them, of shape (n, pairs, operations)."""
    k = np.arange(PAIRS, dtype=np.uint32)
    a = queries[:, 0, None] + k * queries[:, 2, None]
    b = queries[:, 1, None] + k * queries[:, 3, None]
    x, y = a.view(np.float32), b.view(np.float32)
    order = (x < y, x <= y, x == y, x != y, x >= y, x > y, ~(x < y), ~(x >= y))
    compared = sum(np.where(holds, np.uint32(1 << i), 0) for i, holds in enumerate(order))
    limit = np.float32(2.0**31)
    signed = np.where((x > -limit) & (x < limit), x, 0).astype(np.int32)
    unsigned = np.where((x >= 0) & (x < 2 * limit), x, 0).astype(np.uint32)
    wide = (a.astype(np.uint64) << np.uint64(32) | b).view(np.int64).astype(np.float32)
    wide_unsigned = (b.astype(np.uint64) << np.uint64(32) | a).astype(np.float32)
    with np.errstate(all="ignore"):
        values = (x + y, x - y, x * y, x / y)
        words = [value.view(np.uint32) for value in values]
    words += [compared.astype(np.uint32), a.view(np.int32).astype(np.float32).view(np.uint32)]
    words += [a.astype(np.float32).view(np.uint32), signed.view(np.uint32), unsigned]
    words += [wide.view(np.uint32), wide_unsigned.view(np.uint32), a ^ np.uint32(1 << 31)]
    return np.stack(words, axis=2)


def wrong(found: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Return which words differ, of shape (n, pairs, operations); every NaN is as good."""
    right = expected(queries)
    found = found.reshape(right.shape)
    nan = [np.isnan(words.view(np.float32)) for words in (found, right)]
    of_floats = np.isin(np.arange(len(OPERATIONS)), (0, 1, 2, 3, 11))
    return (found != right) & ~(nan[0] & nan[1] & of_floats)
