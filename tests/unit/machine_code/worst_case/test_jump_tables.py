"""How many entries a table of jumps has, told by what its number was compared with."""

from __future__ import annotations

import pytest

from kmcompile.machine_code.worst_case.jump_tables import table_limits


@pytest.mark.parametrize(
    ("texts", "limits"),
    [
        (["cmplwi cr7,r9,6", "bgt cr7,1f0"], [6]),
        (["cmp %i4, 5", "bgu 400049c4 <f>", "sll %i4, 2, %g1"], [5]),
        (["cmp r3, #14", "ldrls pc, [pc, r3, lsl #2]"], [14]),
        (["li a3,14", "bltu a3,a5,80 <f>", "auipc a3,0x3", "jr a5"], [14]),
        (["li a3,14", "bltu a3,a5,80 <f>", "li a1,0", "jr a5"], [14]),  # set for later
        (["li a1,2", "jr a5"], []),
    ],
)
def test_only_what_is_compared_limits_a_table(texts, limits):
    assert table_limits(texts) == limits
