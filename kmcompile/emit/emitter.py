"""Write a program as C: render the templates and join the parts."""

from __future__ import annotations

from typing import Any

from kmcompile.emit.box_view import box_sections, kept_factors
from kmcompile.emit.code_table_view import code_table_view
from kmcompile.emit.early_exits import early_exit_sections
from kmcompile.emit.early_exits_view import EarlyExitsView
from kmcompile.emit.environment import marked_numbers, render
from kmcompile.emit.fixed_sum_view import fixed_sum_sections
from kmcompile.emit.images.emitted import Emitted, read_from_image, without_numbers
from kmcompile.emit.layout import Layout
from kmcompile.emit.line_breaks import break_lines
from kmcompile.emit.pair_sum_view import pair_sum_sections
from kmcompile.emit.prepare_view import prepare_sections
from kmcompile.emit.probability_view import probability_scalars
from kmcompile.emit.replay_view import replay_sections
from kmcompile.emit.routed_fixed_view import routed_fixed_sections
from kmcompile.emit.telemetry_xtce import telemetry_xtce
from kmcompile.emit.totals_view import BlockFunctions, total_call, totals_call
from kmcompile.emit.view import ModelView, model_view
from kmcompile.emit.words import words_of
from kmcompile.kernels.float32 import Float32Kernel
from kmcompile.numeric.scalar import square_root
from kmcompile.program.program import Program
from kmcompile.program.stages import (
    CodedSum,
    ExactSum,
    FixedSum,
    PairSum,
    RoutedFixedSum,
    RoutedSum,
    VectorlessSum,
)
from kmcompile.program.stages.labels.vote import ROUNDED_UP
from kmcompile.program.stages.sums.vector_totals import VectorTotals
from kmcompile.target import Target


def emit(
    program: Program,
    target: Target,
    command: str,
    description: str,
    promise_text: str = "",
    reduced_text: str = "",
) -> dict[str, str]:
    """Return the emitted files by name: model, header, harness, deviations, CMakeLists.txt.

    On a target whose compiler library does not compute floats by IEEE 754, a file with correct
    float functions is added.

    Parameters
    ----------
    program : Program
    target : Target
        The target that the program was lowered for.
    command : str
        The canonical command, for line 1 of the C.
    description : str
        One line on the model, for the comment of the C.
    promise_text : str
        The promised risk of a statistical program with its evidence, for the header.
    reduced_text : str
        What a reduced machine stands for, in sentences; empty if the machine is the trained one.
    """
    return emit_files(program, target, command, description, promise_text, reduced_text).texts


def emit_files(
    program: Program,
    target: Target,
    command: str,
    description: str,
    promise_text: str = "",
    reduced_text: str = "",
) -> Emitted:
    """Return the texts as `emit` does and, of a program with a capacity, the image of its model."""
    layout = Layout.of(program, target)
    arithmetic = target.program.arithmetic
    view = model_view(layout, command, description, promise_text, reduced_text)
    more: dict[str, str] = {}
    content = None
    if program.capacity is not None:
        view = without_numbers(view, program)
        with marked_numbers():
            text = _model_text(layout, view)
        made = read_from_image(text, layout, view, program.capacity)
        view, header, model = made.view, made.header, made.model
        more, content = made.files, made.content
    else:
        model, header = _model_text(layout, view), render("model.h.j2", view=view)
    name = program.name
    texts = {
        f"{name}.h": header,
        f"{name}.c": break_lines(model) if layout.of_table else model,
        **more,
        **({f"{name}_arithmetic.c": render(arithmetic, view=view)} if arithmetic else {}),
        f"{name}_harness.c": render("harness.c.j2", view=view),
        f"{name}_misra.txt": render("misra.txt.j2", view=view),
        "CMakeLists.txt": render("CMakeLists.txt.j2", view=view),
        **_descriptions(program, target, command),
    }
    return Emitted(texts, content)


def _model_text(layout: Layout, view: ModelView) -> str:
    """Return the text of the model file."""
    return render("model.c.j2", view=view, sections="\n".join(_sections(layout, view)))


def _descriptions(program: Program, target: Target, command: str) -> dict[str, str]:
    """Return the files by which other programs read what the C gives."""
    if not program.telemetry:
        return {}
    return {f"{program.name}_telemetry.xml": telemetry_xtce(program, target, command)}


