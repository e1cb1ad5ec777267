"""The order of the steps, and nothing else: from a model to a verified output folder."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kmcompile import readers
from kmcompile.build.recipe import Recipe
from kmcompile.compiled import Compiled
from kmcompile.emit.emitter import emit, workspace_bytes
from kmcompile.emit.package import package_files
from kmcompile.errors import UsageError
from kmcompile.exits.asked_replay import add_asked_replay
from kmcompile.exits.early_exits import WithExits, add_early_exits, why_none
from kmcompile.exits.statistical.calibration import Calibration, promise_of
from kmcompile.lower.format_choice import FormatCandidate, choose_format
from kmcompile.lower.formats import Lowered, grid_text, lower_in_format
from kmcompile.lower.program import with_tolerance
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.output import files as folder_files
from kmcompile.output.failure_files import saving_failures
from kmcompile.output.folder import reserve
from kmcompile.passes.move_threshold import move_asked_threshold
from kmcompile.program.interpreter import interpret
from kmcompile.program.memory import check_fits, check_flash, check_ram
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum, PairSum
from kmcompile.report import html, json_report
from kmcompile.report.assemble import Compilation, assemble, options_in_effect
from kmcompile.report.cascade import cascade_of
from kmcompile.report.certified_instead import modes_compared
from kmcompile.report.failure_report import Made
from kmcompile.report.modes import Modes
from kmcompile.report.promise import measured_again
from kmcompile.report.risk_text import risk_text
from kmcompile.report.trajectories import trajectories_of
from kmcompile.request.option_values import flag
from kmcompile.request.options import Options
from kmcompile.request.plan import Plan, Request
from kmcompile.verify.findings import Findings
from kmcompile.verify.verifier import Verifier, collect_queries

Progress = Callable[[str], None]

_NOT_COMPARED = "the modes were not compared: a compilation for one target compares them"


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
        Without `out`, a file's folder is `<model>-<target>` and an estimator's is not written.
    progress : callable, optional
        Called with a few words as each step begins.
    compares_modes : bool
        Whether the report of mode statistical says what mode certified would have given.

    Returns
    -------
    Compiled

    Raises
    ------
    KmcompileError
        Whatever is wrong; nothing is written then.
    """
    tell = progress or (lambda text: None)
    request = Request.of(model, options)
    folder = request.folder
    with reserve(folder) if folder is not None else nullcontext() as output:
        tell("reading the model")
        machine = _read(model, options.trust_pickle, request.options.threshold)
        plan = request.plan(machine)

        tell("lowering")
        lowered, made, formats = _lowered(machine, plan, tell)
        program, replay_note = add_asked_replay(lowered, made.program, plan)
        scratch_bytes = workspace_bytes(program, plan.target)
        check_fits(program, scratch_bytes, plan)

        tell("writing C")
        files = _written(machine, program, plan, made.calibration)

        tell("collecting queries")
        queries = collect_queries(machine, program, plan, made.held_out, made.calibrated_with)
        tell("interpreting")
        answers = interpret(program, queries.X)
        promise = made.calibration.promise if made.calibration and program.early_exits else None
        verifier = Verifier(machine, program, plan.target, queries, answers, tell, promise)
        findings = _verified(verifier, machine, program, plan, files, folder)
        _check_built(program, scratch_bytes, plan, findings)

        modes: Modes | str = _NOT_COMPARED
        if compares_modes:
            modes = modes_compared(lowered, program, plan, answers, queries, tell)

        tell("reporting")
        files["queries.npz"] = folder_files.save_queries(queries)
        notes = (
            *lowered.machine.notes,
            *lowered.notes,
            *_mode_notes(plan, lowered.machine, program),
            *_operation_notes(program),
            *((replay_note,) if replay_note else ()),
            *queries.notes,
            *findings.notes,
            *verifier.notes,
        )
        report = _reported(
            Compilation(
                plan,
                machine,
                program,
                scratch_bytes,
                queries,
                answers,
                findings,
                folder_files.digests(files),
                notes,
                made.calibration,
                made.choice,
                formats,
                modes,
            ),
            files,
        )
        if output is not None:
            output.write(files)
    for note in verifier.notes:
        warnings.warn(note, stacklevel=2)
    return Compiled(program, report, files, folder)


def load(folder: Path | str) -> Compiled:
    """Return the compiled model in an output folder.

    Raises
    ------
    UsageError, InputError
        If there is no such folder or it is not one of kmcompile's.
    """
    path = Path(folder)
    files = folder_files.read(path)
    program, report = folder_files.parse(files)
    return Compiled(program, report, files, path)


