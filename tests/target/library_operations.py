"""Models of one operation each, which the compilers' libraries do where the cores cannot."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kmcompile.build.recipe import Recipe, sha256_of
from kmcompile.target import Target

OPERATIONS = {
    "addf": "a.f + b.f",
    "subf": "a.f - b.f",
    "mulf": "a.f * b.f",
    "divf": "a.f / b.f",
    "addd": "a.d + b.d",
    "subd": "a.d - b.d",
    "muld": "a.d * b.d",
    "divd": "a.d / b.d",
    "lessf": "(a.f < b.f) ? 1 : 0",
    "lessd": "(a.d < b.d) ? 1 : 0",
    "widen": "(double)a.f",
    "narrow": "(float)a.d",
    "fromint": "(float)(int32_t)a.low",
    "fromuint": "(float)a.low",
    "fromlong": "(float)(int64_t)a.u",
    "fromulong": "(float)a.u",
    "dfromint": "(double)(int32_t)a.low",
    "dfromuint": "(double)a.low",
    "dfromlong": "(double)(int64_t)a.u",
    "dfromulong": "(double)a.u",
    "toint": "((a.f > -2147483648.0f) && (a.f < 2147483648.0f)) ? (int32_t)a.f : 0",
    "touint": "((a.f >= 0.0f) && (a.f < 4294967296.0f)) ? (uint32_t)a.f : 0U",
    "dtoint": "((a.d > -2147483648.0) && (a.d < 2147483648.0)) ? (int32_t)a.d : 0",
    "dtolong": "((a.d > -0x1p63) && (a.d < 0x1p63)) ? (int64_t)a.d : 0",
    "quotient32": "(b.low != 0U) ? a.low / b.low : 0U",
    "remainder32": "(b.low != 0U) ? a.low % b.low : 0U",
    "signed32": "((b.low + 1U) > 1U) ? (int32_t)a.low / (int32_t)b.low : 0",
    "product64": "a.u * b.u",
    "quotient64": "(b.u != 0U) ? a.u / b.u : 0U",
    "remainder64": "(b.u != 0U) ? a.u % b.u : 0U",
    "signed64": "((b.u + 1U) > 1U) ? (int64_t)a.u / (int64_t)b.u : 0",
    "left64": "a.u << (b.u % 64U)",
    "right64": "a.u >> (b.u % 64U)",
    "arithmetic64": "(uint64_t)((int64_t)a.u >> (b.u % 64U))",
    "left32": "a.low << (b.low % 32U)",
    "right32": "a.low >> (b.low % 32U)",
    "leading": "__builtin_clzll(a.u | 1U)",
    "trailing": "__builtin_ctzll(a.u | (1ULL << 63U))",
    "left8": "(uint8_t)((uint8_t)a.low << (b.low % 8U))",
}
"""Name -> an expression of `a` and `b`: f (float), d (double), u (64 bits) or low (32 bits)."""

_LONG = ("quotient64", "remainder64", "signed64", "leading", "trailing")
NOT_ON = {
    "leon3": ("fromlong", "fromulong", "dfromlong", "dfromulong", "dtolong", *_LONG),
    "cortex-a9": ("quotient32", "remainder32", "signed32"),
    "avr": ("divf", "divd", "dtolong", *_LONG),
}
"""What no library there has, or no emitted C takes from it."""

_HEADER = """
#include <stdint.h>
uint32_t NAME_classify(const uint32_t input[4]);
"""
_SOURCE = """
#include "NAME.h"
typedef union { uint64_t u; double d; } long_t;
typedef union { uint32_t u; float f; } word_t;
typedef struct { uint64_t u; double d; float f; uint32_t low; } operand_t;
static operand_t operand(const uint32_t words[2])
{
    operand_t made;
    long_t whole;
    word_t word;
    word.u = words[0];
    whole.u = ((uint64_t)words[1] << 32U) | words[0];
    made.u = whole.u;
    made.d = whole.d;
    made.f = word.f;
    made.low = words[0];
    return made;
}
uint32_t NAME_classify(const uint32_t input[4])
{
    const operand_t a = operand(input), b = operand(&input[2]);
    (void)b;
    volatile __typeof__(EXPRESSION) result = EXPRESSION;
    return (uint32_t)(result != 0);
}
"""
_HARNESS = """
#include "NAME.h"
uint32_t NAME_harness_input_words(void);
uint32_t NAME_harness_record_words(void);
void NAME_harness_query(const uint32_t input[], uint32_t record[]);
uint32_t NAME_harness_self_test(void);
uint32_t NAME_harness_input_words(void) { return 4U; }
uint32_t NAME_harness_record_words(void) { return 1U; }
void NAME_harness_query(const uint32_t input[], uint32_t record[])
{
    record[0] = NAME_classify(input);
}
uint32_t NAME_harness_self_test(void) { return 0U; }
"""


def write_models(folder: Path, target: Target) -> list[tuple[Recipe, Path]]:
    """Write a model of each operation and return their recipes."""
    made = []
    for name, expression in OPERATIONS.items():
        if name in NOT_ON.get(target.name, ()):
            continue
        texts = {f"{name}.h": _HEADER, f"{name}.c": _SOURCE, f"{name}_harness.c": _HARNESS}
        contents = {
            file: text.replace("NAME", name).replace("EXPRESSION", expression)
            for file, text in texts.items()
        }
        for file, text in contents.items():
            (folder / file).write_text(text, encoding="ascii")
        recipe = Recipe(
            name=name,
            sources=(f"{name}.c",),
            harness=f"{name}_harness.c",
            target=target,
            input_words=4,
            record_words=1,
            sha256=sha256_of(contents),
        )
        made.append((recipe, folder))
    return made


_FLOATS = [
    *(0x00000000, 0x00000001, 0x00000002, 0x00400000, 0x007FFFFF, 0x00800000, 0x00800001),
    *(0x0C800000, 0x33800000, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x3FFFFFFF, 0x4B800000),
    *(0x4EFFFFFF, 0x4F7FFFFF, 0x5F7FFFFF, 0x7F7FFFFF, 0xBF800000, 0xBF800001, 0xFF7FFFFF),
]
_DOUBLES = [
    *(0, 1, 2, 1 << 51, (1 << 52) - 1, 1 << 52, (1 << 52) + 1, 0x3CB << 52, 0x36A << 52),
    *(0x3FF << 52, (0x3FF << 52) + 1, (0x400 << 52) - 1, (0x433 << 52) - 1, 0x43E << 52),
    *((0x7FF << 52) - 1, 0xBFF << 52, (0xBFF << 52) + 1, (0xFFF << 52) - 1, 0x47F << 52),
]
_INTEGERS = [
    *(0, 1, 2, 3, 7, 8, 31, 32, 63, 255, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1),
    *(1 << 32, (1 << 32) + 1, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, (1 << 64) - 1),
]


def queries(name: str) -> np.ndarray:
    """Return pairs of extreme operands of an operation, shape (n, 4), uint32.

    Zero, subnormals, the largest and smallest, equal exponents, far ones, and next to these;
    1, powers of two, all ones.
    """
    expression = OPERATIONS[name]
    numbers = _DOUBLES if "a.d" in expression else _FLOATS if "a.f" in expression else _INTEGERS
    a, b = np.meshgrid(*[np.array(numbers, dtype=np.uint64)] * 2)
    pairs = np.stack([a.ravel(), b.ravel()], axis=1)
    halves = np.stack([pairs & np.uint64(0xFFFFFFFF), pairs >> np.uint64(32)], axis=2)
    return halves.reshape(len(pairs), 4).astype(np.uint32)
