"""The compilation as an order of steps, from a model to a verified output folder."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kmcompile import readers
from kmcompile.choice.chosen import ChosenProgram
from kmcompile.choice.whole_program import choose_whole
from kmcompile.compiled import Compiled
from kmcompile.description import describe
from kmcompile.emit.emitter import emit_files
from kmcompile.exits.statistical.calibration import promise_of
from kmcompile.large_stack import large_stack
from kmcompile.leaf_budget import most_of_leaf
from kmcompile.limits import check_built, check_unbuilt, in_time
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.monitor.held_out import hold_out
from kmcompile.monitor.monitored import with_monitor
from kmcompile.output import files as folder_files
from kmcompile.output.failure_files import saving_failures
from kmcompile.output.folder import reserve
from kmcompile.output.packaging import packaged, packaged_again
from kmcompile.passes.move_threshold import move_asked_threshold
from kmcompile.program.interpreter import interpret
from kmcompile.readers.reading import Reading
from kmcompile.reduction.curve import Reduction
from kmcompile.remedies import remedied
from kmcompile.report import html, json_report
from kmcompile.report.assemble import assemble, options_in_effect, verified_again
from kmcompile.report.cascade import cascade_of
from kmcompile.report.certified_instead import modes_compared
from kmcompile.report.compilation import Compilation
from kmcompile.report.failure_report import Made
from kmcompile.report.missing import Missing
from kmcompile.report.model_section import inspected
from kmcompile.report.modes import Modes
from kmcompile.report.one_answer import one_answer_warnings
from kmcompile.report.reduction_text import reduction_text
from kmcompile.report.risk_text import risk_text
from kmcompile.report.summary import is_reduced
from kmcompile.report.trajectories import trajectories_of
from kmcompile.request.options import Options
from kmcompile.request.plan import Plan, Request, reading_of
from kmcompile.verify.findings import Findings
from kmcompile.verify.likeness import promise_broken, unlike_data, unlike_vectors
from kmcompile.verify.other_machine import check_machine, measured_on
from kmcompile.verify.verifier import Verifier, collect_queries

Progress = Callable[[str], None]

_NOT_IN_IMAGE = "the probabilities are left out: no image holds them yet"
_NOT_COMPARED = Missing("the modes were not compared: a compilation for one target compares them")


def compile_model(
    model: Path | object,
    options: Options,
    progress: Progress | None = None,
    compares_modes: bool = True,
) -> Compiled:
    """Compile a trained model, verify the C and write the output folder.

    Parameters
    ----------
    model : Path or fitted estimator
    options : Options
        Options of the compilation. Without `out`, the output folder of a model file is
        `<model>-<target>`, and no folder is written for an estimator.
    progress : callable, optional
        Called with a few words as each step begins.
    compares_modes : bool
        Whether the report of mode statistical also shows the results of mode certified.

    Returns
    -------
    Compiled

    Raises
    ------
    KmcompileError
        If a step fails; nothing is written then.
    """
    tell = progress or tell_nobody
    return in_time(partial(_compiled, model, tell, compares_modes), options, tell)


def _compiled(
    model: Path | object, tell: Progress, compares_modes: bool, options: Options
) -> Compiled:
    request = Request.of(model, options)
    folder = request.folder
    with reserve(folder) if folder is not None else nullcontext() as output:
        machine, plan = asked(model, request, tell)
        unlike = unlike_data(plan.samples, plan.test_samples)
        held, plan = hold_out(plan, tell)
        leaf = most_of_leaf(machine, plan, tell)
        reduced, chosen = choose_whole(machine, plan, leaf, tell)
        chosen, monitored = with_monitor(chosen, held, plan, tell)
        plan = reduced.plan
        with remedied(reduced.machine, chosen):
            check_unbuilt(chosen, machine.description)
        tell("writing C")
        files = _written(machine, chosen, reduced.reduction)
        tell("collecting queries")
        program, exits = chosen.program, chosen.exits
        queries = collect_queries(machine, program, plan, exits.held_out, exits.calibrated_with)
        tell("interpreting")
        answers = interpret(program, queries.X)
        verifier = Verifier(machine, program, plan.target, queries, answers, tell, exits.promise)
        findings = _verified(verifier, machine, chosen, files, folder)
        with remedied(reduced.machine, chosen):
            check_built(chosen, findings)
        stack = None if findings.memory is None else findings.memory.stack_bytes
        if findings.memory is not None:
            files |= packaged_again(chosen, files, findings.memory, findings.worst_case)
        told = (
            unlike_vectors(machine, [plan.samples, plan.test_samples]),
            *one_answer_warnings(machine, program, [plan.samples, plan.test_samples]),
            unlike,
            plan.not_compared,
            promise_broken(findings.check, queries, exits.promise, reduced.reduction),
            large_stack(stack, chosen, reduced.machine, request, tell),
        )
        findings = replace(findings, warnings=(*findings.warnings, *filter(None, told)))
        modes: Modes | Missing = _NOT_COMPARED
        if compares_modes:
            modes = modes_compared(chosen, answers, queries, tell)
        tell("reporting")
        files["queries.npz"] = folder_files.save_queries(queries)
        digests = folder_files.digests(files)
        made = Compilation(
            machine,
            chosen,
            queries,
            answers,
            findings,
            digests,
            modes,
            reduced.reduction,
            files.get(f"{program.name}.bin"),
            monitored,
        )
        report = json_report.to_dict(assemble(made))
        if output is not None:
            files |= _pages(report, made)
            output.write(files)
    for warning in (*chosen.warnings, *findings.warnings):
        warnings.warn(warning, stacklevel=4)
    return Compiled(program, report, files, folder)


def load(folder: Path | str) -> Compiled:
    """Return the compiled model in an output folder.

    Raises
    ------
    UsageError, InputError
        If the folder does not exist, or is not an output folder of kmcompile.
    """
    path = Path(folder)
    files = folder_files.read(path)
    program, report = folder_files.parse(files)
    return Compiled(program, report, files, path)


def verify_folder(
    folder: Path,
    model: Path | None,
    test_data: Path | None,
    reading: Reading | None = None,
    progress: Progress | None = None,
    on: str = "",
) -> dict[str, Any]:
    """Repeat the checks of an output folder.

    The checks are the hashes of the files and the exact check on the folder's queries. With
    `model`, the bounded check and the hash of the model are added; with `test_data`, both use its
    samples, too. `on` is the machine in the place of the target's emulator: "simavr", "ibex"...

    Returns
    -------
    dict
        The findings, in the shape of report.json; "files" is the number of compared hashes.

    Raises
    ------
    UsageError
        If `on` does not simulate the target's part.
    """
    tell = progress or tell_nobody
    tell("comparing hashes")
    found = folder_files.checked(folder)
    files, program, report = found.files, found.program, found.report
    machine = None
    if model is not None:
        options = report["options"]
        in_image = options.get("tables") == "image"
        machine = read_model(model, reading or Reading(), options.get("threshold"), in_image)
        folder_files.check_model(machine, program, model.name, report["options"])
    target = found.recipe.target
    check_machine(target, on)
    promise = promise_of(report) if program.takes_risk else None
    of_loss = promise is not None and promise.of == "loss"
    trained = () if machine is None else machine.trained_classes
    queries = folder_files.load_queries(files, program, test_data, of_loss, trained)
    tell("interpreting")
    answers = interpret(program, queries.X)
    with TemporaryDirectory(prefix="kmcompile-") as scratch:
        folder_files.write_plain(Path(scratch), files)
        verifier = Verifier(machine, program, target, queries, answers, tell, promise, on)
        description = None if machine is None else machine.description
        command, options = report["tool"]["command"], report["options"]
        made_with = Made(program, target, command, options, description, report["files"])
        with saving_failures(folder if folder.name else folder.resolve(), made_with):
            findings = verifier.verify(Path(scratch), "target" if on else None)
    facts = verified_again(program, target, queries, findings, promise, is_reduced(report))
    if promise is not None:
        facts["risk"] = {**report["risk"], "measured": facts.pop("measured")}
    if on:
        facts["target"]["emulator"] = on
        facts["measured_cycles"] = measured_on(target, on, findings)
    return {"files": len(report["files"]), **facts}


def inspect_model(model: Path, reading: Reading | None = None) -> dict[str, Any]:
    """Return the contents of a model file, for printing."""
    return inspected(readers.load_model(model, reading=reading))


def tell_nobody(text: str) -> None:
    """Ignore a step's text on its progress."""


