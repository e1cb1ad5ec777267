"""What does not fit is refused with its bytes and a remedy."""

from __future__ import annotations

import pytest

from kit import cascades, catalogue
from kmcompile.errors import OverBudgetError
from kmcompile.program.memory import check_ram
from kmcompile.program.workspace import workspace_bytes
from kmcompile.request.budgets import Budgets


@pytest.mark.parametrize("case", [cascades.CORE[0], catalogue.CORE[0]], ids=str)
def test_too_little_ram_is_refused_with_what_is_needed(case):
    """What to do is tested with all other advice, in test_advice.py."""
    program = catalogue.emitted(case, "host").program
    needed = workspace_bytes(program)
    check_ram(program, needed, None, Budgets(None, needed))
    with pytest.raises(OverBudgetError) as caught:
        check_ram(program, needed, None, Budgets(None, needed - 1))
    assert f"workspace {needed:,}" in str(caught.value)
    assert (caught.value.over, caught.value.needed) == ("RAM", needed)


@pytest.mark.few
@pytest.mark.parametrize("case", [*cascades.CORE, *catalogue.CORE], ids=str)
def test_the_workspace_s_bytes_are_those_of_the_c(case):
    emitted = catalogue.emitted(case, "host")
    header = emitted.files["iris.h"].decode()
    struct = header[: header.index("} iris_workspace_t;")].rpartition("typedef struct {")[2]
    members = [line.split(";")[0] for line in struct.splitlines() if ";" in line]
    lengths = [int(member.partition("[")[2].rstrip("UL]") or 1) for member in members]
    assert 4 * sum(lengths) == workspace_bytes(emitted.program)
