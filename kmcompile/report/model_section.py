"""The section `model` of report.json, and what `kmcompile inspect` prints."""

from __future__ import annotations

from typing import Any

from kmcompile.lower.formats import grid_text
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.report.missing import Content, Missing, known

_NO_CLASSES = "a regression gives values: it has no classes"


def model_section(machine: KernelMachine, model_name: str) -> Content:
    """Return the section on the model.

    Parameters
    ----------
    machine : KernelMachine
        The trained machine.
    model_name : str
        Name of the model's file without its path; empty for a fitted estimator.
    """
    regression = machine.task is Task.REGRESSION
    no_threshold = Missing(_NO_CLASSES if regression else "many classes: no single decision")
    return dict(
        file=known(model_name or None, "a fitted estimator was passed"),
        kind=machine.kind,
        kernel=machine.kernel.name,
        parameters=machine.kernel.parameters(),
        preprocessing=[str(step) for step in machine.preprocessing],
        n_features=machine.n_features,
        n_classes=known(machine.n_classes or None, _NO_CLASSES),
        classes=known(machine.classes or None, _NO_CLASSES),
        n_support_vectors=machine.n_support_vectors,
        threshold=machine.threshold if machine.task.has_one_sign else no_threshold,
        sha256=machine.sha256,
    )


def inspected(machine: KernelMachine) -> dict[str, Any]:
    """Return the facts of a model for `kmcompile inspect`."""
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