def asked(model: Path | object, request: Request, tell: Progress) -> tuple[KernelMachine, Plan]:
    """Return the model as it was trained, and the plan of its compilation."""
    tell("reading the model")
    options = request.options
    machine = read_model(model, reading_of(request.given), options.threshold, options.in_image)
    plan = request.plan(machine)
    tell("lowering")
    return machine, plan


def read_model(
    model: Path | object, reading: Reading, threshold: float | None, in_image: bool
) -> KernelMachine:
    """Return the model with the files that belong to it, and the threshold of `--threshold`.

    A model in an image has no probabilities.
    """
    machine = readers.load_model(model, reading=reading)
    if in_image and machine.platt is not None:
        machine = replace(machine, platt=None, notes=(*machine.notes, _NOT_IN_IMAGE))
    return machine if threshold is None else move_asked_threshold(machine, threshold)


def _written(
    machine: KernelMachine, chosen: ChosenProgram, reduction: Reduction | None
) -> dict[str, bytes]:
    """Return the files of the program: all but the queries and the report."""
    program, plan, calibration = chosen.program, chosen.plan, chosen.exits.calibration
    promised = risk_text(calibration) if calibration and program.takes_risk else ""
    reduced = "" if reduction is None else reduction_text(reduction, program.is_regression)
    emitted = emit_files(program, plan.target, plan.command, machine.description, promised, reduced)
    sources = emitted.texts
    package = packaged(chosen, sources)
    described = describe(machine, program, plan.target, sources, plan.command, bool(reduced))
    return folder_files.of_program(program, plan.target, sources, package, emitted.image, described)


def _verified(
    verifier: Verifier,
    machine: KernelMachine,
    chosen: ChosenProgram,
    files: dict[str, bytes],
    folder: Path | None,
) -> Findings:
    """Return the findings of building and running the C; keep failing queries beside `folder`."""
    plan = chosen.plan
    made_with = Made(
        chosen.program,
        plan.target,
        plan.command,
        options_in_effect(plan.options, chosen.program),
        machine.description,
        folder_files.digests(files),
    )
    with TemporaryDirectory(prefix="kmcompile-") as scratch:
        folder_files.write_plain(Path(scratch), files)
        with saving_failures(folder, made_with):
            return verifier.verify(Path(scratch), plan.options.verify)


def _pages(report: dict[str, Any], made: Compilation) -> dict[str, bytes]:
    """Return the two files of the report; half of the time of a small model is its plots."""
    program, queries, answers = made.chosen.program, made.queries, made.answers
    page = html.render(
        report,
        made.findings.evidence,
        cascade_of(program, answers, queries, made.findings.instructions),
        trajectories_of(program, answers, queries),
    )
    return {"report.json": json_report.dumps(report), "report.html": page}
