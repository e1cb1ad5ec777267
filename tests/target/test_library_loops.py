"""What the targets say of the loops of their compilers' libraries holds for extreme operands."""

from __future__ import annotations

import library_operations
import pytest

from kit.tools import need_tools
from kmcompile.build import build_together
from kmcompile.machine_code.worst_case import worst_case
from kmcompile.run import Asked, runner_for
from kmcompile.target import list_targets

pytestmark = pytest.mark.target

BOARDS = [target for target in list_targets() if target.emulator is not None]


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", BOARDS, ids=lambda target: target.name)
def test_no_operation_takes_more_than_its_worst_case(target, tmp_path):
    need_tools(target)
    models = library_operations.write_models(tmp_path, target)
    asked = [Asked(library_operations.queries(recipe.name)) for recipe, _ in models]
    exceeded, unknown = {}, {}
    with build_together(models, target) as artifact:
        runs = runner_for(target).run_together(artifact, asked, count_instructions=True)
        for (recipe, _), run in zip(models, runs, strict=True):
            compiler = artifact.toolchain.compiler
            worst = worst_case(artifact.path, recipe.name, recipe.sources, compiler, ())
            if worst.instructions is None:
                unknown[recipe.name] = worst.reason
            elif run.instructions.max() > worst.instructions:
                exceeded[recipe.name] = (run.instructions.max(), worst.instructions)
    assert not exceeded
    assert not unknown
