"""The files that belong to a model: transformers before it, and the names of its classes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.readers.byte_budget import budget_of_file
from kmcompile.readers.formats import read_object
from kmcompile.readers.model_file import read_model_file, require_regular_file
from kmcompile.readers.pickles.trusted import load_trusted
from kmcompile.readers.reading import Reading
from kmcompile.readers.record import describe, record_of
from kmcompile.readers.scale_file import behind_scale_file, is_scale_file
from kmcompile.readers.size_limits import require_room_to_use
from kmcompile.readers.sklearn.labels import LABEL_ENCODER, with_encoded_names, with_listed_names
from kmcompile.readers.sklearn.pipeline import behind
from kmcompile.readers.sklearn.pipeline_steps import flattened

_PICKLED = (b"\x80", b"PK\x03\x04", b"ccopy_reg\n", b"ccopyreg\n")
"""How pickles and skops files begin; no list of names and no scale does."""


def with_files(machine: KernelMachine, reading: Reading) -> KernelMachine:
    """Return the machine behind the transformers of `reading`, with its class names.

    Raises
    ------
    UsageError
        A path leads to no readable file.
    InputError
        A file holds something else, or does not fit the machine; the text names it.
    """
    for path in reversed(reading.before):
        machine = _with_file(machine, path, reading.trust_pickle, _behind)
    if reading.labels is not None:
        machine = _with_file(machine, reading.labels, reading.trust_pickle, _named)
    return machine


def _with_file(
    machine: KernelMachine,
    path: Path,
    trust_pickle: bool,
    use: Callable[[KernelMachine, bytes, Any], KernelMachine],
) -> KernelMachine:
    with budget_of_file(require_regular_file(path)):
        content = read_model_file(path)
        trusted = load_trusted(path)[0] if trust_pickle and _is_pickled(content) else None
        try:
            machine = use(machine, content, trusted)
            require_room_to_use(machine)
        except InputError as error:
            raise InputError(f"{path.name}: {error}") from None
    return machine


def _behind(machine: KernelMachine, content: bytes, trusted: Any) -> KernelMachine:
    """Return the machine behind the transformer, Pipeline or scale file."""
    if is_scale_file(content):
        return behind_scale_file(machine, content)
    found = read_object(content) if trusted is None else trusted
    if isinstance(found, dict | list | tuple | KernelMachine):
        raise InputError(
            f"it holds {describe(found)}, must hold one fitted transformer or a Pipeline of them;\n"
            "save the transformer alone with joblib.dump"
        )
    return behind(machine, flattened(record_of(found), is_last=False))


def _named(machine: KernelMachine, content: bytes, trusted: Any) -> KernelMachine:
    """Return the machine with the names of a LabelEncoder or of a text file."""
    if trusted is None and not _is_pickled(content):
        return with_listed_names(machine, content)
    encoder = record_of(read_object(content) if trusted is None else trusted)
    if encoder.name != LABEL_ENCODER:
        raise InputError(
            f"it holds {describe(encoder)}, must hold a fitted LabelEncoder, or be text with a "
            "line a class"
        )
    return with_encoded_names(machine, encoder)


def _is_pickled(content: bytes) -> bool:
    return content.startswith(_PICKLED)
