"""Every model of every target gives the interpreter's answers bit for bit, and takes no more stack.

The models of a group are one image, asked in one run of the emulator. Targets to which the emitted
C is the same stand side by side, so that one worker fits and interprets its models once.
"""

from __future__ import annotations

import numpy as np
import pytest
from every_target import GROUPS, N_QUERIES, emitted_models, like
from tools import need_tools

from kmcompile.build import build_together
from kmcompile.interpret import Status
from kmcompile.run import Asked, runner_for
from kmcompile.target import list_targets

# Three models at once do not fit the 8 KB of an avr: tests/target/test_avr.py.
FITTING = [target for target in list_targets() if target.name != "avr"]
TARGETS = sorted(FITTING, key=lambda target: str(like(target.program)))


@pytest.mark.target
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_every_answer_is_the_interpreters_bit_for_bit(target, group, tmp_path):
    """reliability 36: the stack that was used is no more than the compiler's figures say."""
    need_tools(target)
    models = emitted_models(group, like(target.program))
    built = [(emitted.recipe, emitted.write(tmp_path / emitted.name)) for _, emitted in models]
    with build_together(built, target) as artifact:
        asked = [Asked(emitted.inputs) for _, emitted in models]
        results = runner_for(target).run_together(artifact, asked)
    assert artifact.ram_bytes == 0
    for (name, emitted), model, result in zip(models, artifact.models, results, strict=True):
        assert len(result.records) >= N_QUERIES
        np.testing.assert_array_equal(result.records, emitted.records, err_msg=name)
        assert result.self_test == Status.OK, name
        if result.painted_stack_bytes is not None:
            assert result.painted_stack_bytes <= model.stack_bytes, name
        if emitted.program.replay is None:
            assert model.double_helpers == (), name
