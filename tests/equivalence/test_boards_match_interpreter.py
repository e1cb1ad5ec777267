"""The emitted C gives the interpreter's answers bit for bit on every emulated board."""

from __future__ import annotations

from pathlib import Path

import calibrated
import cascades
import catalogue
import certified
import coded
import integer_exits
import numpy as np
import pairs
import pytest
import regressions
import replays
from emitted import Emitted
from tools import need_tools

from kmcompile.build import build
from kmcompile.interpret import Status
from kmcompile.run import runner_for
from kmcompile.target import list_targets

pytestmark = pytest.mark.target

BOARDS = [target.name for target in list_targets() if target.emulator is not None]


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize(
    "case",
    [
        *catalogue.CORE,
        *cascades.CORE,
        *certified.EVERY,
        *replays.CORE,
        *replays.SPARSE,
        *coded.CORE,
        *coded.REPLAYED,
        *integer_exits.CORE,
        *regressions.CORE,
        *calibrated.CORE,
        *pairs.CORE,
    ],
    ids=str,
)
def test_every_answer_of_the_board_matches_the_interpreter_bit_for_bit(case, board, tmp_path):
    check_on_board(catalogue.emitted(case, board), tmp_path)


def check_on_board(emitted: Emitted, folder: Path) -> None:
    """reliability 36: the stack that was used is no more than the compiler's figures say."""
    target = emitted.target
    need_tools(target)
    emitted.write(folder)
    with build(emitted.recipe, folder, target) as artifact:
        result = runner_for(target).run(artifact, emitted.inputs)
    np.testing.assert_array_equal(result.records, emitted.records)
    assert result.self_test == Status.OK
    assert result.painted_stack_bytes <= artifact.stack_bytes
    assert artifact.ram_bytes == 0
    if emitted.program.replay is None:
        assert artifact.double_helpers == ()
