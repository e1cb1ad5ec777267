"""Images of retrained models for code that flies already, and the patches between images."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kmcompile.choice.program import for_image
from kmcompile.emit.emitter import emit_files
from kmcompile.emit.images import patch
from kmcompile.emit.images.differences import are_of_one_kind, difference
from kmcompile.errors import BudgetError, InputError, UsageError
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.output import files as folder_files
from kmcompile.output.failure_files import saving_failures
from kmcompile.output.files import Checked
from kmcompile.pipeline import Progress, read_model, tell_nobody
from kmcompile.program.interpreter import interpret
from kmcompile.program.program import Program
from kmcompile.readers.reading import Reading
from kmcompile.report.assemble import verified_again
from kmcompile.report.failure_report import Made
from kmcompile.report.flight.image import image_facts
from kmcompile.report.one_answer import one_answer_warnings
from kmcompile.request.options import Options
from kmcompile.request.plan import Plan, Request
from kmcompile.verify.findings import Findings
from kmcompile.verify.likeness import unlike_vectors
from kmcompile.verify.verifier import Verifier, collect_queries
from kmcompile.version import VERSION
from kmcompile.whole_file import check_free, write_whole


def make_image(
    model: Path,
    folder: Path,
    out: Path | None = None,
    data: Path | None = None,
    test_data: Path | None = None,
    verify: str | None = None,
    reading: Reading | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write the image of a model for the code in a folder, after it was verified with that code.

    Parameters
    ----------
    model : Path
    folder : Path
        An output folder that was compiled with `--tables image`. Nothing in it is changed.
    out : Path, optional
        The file of the image; by default `<model>.bin` in the current folder.
    data, test_data : Path, optional
        Samples by which early exits are fitted, and samples to verify with.
    verify : {"none", "host", "target"}, optional
    reading : Reading, optional
        How the model's file is read, and the files that belong to it.
    progress : callable, optional

    Returns
    -------
    dict
        The findings, in the shape of report.json, and under "image" what was written.

    Raises
    ------
    UsageError
        If the folder has no code for images, or `out` would overwrite what is read.
    InputError
        If the model needs other code: the text says what differs.
    BudgetError
        If the model exceeds a capacity of the code, or the image its flash budget.
    VerificationError
        If the code with the new image does not give the answers of the model.
    """
    tell = progress or tell_nobody
    path = Path(f"{model.stem}.bin") if out is None else out
    reading = reading or Reading()
    read = [given for given in (model, data, test_data, *reading.files) if given is not None]
    check_free(path, read, folder)
    tell("comparing hashes")
    flying = _flying(folder)
    tell("reading the model")
    machine = read_model(model, reading, flying.report["options"].get("threshold"), True)
    _check_same_task(machine, flying.program, folder)
    tell("lowering")
    plan = _plan(model, machine, flying, data, test_data)
    chosen = for_image(machine, plan, tell, flying.program)
    program = chosen.program
    _check_capacity(program, flying.program, model, folder)
    tell("writing the image")
    emitted = emit_files(program, plan.target, plan.command, machine.description)
    assert emitted.image is not None
    _check_same_code(emitted.texts, program, flying, folder)
    name = program.name
    warnings = _check_flash(
        len(emitted.image) - len(flying.files[f"{name}.bin"]), flying.report, model
    )
    files = {**flying.files, f"{name}_image.c": emitted.texts[f"{name}_image.c"].encode("ascii")}
    findings, facts = _verified(machine, program, plan, files, verify, path, tell)
    write_whole(path, emitted.image)
    samples = [plan.samples, plan.test_samples]
    warnings += one_answer_warnings(machine, program, samples)
    warnings += tuple(filter(None, [unlike_vectors(machine, samples), plan.not_compared]))
    return {
        "image": {
            **image_facts(program, emitted.image, path.name),
            "sha256": hashlib.sha256(emitted.image).hexdigest(),
            "model_sha256": program.model_sha256,
        },
        "files": len(flying.report["files"]),
        **facts,
        "warnings": [*chosen.warnings, *findings.warnings, *warnings],
    }


def make_patch(
    old: Path, new: Path, out: Path | None = None, in_place: bool = False
) -> dict[str, Any]:
    """Write the patch that makes one image of another.

    Parameters
    ----------
    old, new : Path
        Images for the same code.
    out : Path, optional
        The file of the patch; by default `<new>.patch`.
    in_place : bool
        Whether the patch may be applied to the memory of the old image itself.

    Returns
    -------
    dict
        Sizes and hashes of both images and of the patch.

    Raises
    ------
    UsageError
        If `out` would overwrite an image that is read.
    InputError
        If a file is no image, or if the images are for different code.
    """
    path = Path(f"{new.name}.patch") if out is None else out
    check_free(path, [old, new])
    before, after = _image(old), _image(new)
    patch.check_pair(before, old.name, after, new.name)
    content = patch.make(before, after, in_place)
    if patch.apply(before, content) != after:
        raise RuntimeError("the patch does not make the new image of the old one")
    write_whole(path, content)
    return {
        "patch": path.name,
        "bytes": len(content),
        "records": patch.n_records(content),
        "in_place": in_place,
        "old": _identity(old.name, before),
        "new": _identity(new.name, after),
    }


