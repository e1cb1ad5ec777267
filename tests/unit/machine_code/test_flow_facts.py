"""Bounds of loops are read from emitted C, and nothing is guessed."""

import pytest

from kmcompile.machine_code.c_source.flow_facts import LoopFact, read_loop_facts

HEADER = "#define IRIS_N_FEATURES 6U  /* features */\n"
SOURCE = """
#include "iris.h"
#if IRIS_HAS_VECTORS
#define IRIS_RUN 16U
#else
#define IRIS_RUN 4U
#endif
#define IRIS_N_SLOTS (2U * IRIS_N_FEATURES)

static const char *const iris_names[1U] = { "for (a while)" };

/* What `do` says in a comment is no loop: for (;;). */
static uint32_t iris_loops(
    const uint32_t x[IRIS_N_FEATURES])
{
    uint32_t i;

BODY
    return i;
}
"""


def fact_of(head, body="(void)x;", comment=""):
    """Return maximum and total of a loop, whose line is checked."""
    text = f"{comment}\n    {head} {{\n        {body}\n    }}"
    (fact,) = read_loop_facts(SOURCE.replace("BODY", text), HEADER)
    line = SOURCE.splitlines().index("BODY") + 2
    assert (fact.function, fact.line) == ("iris_loops", line)
    return fact.maximum, fact.total


@pytest.mark.parametrize(
    ("head", "turns"),
    [
        ("for (i = 0U; i < IRIS_N_FEATURES; ++i)", 6),
        ("for (uint32_t i = 0U; i < 7U; ++i)", 7),
        ("for (i = 1U; i <= IRIS_N_FEATURES; ++i)", 6),
        ("for (i = 0U; i < IRIS_N_FEATURES; i += 4U)", 2),
        ("for (i = 3U; i < (2U * IRIS_N_SLOTS); ++i)", 21),
        ("for (i = IRIS_N_SLOTS; i > 0U; --i)", 12),
        ("for (i = IRIS_N_SLOTS; i != 0U; --i)", 12),
        ("for (i = 12U; i >= 3U; i -= 2U)", 5),
        ("for (i = 0U; (i < IRIS_N_SLOTS) && (x[i] > 0U); ++i)", 12),
        ("for (i = 0U; (i < IRIS_N_SLOTS)\n        && (i < 3U); ++i)", 3),
        ("for (i = 4U; i < 4U; ++i)", 0),
        ("for (i = 0xFFFFFFF0UL; i < 0xFFFFFFFFUL; i += 5U)", 3),
    ],
)
def test_a_loop_between_constants_says_itself_how_often_it_turns(head, turns):
    assert fact_of(head) == (turns, None)


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [("9", (9, None)), ("IRIS_N_FEATURES, in all (IRIS_N_SLOTS * 7U) / 2U", (6, 42))],
)
@pytest.mark.parametrize("head", ["while (i < x[0])", "for (i = 0U; i < x[0]; ++i)"])
def test_another_loop_has_its_bound_before_it(head, bounds, expected):
    assert fact_of(head, comment=f"    /* Loop bound: {bounds}. */") == expected


def test_a_total_may_be_stated_of_a_loop_between_constants():
    head = "for (i = 0U; i < IRIS_N_FEATURES; ++i)"
    assert fact_of(head, comment="    /* Loop bound: 5, in all 8. */") == (5, 8)


@pytest.mark.parametrize(
    ("head", "body", "comment"),
    [
        ("while (i < 4U)", "++i;", ""),
        ("while (i < 4U)", "++i;", "    /* Loop bound: 4 */"),
        ("while (i < 4U)", "++i;", "    /* Loop bound: x[0]. */"),
        ("while (i < 4U)", "++i;", "    /* Loop bound: 1 - 2. */"),
        ("while (i < 4U)", "++i;", "    /* Loop bound: 65536 * 65536. */"),
        ("for (i = 0U; i < IRIS_RUN; ++i)", "", ""),
        ("for (i = 0U; i < 4U; ++i)", "i = 0U;", ""),
        ("for (i = 0U; i < 4U; ++i)", "i >>= 1U;", ""),
        ("for (i = 0U; i < 4U; ++i)", "--i;", ""),
        ("for (i = 0U; i < 4U; ++i)", "iris_set(&i);", ""),
        ("for (i = x[0]; i < 4U; ++i)", "", ""),
        ("for (i = 0U; i > 0U; ++i)", "", ""),
        ("for (i = 0U; i != 5U; i += 2U)", "", ""),
        ("for (i = 0U; (i < 4U) || (x[i] > 0U); ++i)", "", ""),
        ("for (i = 0U; ((i < 4U) || x[0]) && (x[i] > 0U); ++i)", "", ""),
        ("for (i = 0U; (i < 4U) && (i > 5U) || (x[i] > 0U); ++i)", "", ""),
        ("for (k = 0U; k < 4U; ++k)", "", ""),
        ("for (i = 0U; i <= 0xFFFFFFFFUL; ++i)", "", ""),
        ("for (i = 3U; i >= 0U; --i)", "", ""),
        ("for (i = 0U; i < 4U; ++i)", "", "    /* Loop bound: 5. */"),
        ("for (;;)", "", ""),
        ("do", "} while (i < 4U);", ""),
        ("goto end;\n    while (i < 4U)", "", "    /* Loop bound: 5. */"),
        ("if (i < 4U) while (i < 4U)", "", ""),
    ],
)
def test_a_loop_without_a_bound_is_a_defect(head, body, comment):
    with pytest.raises(ValueError):
        fact_of(head, body, comment)


def test_nested_loops_come_in_order():
    text = """
    for (i = 0U; i < 3U; ++i) {
        uint32_t j;

        /* Loop bound: 2, in all 3. */
        for (j = 0U; j < i; ++j) {
            (void)x;
        }
    }"""
    first = SOURCE.splitlines().index("BODY") + 2
    assert read_loop_facts(SOURCE.replace("BODY", text), HEADER) == (
        LoopFact("iris_loops", first, 3, None, first, first + 7),
        LoopFact("iris_loops", first + 4, 2, 3, first + 4, first + 6),
    )
