"""A range gate that sums nothing gives the interpreter's answers on a board."""

from __future__ import annotations

import numpy as np
import pytest

from kit import cascades, catalogue
from kit.tools import need_tools
from kmcompile.build import build
from kmcompile.program.stages import RangeGate
from kmcompile.run import QemuRunner
from kmcompile.target import load_target


@pytest.mark.exhaustive
@pytest.mark.target
def test_gate_behind_a_norm_is_the_interpreters_on_cortex_m7(tmp_path):
    target = load_target("cortex-m7")
    need_tools(target)
    case = cascades.Cascade("rbf", "binary", skip_zeros=False, preprocessing="l2", pooled=True)
    emitted = catalogue.emitted(case, "cortex-m7")
    gate = next(stage for stage in emitted.program.exits if isinstance(stage, RangeGate))
    assert gate.divided
    emitted.write(tmp_path)
    with build(emitted.recipe, tmp_path, target) as artifact:
        found = QemuRunner().run(artifact, emitted.inputs)
    np.testing.assert_array_equal(found.records, emitted.records)
    flags = emitted.records[:, 6]
    assert ((flags & 2) == 0).any() and ((flags & 2) != 0).any()  # in range, and not
