"""What certified exits prove holds for a user's compiler too, and with subnormals flushed.

reliability 32: bounds hold with and without FMA. reliability 34: with and without subnormals.
"""

from __future__ import annotations

import platform

import numpy as np
import pytest

from kit import catalogue, certified
from kit.covering import every_nth
from kit.emitted import Emitted
from kit.roundings import flushing_subnormals, need_fma, run
from kit.tools import need
from kmcompile.model.reference import evaluate
from kmcompile.program.interpreter import Status
from kmcompile.run import RunResult
from kmcompile.verify.outcomes import can_be
from kmcompile.verify.records import answers_of


def check_claims(emitted: Emitted, X: np.ndarray, result: RunResult) -> None:
    """Check every certified label, and with two classes every interval."""
    assert result.self_test == Status.OK
    answers, _ = answers_of(result.records)
    accepted = answers["status"] == Status.OK
    answers, reference = answers[accepted], evaluate(emitted.machine, X[accepted])
    for row in np.flatnonzero(answers["certified"]):
        label = int(answers["label"][row])
        f, error = reference.decisions[row], reference.error[row]
        assert can_be(emitted.machine, f, error, label), X[accepted][row].tolist()
    if reference.decisions.shape[1] == 1:
        f, error = reference.decisions[:, 0], reference.error[:, 0]
        assert (answers["lower"] <= f + error).all()
        assert (answers["upper"] >= f - error).all()
    early = answers["stage"] < len(emitted.program.early_exits)
    assert early.any()
    assert answers["certified"][early].all()


@pytest.mark.few
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("case", every_nth(certified.EVERY, 5))
def test_certificates_hold_where_the_compiler_contracts(case, compiler, tmp_path):
    """reliability 32: bounds hold with and without FMA."""
    need_fma()
    need(compiler)
    emitted = catalogue.emitted(case, "host")
    result = run(emitted, emitted.queries, tmp_path, compiler, fused=True)
    check_claims(emitted, emitted.queries, result)


@pytest.mark.few
@pytest.mark.parametrize("case", every_nth(certified.EVERY, 5))
def test_certificates_hold_where_subnormals_are_flushed(case, tmp_path):
    """reliability 34: subnormals flushed: bounds tolerate it."""
    need("gcc")
    if platform.machine() != "x86_64":
        pytest.skip("this processor has no MXCSR register")
    emitted = catalogue.emitted(case, "host")
    shape = (200, emitted.program.n_features)
    tiny = np.float32(2.0) ** np.random.default_rng(3).uniform(-149, -60, shape)
    X = np.concatenate([emitted.queries, tiny.astype(np.float32)])
    with flushing_subnormals(tmp_path, emitted):
        result = run(emitted, X, tmp_path, "gcc", fused=False)
    check_claims(emitted, X, result)
