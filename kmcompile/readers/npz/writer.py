"""Write a machine in kmcompile's own `.npz` layout."""

from __future__ import annotations

import io
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine, Label, Task
from kmcompile.readers.npz.layout import (
    FLAGS,
    FORMAT_VERSION,
    ONE_CLASS_LABELS,
    PARAMETERS,
    STEPS,
    step_prefix,
)
from kmcompile.steps import Step
from kmcompile.whole_file import write_whole

_DERIVED = ("n_in", "n_out")
"""Fields of steps that are not written: widths, which follow from `n_features`."""


def write_npz_model(path: Path, machine: KernelMachine) -> None:
    """Write the archive, whole or not at all.

    Raises
    ------
    InputError
        As `npz_model` does.
    OutputError
        The file cannot be written.
    """
    write_whole(path, npz_model(machine))


def npz_model(machine: KernelMachine) -> bytes:
    """Return the bytes of the archive; equal machines give equal bytes, which read back equal.

    Raises
    ------
    InputError
        The classes are of different types, which one array cannot hold, or the kernel or a step is
        defined outside the package, which no reader could make of the file.
    """
    _refuse_unreadable(machine)
    arrays: dict[str, Any] = {
        "format_version": FORMAT_VERSION,
        "kind": machine.kind,
        "task": machine.task.value,
        "n_features": machine.n_features,
        "kernel": machine.kernel.name,
        **{f.name: getattr(machine.kernel, f.name) for f in fields(machine.kernel)},  # type: ignore[arg-type]
        "support_vectors": machine.support_vectors,
        "dual_coef": machine.dual_coef,
        "intercept": machine.intercept,
        "zero_is_positive": machine.zero_is_positive,
        "threshold": machine.threshold,
        "rounded_vectors": machine.rounded_vectors,
        "intercept_error": machine.intercept_error,
        "decision_function_shape": machine.decision_function_shape,
        **{name: getattr(machine, name) for name in FLAGS},
    }
    if machine.task is not Task.REGRESSION and machine.classes != ONE_CLASS_LABELS:
        arrays["classes"] = _class_array(machine.classes)
    if machine.platt is not None:
        arrays["platt"] = np.array(machine.platt)
    if machine.shares_rows:
        arrays["class_counts"] = np.array(machine.class_counts, dtype=np.int64)
    if machine.routing is not None:
        arrays |= {f"routing_{name}": values for name, values in machine.routing.arrays()}
    for number, step in enumerate(machine.preprocessing):
        arrays |= _step_arrays(number, step)
    content = io.BytesIO()
    np.savez(content, **arrays)
    return content.getvalue()


def _refuse_unreadable(machine: KernelMachine) -> None:
    """Refuse a machine with a part that the reader does not know."""
    steps = [step.name for step in machine.preprocessing if step.name not in STEPS]
    kernels = [machine.kernel.name] if machine.kernel.name not in PARAMETERS else []
    for name in (*kernels, *steps):
        raise InputError(
            f"{name} is no kernel or step that an .npz model can hold; compile the machine itself"
        )


def _class_array(classes: tuple[Label, ...]) -> np.ndarray[Any, Any]:
    """Return the labels as one array, from which they can be read back."""
    array = np.array(classes)
    kept = [(type(label), label) for label in array.tolist()]
    if array.dtype.hasobject or kept != [(type(label), label) for label in classes]:
        raise InputError(
            "classes are of different types, end with a zero character or are too large, must fit "
            "one array of numpy; retrain with other labels"
        )
    return array


def _step_arrays(number: int, step: Step) -> dict[str, Any]:
    """Return the fields of a step by their names in the archive."""
    prefix = step_prefix(number)
    arrays: dict[str, Any] = {prefix.removesuffix("_"): step.name}
    for field in step.fields():
        if field.name not in _DERIVED:
            arrays[prefix + field.name] = np.asarray(getattr(step, field.name))
    return arrays
