"""The functions of the early exits, each after what it calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kmcompile.emit.early_exits_view import EarlyExitsView, FloatCodes
from kmcompile.emit.environment import render
from kmcompile.emit.folded_weights_view import folded_weights_view
from kmcompile.emit.products_view import ProductsView
from kmcompile.emit.sign_map_view import sign_map_view
from kmcompile.emit.subspace_view import subspace_sections
from kmcompile.emit.totals_view import TotalsView
from kmcompile.emit.words import Words
from kmcompile.kernels.reach import PolyReach
from kmcompile.numeric.scalar import power, root_bound
from kmcompile.program.stages import (
    BoundSequence,
    FoldedWeights,
    LinearFilter,
    NearestVectors,
    ReducedSet,
    Stage,
)
from kmcompile.program.stages.bound_sequence import LARGEST
from kmcompile.program.stages.sign_map import SignMap
from kmcompile.program.stages.subspace_certificate import SubspaceCertificate

_DENSE = "exact_sum/block_totals"


def early_exit_sections(
    early: EarlyExitsView, label_function: str, words: Words, names: dict[str, str]
) -> list[str]:
    """Return the functions of the stages between `nonzeros` and the exact sum."""
    context: dict[str, Any] = {**names, "label_function": label_function}
    context |= {"answer": words.answer, "decides": words.decides}
    context["is_regression"] = label_function == "value"
    sections = []
    if early.float_codes is not None:
        has_term = early.has_kernel_term and early.float_codes.has_own_term
        sections += _float_codes_sections(early.float_codes, has_term, names)
    if early.gate is not None:
        sections.append(render("stages/range_gate.c.j2", stage=early.gate, **names))
    if early.proves:
        is_binary = label_function == "sign"
        sections.append(render("early_exits/proved.c.j2", is_binary=is_binary, **context))
    if early.needs_root_bound:
        sections.append(render("scalar/root_bound.c.j2", scalar=root_bound.VIEW, **names))
    sections += _block_sections(early, names)
    if early.estimates:
        lanes = early.exact_totals
        sections.append(render("early_exits/estimate.c.j2", lanes=lanes, **names))
    if early.reuses_kernels:
        sections.append(render("early_exits/heap.c.j2", early=early, **names))
    for stage in early.exits:
        own = _SECTIONS[type(stage)](stage, early, context)
        sections += [section for section in own if section not in sections]
    sections.append(render("early_exits/cascade.c.j2", early=early, **context))
    return sections


def _float_codes_sections(floats: FloatCodes, has_term: bool, names: dict[str, str]) -> list[str]:
    """Return what makes float of codes, and the kernel where any exit computes its values."""
    sections = [render("early_exits/float_codes.c.j2", unit=floats.unit, **names)]
    if has_term:
        sections.append(render("kernels/rbf_term.c.j2", **names))
    kernel = floats.kernel
    if kernel is not None:
        sections += [
            render(f"scalar/{template}.c.j2", scalar=scalar, **names)
            for template, scalar in kernel.scalars()
        ]
        sections.append(render("kernels/rbf_value.c.j2", kernel=kernel, **names))
    return sections


def _block_sections(early: EarlyExitsView, names: dict[str, str]) -> list[str]:
    """Return the functions of a block, each once, and the products with each matrix."""
    blocks: dict[str, tuple[str, TotalsView]] = {}
    for products in early.products:
        blocks.setdefault(products.block.function, (_template(products), products.block))
    for view in early.totals:
        blocks.setdefault(view.function, (_DENSE, view))
    if not early.sums_blocks:
        blocks.pop("block_totals", None)  # the exact sum's own
    sections = []
    if any(kind == _DENSE and view.term == "product" for kind, view in blocks.values()):
        sections.append(render("early_exits/product.c.j2", **names))
    sections += [render(f"{kind}.c.j2", view=view, **names) for kind, view in blocks.values()]
    matrices = [
        render("early_exits/inner_products.c.j2", products=view, **names) for view in early.products
    ]
    return sections + matrices


def _template(products: ProductsView) -> str:
    if products.columns is not None:
        return "early_exits/column_products"
    return "early_exits/sparse_products" if products.skip_zeros else _DENSE


def _linear_filter(stage: Stage, early: EarlyExitsView, context: dict[str, Any]) -> list[str]:
    return [render("stages/linear_filter.c.j2", products=early.filter_products, **context)]


def _reduced_set(stage: Stage, early: EarlyExitsView, context: dict[str, Any]) -> list[str]:
    assert isinstance(stage, ReducedSet)
    view = next(view for view in early.reduced_sets if view.number == stage.number)
    own = {**context, "stage": stage, "view": view}
    bump = render("reduced_set/bump.c.j2", **context)
    ranges = [render("reduced_set/in_range.c.j2", **own)] if view.checks_range else []
    estimate = render("reduced_set/estimate.c.j2", **own)
    return [bump, *ranges, estimate, render("stages/reduced_set.c.j2", **own)]


def _nearest_vectors(stage: Stage, early: EarlyExitsView, context: dict[str, Any]) -> list[str]:
    assert isinstance(stage, NearestVectors) and early.nearest is not None
    view = early.nearest
    sections = [
        render("nearest_vectors/level.c.j2", level=level, dimensions=stage.n_out, **context)
        for level in view.levels
    ]
    own = {**context, "stage": stage, "view": view}
    if view.limits_far:
        sections.append(render("nearest_vectors/kernel_value_within.c.j2", **context))
    sections.append(render("nearest_vectors/approximate.c.j2", **own))
    sections.append(render("nearest_vectors/test.c.j2", **own))
    if view.touches:
        order = "tug_of_war" if stage.tug_of_war else "by_score"
        sections += [
            render(f"nearest_vectors/{order}.c.j2", **own),
            render("nearest_vectors/touch.c.j2", **own),
        ]
    return [*sections, render("stages/nearest_vectors.c.j2", **own)]


def _bound_sequence(stage: Stage, early: EarlyExitsView, context: dict[str, Any]) -> list[str]:
    assert isinstance(stage, BoundSequence)
    own = {**context, "stage": stage, "reach": stage.reach, "largest": LARGEST}
    own["view"] = early.sequence_totals
    if isinstance(stage.reach, PolyReach):
        degree = stage.reach.degree
        own["value_power"] = power.power_view(degree)
        own["slope_power"] = power.power_view(max(degree - 1, 0))
    return [
        render("bound_sequence/reach.c.j2", **context),
        render(f"bound_sequence/{stage.reach.name}.c.j2", **own),
        render("bound_sequence/rows.c.j2", **own),
        render("stages/bound_sequence.c.j2", **own),
    ]


def _folded_weights(stage: Stage, early: EarlyExitsView, context: dict[str, Any]) -> list[str]:
    assert isinstance(stage, FoldedWeights)
    own = {**context, "view": folded_weights_view(stage)}
    parts = ["centre", "linear", "curved"] if stage.n_basis else ["centre", "linear"]
    sections = [render(f"folded_weights/{part}.c.j2", **own) for part in parts]
    return [*sections, render("stages/folded_weights.c.j2", **own)]


def _sign_map(stage: Stage, early: EarlyExitsView, context: dict[str, Any]) -> list[str]:
    assert isinstance(stage, SignMap)
    own = {**context, "stage": stage, "view": sign_map_view(stage, context["name"], early.per_unit)}
    places = "code_places" if stage.in_integers else "places"
    parts = [render(f"sign_map/{part}.c.j2", **own) for part in (places, "boxes")]
    return [*parts, render("stages/sign_map.c.j2", **own)]


def _subspace_certificate(
    stage: Stage, early: EarlyExitsView, context: dict[str, Any]
) -> list[str]:
    assert isinstance(stage, SubspaceCertificate) and early.subspace is not None
    return subspace_sections(stage, early.subspace, context)


_SECTIONS: dict[type[Stage], Callable[[Stage, EarlyExitsView, dict[str, Any]], list[str]]] = {
    BoundSequence: _bound_sequence,
    FoldedWeights: _folded_weights,
    LinearFilter: _linear_filter,
    ReducedSet: _reduced_set,
    NearestVectors: _nearest_vectors,
    SubspaceCertificate: _subspace_certificate,
    SignMap: _sign_map,
}
