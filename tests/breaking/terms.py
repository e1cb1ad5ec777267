"""Which fields of the stages are terms of a bound, and programs with one of them weakened."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from kit import fixed_sum_terms
from kmcompile.kernels.additive_chi2 import AdditiveChi2Float32
from kmcompile.kernels.chi2 import Chi2Float32
from kmcompile.kernels.exponential import ExponentialReach
from kmcompile.kernels.fourier import FourierFloat32
from kmcompile.kernels.intersection import IntersectionFloat32
from kmcompile.kernels.laplacian import LaplacianFloat32
from kmcompile.kernels.matern import MaternFloat32, MaternReach
from kmcompile.kernels.poly import PolyFloat32, PolyReach
from kmcompile.kernels.rational_quadratic import RationalQuadraticFloat32
from kmcompile.kernels.rbf import RbfFloat32, RbfReach
from kmcompile.kernels.remainder import PolyRemainder
from kmcompile.kernels.sigmoid import SigmoidFloat32
from kmcompile.program.stages import (
    AdditiveSum,
    BoundSequence,
    CodedLinearSum,
    CodedPolynomialSum,
    CurveSum,
    ExactSum,
    FixedSum,
    LinearSum,
    LocalExpansion,
    PairSum,
    PolynomialSum,
    QuadraticBounds,
    SignMap,
    SubspaceCertificate,
    TableSum,
    TaylorPolynomial,
)
from kmcompile.program.stages.replay import Replay
from kmcompile.program.stages.sums.self_bound import SelfBound

EXPONENTIAL = ("vector_error", "z_error", "slope", "shift_minimum", "value_error")

TERMS: dict[type, tuple[str, ...]] = {
    BoundSequence: (
        "residual",
        "row_error",
        "per_error",
        "per_reach",
        "minimum",
        "shrink",
        "slack",
        "result_error",
    ),
    RbfReach: (
        "shift",
        "shift_minimum",
        "widest",
        "per_z",
        "value_error",
        "per_reach",
        "twice_length",
    ),
    ExponentialReach: ("slope", "shift_minimum", "widest", "per_z", "value_error"),
    MaternReach: ("slope", "shift_minimum", "widest", "per_z", "value_error"),
    PolyReach: (
        "gamma",
        "coef0",
        "longest",
        "up",
        "per_length",
        "per_deviation",
        "minimum",
        "slope",
        "value_error",
    ),
    SubspaceCertificate: (
        "slack",
        "remainder_factor",
        "lost",
        "share_minimum",
        "rounding",
        "error_factor",
        "moved_factor",
        "result_error",
        "minimum",
    ),
    PolyRemainder: (
        "orders",
        "per_length",
        "per_deviation",
        "minimum",
        "largest_per_length",
        "largest_minimum",
    ),
    QuadraticBounds: ("levels", "radii", "slopes"),
    LocalExpansion: (
        "constants",
        "curved",
        "up",
        "relative",
        "relative_per_square",
        "relative_per_reach",
        "result_error",
    ),
    TaylorPolynomial: (
        "bounds",
        "up",
        "relative",
        "relative_per_square",
        "relative_per_reach",
        "result_error",
    ),
    SignMap: ("least", "largest"),
    Replay: ("input_error",),
    ExactSum: ("final_factor", "result_error", "minimum", "trivial_bound"),
    SelfBound: ("per_square", "constant", "distance"),
    PairSum: ("final_factor", "result_error", "minimum", "trivial_bound"),
    LinearSum: ("per_length", "per_deviation", "minimum", "result_error"),
    PolynomialSum: ("per_length", "per_deviation", "minimum", "result_error"),
    AdditiveSum: ("per_length", "per_deviation", "minimum", "result_error"),
    CurveSum: ("per_length", "per_deviation", "minimum", "beyond", "result_error"),
    TableSum: ("per_deviation", "minimum", "result_error"),
    CodedPolynomialSum: ("per_length", "per_deviation", "minimum", "result_error"),
    CodedLinearSum: ("base", "per_part"),
    FixedSum: fixed_sum_terms.TERMS,
    RbfFloat32: (
        "vector_error",
        "z_error",
        "shift",
        "shift_minimum",
        "value_error",
        "per_reach",
        "twice_length",
    ),
    PolyFloat32: ("per_length", "per_deviation", "minimum", "slope", "value_error"),
    FourierFloat32: ("per_length", "per_deviation", "minimum", "function_error", "value_error"),
    SigmoidFloat32: ("per_length", "per_deviation", "minimum", "function_error", "value_error"),
    LaplacianFloat32: EXPONENTIAL,
    Chi2Float32: EXPONENTIAL,
    MaternFloat32: EXPONENTIAL,
    RationalQuadraticFloat32: (*EXPONENTIAL, "z_slope"),
    IntersectionFloat32: ("per_length", "per_deviation", "minimum", "value_error"),
    AdditiveChi2Float32: ("per_deviation", "minimum", "value_error"),
}
"""The terms of each dataclass."""

VALUES: dict[type, tuple[str, ...]] = {
    BoundSequence: (
        "reach",
        "vectors",
        "triangle",
        "weights",
        "intercept",
        "skip_zeros",
        "squares",
    ),
    RbfReach: (),
    ExponentialReach: (),
    MaternReach: (),
    PolyReach: ("degree",),
    SubspaceCertificate: ("remainder", "products", "vectors", "weights", "max_touched"),
    PolyRemainder: ("gamma", "coef0", "scale", "degree"),
    QuadraticBounds: ("rows", "intercept", "largest"),
    LocalExpansion: (
        "branches",
        "centres",
        "radius",
        "decisions",
        "weights",
        "basis",
        "forms",
        "intercept",
    ),
    TaylorPolynomial: ("degree", "branches", "centres", "radius", "decisions", "terms"),
    SignMap: (
        "deviation",  # up to which inputs are looked at: less decides fewer
        "low",
        "width",
        "scale",
        "across",
        "depth",
        "outer",
        "inner",
        "ranks",
        "n_nodes",
    ),
    Replay: (
        *("prepare", "sum", "label", "skip_zeros", "low_vectors", "low_coefficients"),
        "at_once",
    ),
    ExactSum: (
        "kernel",
        "n_vectors",
        "vectors",
        "coefficients",
        "group_ends",
        "group_decisions",
        "intercept",
        "skip_zeros",
        "mixed_signs",
        "squares",
        "reduced",
    ),
    SelfBound: ("half_degree", "typical"),  # any typical t is right for an odd degree
    PairSum: (
        "kernel",
        "n_classes",
        "vectors",
        "entry_vectors",
        "coefficients",
        "pair_ends",
        "intercept",
        "skip_zeros",
        "squares",
        "score_weights",  # they tell which pairs come first
        "score_offset",
    ),
    LinearSum: ("weights", "intercept"),
    PolynomialSum: ("degree", "width", "terms", "intercept"),
    AdditiveSum: ("n_prepared", "weights", "function_columns", "function_ends", "intercept"),
    CurveSum: (
        "n_prepared",
        "weights",
        "function_columns",
        "function_ends",
        "intercept",
        "degree",
    ),
    CodedPolynomialSum: (
        "codes",
        "per_unit",
        "degree",
        "terms",
        "shifts",
        "start",
        "result_scale",
        "weight",
    ),
    CodedLinearSum: ("codes", "weights", "shift", "start", "exponents", "parts", "weight", "tile"),
    TableSum: (
        "codes",
        "per_unit",
        "values",
        "function_columns",
        "function_ends",
        "start",
        "result_scale",
    ),
    FixedSum: fixed_sum_terms.VALUES,
    RbfFloat32: ("gamma",),
    PolyFloat32: ("gamma", "coef0", "degree"),
    FourierFloat32: (),
    SigmoidFloat32: ("gamma", "coef0"),
    LaplacianFloat32: ("gamma",),
    Chi2Float32: ("gamma",),
    MaternFloat32: ("gamma", "third", "degree"),
    RationalQuadraticFloat32: ("gamma", "alpha"),
    IntersectionFloat32: (),
    AdditiveChi2Float32: (),
}
"""What is computed with: no bound, or a stage in its own right."""

ABOUT_ONE = {"shrink", "up", "final_factor", "error_factor"}
"""Factors: what they differ from 1 is the term."""

PARTS = ("reach", "remainder", "kernel", "sum", "reduced")
"""Fields that have terms of their own."""


def weakened(stage: Any, term: str, factor: float) -> Any:
    """Return a stage with one term times a factor less than 1.

    Parameters
    ----------
    term : str
        A field, "part.field", or either with "[n]" for a column of the last axis.
    """
    part, dot, field = term.partition(".")
    if dot:
        return replace(stage, **{part: weakened(getattr(stage, part), field, factor)})
    name, _, column = term.partition("[")
    value = np.asarray(getattr(stage, name))
    dtype = value.dtype.type
    if name in ABOUT_ONE:
        changed = (1.0 + (value.astype(np.float64) - 1.0) * factor).astype(dtype)
    elif column:
        changed = value.copy()
        changed[..., int(column[:-1])] *= dtype(factor)
    else:
        changed = value * dtype(factor)
    return replace(stage, **{name: changed if value.ndim else dtype(changed)})


def terms_of(stage: Any) -> list[str]:
    """Return the terms of a stage and of its parts, columns one by one."""
    found = []
    for name in TERMS[type(stage)]:
        columns = COLUMNS.get((type(stage), name))
        found += [name] if columns is None else [f"{name}[{n}]" for n in columns]
    own = {field.name for field in fields(stage)}
    for part in PARTS:
        # A reach also says of which class its kernel is; only a reduced sum has a distance.
        if part in own and getattr(stage, part) is not None:
            found += [f"{part}.{term}" for term in terms_of(getattr(stage, part))]
    return found


COLUMNS: dict[tuple[type, str], range] = {
    (LocalExpansion, "constants"): range(2, 10),
    (LocalExpansion, "curved"): range(1, 8),
    (TaylorPolynomial, "bounds"): range(8),  # of degree 3
    (PolyRemainder, "orders"): range(6),
    (QuadraticBounds, "levels"): range(1, 3),
    (QuadraticBounds, "radii"): range(4),  # of degree 3
    (QuadraticBounds, "slopes"): range(3),
}
"""Columns of tables that have terms beside values."""
