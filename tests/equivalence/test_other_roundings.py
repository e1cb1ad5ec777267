"""The bounds hold for a user's compiler too: fused multiply-adds, subnormals flushed to zero.

reliability 32: bounds hold with and without FMA. reliability 34: with and without subnormals.
"""

from __future__ import annotations

import platform

import numpy as np
import pytest
from bound_cases import Case, queries
from mpmath import mpf
from scalar_library import ScalarLibrary, compile_source, over_chunks

from kit.covering import every_float, every_nth
from kit.emitted import Emitted, emit_model
from kit.lowered import Lowered
from kit.real_model import RealModel
from kit.roundings import CONTRACT, FUSED, flushing_subnormals, need_fma, run
from kit.sparse_digits import SparseDigits
from kit.tools import need
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.rounding import LARGEST_INTERMEDIATE
from kmcompile.numeric.scalar import exp_negative, tanh
from kmcompile.numeric.scalar.functions import LOG1P
from kmcompile.program.interpreter import Status
from kmcompile.run import RunResult
from kmcompile.verify.records import answers_of

CASES = [
    Case("ordinary", "raw", "poly3", 3),
    Case("ordinary", "standard", "poly9", 2),
    Case("shifted", "standard", "rbf", 2),
    Case("ordinary", "standard_l2_whiten_l1", "rbf", 3),
    Case("sensor", "clip", "sigmoid", 2),
    Case("ordinary", "l2_standard", "linear_svc", 3),
    Case("tiny", "raw", "rbf", 2),
    Case("tiny", "l2", "linear", 2),
    Case("badly_scaled", "raw", "poly3", 2),
    Case("sensor", "standard", "laplacian", 2),
    Case("tiny", "clip", "chi2", 2),
    Case("ordinary", "clip", "intersection", 3),
    Case("sensor", "clip", "additive_chi2", 2),
    SparseDigits("rbf", "binary"),
    SparseDigits("rbf", "one_vs_one", normalizes=True),
]


def check_claims(real: RealModel, X: np.ndarray, result: RunResult) -> None:
    """Check every interval and every certified label that the C gave."""
    assert result.self_test == Status.OK
    answers, decisions = answers_of(result.records)
    assert (answers["status"] == Status.OK).all()
    for x, answer, decided in zip(X, answers, decisions, strict=True):
        exact = real.decisions(x)
        # The interval is that of the pair whose decision is its middle.
        holds = [mpf(float(answer["lower"])) <= f <= mpf(float(answer["upper"])) for f in exact]
        middle = (answer["lower"] + answer["upper"]) / np.float32(2)
        assert holds[np.abs(decided - middle).argmin()], x.tolist()
        if answer["certified"]:
            assert real.label(exact) == answer["label"], x.tolist()


def emitted_case(case: Case | SparseDigits) -> tuple[Emitted, RealModel, np.ndarray]:
    estimator = case.fitted()
    model = emit_model(estimator)
    if isinstance(case, SparseDigits):
        return model, RealModel(estimator), case.inputs()
    low = Lowered(estimator, model.machine, model.program)
    return model, RealModel(estimator), queries(low, case, 120, seed=2)


@pytest.mark.exhaustive
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("case", every_nth(CASES, 5))
def test_intervals_hold_where_the_compiler_contracts(case, compiler, tmp_path):
    """reliability 32: bounds hold with and without FMA."""
    need_fma()
    need(compiler)
    model, real, X = emitted_case(case)
    result = run(model, X, tmp_path, compiler, fused=True)
    check_claims(real, X, result)
    exact = run(model, X, tmp_path, compiler, fused=False)
    assert (result.records != exact.records).any(), "nothing was contracted"


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", every_nth(CASES, 5))
def test_intervals_hold_where_subnormals_are_flushed(case, tmp_path):
    """reliability 34: subnormals flushed: bounds tolerate it."""
    need("gcc")
    if platform.machine() != "x86_64":
        pytest.skip("this processor has no MXCSR register")
    model, real, X = emitted_case(case)
    tiny = np.float32(2.0) ** np.random.default_rng(3).uniform(-149, -60, X.shape)
    X = np.concatenate([X, tiny.astype(np.float32), np.zeros_like(X[:1])])
    with flushing_subnormals(tmp_path, model):
        result = run(model, X, tmp_path, "gcc", fused=False)
    check_claims(real, X, result)


@every_float
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize(
    ("function", "end", "bound"),
    [
        ("exp_negative", exp_negative.CUTOFF, exp_negative.RELATIVE_ERROR),
        ("tanh", tanh.LIMIT, tanh.RELATIVE_ERROR),
        ("log1p", LARGEST_INTERMEDIATE, LOG1P[np.float32].relative_error),
    ],
    ids=["exp_negative", "tanh", "log1p"],
)
def test_scalar_functions_keep_their_bounds_where_the_compiler_contracts(
    function, end, bound, compiler, every, tmp_path
):
    """reliability 32. The float32 from 2^-24 on: below, the result is 1 or the argument."""
    need_fma()
    need(compiler)
    library = ScalarLibrary(compile_source(tmp_path, compiler, [*FUSED, CONTRACT]))

    def check(v: Float32Array) -> float:
        return library.worst(function, v, library.apply(function, v))

    first, last = (int(np.float32(v).view(np.uint32)) for v in (2.0**-24, end))
    assert over_chunks(check, first, last, every) <= bound
