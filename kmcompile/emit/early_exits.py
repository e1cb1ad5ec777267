"""The functions of the early exits, each after what it calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kmcompile.emit.early_exits_view import EarlyExitsView
from kmcompile.emit.environment import render
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
    sections += _block_sections(early, names)
    if early.limits_far:
        sections.append(render("early_exits/kernel_value_within.c.j2", **names))
    for stage in early.exits:
        sections += _SECTIONS[type(stage)](stage, early, context)
    sections.append(render("early_exits/cascade.c.j2", early=early, **names))
    return sections


def _block_sections(early: EarlyExitsView, names: dict[str, str]) -> list[str]:
    """Return the functions of a block, each once, and the products with each matrix."""
    templates = {"block_totals": ""}  # the exact sum's own
    for products in early.products:
        kind = "early_exits/sparse_products" if products.skip_zeros else "exact_sum/block_totals"
        templates.setdefault(products.block.function, kind)
    views = {view.function: view for view in (*early.totals, *(p.block for p in early.products))}
    sections = []
    if any(not p.skip_zeros and p.block.term == "product" for p in early.products):
        sections.append(render("early_exits/product.c.j2", **names))
    for function, view in views.items():
        template = templates.get(function, "exact_sum/block_totals")
        if template:
            sections.append(render(f"{template}.c.j2", view=view, **names))
    matrices = [
        render("early_exits/inner_products.c.j2", products=view, **names) for view in early.products
    ]
    return sections + matrices


def _linear_filter(stage: Stage, early: EarlyExitsView, context: dict[str, Any]) -> list[str]:
    return [render("stages/linear_filter.c.j2", products=early.filter_products, **context)]


def _reduced_set(stage: Stage, early: EarlyExitsView, context: dict[str, Any]) -> list[str]:
    assert isinstance(stage, ReducedSet)
    view = next(view for view in early.reduced_sets if view.number == stage.number)
    return [render("stages/reduced_set.c.j2", stage=stage, view=view, **context)]


def _nearest_vectors(stage: Stage, early: EarlyExitsView, context: dict[str, Any]) -> list[str]:
    assert isinstance(stage, NearestVectors) and early.nearest is not None
    view = early.nearest
    sections = [
        render("nearest_vectors/level.c.j2", level=level, dimensions=stage.n_out, **context)
        for level in view.levels
    ]
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
