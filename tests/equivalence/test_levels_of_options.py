"""C with options for flight, steps, replays and probabilities at the level that users get."""

from __future__ import annotations

import numpy as np
import pytest

from kit import calibrated, catalogue, input_tolerances, long_replays, monitors, watched
from kit.images import NAMES, estimator, in_image
from kit.stepped import QUICK
from kit.steps import InSteps
from kit.tools import need_tools
from kmcompile.build import build
from kmcompile.program.interpreter import Status
from kmcompile.run import HostRunner
from kmcompile.target import load_target

HOST = load_target("host")
CASES = (
    *(monitors.CORE[0], input_tolerances.CORE[0], watched.CORE[1], InSteps(QUICK[0], 1.7)),
    *(calibrated.EVERY[0], long_replays.QUICK[0]),
)


@pytest.mark.few
@pytest.mark.parametrize("case", [*CASES, "image"], ids=str)
def test_every_answer_is_the_interpreters_at_the_level_of_the_target(case, tmp_path):
    """Other tests of these options take a level that builds faster (`kit.tools.FAST`)."""
    need_tools(HOST)
    own = in_image(estimator(NAMES[0], 0)) if case == "image" else catalogue.emitted(case, "host")
    with build(own.recipe, own.write(tmp_path), HOST) as artifact:
        result = HostRunner().run(artifact, own.inputs)
    np.testing.assert_array_equal(result.records, own.records)
    assert result.self_test == Status.OK
