"""The order of the steps, and nothing else: from a model to a verified output folder."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kmcompile import readers
from kmcompile.build.recipe import Recipe
from kmcompile.compiled import Compiled
from kmcompile.emit.emitter import emit, workspace_bytes
from kmcompile.emit.package import package_files
from kmcompile.exits.asked_replay import add_asked_replay
from kmcompile.exits.early_exits import WithExits, add_early_exits, why_none
from kmcompile.exits.statistical.calibration import promise_of
from kmcompile.lower.format_choice import FormatCandidate, choose_format
from kmcompile.lower.formats import Lowered, grid_text, lower_in_format
from kmcompile.lower.program import with_tolerance
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.output import files as folder_files
from kmcompile.output.failure_files import saving_failures
from kmcompile.output.folder import reserve
from kmcompile.passes.move_threshold import move_asked_threshold
from kmcompile.program.interpreter import interpret
from kmcompile.program.memory import check_flash, check_ram, check_tables
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum, PairSum
from kmcompile.readers.samples.file import read_samples
from kmcompile.report import html, json_report
from kmcompile.report.assemble import assemble, options_in_effect
from kmcompile.report.cascade import cascade_of
from kmcompile.report.certified_instead import modes_compared
from kmcompile.report.failure_report import Made
from kmcompile.report.modes import Modes
from kmcompile.report.promise import measured_again
from kmcompile.report.risk_text import risk_text
from kmcompile.report.trajectories import trajectories_of
from kmcompile.request.budgets import Budgets, budgets
from kmcompile.request.option_values import check_options, without_default_replay, without_defaults
from kmcompile.request.options import Options
from kmcompile.request.prefix import check_prefix, prefix_from
from kmcompile.request.task_options import for_task
from kmcompile.target import Target, load_target
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
    asked = options
    options = without_defaults(options)
    check_options(options)
    replay_required = options.replay == "float64"
    options = without_default_replay(options)
    target = load_target(options.target)
    options = replace(options, target=Path(options.target).name)  # no paths in the output
    if options.format == target.number_format:
        options = replace(options, format=None)
    path = model if isinstance(model, Path) else None
    model_name = None if path is None else _printable(path.name)
    name = _prefix(model, options)
    options = _without_what_holds_anyway(options, model, target)
    folder = options.out
    if folder is None and path is not None:
        folder = Path(f"{path.stem}-{target.name}")

    with reserve(folder) if folder is not None else nullcontext() as output:
        tell("reading the model")
        original = _read(model, options.trust_pickle, options.threshold)
        options = for_task(options, original.task, asked)

        tell("lowering")
        allowed = budgets(target, options.max_flash, options.max_ram)
        lowered, made, formats = _lowered(original, target, name, options, allowed, tell)
        machine, program = lowered.machine, made.program
        calibration, choice = made.calibration, made.choice
        program, replay_note = add_asked_replay(
            lowered, program, target, options, allowed, replay_required
        )
        check_flash(program, program.table_bytes, True, allowed)
        check_tables(program, target)
        scratch_bytes = workspace_bytes(program, target)
        check_ram(program, scratch_bytes, None, allowed)

        tell("writing C")
        command = options.canonical_command(model_name or type(model).__name__)
        promised = risk_text(calibration) if calibration else ""
        sources = emit(program, target, command, _describe(original), promised)
        package = package_files(options.package, program, command, sources)
        files = folder_files.of_program(program, target, sources, package)

        tell("collecting queries")
        queries = collect_queries(original, program, options, made.held_out, made.calibrated_with)
        tell("interpreting")
        answers = interpret(program, queries.X)
        with TemporaryDirectory(prefix="kmcompile-") as scratch:
            folder_files.write_plain(Path(scratch), files)
            promise = calibration.promise if calibration and program.early_exits else None
            verifier = Verifier(original, program, target, queries, answers, tell, promise)
            in_effect = options_in_effect(options, program)
            digests = folder_files.digests(files)
            made_with = Made(program, target, command, in_effect, _describe(original), digests)
            with saving_failures(folder, made_with):
                findings = verifier.verify(Path(scratch), options.verify)
        if findings.memory is not None:
            check_flash(program, findings.memory.flash_bytes, False, allowed)
            built = findings.memory
            check_ram(program, scratch_bytes, built.stack_bytes, allowed, built.ram_bytes)

        modes: Modes | str = _NOT_COMPARED
        if compares_modes:
            modes = modes_compared(
                lowered, program, target, options, allowed, answers, queries, tell
            )

        tell("reporting")
        files["queries.npz"] = folder_files.save_queries(queries)
        report = assemble(
            original,
            program,
            target,
            options,
            model_name,
            allowed,
            scratch_bytes,
            findings,
            folder_files.digests(files),
            (
                *machine.notes,
                *lowered.notes,
                *_mode_notes(options, machine, program),
                *_operation_notes(program),
                *((replay_note,) if replay_note else ()),
                *queries.notes,
                *findings.notes,
                *verifier.notes,
            ),
            answers=answers,
            queries=queries,
            command=command,
            calibration=calibration,
            choice=choice,
            formats=formats,
            modes=modes,
        )
        plain = json_report.to_dict(report)
        files["report.json"] = json_report.dumps(plain)
        files["report.html"] = html.render(
            plain,
            findings.evidence,
            cascade_of(program, answers, queries, findings.instructions),
            trajectories_of(program, answers, queries),
        )
        if output is not None:
            output.write(files)
    for note in verifier.notes:
        warnings.warn(note, stacklevel=2)
    return Compiled(program, plain, files, folder)


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


def _read(model: Path | object, trust_pickle: bool, threshold: float | None) -> KernelMachine:
    """Return the model with the threshold that was asked for."""
    machine = readers.load_model(model, trust_pickle=trust_pickle)
    return machine if threshold is None else move_asked_threshold(machine, threshold)


def _lowered(
    machine: KernelMachine,
    target: Target,
    name: str,
    options: Options,
    allowed: Budgets,
    tell: Progress,
) -> tuple[Lowered, WithExits, tuple[FormatCandidate, ...]]:
    """Return the exact program in the format asked for, that with early exits, what was compared.

    Samples tell what 8 bits certify, and whether that is enough: to refuse a program takes
    nothing from a promise that is calibrated on the same samples. To choose one of several by
    them would, so in mode statistical no choice rests on them.
    """
    made: dict[str, WithExits] = {}

    def with_exits(lowered: Lowered) -> WithExits:
        program = with_tolerance(lowered.program, options.tolerance)
        result = add_early_exits(lowered.machine, program, target, options, allowed, tell)
        made[lowered.program.number_format] = result
        return result

    number_format = options.format or target.number_format
    if number_format == "auto" and machine.task is Task.REGRESSION:
        number_format = "float32"  # no share of certified labels says what is enough
    chooses = number_format == "auto"
    measures = number_format == "int8" or (chooses and options.mode_asked != "statistical")
    samples = None
    if measures and options.data is not None:
        samples = read_samples(options.data, machine.n_features).X
    if not chooses:
        lowered = lower_in_format(machine, target, name, number_format, samples)
        return lowered, with_exits(lowered), ()
    lowered, compared = choose_format(
        machine, target, name, allowed.flash_bytes, samples, lambda one: with_exits(one).speedup
    )
    chosen = made.get(lowered.program.number_format) or with_exits(lowered)
    return lowered, chosen, compared


def _mode_notes(options: Options, machine: KernelMachine, program: Program) -> tuple[str, ...]:
    """Return why the mode is not the one asked for, or has fewer early exits than others."""
    if options.mode_asked == "exact":
        return ()
    reason, exact = why_none(machine, options), program.ends.exact
    if reason:
        return (reason,)
    if isinstance(exact, ExactSum) and not exact.kernel.projects:
        left_out = {"statistical": "nearest_vectors", "certified": "every exit that proves a bound"}
        return (
            f"{left_out[options.mode_asked]} is left out: it is not for the "
            f"{machine.kernel.name} kernel",
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


def _printable(name: str) -> str:
    """Return a file name without the bytes that are no text."""
    return name.encode("utf-8", "replace").decode("utf-8")


def _without_what_holds_anyway(options: Options, model: object, target: Target) -> Options:
    """Return the options without a prefix and budgets that are the defaults."""
    default = _prefix(model, replace(options, name=None))
    return replace(
        options,
        name=None if options.name == default else options.name,
        max_flash=None if options.max_flash == target.flash_bytes else options.max_flash,
        max_ram=None if options.max_ram == target.ram_bytes else options.max_ram,
    )


def _prefix(model: Path | object, options: Options) -> str:
    if options.name is not None:
        return check_prefix(options.name)
    return prefix_from(model.stem if isinstance(model, Path) else type(model).__name__)


def _describe(machine: KernelMachine) -> str:
    parameters = "".join(f", {key} {value:g}" for key, value in machine.kernel.parameters().items())
    width = machine.support_vectors.shape[1]
    steps = "".join(f"{step} -> " for step in machine.preprocessing)
    return (
        f"{steps}{machine.kind}, {machine.kernel.name} kernel{parameters}, "
        f"{machine.n_support_vectors} support vectors of {width} features"
    )
