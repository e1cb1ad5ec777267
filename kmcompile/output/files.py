"""The files of an output folder: their content, their hashes, reading them back."""

from __future__ import annotations

import hashlib
import io
import zlib
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args
from zipfile import BadZipFile

import numpy as np

from kmcompile.build.recipe import Recipe, sha256_of
from kmcompile.emit.view import input_words, record_words
from kmcompile.errors import InputError, UsageError, VerificationError
from kmcompile.model.kernel_machine import KernelMachine, Label
from kmcompile.output.flow_fact_file import flow_fact_file
from kmcompile.program import storage
from kmcompile.program.program import Program
from kmcompile.readers.samples.file import read_samples
from kmcompile.report import json_report
from kmcompile.target import Target
from kmcompile.verify.queries import Queries, Source

_REPORTS = ("report.json", "report.html")
_NEEDED = ("recipe.json", "program.npz", "queries.npz", "report.json")


def of_program(
    program: Program,
    target: Target,
    sources: dict[str, str],
    package: Mapping[str, str] = MappingProxyType({}),
    image: bytes | None = None,
    description: Mapping[str, bytes] = MappingProxyType({}),
) -> dict[str, bytes]:
    """Return the files of a program that need no run: the content of each by name.

    These are the C, the bounds of its loops, its deviations from MISRA C, the description of the
    model, recipe.json and program.npz.

    Parameters
    ----------
    program : Program
    target : Target
    sources : dict
        File name -> text of each emitted file.
    package : mapping
        Path -> text of each file of the framework package (`--package`).
    image : bytes, optional
        The image of the model, where it is not in the code.
    description : mapping
        File name -> content of each file of the model description.
    """
    name = program.name
    harness = f"{name}_harness.c"
    deviations = f"{name}_misra.txt"
    beside = {
        f"{name}.ffx": flow_fact_file(name, sources[f"{name}.c"], sources[f"{name}.h"]),
        deviations: sources[deviations],
        **{key: text for key, text in sources.items() if key.endswith(".xml")},
    }
    binary = dict(description) if image is None else {f"{name}.bin": image, **description}
    built = {key: text for key, text in sources.items() if key.endswith((".c", ".h"))}
    recipe = Recipe(
        name=name,
        sources=tuple(
            key for key in built if key.endswith(".c") and key not in (harness, f"{name}_patch.c")
        ),
        harness=harness,
        target=target,
        input_words=input_words(program),
        record_words=record_words(program),
        sha256=sha256_of({**built, **beside, **binary}),
        package=tuple(sorted(package)),
    )
    files = {key: text.encode("ascii") for key, text in {**sources, **beside, **package}.items()}
    files |= binary
    files["program.npz"] = storage.save(program)
    files["recipe.json"] = recipe.to_json().encode("ascii")
    return files


def save_queries(queries: Queries) -> bytes:
    """Return the bytes of queries.npz: X, its source, and the counts of given and ordinary rows."""
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        X=queries.X,
        source=np.array(queries.source),
        n_given=np.int64(queries.n_given),
        n_ordinary=np.int64(queries.n_ordinary),
    )
    return buffer.getvalue()


