"""Read trained models: one file an input format, each gives a KernelMachine."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.readers.beside import with_files
from kmcompile.readers.byte_budget import budget_of_file
from kmcompile.readers.formats import read_model
from kmcompile.readers.model_file import read_model_file, require_regular_file
from kmcompile.readers.pickles.trusted import load_trusted
from kmcompile.readers.reading import Reading
from kmcompile.readers.size_limits import require_room_to_use
from kmcompile.readers.sklearn.container import read_objects

__all__ = ["Reading", "load_model"]


def load_model(
    source: str | os.PathLike[str] | object, reading: Reading | None = None
) -> KernelMachine:
    """Read a trained model from a file, or from a fitted scikit-learn estimator.

    A file is recognised by its content, never by its extension, and nothing in it is run
    unless `reading.trust_pickle` is set.

    Parameters
    ----------
    source : path, estimator or KernelMachine
        A file of one of the `formats`, or a fitted estimator of a supported class, or a Pipeline
        that ends with one. A KernelMachine is returned as it is.
    reading : Reading, optional
        How the file is read, and the files that belong to it.

    Returns
    -------
    KernelMachine

    Raises
    ------
    UsageError
        The path leads to no readable file.
    InputError
        The model is unsupported, unsafe, damaged or not fitted.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> machine = load_model(SVC(gamma=0.5).fit([[0.0], [1.0]], ["off", "on"]))
    >>> machine.kernel, machine.classes
    (Rbf(gamma=0.5), ('off', 'on'))
    """
    reading = reading or Reading()
    return with_files(_read(source, reading), reading)


def _read(source: Any, reading: Reading) -> KernelMachine:
    """Return the machine of the file or estimator alone."""
    if isinstance(source, KernelMachine):
        if reading.entry:
            raise InputError("a KernelMachine has no entries; leave out entry")
        return source
    of_objects = partial(read_objects, entry=reading.entry)
    if not isinstance(source, str | os.PathLike):
        return _named(type(source).__name__, of_objects, source)
    path = Path(source)
    if reading.trust_pickle:
        model, notes = load_trusted(path)
        machine = _named(path.name, of_objects, model)
        return replace(machine, notes=machine.notes + notes)
    with budget_of_file(require_regular_file(path)):
        return _named(path.name, partial(_read_with_room, reading.entry), read_model_file(path))


def _read_with_room(entry: Sequence[str], content: bytes) -> KernelMachine:
    """Return the machine, if the file's budget has room for copying it and sorting its vectors."""
    machine = read_model(content, entry)
    require_room_to_use(machine)
    return machine


def _named(origin: str, read: Callable[[Any], KernelMachine], model: Any) -> KernelMachine:
    """Return the machine; errors name the file or object `origin`."""
    try:
        return read(model)
    except InputError as error:
        raise InputError(f"{origin}: {error}") from None
