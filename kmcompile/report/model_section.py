"""The section `model` of report.json, and what `kmcompile inspect` prints."""

from __future__ import annotations

from typing import Any

from kmcompile.lower.formats import grid_text
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.report import contents
from kmcompile.report.section import Section

_NO_CLASSES = "a regression gives values: it has no classes"


def model_section(machine: KernelMachine, model_name: str) -> Section[contents.Model]:
    """Return the section on the model.

    Parameters
    ----------
    machine : KernelMachine
        The trained machine.
    model_name : str
        Name of the model's file; empty for a fitted estimator.
    """
    reasons = {}
    if not model_name:
        reasons["model.file"] = "a fitted estimator was passed"
    if not machine.task.has_one_sign:
        reasons["model.threshold"] = (
            _NO_CLASSES if machine.task is Task.REGRESSION else "many classes: no single decision"
        )
    if machine.task is Task.REGRESSION:
        reasons |= {f"model.{name}": _NO_CLASSES for name in ("n_classes", "classes")}
    content = contents.Model(
        file=model_name or None,
        kind=machine.kind,
        kernel=machine.kernel.name,
        parameters=machine.kernel.parameters(),
        preprocessing=[str(step) for step in machine.preprocessing],
        n_features=machine.n_features,
        n_classes=machine.n_classes or None,
        classes=machine.classes or None,
        n_support_vectors=machine.n_support_vectors,
        threshold=machine.threshold if machine.task.has_one_sign else None,
        sha256=machine.sha256,
    )
    return Section(content, reasons)


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
