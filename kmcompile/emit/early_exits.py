"""The C functions of the early exits, in the order in which they call each other."""

from __future__ import annotations

from typing import Any

from kmcompile.emit.early_exits_view import EarlyExitsView, FloatCodes
from kmcompile.emit.environment import render
from kmcompile.emit.products_view import ProductsView
from kmcompile.emit.totals_view import TotalsView
from kmcompile.emit.words import Words
from kmcompile.numeric.scalar import root_bound
from kmcompile.program.stages import Label

_DENSE = "exact_sum/block_totals"
_SPARSE = "exact_sum/sparse_totals"


def early_exit_sections(
    early: EarlyExitsView, label: Label, words: Words, names: dict[str, str]
) -> list[str]:
    """Return the functions of the stages between `nonzeros` and the exact sum."""
    context: dict[str, Any] = {**names, "label_function": label.template}
    context |= {"answer": words.answer, "decides": words.decides}
    context["is_regression"] = label.is_value
    sections = []
    if early.float_codes is not None:
        has_term = early.has_kernel_term and early.float_codes.has_own_term
        sections += _float_codes_sections(early.float_codes, has_term, names)
    if early.gate is not None:
        gate = f"stages/{early.gate.template}.c.j2"
        sections.append(render(gate, stage=early.gate, **names))
    if early.proves:
        sections.append(render("early_exits/middle.c.j2", **names))
        middles = {"is_binary": label.reads_ends, "keeps_middles": early.keeps_middles}
        sections.append(render("early_exits/narrow.c.j2", **middles, **context))
        sections.append(render("early_exits/proved.c.j2", **middles, **context))
    if early.needs_root_bound:
        sections.append(render("scalar/root_bound.c.j2", scalar=root_bound, **names))
    sections += _block_sections(early, names)
    if early.sums_approximations:
        lanes = early.exact_totals
        sections.append(render("early_exits/estimate.c.j2", lanes=lanes, **names))
    if early.reuses_kernels:
        sections.append(render("early_exits/heap.c.j2", early=early, **names))
    for view in early.exits:
        own = view.sections(context)
        sections += [section for section in own if section not in sections]
    sections.append(render("early_exits/cascade.c.j2", early=early, **context))
    return sections


def _float_codes_sections(floats: FloatCodes, has_term: bool, names: dict[str, str]) -> list[str]:
    """Return the functions that make codes float, and the float kernel if an exit needs it."""
    sections = [render("early_exits/float_codes.c.j2", unit=floats.unit, **names)]
    if has_term:
        sections.append(render("kernels/rbf_term.c.j2", **names))
    kernel = floats.kernel
    if kernel is not None:
        sections += [
            render(f"scalar/{template}.c.j2", scalar=scalar, **names)
            for template, scalar in kernel.scalars()
        ]
        sections.append(
            render("kernels/rbf_value.c.j2", kernel=kernel, distance="|s - x|^2", **names)
        )
    return sections


def _block_sections(early: EarlyExitsView, names: dict[str, str]) -> list[str]:
    """Return the functions of blocks, each once, and the products with each matrix."""
    blocks: dict[str, tuple[str, TotalsView]] = {}
    for products in early.products:
        blocks.setdefault(products.block.function, (_template(products), products.block))
    for view in early.totals:
        blocks.setdefault(view.function, (_SPARSE if view.skips_zeros else _DENSE, view))
    if not early.sums_blocks:
        blocks.pop("block_totals", None)  # the exact sum's function
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
