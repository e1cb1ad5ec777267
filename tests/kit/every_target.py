"""Small models for every target: each kernel, number format, mode and task, with many queries.

For tests that build and run the C of each target, and that count what these models cover.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol

import numpy as np

from kit import coded
from kit.additive import Additive
from kit.calibrated import Calibrated
from kit.cascades import Cascade
from kit.catalogue import CORE as CASES
from kit.catalogue import Case
from kit.certified import Certified
from kit.coded import Coded
from kit.coded_polynomials import CodedPolynomial
from kit.emitted import Emitted, emit_in_format
from kit.expansions import Expanded
from kit.input_tolerances import Tolerant
from kit.integer_exits import Certified as CertifiedCodes
from kit.integer_exits import Statistical
from kit.leaf_expansions import BesideStatistical, LeavesExpanded
from kit.monitors import Monitored
from kit.pairs import Pairs
from kit.polynomials import Polynomial
from kit.quadratics import QuadraticCase
from kit.ratios import Ratio
from kit.reduced_machines import Reduced
from kit.regressions import N_OF_PARTED, Regression
from kit.replays import Replayed
from kit.routed import Routed
from kit.sharing import shared
from kit.sign_maps import Mapped
from kit.sparse_digits import SparseDigits
from kit.steps import InSteps
from kit.subspaces import SubspaceCase
from kit.taylor import Taylor
from kit.watched import Doubled, Watched
from kmcompile.model.likely_inputs import generate
from kmcompile.target import ProgramForm, Target, load_target

N_QUERIES = 2000
N_OF_FEW = 300
"""Queries of a model at least: of all models, and where `make test` asks a few."""
_SEED = 20030705
_N_SAMPLES = 24


class Model(Protocol):
    """A model that can be emitted."""

    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        ...


@dataclass(frozen=True)
class InFormat:
    """A model of the catalogue in an integer format."""

    case: Case
    number_format: str

    def __str__(self) -> str:
        return f"{self.number_format}-{self.case}"

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        return emit_in_format(self.case.fitted(), self.number_format, target, name)


def _small(case: Case) -> Case:
    return replace(case, n_samples=_N_SAMPLES)


_SMALL = {"n_trained": 40}
GROUPS: dict[str, list[Any]] = {
    "sums": [
        *(Replayed(_small(case), low_parts=n % 2 == 0) for n, case in enumerate(CASES)),
        Replayed(SparseDigits("rbf", "one_vs_one", normalizes=True, **_SMALL), low_parts=True),
        Pairs(n_samples=120, n_features=7),
        Replayed(
            Additive(_small(Case("SVC", "intersection", "one_vs_one", "minmax"))), low_parts=True
        ),
        Replayed(
            Additive(_small(Case("SVC", "additive_chi2", "binary", "clip", n_features=3))),
            low_parts=True,
        ),
        Regression("poly", 1e-3, replays=True, **_SMALL),
        Regression("rbf", 1e-3, replays=True, at_once=True, **_SMALL),
        _small(Case("OneClassSVM", "rbf", "one_class", "standard")),
        _small(Case("SVC", "poly", "binary", "l2", parameters=(("coef0", 0.0), ("gamma", 1.0)))),
        _small(Case("SVC", "cosine", "one_vs_one", "raw")),
        Regression("rbf", **_SMALL),
        Monitored(_small(CASES[0])),
        Regression("rbf", n_trained=N_OF_PARTED),
        Calibrated("rbf", threshold=0.2, n_samples=60),
        Calibrated("iris"),
        Polynomial("binary", 4),
        Polynomial("one_vs_one", 2, replays=True),
        Reduced("cubic_wine", 12),
        Reduced("wine", 60),
        Tolerant("wine", "standard", "rbf", 0.1, **_SMALL),
        Tolerant("breast_cancer", "pca", "one_class", 0.05, **_SMALL),
        Tolerant("wine", "standard", "cubic", 0.05, **_SMALL),
        Tolerant("wine", "standard", "linear", 0.1, **_SMALL),
        Tolerant("diabetes", "standard", "value", 0.05, **_SMALL),
        Routed("iris", 6, "chain"),
        Routed("wine", 5, kernel="poly"),
        Routed("diabetes", 4),
        Routed("iris", 5, extra="widths"),
        Routed("iris", 5, extra="products linear"),
        Routed("wine", 5, extra="votes"),
        Routed("wine", 5, extra="votes", number_format="int16"),
        Routed("iris", 6, "chain", number_format="int16"),
        Routed("wine", 4, number_format="int8"),
        Routed("iris", 5, extra="widths linear", number_format="int16"),
        Routed("iris", 5, extra="widths products linear", number_format="int8"),
        InSteps(Replayed(_small(CASES[0]), low_parts=True)),
        InSteps(Pairs(n_samples=120, n_features=7), 1.5),
        Watched(_small(CASES[1])),
        Doubled(Replayed(_small(CASES[0]), low_parts=True)),
        InSteps(Polynomial("one_vs_one", 2, replays=True)),
        InSteps(Replayed(SparseDigits("rbf", "one_vs_one", **_SMALL), low_parts=True)),
    ],
    "exits": [
        Certified("rbf", "moons", **_SMALL),
        Certified("poly", "breast_cancer", **_SMALL),
        Certified("rbf", "wine", **_SMALL),
        SubspaceCase("cosine9", "digits", "l2", 12, 30, **_SMALL),
        SubspaceCase("quartic", "breast_cancer", "standard", 7, 1000, **_SMALL),
        SubspaceCase("indefinite", "sparse_digits", "raw", 9, 5, **_SMALL),
        QuadraticCase("quadratic", "breast_cancer", "standard", 2, True, True, **_SMALL),
        QuadraticCase("quartic", "breast_cancer", "standard", 1, **_SMALL),
        Mapped("moons", n_trained=100),
        Ratio(Certified("rbf", "wine", **_SMALL)),
        Expanded("breast_cancer", 0.01, (1, 4), 4, **_SMALL),
        Tolerant("breast_cancer", "standard", "rbf", 0.01, exits=True, **_SMALL),
        Expanded("wine", 0.02, (3,), 3, **_SMALL),
        Expanded("moons", 2.0, (4, 4, 4), 0, **_SMALL),
        Taylor("moons", 2.0, (3, 3), 0, degree=5, **_SMALL),
        Taylor("wine", 0.02, (2,), 0, degree=3, **_SMALL),
        LeavesExpanded(Routed("iris", 6, "chain"), 2),
        LeavesExpanded(Routed("wine", 4), 0),
        BesideStatistical(LeavesExpanded(Routed("iris", 5), 1)),
        Regression("rbf", 12.0, ("local_expansion", "bound_sequence"), replays=True, **_SMALL),
        Cascade("rbf", "binary", n_levels=2, pooled=True, n_trained=100),
        Cascade("poly", "binary", "tug_of_war", 1, True, 2, "l2", pooled=True, **_SMALL),
        Cascade("rbf", "break_ties", "estimate", 2, False, 2, "standard", pooled=True, **_SMALL),
        Cascade("sigmoid", "one_vs_one", "by_score", n_reduced=0, pooled=True, **_SMALL),
        Cascade("rbf", "one_vs_one", n_reduced=0, pooled=True, n_scores=3, **_SMALL),
        Cascade("rbf", "one_vs_one", "by_score", 1, False, pooled=True, n_scores=3, **_SMALL),
        SparseDigits("rbf", "binary", "tug_of_war", normalizes=True, **_SMALL),
        SparseDigits("poly", "one_vs_one", "by_score", **_SMALL),
        Certified("rbf", "sparse_digits", "raw", **_SMALL),
        Certified("laplacian", "moons", **_SMALL),
        InSteps(Cascade("rbf", "binary", n_levels=2, pooled=True, n_trained=100)),
        Watched(Cascade("poly", "binary", "tug_of_war", 1, True, 2, "l2", pooled=True, **_SMALL)),
        Monitored(Certified("rbf", "wine", **_SMALL), "directions"),
        Pairs(has_exit=True, n_samples=120, n_features=7),
    ],
    "codes": [
        Coded(coded.divided_digits, "int8"),
        Coded(coded.few_pixels, "int8", low_parts=False),
        Coded(coded.signed_bytes, "int8"),
        Coded(coded.counts, "int16"),
        Coded(coded.smooth, "int8", low_parts=True),
        Coded(coded.few_poly_digits, "int8"),
        Coded(coded.sparse_poly, "int8"),
        Coded(coded.sigmoid_bytes, "int8"),
        Coded(coded.wide_poly, "int16"),
        Coded(coded.intersection_digits, "int8"),
        Coded(coded.intersection_bytes, "int8"),
        Coded(coded.linear_sensors, "int16"),
        Coded(coded.linear_bytes, "int8"),
        CodedPolynomial("binary", 3, "int8"),
        CodedPolynomial("one_vs_one", 2, "int16"),
        InFormat(_small(Case("OneClassSVM", "rbf", "one_class", "standard")), "int16"),
        InFormat(_small(Case("OneVsRestClassifier", "rbf", "one_vs_rest", "raw")), "int16"),
        Calibrated("rbf", "int8", n_samples=60),
        Monitored(Coded(coded.few_pixels, "int8", low_parts=False)),
        Monitored(Coded(coded.counts, "int16")),
        Regression("rbf", number_format="int8", **_SMALL),
        CertifiedCodes("moons", ("sign_map",)),
        CertifiedCodes("hundredths", ("bound_sequence", "sign_map")),
        CertifiedCodes("wine", ("local_expansion", "bound_sequence")),
        CertifiedCodes("poly", ("bound_sequence",), "int8", **_SMALL),
        Statistical("digits", "int8", 2, **_SMALL),
        Statistical("sigmoid", "int8", 1, **_SMALL),
        Regression("rbf", 1e-3, ("local_expansion",), True, "int16", **_SMALL),
        Reduced("quartic_digits", 20, "int8"),
        Reduced("wine", 60, "int8"),
        InSteps(Coded(coded.smooth, "int8", low_parts=True)),
        Doubled(Watched(Coded(coded.few_pixels, "int8", low_parts=False))),
    ],
}
"""Models that are linked into one image each: of float32 without and with exits, of codes."""
FEW = "few"
GROUPS[FEW] = [model for models in GROUPS.values() for model in models[::20]] + GROUPS["codes"][1:2]
"""Some of each, which `make test` asks on every target; codes as numbers and as words."""


def like(program: ProgramForm) -> Target:
    """Return a target that emitted C cannot tell from others with the same `[program]`.

    Lowering and the emitter read nothing else but the flash of the part and the costs, by which
    they choose between tables: none of them is tested here.
    """
    bits = 16 if program.size_bits == 16 else 32
    shared = replace(program, number_format="float32", size_bits=bits)
    return replace(load_target("host"), program=shared)


@cache
def emitted_models(group: str, target: Target) -> tuple[tuple[str, Emitted], ...]:
    """Return the models of a group as they are emitted, each with what it is.

    Parameters
    ----------
    target : Target
        That of `like`.
    """
    models = [
        model if target.double_bits == 64 else _without_replay(model) for model in GROUPS[group]
    ]
    n_queries = N_OF_FEW if group == FEW else N_QUERIES
    return tuple(
        (str(model), with_many_queries(model.emit(target, f"{group}_{n}"), n_queries))
        for n, model in enumerate(models)
    )


def _without_replay(model: Any) -> Any:
    """Return the model as it is where there is no double of 64 bits."""
    if isinstance(model, Replayed):
        return model.case
    if isinstance(model, InSteps):
        return replace(model, model=_without_replay(model.model))
    if isinstance(model, Monitored | Watched | Doubled):
        return replace(model, case=_without_replay(model.case))
    if isinstance(model, Coded):
        return replace(model, low_parts=None)
    return replace(model, replays=False) if hasattr(model, "replays") else model


def with_many_queries(emitted: Emitted, n_queries: int = N_QUERIES) -> Emitted:
    """Return the model with at least so many queries, those of the model among them."""
    X = np.concatenate([emitted.queries, limits(emitted), subnormals(emitted), patterns(emitted)])
    missing = max(0, n_queries - len(X))
    more = generate(emitted.machine, missing) if missing else X[:0]
    return replace(emitted, own_queries=np.concatenate([X, more]))


def limits(emitted: Emitted) -> np.ndarray:
    """Return inputs at the largest accepted number and one step beyond it.

    Returns
    -------
    ndarray of shape (12 n_features, n_features), float32
        Each feature in turn, of both signs, beside zeros and beside ordinary numbers.
    """
    limit, d = emitted.program.prepare.limit, emitted.program.n_features
    base = generate(emitted.machine, 3)[:1]
    rows = []
    for beside in (np.zeros((1, d), dtype=np.float32), base):
        for value in (np.nextafter(limit, np.float32(0)), limit, np.nextafter(limit, np.inf)):
            for sign in (np.float32(1), np.float32(-1)):
                row = beside.repeat(d, axis=0)
                np.fill_diagonal(row, sign * value)
                rows.append(row)
    return np.concatenate(rows).astype(np.float32)


def subnormals(emitted: Emitted) -> np.ndarray:
    """Return subnormal inputs of both signs, alone and among ordinary numbers."""
    rng = np.random.default_rng(_SEED)
    ordinary = generate(emitted.machine, 60)[:60]
    signs = rng.integers(2, size=ordinary.shape, dtype=np.uint32) << 31
    tiny = (rng.integers(1 << 23, size=ordinary.shape, dtype=np.uint32) | signs).view(np.float32)
    mixed = np.where(rng.random(ordinary.shape) < 0.3, tiny, ordinary)
    least = np.finfo(np.float32).smallest_normal
    at_least = np.nextafter(np.where(tiny < 0, -least, least), tiny)
    return np.concatenate([tiny, mixed, at_least]).astype(np.float32)


def patterns(emitted: Emitted) -> np.ndarray:
    """Return any bits: finite numbers of all sizes, then rows with NaN and infinities."""
    rng = np.random.default_rng(_SEED + 1)
    n = emitted.program.n_features
    words = rng.integers(1 << 32, size=(100, n), dtype=np.uint32)
    not_finite = (words[:50] & 0x7F800000) == 0x7F800000
    words[:50][not_finite] &= 0x3FFFFFFF
    rows = np.arange(50, 100)
    specials = np.array([0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7F800001, 0x7FFFFFFF])
    words[rows, rows % n] = specials[rows % len(specials)]
    return words.view(np.float32)