def program_of(
    model_or_folder: Path, options: Options, progress: Progress | None = None
) -> Program:
    """Return the program in an output folder, or that which a model is compiled to.

    Nothing is written, built or run. Budgets decide what is chosen, but a program that exceeds
    them is returned too.

    Parameters
    ----------
    model_or_folder : Path
    options : Options
        As those of `compile_model`; of a folder the defaults.
    progress : callable, optional
        Called with a few words as each step begins.

    Raises
    ------
    KmcompileError
    """
    tell = progress or (lambda text: None)
    if model_or_folder.is_dir():
        _refuse_options(model_or_folder, options)
        return load(model_or_folder).program
    request = Request.of(model_or_folder, options)
    tell("reading the model")
    machine = _read(model_or_folder, options.trust_pickle, request.options.threshold)
    plan = request.plan(machine)
    tell("lowering")
    lowered, made, _ = _lowered(machine, plan, tell)
    program, _ = add_asked_replay(lowered, made.program, plan)
    return program


def verify_folder(
    folder: Path,
    model: Path | None,
    test_data: Path | None,
    trust_pickle: bool,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Repeat the checks of an output folder.

    The hashes of the files, and the exact check on the folder's queries; with `model` also the
    bounded check and the model's own hash; with `test_data` on those samples as well.

    Returns
    -------
    dict
        What was checked, in the shape of report.json; "files" is how many hashes were compared.
    """
    tell = progress or (lambda text: None)
    tell("comparing hashes")
    files = folder_files.read(folder)
    program, report = folder_files.parse(files)
    folder_files.check_digests(files, program, report)
    machine = None
    if model is not None:
        machine = _read(model, trust_pickle, report["options"].get("threshold"))
        folder_files.check_model(machine, program, model.name)
    target = Recipe.from_json(files["recipe.json"].decode("utf-8", "replace")).target
    queries = folder_files.load_queries(files, program, test_data)
    tell("interpreting")
    answers = interpret(program, queries.X)
    with TemporaryDirectory(prefix="kmcompile-") as scratch:
        folder_files.write_plain(Path(scratch), files)
        promise = promise_of(report) if program.early_exits else None
        verifier = Verifier(machine, program, target, queries, answers, tell, promise)
        description = None if machine is None else _describe(machine)
        command, options = report["tool"]["command"], report["options"]
        made_with = Made(program, target, command, options, description, report["files"])
        with saving_failures(folder if folder.name else folder.resolve(), made_with):
            findings = verifier.verify(Path(scratch), None)
    facts = verifier.facts(findings)
    if promise is not None:
        reasons = facts["not_available"]
        measured = measured_again(promise, queries, findings.check, reasons)
        facts["risk"] = {**report["risk"], "measured": measured}
    return {"files": len(report["files"]), **facts}


def inspect_model(model: Path, trust_pickle: bool = False) -> dict[str, Any]:
    """Return what a model file holds, for printing."""
    machine = readers.load_model(model, trust_pickle=trust_pickle)
    return {
        "kind": machine.kind,
        "task": machine.task.value,
        "kernel": machine.kernel.name,
        "parameters": machine.kernel.parameters(),
        "n_support_vectors": machine.n_support_vectors,
        "n_features": machine.n_features,
        "n_classes": machine.n_classes,
        "classes": list(machine.classes),
        "preprocessing": [str(step) for step in machine.preprocessing],
        "integers": grid_text(machine),
        "sha256": machine.sha256,
        "notes": list(machine.notes),
    }


def _refuse_options(folder: Path, options: Options) -> None:
    """Refuse what was asked of a program that is made already."""
    default = Options(n_jobs=options.n_jobs)
    names = [field.name for field in fields(Options)]
    given = [flag(name) for name in names if getattr(options, name) != getattr(default, name)]
    if given:
        raise UsageError(
            f"{folder}: its program is compiled already, so it takes no {', '.join(given)}\n"
            "give the model to see what it would be compiled to"
        )


def _read(model: Path | object, trust_pickle: bool, threshold: float | None) -> KernelMachine:
    """Return the model with the threshold that was asked for."""
    machine = readers.load_model(model, trust_pickle=trust_pickle)
    return machine if threshold is None else move_asked_threshold(machine, threshold)


def _written(
    machine: KernelMachine, program: Program, plan: Plan, calibration: Calibration | None
) -> dict[str, bytes]:
    """Return the files that hold the program, all but the queries and the report."""
    promised = risk_text(calibration) if calibration else ""
    sources = emit(program, plan.target, plan.command, _describe(machine), promised)
    package = package_files(plan.options.package, program, plan.command, sources)
    return folder_files.of_program(program, plan.target, sources, package)


def _verified(
    verifier: Verifier,
    machine: KernelMachine,
    program: Program,
    plan: Plan,
    files: dict[str, bytes],
    folder: Path | None,
) -> Findings:
    """Return what building and running the C shows; queries that fail are kept beside `folder`."""
    made_with = Made(
        program,
        plan.target,
        plan.command,
        options_in_effect(plan.options, program),
        _describe(machine),
        folder_files.digests(files),
    )
    with TemporaryDirectory(prefix="kmcompile-") as scratch:
        folder_files.write_plain(Path(scratch), files)
        with saving_failures(folder, made_with):
            return verifier.verify(Path(scratch), plan.options.verify)


def _check_built(program: Program, scratch_bytes: int, plan: Plan, findings: Findings) -> None:
    """Refuse a program that takes more than the plan allows, once it is built."""
    built = findings.memory
    if built is not None:
        check_flash(program, built.flash_bytes, False, plan.budgets)
        check_ram(program, scratch_bytes, built.stack_bytes, plan.budgets, built.ram_bytes)


def _reported(made: Compilation, files: dict[str, bytes]) -> dict[str, Any]:
    """Return the report in its plain form, and add its two files."""
    plain = json_report.to_dict(assemble(made))
    files["report.json"] = json_report.dumps(plain)
    files["report.html"] = html.render(
        plain,
        made.findings.evidence,
        cascade_of(made.program, made.answers, made.queries, made.findings.instructions),
        trajectories_of(made.program, made.answers, made.queries),
    )
    return plain


def _lowered(
    machine: KernelMachine, plan: Plan, tell: Progress
) -> tuple[Lowered, WithExits, tuple[FormatCandidate, ...]]:
    """Return the exact program in the format asked for, that with early exits, what was compared.

    Samples tell what 8 bits certify, and whether that is enough: to refuse a program takes
    nothing from a promise that is calibrated on the same samples. To choose one of several by
    them would, so in mode statistical no choice rests on them.
    """
    made: dict[str, WithExits] = {}

    def with_exits(lowered: Lowered) -> WithExits:
        program = with_tolerance(lowered.program, plan.tolerance)
        result = add_early_exits(lowered.machine, program, plan, tell)
        made[lowered.program.number_format] = result
        return result

    target, name, number_format = plan.target, plan.name, plan.number_format
    if number_format == "auto" and machine.task is Task.REGRESSION:
        number_format = "float32"  # no share of certified labels says what is enough
    chooses = number_format == "auto"
    measures = number_format == "int8" or (chooses and plan.mode != "statistical")
    samples = plan.samples if measures and len(plan.samples) else None
    if not chooses:
        lowered = lower_in_format(machine, target, name, number_format, samples)
        return lowered, with_exits(lowered), ()
    lowered, compared = choose_format(
        machine,
        target,
        name,
        plan.budgets.flash_bytes,
        samples,
        lambda one: with_exits(one).speedup,
    )
    chosen = made.get(lowered.program.number_format) or with_exits(lowered)
    return lowered, chosen, compared


def _mode_notes(plan: Plan, machine: KernelMachine, program: Program) -> tuple[str, ...]:
    """Return why the mode is not the one asked for, or has fewer early exits than others."""
    if plan.mode == "exact":
        return ()
    reason, exact = why_none(machine, plan), program.ends.exact
    if reason:
        return (reason,)
    if isinstance(exact, ExactSum) and not exact.kernel.projects:
        left_out = {"statistical": "nearest_vectors", "certified": "every exit that proves a bound"}
        return (
            f"{left_out[plan.mode]} is left out: it is not for the {machine.kernel.name} kernel",
        )
    return ()


def _operation_notes(program: Program) -> tuple[str, ...]:
    """Return what the operations and instructions of some programs are."""
    if isinstance(program.ends.exact, PairSum):
        return (
            "the exact sum alone is here that of all pairs, one by one; mode exact sums them "
            "together, in fewer instructions",
        )
    if not program.early_exits or program.float_weight == 1:
        return ()
    return (
        "operations are those of the integer sum; one in float32, as in early exits, counts as "
        f"{program.float_weight}",
    )


def _describe(machine: KernelMachine) -> str:
    parameters = "".join(f", {key} {value:g}" for key, value in machine.kernel.parameters().items())
    width = machine.support_vectors.shape[1]
    steps = "".join(f"{step} -> " for step in machine.preprocessing)
    return (
        f"{steps}{machine.kind}, {machine.kernel.name} kernel{parameters}, "
        f"{machine.n_support_vectors} support vectors of {width} features"
    )