def _identity(name: str, content: bytes) -> dict[str, Any]:
    return {
        "file": name,
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "model_sha256": patch.model_sha256(content),
    }


def _image(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    patch.check_image(content, path.name)
    return content


def _flying(folder: Path) -> Checked:
    """Return the content of the folder of code that flies, compiled with `--tables image`."""
    flying = folder_files.checked(folder)
    if flying.program.capacity is None:
        raise UsageError(
            f"{folder}: its tables are in the code, so it takes no image\n"
            "compile its model with --tables image, and fly that code"
        )
    return flying


def _check_same_task(machine: KernelMachine, program: Program, folder: Path) -> None:
    """Refuse a model of other features, classes or decisions."""
    for what, found, flies in (
        ("features", machine.n_features, program.n_features),
        ("classes", tuple(machine.classes), program.classes),
        ("decisions", machine.n_decisions, program.n_decisions),
    ):
        if found != flies:
            raise InputError(
                f"the {what} of the model are {found}, those of the code in {folder} {flies}\n"
                "compile the model anew, and fly its code"
            )


def _plan(
    model: Path, machine: KernelMachine, flying: Checked, data: Path | None, test_data: Path | None
) -> Plan:
    """Return the plan by which the code that flies was compiled, for another model."""
    given = flying.report["options"]
    options = Options(
        mode=flying.program.mode,
        replay="none" if flying.program.replay is None else "float64",
        tolerance=given.get("tolerance"),
        threshold=given.get("threshold"),
        format=flying.program.number_format,
        tables="image",
        telemetry=flying.program.telemetry,
        name=flying.program.name,
        data=data,
        test_data=test_data,
    )
    plan = Request.of(model, options).plan(machine)
    command = str(flying.report["tool"]["command"])
    return replace(plan, target=flying.recipe.target, command=command)


def _check_capacity(program: Program, flies: Program, model: Path, folder: Path) -> None:
    """Refuse a model that is larger than the code that flies can take.

    It comes before the comparison of the code, because the order of a sum depends on the number of
    its terms. Of a model of another kind the comparison tells more.

    Raises
    ------
    BudgetError
    """
    assert program.capacity is not None
    if not are_of_one_kind(program, flies):
        return
    exceeded = program.capacity.exceeded_by(program.sum, len(program.known_answers))
    if exceeded is not None:
        what, found, most = exceeded
        raise BudgetError(
            f"{model.name}: {found:,} {what}, the code in {folder} takes {most:,} at most\n"
            "train with fewer support vectors, or fly code of a larger --capacity"
        )


def _check_flash(more_bytes: int, report: Mapping[str, Any], model: Path) -> tuple[str, ...]:
    """Refuse an image that exceeds the flash budget of the code that flies, with that code.

    Parameters
    ----------
    more_bytes : int
        How much larger the image is than the one in the folder.
    report : mapping
        report.json of the code that flies.
    model : Path

    Returns
    -------
    tuple of str
        A warning where the flash of the code was not measured (`--verify none`).

    Raises
    ------
    BudgetError
    """
    memory = report["memory"]
    if memory["flash_bytes"] is None or memory["flash_budget_bytes"] is None:
        return ()
    needed, allowed = memory["flash_bytes"] + more_bytes, memory["flash_budget_bytes"]
    if needed > allowed:
        raise BudgetError(
            f"{model.name}: its image and the code need {needed:,} bytes of flash, the code was "
            f"compiled for {allowed:,}\n"
            "train with fewer support vectors, or fly code of a larger --max-flash"
        )
    if memory["flash_is_lower_limit"]:
        return ("the flash of the code is not known, so the image may not fit beside it",)
    return ()


def _check_same_code(
    texts: Mapping[str, str], program: Program, flying: Checked, folder: Path
) -> None:
    """Refuse a model whose code is another than the code that flies.

    Raises
    ------
    InputError
    """
    name = program.name
    for file in (f"{name}.h", f"{name}.c"):
        flies = flying.files[file].decode("ascii", "replace")
        if texts[file] != flies:
            made_by = flying.report["tool"]["version"]
            reason = difference(program, flying.program, texts[file], flies, file)
            if made_by != VERSION:
                reason = f"{reason}; it was made by kmcompile {made_by}, this is {VERSION}"
            raise InputError(
                f"the model needs other code than that in {folder}: {reason}\n"
                "compile the model anew, and fly its code"
            )


def _verified(
    machine: KernelMachine,
    program: Program,
    plan: Plan,
    files: dict[str, bytes],
    verify: str | None,
    path: Path,
    tell: Progress,
) -> tuple[Findings, dict[str, Any]]:
    """Build the code that flies with the new image by its recipe, run it and check its answers."""
    tell("collecting queries")
    queries = collect_queries(machine, program, plan)
    tell("interpreting")
    answers = interpret(program, queries.X)
    verifier = Verifier(machine, program, plan.target, queries, answers, tell)
    made = Made(program, plan.target, plan.command, {}, machine.description, {})
    with TemporaryDirectory(prefix="kmcompile-") as scratch:
        folder_files.write_plain(Path(scratch), files)
        with saving_failures(path.with_suffix(""), made):
            findings = verifier.verify(Path(scratch), verify)
    return findings, verified_again(program, plan.target, queries, findings, None)
