"""Nearly zero and negative inputs behind a Normalizer get an interval that says something.

A kernel without negative features refuses what it has no value for; nothing else is refused but
what lies so near to the size at which scikit-learn's Normalizer stops dividing that float32 cannot
tell on which side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer
from sklearn.svm import SVC

from kit.emitted import Emitted, emit_model
from kit.function_kernels import kernel_function
from kit.tools import FAST, need
from kmcompile.build import build
from kmcompile.lower.replay import add_replay
from kmcompile.model.likely_inputs import ordinary_inputs
from kmcompile.model.reference import evaluate
from kmcompile.passes import run_passes
from kmcompile.program.interpreter import Status
from kmcompile.program.stages import ExactSum
from kmcompile.run import HostRunner

N_FEATURES = 6
CHAINS: dict[str, Any] = {
    "l1": lambda: [Normalizer("l1")],
    "l2": lambda: [Normalizer("l2")],
    "max": lambda: [Normalizer("max")],
    "maxabs_l2": lambda: [MaxAbsScaler(), Normalizer()],
    "clip_l1": lambda: [MinMaxScaler(clip=True), Normalizer("l1")],
    "l1_minmax": lambda: [Normalizer("l1"), MinMaxScaler()],
    "max_l1": lambda: [Normalizer("max"), Normalizer("l1")],
}


@dataclass(frozen=True)
class Tiny:
    """A machine behind a Normalizer, asked about tiny numbers of both signs."""

    kernel: str
    chain: str
    replays: bool

    def __str__(self) -> str:
        return f"{self.kernel}-{self.chain}{'-replay' * self.replays}"

    def emit(self) -> Emitted:
        """Return the emitted C with the queries."""
        rng = np.random.default_rng(11)
        X = rng.random((60, N_FEATURES)) * 3
        classifier = SVC(kernel=kernel_function(self.kernel, gamma=0.3))
        model = make_pipeline(*CHAINS[self.chain](), classifier).fit(X, X[:, 0] > X[:, 1])
        emitted = emit_model(model)
        program = emitted.program
        if self.replays:
            machine = run_passes(emitted.machine, centers=False)
            ordinary = ordinary_inputs(machine, 16)
            program, _ = add_replay(machine, emitted.target, program, ordinary, None, required=True)
        return replace(emitted, program=program, own_queries=queries())


def queries() -> np.ndarray:
    """Return rows that are tiny as a whole or in one feature, negative ones among them, float32."""
    rng = np.random.default_rng(0)
    decades = 10.0 ** np.arange(-46, 4, 3)
    around = 2.0 ** -np.arange(44.0, 54.0, 0.5)
    sizes = np.concatenate([[0.0, -0.0], decades, -decades, around, -around])[:, None]
    one, alone, mixed = np.ones((3, len(sizes), N_FEATURES))
    one[:, 2:3] = sizes
    alone[:, :2], alone[:, 3:] = 0.0, 0.0
    alone[:, 2:3] = sizes
    mixed *= np.abs(sizes)
    mixed[:, 3:4] *= -1e-4
    some = rng.random((len(sizes), N_FEATURES)) * sizes
    return np.concatenate([one, alone, mixed, some, some - mixed]).astype(np.float32)


@cache
def emitted(case: Tiny) -> Emitted:
    return case.emit()


CHI2 = [Tiny("chi2", chain, replays=number % 2 == 1) for number, chain in enumerate(CHAINS)]
LAPLACIAN = [Tiny("laplacian", chain, True) for chain in ("l1", "l2", "max")]


def half_widths(case: Tiny) -> np.ndarray:
    """Return half the widths of the intervals, of what is answered, in those that say nothing."""
    results = emitted(case).answers.results
    answered = results[results["status"] == Status.OK]
    exact = emitted(case).program.ends.exact
    assert isinstance(exact, ExactSum)
    widths = answered["upper"].astype(np.float64) - answered["lower"]
    return widths / 2 / float(exact.trivial_bound)


@pytest.mark.parametrize("case", CHI2, ids=str)
def test_chi2_never_answers_with_an_interval_that_says_nothing(case):
    """Nothing is known where the bound is that of every input: 1 here, for a sum of any vectors."""
    assert half_widths(case).size
    assert half_widths(case).max() < 0.5


@pytest.mark.parametrize("case", CHI2, ids=str)
def test_chi2_refuses_what_is_negative_and_answers_what_is_not(case):
    X = queries()
    prepared = emitted(case).machine.prepare(X.astype(np.float64))
    found = emitted(case).answers.results["status"]
    sizes = np.linalg.norm(X.astype(np.float64), axis=1)
    known = (sizes < 1e-16) | (sizes > 1e-13)
    # What rounding explains counts as 0: what a step rounds is relative to the row.
    clearly = (prepared < -1e-3 * np.abs(prepared).max(axis=1, keepdims=True)).any(axis=1)
    # The bound on what a scaler rounds is more than that of what float32 can square.
    least = 1e-24 if case.chain == "maxabs_l2" else 0.0
    beyond = np.abs(prepared).max(axis=1) > least
    assert (found[known & clearly & beyond] == Status.ERROR_RANGE).all()
    if "minmax" not in case.chain and "clip" not in case.chain:
        assert (found[known & (X >= 0).all(axis=1)] == Status.OK).all()


@pytest.mark.parametrize("case", [*CHI2, *LAPLACIAN], ids=str)
def test_the_models_decision_lies_within_every_interval(case):
    results = emitted(case).answers.results
    answered = results["status"] == Status.OK
    reference = evaluate(emitted(case).machine, queries()[answered])
    f, off = reference.decisions[:, 0], reference.error[:, 0]
    assert (results["lower"][answered] <= f + off).all()
    assert (results["upper"][answered] >= f - off).all()


@pytest.mark.parametrize("case", LAPLACIAN, ids=str)
def test_only_around_the_size_at_which_a_row_stays_a_normalised_one_is_unknown(case):
    X = queries().astype(np.float64)
    sizes = {"l1": 1, "l2": 2, "max": np.inf}
    size = np.linalg.norm(X, ord=sizes[case.chain], axis=1)
    wide = half_widths(case) >= 0.5
    assert ((size[wide] > 2.0**-50) & (size[wide] < 2.0**-47)).all()


@pytest.mark.parametrize("case", [CHI2[0], CHI2[1], LAPLACIAN[2]], ids=str)
def test_the_c_answers_tiny_inputs_with_the_same_bits(case, tmp_path):
    need("gcc")
    folder = emitted(case).write(tmp_path / "out")
    own = emitted(case)
    with build(own.recipe, folder, own.target, optimisation=FAST) as artifact:
        result = HostRunner().run(artifact, emitted(case).inputs)
    np.testing.assert_array_equal(result.records, emitted(case).records)
