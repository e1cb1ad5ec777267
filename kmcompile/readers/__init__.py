"""Read trained models: one file an input format, each gives a KernelMachine."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.readers.byte_budget import budget_of_file
from kmcompile.readers.formats import read_model
from kmcompile.readers.model_file import read_model_file, require_regular_file
from kmcompile.readers.pickles.trusted import load_trusted
from kmcompile.readers.size_limits import require_room_to_use
from kmcompile.readers.sklearn.pipeline import read_sklearn

__all__ = ["load_model"]


def load_model(
    source: str | os.PathLike[str] | object, trust_pickle: bool = False
) -> KernelMachine:
    """Read a trained model from a file, or from a fitted scikit-learn estimator.

    A file is recognised by its content, never by its extension, and nothing in it is run
    unless `trust_pickle` is set.

    Parameters
    ----------
    source : path, estimator or KernelMachine
        A file of one of the `formats`, or a fitted estimator of a supported class, or a Pipeline
        that ends with one. A KernelMachine is returned as it is.
    trust_pickle : bool
        Load the file with joblib, which runs whatever code it names, instead of reading
        its data only.

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
    if isinstance(source, KernelMachine):
        return source
    if not isinstance(source, str | os.PathLike):
        return _named(type(source).__name__, read_sklearn, source)
    path = Path(source)
    if trust_pickle:
        model, notes = load_trusted(path)
        machine = _named(path.name, read_sklearn, model)
        return replace(machine, notes=machine.notes + notes)
    with budget_of_file(require_regular_file(path)):
        return _named(path.name, _read_with_room, read_model_file(path))


def _read_with_room(content: bytes) -> KernelMachine:
    """Return the machine, if the file's budget has room for copying it and sorting its vectors."""
    machine = read_model(content)
    require_room_to_use(machine)
    return machine


def _named(origin: str, read: Callable[[Any], KernelMachine], model: Any) -> KernelMachine:
    """Return the machine; errors name the file or object `origin`."""
    try:
        return read(model)
    except InputError as error:
        raise InputError(f"{origin}: {error}") from None
