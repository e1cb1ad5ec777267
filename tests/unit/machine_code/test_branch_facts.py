"""Bounds of branches are read from emitted C; a comment in another form is a defect."""

import pytest

from kmcompile.machine_code.c_source.branch_facts import BranchFact, read_branch_facts

HEADER = "#define IRIS_N_BLOCKS 6U  /* vectors */\n"
SOURCE = """
static void iris_sum(void)
{
BODY
}
"""
BRANCH = """\
    /* Its mark is set then. */
    /* Taken: at most 2U * IRIS_N_BLOCKS of a query. */
    if (!iris_is_marked(
            i)) {
        iris_compute(i);
    }
"""


def facts_of(body):
    return read_branch_facts(SOURCE.replace("BODY", body), HEADER)


def test_a_stated_branch_has_its_lines_and_its_bound():
    assert facts_of(BRANCH) == (BranchFact("iris_sum", 6, 12, 7, 9),)


def test_other_branches_have_no_fact():
    assert facts_of("    if (x) {\n        f();\n    }\n") == ()


@pytest.mark.parametrize(
    "body",
    [
        BRANCH.replace("if (", "while ("),
        BRANCH.replace("            i)", "            i) && b"),
        BRANCH.replace("of a query", "of a call"),
        BRANCH.replace("    }\n", "    } else {\n    }\n"),
        BRANCH.replace("IRIS_N_BLOCKS", "IRIS_N_OTHERS"),
    ],
)
def test_another_form_is_refused(body):
    with pytest.raises(ValueError, match=r"branch|if|constant"):
        facts_of(body)
