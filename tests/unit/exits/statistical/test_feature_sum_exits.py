"""Early exits and formats of kernels that are sums of other terms than products."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from kit.covering import some
from kit.function_kernels import kernel_function
from kit.lowered import lowered
from kmcompile.choice.formats import choose_format
from kmcompile.errors import InputError
from kmcompile.exits.candidates.room import Room
from kmcompile.exits.certified.certify import fit
from kmcompile.exits.statistical.fit_points import of_samples, with_vectors
from kmcompile.exits.statistical.fitting import fit_stages
from kmcompile.exits.statistical.statistical_fit import FitSamples
from kmcompile.lower.formats import lower_in_format
from kmcompile.passes import run_passes
from kmcompile.program.stages import BoundSequence
from kmcompile.request.asked_stages import AskedStages
from kmcompile.target import load_target

RNG = np.random.default_rng(17)
X = RNG.random((400, 8)).astype(np.float32)
Y = (np.sin(4 * X[:, 0]) + X[:, 1] > 1.2).astype(int)
TOLERANCE = 8.0 * (8 + 32) * 2.0**-24
"""Of float32 values: gamma times a sum is at most 8, its 8 terms and the function round."""

KERNELS = ("laplacian", "chi2", "intersection", "additive_chi2")


@pytest.fixture(scope="module", params=some(KERNELS, ("chi2",)))
def low(request):
    return lowered(SVC(kernel=kernel_function(request.param)).fit(X[:100], Y[:100]))


def samples(low):
    batch = low.prepared(X)
    decisions = low.program.ends.exact.run(batch).decision.astype(np.float64)
    return batch.x, decisions, np.ones(decisions.shape, dtype=bool)


@pytest.mark.exhaustive
def test_nearest_vectors_are_not_offered_and_the_others_are(low):
    given = FitSamples(low.program.ends, *samples(low), False, 1)
    found = fit_stages(given, AskedStages(), lambda stage: True)
    templates = {stage.template for stage, _ in found}
    assert templates == {"linear_filter", "reduced_set", "interval_ratio"}


def test_the_points_that_exits_are_fitted_to_have_the_machines_decisions(low):
    x, decisions, relevant = samples(low)
    exact = low.program.ends.exact
    points = with_vectors(exact, of_samples(exact, x, decisions, relevant))
    count = np.count_nonzero(exact.slot_decisions())
    vectors = points.x[-count:]
    values = low.machine.kernel.values(low.machine.support_vectors, vectors)
    size = np.abs(values) @ np.abs(low.machine.dual_coef[0])
    assert np.abs(points.magnitudes[-count:] - size).max() <= TOLERANCE * size.max()


def test_no_certified_exit_but_bound_sequences_of_support_vectors_is_offered(low):
    """Intersection and additive chi2 have none of these: they are not positive definite."""
    room = Room(operations=np.inf, flash_bytes=None, ram_bytes=None)
    found = fit(run_passes(low.machine), low.program, X, room)
    assert {type(stage) for stage, _ in found} <= {BoundSequence}
    assert all(text.endswith("support vectors)") for _, text in found)
    assert bool(found) == low.machine.kernel.positive_definite


@pytest.mark.parametrize("number_format", ["int8", "int16"])
def test_integer_formats_are_refused_and_auto_takes_float32(low, number_format):
    host = load_target("host")
    with pytest.raises(InputError, match=r"this machine's is .*\nuse --format float32"):
        lower_in_format(low.machine, host, "iris", number_format)
    chosen, candidates = choose_format(low.machine, host, "iris", None)
    assert chosen.program.number_format == "float32"
    refused = {c.number_format for c in candidates if "not for this machine" in c.reason}
    assert refused == {"int8", "int16"}
