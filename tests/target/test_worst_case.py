"""The static worst case holds for loops written by hand, and is met where they run to the end."""

from __future__ import annotations

import numpy as np
import pytest
import small_model

from kit.tools import need_tools
from kmcompile.build import build
from kmcompile.errors import VerificationError
from kmcompile.machine_code.worst_case import worst_case
from kmcompile.run import runner_for
from kmcompile.target import list_targets, load_target
from kmcompile.verify.worst_case import check_worst_case, static_worst_case

# Of each instruction set; Cortex-M0 has jumps of its own.
ONE_OF_EACH = [
    target
    for target in list_targets()
    if target.name
    in ("cortex-m0", "cortex-m55", "cortex-a53", "rv32imafc", "leon3", "ppc750", "avr")
]
M7 = load_target("cortex-m7")

pytestmark = pytest.mark.target

BODIES = {
    "nested": """
    for (uint32_t i = 0U; i < 50U; ++i) {
        for (uint32_t j = 0U; j < 30U; ++j) {
            sink = sink + j;
        }
    }
""",
    "triangular": """
    for (uint32_t i = 0U; i < 80U; ++i) {
        /* Loop bound: 80U, in all (80U * 79U) / 2U. */
        for (uint32_t j = i + 1U; j < 80U; ++j) {
            sink = sink + j;
        }
    }
""",
    "called": """
    for (uint32_t i = 0U; i < 90U; ++i) {
        sink = count(sink);
    }
""",
    "two conditions": """
    bool found = false;
    for (uint32_t i = 0U; (i < 900U) && !found; ++i) {
        found = sink > 1000000U;
        sink = sink + 3U;
    }
""",
}
LEFT_EARLY = """
    for (uint32_t i = 0U; i < 1000U; ++i) {
        sink = sink + 1U;
        if (i >= limit) {
            break;
        }
        if ((sink & 1U) == 0U) {
            sink = sink + 5U;
            continue;
        }
        sink = sink * 3U;
    }
"""
SWITCH = """
    for (uint32_t i = 0U; i < 40U; ++i) {
        switch ((sink + limit) % 7U) {
        case 0U: sink = sink + 11U; break;
        case 1U: sink = sink * 5U; break;
        case 2U: sink = sink ^ 0x55U; break;
        case 3U: sink = (sink << 3U) + 1U; break;
        case 4U: sink = sink - limit; break;
        case 5U: sink = sink | 64U; break;
        default: sink = 1U; break;
        }
    }
"""
ONCE = """
    static volatile uint8_t seen[8];
    for (uint32_t i = 0U; i < 8U; ++i) {
        seen[i] = 0U;
    }
    for (uint32_t round = 0U; round < 60U; ++round) {
        look(seen, round % 8U);
        look(seen, (3U * round) % 8U);
    }
"""
LOOK = """
static void look(volatile uint8_t *seen, uint32_t i)@;
static void look(volatile uint8_t *seen, uint32_t i)
{
    /* Taken: at most 8U of a query. */
    if (seen[i] == 0U) {
        volatile uint32_t sum = i;
        for (uint32_t j = 0U; j < 100U; ++j) {
            sum = sum + j;
        }
        seen[i] = 1U;
    }
}
"""
"""Computes something for a number that was not looked at before."""
COUNT = """
static uint32_t count(uint32_t start) __attribute__((noinline));
static uint32_t count(uint32_t start)
{
    volatile uint32_t sum = start;
    for (uint32_t i = 0U; i < 12U; ++i) {
        sum = sum + i;
    }
    return sum;
}
"""


def model_with(body: str, helper: str = "") -> str:
    """Return the small model with loops at the start of `small_classify`."""
    start = "volatile uint32_t sink = 0U;\nconst uint32_t limit = (uint32_t)x[0];\n(void)limit;"
    text = small_model.MODEL_C.replace("i++", "++i")
    text = text.replace("float sum = 0.0f;", f"float sum = 0.0f;\n{start}\n{body}", 1)
    return text.replace("float small_classify", f"{helper}float small_classify", 1)