def _sections(layout: Layout, view: ModelView) -> list[str]:
    """Return the functions of the model file, each after the functions that it calls."""
    program, early = layout.program, layout.early
    names = {"name": program.name, "base": program.name, "upper": program.name.upper()}
    names |= {"of_table": view.of_table, "splits": "yes" if view.steps else ""}
    if isinstance(program.ends.exact, VectorTotals):
        names["vector_total"] = total_call(program.ends.exact)
    sections = [] if view.image is None else [render("image/is_open.c.j2", view=view)]
    sections += _input_sections(layout, view, names)
    sections += _sum_sections(layout, view.image is not None, names)
    sections += _label_sections(program, names)
    if early.exits:
        of_exits = early_exit_sections(early, program.ends.label, words_of(program), names)
        # Scores of a route and inner products of an exit may be sums by the same functions.
        sections += [section for section in of_exits if section not in sections]
    if program.box is not None:
        sections += box_sections(program.box, program.ends, layout.functions, early, names)
    if layout.replay is not None:
        sections += replay_sections(names, layout.replay, words_of(program))
    if view.monitor is not None:
        own = {"monitor": view.monitor, "stage": view.monitor.stage}
        sections.append(render("stages/monitor.c.j2", **own, **names))
    sections += [render(f"{name}.c.j2", view=view, entry=view.entries[-1]) for name in _entry(view)]
    if view.probability is not None:
        sections += probability_scalars(sections, names)
        sections.append(render("probability.c.j2", view=view))
    sections += [render(f"{name}.c.j2", view=view) for name in _checks(view, early)]
    return [section.strip("\n") + "\n" for section in sections]


def _input_sections(layout: Layout, view: ModelView, names: dict[str, str]) -> list[str]:
    """Return the functions that prepare an input and list its features that are not 0."""
    program, prepared, early = layout.program, layout.prepared, layout.early
    sections = []
    kernel = program.ends.exact.kernel
    if prepared.needs_square_root or (kernel is not None and kernel.needs_square_root):
        of_core = square_root.INSTRUCTIONS[layout.target.program.square_root]
        sections.append(render("scalar/square_root.c.j2", scalar=of_core, **names))
    steps = prepare_sections(program.name, program.prepare, prepared, view.of_table)
    own = {"stage": program.prepare, "view": prepared, "steps": steps, "received": view.received}
    members = early.input_members
    sections.append(render("stages/prepare.c.j2", early_members=members, **own, **names))
    if early.nonzeros is not None:
        sections.append(render("stages/nonzeros.c.j2", view=early.nonzeros, **names))
    return sections


def _sum_sections(layout: Layout, in_image: bool, names: dict[str, str]) -> list[str]:
    """Return the functions of the exact sum and of its kernel."""
    program, functions, early = layout.program, layout.functions, layout.early
    summed = program.ends.exact
    if isinstance(summed, CodedSum):
        return _coded_sum_sections(summed, functions, early, names)
    if isinstance(summed, ExactSum):
        keeps = kept_factors(program.box, program.name)
        return _exact_sum_sections(summed, functions, early, names, keeps)
    if isinstance(summed, PairSum):
        of_pairs = pair_sum_sections(summed, program.ends.label, early, names)
        return [*_kernel_totals(summed, functions, early, names), *of_pairs]
    if isinstance(summed, FixedSum):
        return fixed_sum_sections(summed, layout.target, names, in_image)
    if isinstance(summed, RoutedFixedSum):
        return routed_fixed_sections(summed, layout.target, names)
    if isinstance(summed, RoutedSum):
        return _routed_sum_sections(summed, functions, early.walks, names)
    if isinstance(summed, VectorlessSum):
        return [render(f"stages/{summed.template}.c.j2", stage=summed, **names)]
    raise TypeError(f"nothing writes the C of {summed.name}")


def _label_sections(program: Program, names: dict[str, str]) -> list[str]:
    """Return the function of the label; none where the sum gives it, and no exit asks for it."""
    label = program.ends.label
    if program.ends.exact.sums_pairs or (program.sums_at_once and not program.early_exits):
        return []
    return [render(f"stages/{label.template}.c.j2", stage=label, rounded_up=ROUNDED_UP, **names)]


def _entry(view: ModelView) -> tuple[str, ...]:
    """Return the templates of the functions that take an input."""
    codes, steps = ("accept_codes",) if view.coded else (), ("step",) if view.steps else ()
    return (*codes, "accept", "entry", *steps)


