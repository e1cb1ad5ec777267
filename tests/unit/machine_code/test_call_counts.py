"""Calls of emitted functions are counted by the loops around them, and never too few."""

import pytest

from kmcompile.machine_code.c_source.call_counts import most_calls
from kmcompile.machine_code.c_source.flow_facts import read_loop_facts

SOURCE = """
static uint32_t iris_leaf(const uint32_t x)
{
    return x;
}

static void iris_inner(void)
{
    uint32_t i;
    uint32_t j;

    for (i = 0U; i < 3U; ++i) {
        /* Loop bound: 2, in all 4. */
        while (iris_leaf(i)
            > 0U) {
            (void)iris_leaf(i);
        }
        for (j = 0U; j < 5U; ++j) {
            (void)iris_leaf(j + iris_leaf(0U));
        }
    }
}

void iris_once(void)
{
    iris_inner();
}

void iris_twice(void)
{
    iris_once();
    iris_inner();
}

void iris_often(void)
{
    uint32_t i;

    for (i = 0U; i < 7U; ++i) {
        iris_once();
    }
}
"""


def counted(without=()):
    return most_calls(SOURCE, read_loop_facts(SOURCE, ""), without)


def test_calls_are_multiplied_by_the_turns_around_them():
    # The while's condition is asked 4 + 3 times, its body runs 4 times; the for's body 3 * 5.
    of_leaf = (4 + 3) + 4 + 2 * 15
    assert counted(["iris_often"]) == {
        "iris_leaf": 2 * of_leaf,
        "iris_inner": 2,
        "iris_once": 1,
        "iris_twice": 1,
        "iris_often": 0,
    }


def test_the_largest_of_all_functions_of_the_header_counts():
    assert counted()["iris_inner"] == 7


def test_a_recursion_is_a_defect():
    source = SOURCE.replace("return x;", "return iris_leaf(x);")
    with pytest.raises(ValueError, match="iris_leaf calls iris_leaf"):
        most_calls(source, read_loop_facts(source, ""))