def run(target, text, folder, limits=(0, 1, 7, 2000)):
    """Return the worst case and what was counted for some values of `limit`."""
    need_tools(target)
    recipe = small_model.write_model(folder, target, "#include <stdbool.h>\n" + text)
    inputs = np.zeros((len(limits), small_model.N_FEATURES), dtype=np.float32)
    inputs[:, 0] = limits
    with build(recipe, folder, target) as artifact:
        worst = static_worst_case(artifact, folder)
        counted = runner_for(target).run(artifact, inputs.view(np.uint32), True).instructions
    assert worst.reason is None
    return worst, counted


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", ONE_OF_EACH, ids=lambda target: target.name)
def test_loops_that_run_to_the_end_take_the_worst_case(target, tmp_path):
    blocks = "".join(f"    {{{body}    }}\n" for body in BODIES.values())
    worst, counted = run(target, model_with(blocks, COUNT), tmp_path)
    assert counted.max() <= worst.instructions
    if target.name == "ppc750":  # unrolls, and an unrolled loop counts as often as the source's
        return
    # Loops that the compiler has made one have no total.
    assert worst.instructions <= 2.5 * counted.max()


@pytest.mark.few
@pytest.mark.parametrize("inlined", [True, False])
@pytest.mark.parametrize("target", ONE_OF_EACH, ids=lambda target: target.name)
def test_what_is_computed_once_for_each_number_counts_once(target, inlined, tmp_path):
    helper = LOOK.replace("@", "" if inlined else " __attribute__((noinline))")
    worst, counted = run(target, model_with(ONCE, helper), tmp_path)
    assert counted.max() <= worst.instructions
    if target.name != "ppc750":  # its compiler unrolls the inner loop
        assert worst.instructions <= 1.5 * counted.max()


@pytest.mark.few
@pytest.mark.parametrize("target", ONE_OF_EACH, ids=lambda target: target.name)
def test_loops_that_are_left_early_take_no_more(target, tmp_path):
    worst, counted = run(target, model_with(LEFT_EARLY), tmp_path)
    assert counted.max() <= worst.instructions <= 2 * counted.max()


@pytest.mark.few
@pytest.mark.parametrize("target", ONE_OF_EACH, ids=lambda target: target.name)
def test_a_switch_takes_its_longest_way(target, tmp_path):
    text = model_with(SWITCH)
    need_tools(target)
    recipe = small_model.write_model(tmp_path, target, "#include <stdbool.h>\n" + text)
    inputs = small_model.queries(20)
    with build(recipe, tmp_path, target) as artifact:
        worst = static_worst_case(artifact, tmp_path)
        counted = runner_for(target).run(artifact, inputs, True).instructions
    if worst.instructions is None:
        assert "table" in worst.reason or "where a register says" in worst.reason
    else:
        assert counted.max() <= worst.instructions


def test_a_loop_without_a_bound_has_no_worst_case(tmp_path):
    need_tools(M7)
    text = model_with("    while (sink < limit) {\n        sink = sink + 1U;\n    }\n")
    recipe = small_model.write_model(tmp_path, M7, text)
    with build(recipe, tmp_path, M7) as artifact:
        found = worst_case(artifact.path, recipe.name, recipe.sources, M7.compiler, ())
        assert found.instructions is None
        worst = static_worst_case(artifact, tmp_path)
    assert worst.instructions is None
    assert "a loop has no bound" in worst.reason


def test_a_wrong_bound_is_noticed(tmp_path):
    """The static figure is itself checked: a query that takes more is a failure."""
    text = model_with(
        "    /* Loop bound: 5. */\n    while (sink < limit) {\n        ++sink;\n    }\n"
    )
    worst, counted = run(M7, text, tmp_path)
    check_worst_case(worst, counted[:2], "cortex-m7")
    with pytest.raises(VerificationError, match=r"query 3 took [\d,]+ instructions, more than"):
        check_worst_case(worst, counted, "cortex-m7")
