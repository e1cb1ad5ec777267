"""A hand-written model with the interface of the emitted one, for builds and runners."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kmcompile.build.recipe import Recipe, sha256_of
from kmcompile.run.runner import Words
from kmcompile.target import Target

N_FEATURES = 3
RECORD_WORDS = 3

MODEL_H = """
#include <stdint.h>
float small_classify(const float x[3]);
float small_decision(const float x[3]);
uint32_t small_self_test(void);
"""

# Word 0 of a record: the sum; word 1: the distance to the last row; word 2: the query's number
# of features.
MODEL_C = """
#include "small.h"
static const float rows[2][3] = { { 1.0f, 2.0f, 3.0f }, { 0.5f, -1.0f, 0x1p-20f } };
static const char *const names[2] = { "a", "b" };
float small_classify(const float x[3])
{
    float sum = 0.0f;
    for (uint32_t i = 0U; i < 3U; i++) {
        sum += rows[0][i] * x[i];
    }
    return sum;
}
float small_decision(const float x[3])
{
    float sum = 0.0f;
    for (uint32_t i = 0U; i < 3U; i++) {
        const float difference = rows[1][i] - x[i];
        sum += difference * difference;
    }
    return sum;
}
uint32_t small_self_test(void)
{
    return (names[0][0] == 'a') ? 0U : 4U;
}
"""

HARNESS_C = """
#include "small.h"
typedef union { uint32_t bits; float value; } word_t;
uint32_t small_harness_input_words(void);
uint32_t small_harness_record_words(void);
void small_harness_query(const uint32_t input[], uint32_t record[]);
void small_harness_batch(uint32_t n_queries, const uint32_t inputs[], uint32_t records[]);
uint32_t small_harness_self_test(void);
uint32_t small_harness_input_words(void) { return 3U; }
uint32_t small_harness_record_words(void) { return 3U; }
void small_harness_query(const uint32_t input[], uint32_t record[])
{
    float x[3];
    word_t word;
    for (uint32_t i = 0U; i < 3U; i++) {
        word.bits = input[i];
        x[i] = word.value;
    }
    word.value = small_classify(x);
    record[0] = word.bits;
    word.value = small_decision(x);
    record[1] = word.bits;
    record[2] = 3U;
}
void small_harness_batch(uint32_t n_queries, const uint32_t inputs[], uint32_t records[])
{
    for (uint32_t i = 0U; i < n_queries; i++) {
        small_harness_query(&inputs[i * 3U], &records[i * 3U]);
    }
}
uint32_t small_harness_self_test(void) { return small_self_test(); }
"""


def model_with(statement: str) -> str:
    """Return the small model with a statement at the start of `small_classify`."""
    return MODEL_C.replace("float sum = 0.0f;", f"float sum = 0.0f;\n{statement}", 1)


def write_model(folder: Path, target: Target, model_c: str = MODEL_C) -> Recipe:
    """Write the three files into a folder and return their recipe."""
    contents = {"small.h": MODEL_H, "small.c": model_c, "small_harness.c": HARNESS_C}
    for name, text in contents.items():
        (folder / name).write_text(text, encoding="utf-8")
    return Recipe(
        name="small",
        sources=("small.c",),
        harness="small_harness.c",
        target=target,
        input_words=N_FEATURES,
        record_words=RECORD_WORDS,
        sha256=sha256_of(contents),
    )


def queries(n: int) -> Words:
    """Return the bit patterns of n random queries."""
    values = np.random.default_rng(7).normal(size=(n, N_FEATURES)).astype(np.float32)
    return values.view(np.uint32)


def expected_records(inputs: Words) -> Words:
    """Return what the model must answer, in float32 and in its order."""
    x = inputs.view(np.float32)
    rows = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0**-20]], dtype=np.float32)
    dot = np.zeros(len(x), dtype=np.float32)
    distance = np.zeros(len(x), dtype=np.float32)
    for i in range(N_FEATURES):
        dot += rows[0, i] * x[:, i]
        difference = rows[1, i] - x[:, i]
        distance += difference * difference
    three = np.full(len(x), N_FEATURES, dtype=np.uint32)
    return np.column_stack([dot.view(np.uint32), distance.view(np.uint32), three])
