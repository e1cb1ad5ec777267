"""No certified label of a board is wrong, and every interval holds f."""

from __future__ import annotations

import math

import numpy as np
import pytest
from attack import by_stage, common_inputs, ends_of_certificates
from library import ANSWER, Library, library_of
from subjects import SUBJECTS, fitted
from truth import evaluate

from kit.covering import some
from kit.tools import need_tools
from kmcompile.build import build
from kmcompile.program.interpreter import Status
from kmcompile.run import runner_for
from kmcompile.verify.records import answers_of

pytestmark = pytest.mark.target

BOARDS = ("cortex-m0", "cortex-m55")
"""Floats in software, and vectors; all others give the same bits as the interpreter
(`test_targets_match_interpreter`)."""
N_QUERIES = 20_000
SMALL = (
    "rbf-line",
    "rbf-moons",
    "poly-even-moons",
    "rbf-shifted",
    "rbf-skin",
    "rbf-wine",
    "poly-breast-cancer",
    "sigmoid-moons",
    "linear-moons",
)
CHOSEN = [s for s in SUBJECTS if s.name in SMALL and s.is_here]
EACH = math.ceil(N_QUERIES / len(CHOSEN))


@pytest.mark.parametrize("subject", some(CHOSEN, ("rbf-line", "linear-moons")))
@pytest.mark.parametrize("board", BOARDS)
def test_no_certified_label_of_a_board_is_wrong(subject, board, tmp_path, record_figures):
    """The library of the host, from the same C, finds where certificates end."""
    target = fitted(subject, board)
    emitted = list(target.programs.values())[-1]
    need_tools(emitted.target)
    library = library_of(emitted)
    X = _inputs(target, library)
    emitted.write(tmp_path)
    with build(emitted.recipe, tmp_path, emitted.target) as artifact:
        records = runner_for(emitted.target).run(artifact, X.view(np.uint32)).records
    results, _ = answers_of(records)
    expected = library.ask(X)
    for name in ANSWER.names:
        np.testing.assert_array_equal(results[name], expected[name])
    table = by_stage(library, evaluate(target.machine, X), results)
    record_figures(board, table)
    assert all(figures.is_clean for figures in table.values())


def _inputs(target, library: Library) -> np.ndarray:
    rng = np.random.default_rng(3)
    common = common_inputs(target, EACH, rng)
    common = common[library.ask(common)["status"] == Status.OK]
    ends = ends_of_certificates(library, common, EACH, rng)
    X = np.concatenate([common, ends])
    X = X[library.ask(X)["status"] == Status.OK]
    return np.ascontiguousarray(X[rng.permutation(len(X))[:EACH]])
