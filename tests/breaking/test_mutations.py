"""A term of a bound that is halved or 0 is noticed: by f outside an interval or by its derivation.

Every field of a stage is a term or a value (`terms`). Truncation, whose worst case is met, is
attacked with inputs whose error comes within a factor 2 of the term. What float32 rounds is far
less than its bound on any input that can be found; there the least value of the term is worked
out once more (`derivations`). A term whose half is still enough for its derivation is `GENEROUS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import derivations
import numpy as np
import pytest
from adversaries import Adversary, deviating_sequence, on_data
from derived import DERIVED, stage_of
from terms import TERMS, VALUES, terms_of, weakened

from kmcompile.kernels import CATALOGUE as KERNELS
from kmcompile.kernels.remainder import PolyRemainder
from kmcompile.program import stages

ATTACKS: dict[str, tuple[Callable[[], Adversary], dict[str, float]]] = {
    "sequence-data": (lambda: on_data("rbf-moons", "bound_sequence"), {"residual": 0.5}),
    "sequence-poly": (
        lambda: on_data("poly-odd-moons", "bound_sequence"),
        {"residual": 0.5, "reach.gamma": 0.5, "reach.coef0": 0.5},
    ),
    "sequence-in-span": (
        lambda: deviating_sequence(1.0, 0.0),
        {"per_error": 0.5, "reach.shift": 0.0},
    ),
    "sequence-across": (
        lambda: deviating_sequence(-math.exp(-0.5), 1.0),
        {"residual": 0.5, "row_error": 0.5, "reach.shift": 0.0},
    ),
    "folded-line": (
        lambda: on_data("rbf-line", "local_expansion"),
        {**{f"constants[{n}]": 0.5 for n in (4, 5, 6, 7)}, "relative": 0.0},
    ),
    "folded-moons": (
        lambda: on_data("rbf-moons", "local_expansion"),
        {"constants[3]": 0.5, "constants[4]": 0.5},
    ),
    "folded-curved": (
        lambda: on_data("case-wine-standard-3_centres-3_curved", "local_expansion"),
        {"constants[3]": 0.5, "curved[2]": 0.5},
    ),
    "folded-pca": (
        lambda: on_data("rbf-pca", "local_expansion"),
        {"constants[3]": 0.5, "curved[2]": 0.5},
    ),
    "subspace": (
        lambda: on_data(
            "case-quartic-breast_cancer-standard-7_dimensions-1000_touched",
            "subspace_certificate",
        ),
        {"remainder_factor": 0.5, "remainder.orders[0]": 0.5, "remainder.orders[2]": 0.5}
        | {"lost": 0.0},
    ),
    "subspace-odd": (
        lambda: on_data("case-cosine9-digits-l2-12_dimensions-30_touched", "subspace_certificate"),
        {"remainder.orders[1]": 0.0, "remainder.orders[5]": 0.0, "remainder.per_deviation": 0.0},
    ),
    "map": (lambda: on_data("case-one-raw-C_10-gamma_1.0", "sign_map"), {"largest": 0.5}),
    "map-near": (lambda: on_data("case-one-raw-C_10-gamma_1.0", "sign_map"), {"least": 2.0}),
}
"""Adversaries and the factors by which each can tell that a term is too small (`least`: large)."""

GENEROUS = {
    "BoundSequence.slack",
    "BoundSequence.result_error",
    "PolyReach.up",
    "PolyReach.value_error",
    "SubspaceCertificate.lost",
    "SubspaceCertificate.share_minimum",
    "SubspaceCertificate.error_factor",
    "SubspaceCertificate.moved_factor",
    "SubspaceCertificate.result_error",
    "SubspaceCertificate.minimum",
    "LocalExpansion.up",
    "TaylorPolynomial.up",
    "ExactSum.final_factor",
    "ExactSum.result_error",
    "PairSum.final_factor",
    "PairSum.result_error",
    "LinearSum.result_error",
    "PolynomialSum.result_error",
    "AdditiveSum.result_error",
    "CurveSum.result_error",
    "TableSum.result_error",
    "CodedPolynomialSum.result_error",
    "FixedSum.result_error",
}
"""Half of these is still what their derivations need: the factors are rounded up by 2^-18, and some
roundings are counted twice to keep a docstring short."""

ELSEWHERE = {
    f"PolyRemainder.orders[{column}]": "test_powers_between_are_bounded_by_those_next_to_them"
    for column in (3, 4, 5)
}
"""Terms with a test of their own below."""


def owned(stage: Any, term: str) -> str:
    """Return the name of a term with the class that has it."""
    *parts, field = term.split(".")
    for part in parts:
        stage = getattr(stage, part)
    return f"{type(stage).__name__}.{field}"


WITHOUT_TERMS = {
    "CodedSum": "an ExactSum; tests/equivalence/test_coded_sum_bounds.py has its roundings",
    "LeafExpansion": "a LocalExpansion of each leaf, with its fields",
    "RoutedSum": "tests/unit/model/test_routing.py and test_sum_bounds.py hold its bounds",
    "RoutedFixedSum": "as RoutedSum",
    "Linear": "a machine of it is a LinearSum",
}
"""What has a bound and no row in `TERMS`, and why."""


def test_all_that_has_a_bound_has_its_terms():
    sums = [kind for kind in stages.CATALOGUE if kind.exit in ("certified", "exact", "replay")]
    own = [kernel for kernel in KERNELS if kernel.__module__.startswith("kmcompile.")]
    known = {kind.__name__.removesuffix("Float32") for kind in TERMS}
    assert {kind.__name__ for kind in (*sums, *own)} - known == set(WITHOUT_TERMS)


@pytest.mark.parametrize("kind", TERMS, ids=lambda kind: kind.__name__)
def test_every_field_is_a_term_or_a_value(kind):
    assert {field.name for field in fields(kind)} == {*TERMS[kind], *VALUES[kind]}


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", DERIVED)
def test_every_constant_is_at_least_what_its_derivation_needs(case):
    derived = DERIVED[case]()
    assert derivations.holds(derived.stage, derived.needed) == []


@pytest.mark.few
@pytest.mark.parametrize("case", DERIVED)
def test_a_derived_term_that_is_0_is_noticed(case):
    derived = DERIVED[case]()
    for term in derived.needed:
        unneeded = term != "shrink" and not np.any(derived.needed[term])
        assert unneeded or derived.notices(weakened(derived.stage, term, 0.0)), term


@pytest.mark.exhaustive
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_interval_that_lacks_a_term_does_not_hold_f(attack):
    make, factors = ATTACKS[attack]
    adversary = make()
    assert not adversary.breaks(adversary.stage)
    for term, factor in factors.items():
        assert adversary.breaks(weakened(adversary.stage, term, factor)), term


@pytest.mark.exhaustive
def test_every_term_is_noticed_when_it_is_halved():
    """By one case at least; `GENEROUS` is exactly what is not."""
    noticed, seen = set(), set()
    for make in DERIVED.values():
        derived = make()
        for term in terms_of(derived.stage):
            name = owned(derived.stage, term)
            seen.add(name)
            if derived.notices(weakened(derived.stage, term, 0.5)):
                noticed.add(name)
    for make, factors in ATTACKS.values():
        stage = make().stage
        names = {owned(stage, term): factor for term, factor in factors.items()}
        seen |= {owned(stage, term) for term in terms_of(stage)}
        noticed |= {name for name, factor in names.items() if factor in (0.5, 2.0)}
    assert seen - noticed - set(ELSEWHERE) == GENEROUS
    every = {f"{kind.__name__}.{term}" for kind, terms in TERMS.items() for term in terms}
    assert {name.split("[")[0] for name in seen} == every


@pytest.mark.parametrize("factor", [0.5, 0.0])
def test_powers_between_are_bounded_by_those_next_to_them(factor):
    """y^(d - k) <= top y^(d - 1) + middle y^m + low for all y, equal at y = 1."""
    name = "case-cosine9-digits-l2-12_dimensions-30_touched"
    stage = stage_of(name, "subspace_certificate")[0]
    assert _powers_are_bounded(stage.remainder)
    for column in (3, 4, 5):
        assert not _powers_are_bounded(weakened(stage.remainder, f"orders[{column}]", factor))


def _powers_are_bounded(remainder: PolyRemainder) -> bool:
    d, m = remainder.degree, remainder.middle
    y = np.geomspace(1e-6, 1e6, 2401)  # 1 among them
    for k, (top, middle, low) in enumerate(remainder.orders[:, 3:].astype(np.float64), start=1):
        if not (y ** (d - k) <= top * y ** (d - 1) + middle * y**m + low).all():
            return False
    return True