def digests(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the SHA-256 of each file by name, hexadecimal."""
    return dict(sha256_of(files))


def write_plain(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a temporary folder, without the care of `OutputFolder.write`."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def read(folder: Path) -> dict[str, bytes]:
    """Return the content of each file of an output folder by its path in the folder.

    Raises
    ------
    UsageError
        If the folder does not exist.
    InputError
        If a file is missing or cannot be read.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; give one that kmcompile has written")
    # Checked before any file is read: another program's folder can be as large as a disk.
    for name in _NEEDED:
        if not (folder / name).is_file():
            raise InputError(f"{folder / name}: missing; compile the model again")
    try:
        paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    except OSError as error:
        raise InputError(f"{folder}: cannot be read: {error.strerror}") from error
    return files


def parse(files: Mapping[str, bytes]) -> tuple[Program, dict[str, Any]]:
    """Return the program and the report from the files of an output folder."""
    program = storage.load(files["program.npz"], "program.npz")
    return program, json_report.parse(files["report.json"], "report.json")


@dataclass(frozen=True, slots=True)
class Checked:
    """The content of an output folder whose files have the hashes that its report lists."""

    files: dict[str, bytes]
    program: Program
    report: dict[str, Any]
    recipe: Recipe


def checked(folder: Path) -> Checked:
    """Return the content of an output folder.

    Each file's hash is compared with the report's, and the model hashes of report and program.

    Raises
    ------
    UsageError, InputError
        As `read`.
    VerificationError
        If a hash differs.
    """
    files = read(folder)
    program, report = parse(files)
    recipe = Recipe.from_json(files["recipe.json"].decode("ascii", "replace"))
    needed = {*_NEEDED, *(name for name, _ in recipe.sha256), recipe.harness} - {*_REPORTS}
    for name in sorted(needed - set(report["files"])):
        raise VerificationError(f"report.json: lists no hash of {name}; compile the model again")
    for name, expected in report["files"].items():
        if name not in files:
            raise VerificationError(
                f"{name}: missing, but report.json lists it\ncompile the model again"
            )
        if hashlib.sha256(files[name]).hexdigest() != expected:
            raise VerificationError(
                f"{name}: SHA-256 differs from the one in report.json\n"
                f"the file was changed after it was verified; compile the model again"
            )
    if report["model"]["sha256"] != program.model_sha256:
        raise VerificationError(
            "report.json: its model is not the one that program.npz was made from; "
            "compile the model again"
        )
    return Checked(files, program, report, recipe)


_OF_MODEL = ("before", "labels", "entry")
"""Options that say what belongs to the model."""


def check_model(
    machine: KernelMachine, program: Program, model_name: str, options: Mapping[str, object]
) -> None:
    """Compare a model's hash with the hash of the model that the program was compiled from.

    `options` are those of the compilation, which may name files that belong to the model.

    Raises
    ------
    VerificationError
    """
    if machine.sha256 != program.model_sha256:
        beside = [f"--{one} {options[one]}" for one in _OF_MODEL if options.get(one) is not None]
        with_files = f", with {' '.join(beside)}" if beside else ""
        raise VerificationError(
            f"{model_name}: SHA-256 {machine.sha256[:16]}... is not the model of this program, "
            f"{program.model_sha256[:16]}...\n"
            f"give the model that the folder was compiled from{with_files}, or compile this one"
        )


def load_queries(
    files: Mapping[str, bytes],
    program: Program,
    test_data: Path | None,
    of_loss: bool = False,
    trained: Sequence[Label] = (),
) -> Queries:
    """Return the queries of the folder, behind those of a file of test data if there is one.

    Parameters
    ----------
    files : mapping of file name to content
    program : Program
    test_data : Path or None
    of_loss : bool
        Whether a loss of right labels is promised; labels of the test data that are none of the
        classes are then refused, and otherwise not compared.
    trained : sequence of labels
        The labels of the training data, where the classes have names of their own.

    Raises
    ------
    InputError
        If queries.npz is damaged.
    """
    try:
        queries = _parse_queries(files["queries.npz"], program.n_features)
    except (ValueError, KeyError, OSError, EOFError, BadZipFile, zlib.error) as error:
        raise InputError(f"queries.npz: damaged ({error}); compile the model again") from error
    if test_data is None:
        return queries
    samples = read_samples(test_data, program.n_features, "test")
    given = samples.X
    truth = None
    with nullcontext() if of_loss else suppress(InputError):
        truth = samples.class_numbers(program.classes, test_data.name, trained)
    return Queries(
        np.concatenate([given, queries.X]),
        "test-data",
        len(given),
        len(given) + queries.n_ordinary,
        truth=truth,
        of_loss=of_loss,
    )


def _parse_queries(content: bytes, n_features: int) -> Queries:
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        X, source = archive["X"], str(archive["source"])
        n_given, n_ordinary = int(archive["n_given"]), int(archive["n_ordinary"])
    if X.dtype != np.float32 or X.ndim != 2 or X.shape[1] != n_features:
        raise ValueError(f"X is {X.dtype} of shape {X.shape}")
    if not 0 <= n_given <= n_ordinary <= len(X):
        raise ValueError(f"n_given {n_given}, n_ordinary {n_ordinary} of {len(X)}")
    for known in get_args(Source):
        if source == known:
            return Queries(X, known, n_given, n_ordinary)
    raise ValueError(f"source {source!r}")