def _checks(view: ModelView, early: EarlyExitsView) -> tuple[str, ...]:
    """Return the templates of what watches the model: audit, self-test, telemetry."""
    audit = ("audit",) if early.calibrates else ()
    telemetry = () if view.telemetry is None else ("telemetry/functions",)
    tables = "self_test/tables" if view.image is None else "image/self_test"
    return (*audit, tables, "self_test/steps", *telemetry)


def _exact_sum_sections(
    stage: ExactSum,
    functions: BlockFunctions,
    early: EarlyExitsView,
    names: dict[str, str],
    keeps_factors: str,
) -> list[str]:
    """Return the kernel's functions and those of the exact sum."""
    own: dict[str, Any] = {"stage": stage, "view": functions.of_exact_sum, **names}
    sections = _kernel_totals(stage, functions, early, names)
    own["totals"] = totals_call(stage)
    if early.reuses_kernels:
        one_lane = stage.lanes == 1
        sections.append(render("exact_sum/vector_total.c.j2", one_lane=one_lane, **own))
    sections.append(render("exact_sum/add_block.c.j2", **own))
    own["reuses_kernels"] = early.reuses_kernels
    own["keeps_factors"] = keeps_factors
    own |= {"finds_vectors": True, "codes": None}
    return [*sections, render("stages/exact_sum.c.j2", **own)]


def _routed_sum_sections(
    stage: RoutedSum, functions: BlockFunctions, walked: bool, names: dict[str, str]
) -> list[str]:
    """Return the functions of inner products, the kernel's, and those of the routed sum."""
    scores = functions.products(stage.n_features, 1)
    return [
        render("early_exits/product.c.j2", **names),
        render("exact_sum/block_totals.c.j2", view=scores, **names),
        *_kernel_sections(stage.kernel, functions, names, has_term=True, has_value=False),
        render("exact_sum/block_totals.c.j2", view=functions.of_exact_sum, **names),
        render("routed_sum/scores.c.j2", scores=scores.function, **names),
        render("routed_sum/route.c.j2", route=stage.route, in_integers=False, **names),
        render("routed_sum/leaf.c.j2", stage=stage, scores=scores.function, **names),
        render("stages/routed_sum.c.j2", stage=stage, in_integers=False, walked=walked, **names),
    ]


def _kernel_totals(
    stage: VectorTotals, functions: BlockFunctions, early: EarlyExitsView, names: dict[str, str]
) -> list[str]:
    """Return the kernel's functions and those of the totals of a block."""
    has_term = not stage.skip_zeros or early.has_kernel_term
    has_value = bool(early.totals)
    blocks = "sparse_totals" if stage.skip_zeros else "block_totals"
    sections = [
        *_kernel_sections(stage.kernel, functions, names, has_term=has_term, has_value=has_value),
        render(f"exact_sum/{blocks}.c.j2", stage=stage, view=functions.of_exact_sum, **names),
    ]
    if stage.expands:
        sections.append(render("exact_sum/squared_distances.c.j2", **names))
    return sections


def _coded_sum_sections(
    stage: CodedSum, functions: BlockFunctions, early: EarlyExitsView, names: dict[str, str]
) -> list[str]:
    """Return the kernel's functions, those of integer inner products and those of the sum."""
    codes = code_table_view(stage.codes)
    own: dict[str, Any] = {"stage": stage, "view": functions.of_exact_sum, "codes": codes, **names}
    own |= {"totals": "code_totals(workspace, block, total)", "finds_vectors": False}
    has_term, has_value = early.has_kernel_term, bool(early.totals)
    return [
        *_kernel_sections(stage.kernel, functions, names, has_term=has_term, has_value=has_value),
        *(
            render(f"{name}.c.j2", view=codes, **names)
            for name in ("code_table/pack", *codes.templates)
        ),
        *(render(f"exact_sum/{name}.c.j2", **own) for name in ("code_totals", "add_block")),
        render("stages/exact_sum.c.j2", reuses_kernels=False, keeps_factors="", **own),
    ]


def _kernel_sections(
    kernel: Float32Kernel,
    functions: BlockFunctions,
    names: dict[str, str],
    *,
    has_term: bool,
    has_value: bool,
) -> list[str]:
    """Return the functions that a kernel calls, then its own."""
    view = functions.of_exact_sum
    sections = [
        render(f"scalar/{template}.c.j2", scalar=scalar, **names)
        for template, scalar in kernel.scalars()
    ]
    context = {"has_term": has_term, "has_value": has_value, **kernel.context(), **names}
    context["lanes"] = view.lanes if view.unrolled else ()
    own = render(f"kernels/{kernel.name}.c.j2", kernel=kernel, **context)
    return [*sections, own]
