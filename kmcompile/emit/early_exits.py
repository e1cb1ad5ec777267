"""The functions of the early exits, each after what it calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kmcompile.emit.early_exits_view import EarlyExitsView
from kmcompile.emit.environment import render
from kmcompile.emit.products_view import ProductsView
from kmcompile.stages import LinearFilter, NearestVectors, ReducedSet, Stage


def early_exit_sections(
    early: EarlyExitsView, label_function: str, names: dict[str, str]
) -> list[str]:
    """Return the functions of all stages between `prepare` and the exact sum."""
    context = {**names, "label_function": label_function}
    sections = []
    if early.nonzeros is not None:
        sections.append(render("stages/nonzeros.c.j2", view=early.nonzeros, **names))
    if early.gate is not None:
        sections.append(render("stages/range_gate.c.j2", stage=early.gate, **names))
    sections += _products_sections(early.products, names)
    if early.limits_far:
        sections.append(render("early_exits/kernel_value_within.c.j2", **names))
    for stage in early.exits:
        sections += _SECTIONS[type(stage)](stage, early, context)
    sections.append(render("early_exits/cascade.c.j2", early=early, **names))
    return sections


def _products_sections(products: tuple[ProductsView, ...], names: dict[str, str]) -> list[str]:
    """Return the products with each matrix, after the functions of a block that they share."""
    sections = []
    if any(not view.skip_zeros for view in products):
        sections.append(render("early_exits/product.c.j2", **names))
    blocks = {view.block.function: view for view in products}
    for view in blocks.values():
        template = (
            "early_exits/sparse_products.c.j2" if view.skip_zeros else "exact_sum/block_totals.c.j2"
        )
        sections.append(render(template, view=view.block, **names))
    matrices = [
        render("early_exits/inner_products.c.j2", products=view, **names) for view in products
    ]
    return sections + matrices


def _linear_filter(stage: Stage, early: EarlyExitsView, context: dict[str, Any]) -> list[str]:
    return [render("stages/linear_filter.c.j2", products=early.filter_products, **context)]


def _reduced_set(stage: Stage, early: EarlyExitsView, context: dict[str, Any]) -> list[str]:
    assert isinstance(stage, ReducedSet)
    view = next(view for view in early.reduced_sets if view.number == stage.number)
    return [
        render("exact_sum/block_totals.c.j2", view=view.totals, **context),
        render("stages/reduced_set.c.j2", stage=stage, view=view, **context),
    ]


def _nearest_vectors(stage: Stage, early: EarlyExitsView, context: dict[str, Any]) -> list[str]:
    assert isinstance(stage, NearestVectors) and early.nearest is not None
    view = early.nearest
    sections = []
    for level in view.levels:
        totals = {**context, "level": level, "dimensions": stage.n_out}
        sections.append(render("exact_sum/block_totals.c.j2", view=level.totals, **context))
        sections.append(render("nearest_vectors/level.c.j2", **totals))
    own = {**context, "stage": stage, "view": view}
    sections.append(render("nearest_vectors/approximate.c.j2", **own))
    if stage.from_estimate:
        sections.append(render("nearest_vectors/estimate.c.j2", **own))
    sections.append(render("nearest_vectors/test.c.j2", **own))
    if view.touches:
        order = "tug_of_war" if stage.tug_of_war else "by_score"
        sections += [
            render("nearest_vectors/heap.c.j2", **own),
            render(f"nearest_vectors/{order}.c.j2", **own),
            render("nearest_vectors/touch.c.j2", **own),
        ]
    return [*sections, render("stages/nearest_vectors.c.j2", **own)]


_SECTIONS: dict[type[Stage], Callable[[Stage, EarlyExitsView, dict[str, Any]], list[str]]] = {
    LinearFilter: _linear_filter,
    ReducedSet: _reduced_set,
    NearestVectors: _nearest_vectors,
}
