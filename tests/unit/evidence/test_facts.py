"""What the analysis of run-time errors takes for true is about the C that is emitted today."""

from __future__ import annotations

import re
from functools import cache

import pytest

from kit import images, long_replays
from kit.every_target import GROUPS
from kmcompile.evidence.run_time_errors.hypotheses import HYPOTHESES
from kmcompile.evidence.run_time_errors.substitutes import SUBSTITUTES
from kmcompile.evidence.vectors.inner import UNITS, units
from kmcompile.text.c_functions import Function, functions_of

NAMES = (
    "1.5-steps-pairs-rbf-4_classes-7_features-replay",
    "watched-poly-binary-tug_of_war-1_levels-l2-2_reduced",
    "statistical-leaf_expansion-1-routed-iris-5-flat-rbf",
    "routed-wine-5-flat-rbf-votes-int16",
    "replay-low-SVC-additive_chi2-binary-maxabs",
    "replay-low-SVC-rational_quadratic-binary-standard",
    "replay-RBFSampler-fourier-binary-standard",
    "integers-replay-at-once-SVC-rbf-binary-l2_columns",
    "calibrated-rbf-int8",
    "int8-sigmoid_bytes",
    "within-0.05-wine-standard-cubic",
    "breast_cancer_rbf-exact-format-telemetry-image",
    "wine-standard-3_centres-3_curved",
    "taylor-wine-standard-2_centres-degree_3",
    "rbf-binary-estimate-2_levels-raw-1_reduced",
    "indefinite-sparse_digits-raw-9_dimensions-5_touched",
    "quadratic_bounds-quartic-breast_cancer-standard-1_squares",
    "moons-standard-C_10-gamma_1.0",
    "within-0.05-breast_cancer-pca-one_class",
)
MODELS = (
    *(model for group in GROUPS.values() for model in group),
    *images.CORE,
    *long_replays.QUICK,
)
pytestmark = pytest.mark.exhaustive  # emits 20 programs
OF_REPLAY = ("beats", "evaluate_pair", "sign", "vote")
"""The functions of a replay that votes.c.j2 and pairs.c.j2 in templates/evidence/inner/ ask."""


@cache
def emitted() -> tuple[tuple[str, Function], ...]:
    """Return the prefix and each function of programs that have every fact among them."""
    found = []
    for model in (model for model in MODELS if str(model) in NAMES):
        files = model.emit("cortex-m7")
        name = files.program.name
        functions = functions_of(files.files[f"{name}.c"].decode("ascii"))
        found += [(name, one) for one in functions if one.is_defined]
    return tuple(found)


@pytest.mark.parametrize("fact", HYPOTHESES, ids=[one.functions for one in HYPOTHESES])
def test_a_fact_is_about_an_expression_that_is_emitted(fact):
    assert any(
        re.fullmatch(fact.functions, one.name.removeprefix(f"{prefix}_"))
        and re.search(fact.found.format(prefix=prefix, upper=prefix.upper()), one.statements)
        for prefix, one in emitted()
    )


@pytest.mark.parametrize("other", SUBSTITUTES, ids=[one.function for one in SUBSTITUTES])
def test_another_body_is_of_a_function_that_is_emitted(other):
    assert any(one.name == f"{prefix}_{other.function}" for prefix, one in emitted())


@pytest.mark.parametrize("asked", [*UNITS, *(f"replay_{own}" for own in OF_REPLAY)])
def test_a_function_that_the_vectors_ask_is_emitted_with_its_parameters(asked):
    own = asked.removeprefix("replay_")
    found = [one for prefix, one in emitted() if one.is_static and one.name == f"{prefix}_{asked}"]
    assert any(units({asked: one}, replay=own != asked)[own] is not None for one in found)
