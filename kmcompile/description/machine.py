"""A trained machine as plain data, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from kmcompile import kernels, steps
from kmcompile.description import formulas
from kmcompile.description.tables import Tables, array_of
from kmcompile.errors import InputError
from kmcompile.kernels.kernel import Kernel
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.routing import Routing
from kmcompile.steps.step import Step

_FLAGS = ("zero_is_positive", "last_of_equal", "break_ties", "decision_function_shape")


def machine_data(machine: KernelMachine, tables: Tables) -> dict[str, Any]:
    """Return what was trained; its long arrays go to `tables`."""
    decisions, decisions_text = formulas.decisions_of(machine)
    label, label_text = formulas.label_of(machine)
    probability = formulas.probability_of(machine)
    return {
        "kind": machine.kind,
        "task": machine.task.value,
        "sha256": machine.sha256,
        "meaning": formulas.MEANING,
        "n_features": machine.n_features,
        "classes": [[type(label).__name__, label] for label in machine.classes],
        "preprocessing": [_step(step, tables) for step in machine.preprocessing],
        "kernel": {
            "name": machine.kernel.name,
            "formula": formulas.formula_of(machine.kernel),
            "parameters": {
                field.name: getattr(machine.kernel, field.name)
                for field in fields(machine.kernel)  # type: ignore[arg-type]  # kernels are some
            },
        },
        "support_vectors": tables.add(machine.support_vectors),
        "dual_coef": tables.add(machine.dual_coef),
        "intercept": tables.add(machine.intercept),
        "class_counts": list(machine.class_counts),
        "routing": _routing(machine.routing, tables),
        "decisions": {
            "rule": decisions,
            "number": machine.n_decisions,
            "text": decisions_text,
            "threshold": machine.threshold,
            "of_threshold": "the decision that was trained is f_0 + threshold",
        },
        "label": {"rule": label, "text": label_text},
        "probability": None
        if probability is None
        else {
            "rule": probability[0],
            "text": probability[1],
            **({} if machine.platt is None else {"platt": list(machine.platt)}),
        },
        "flags": {name: getattr(machine, name) for name in _FLAGS},
        "notes": list(machine.notes),
    }


def _step(step: Step, tables: Tables) -> dict[str, Any]:
    """Return a step with its trained fields."""
    own: dict[str, Any] = {}
    for field in step.fields():
        if not field.metadata.get("trained", True):
            continue
        value = getattr(step, field.name)
        if isinstance(value, np.ndarray):
            own[field.name] = tables.add(value)
        elif isinstance(value, tuple):
            own[field.name] = tables.add(np.array(value))
        else:
            own[field.name] = value
    formula = formulas.formula_of(step)
    sizes = {"n_in": step.n_in, "n_out": step.n_out}
    return {"step": step.name, "formula": formula, **sizes, "fields": own}


def _routing(routing: Routing | None, tables: Tables) -> dict[str, Any] | None:
    """Return the tree of a routed machine; None of another one."""
    if routing is None:
        return None
    return {name: tables.add(array) for name, array in routing.arrays()}


def machine_of(plain: dict[str, Any], content: bytes) -> KernelMachine:
    """Return the machine that a model description holds.

    Parameters
    ----------
    plain : dict
        The entry "model" of the document.
    content : bytes
        The file of long arrays.

    Raises
    ------
    InputError
        If an array is damaged, or a kernel or step is none that is known.
    """
    kernel = plain["kernel"]
    own = (plain["probability"] or {}).get("platt")
    platt = None if own is None else (own[0], own[1])
    return KernelMachine(
        kind=plain["kind"],
        task=Task(plain["task"]),
        kernel=_kernel(kernel["name"], kernel["parameters"]),
        support_vectors=array_of(plain["support_vectors"], content),
        dual_coef=array_of(plain["dual_coef"], content),
        intercept=array_of(plain["intercept"], content),
        classes=tuple(label for _, label in plain["classes"]),
        n_features=plain["n_features"],
        class_counts=tuple(plain["class_counts"]),
        preprocessing=tuple(_read_step(step, content) for step in plain["preprocessing"]),
        log_odds=plain["probability"] is not None and platt is None,
        platt=platt,
        threshold=plain["decisions"]["threshold"],
        notes=tuple(plain["notes"]),
        routing=_read_routing(plain["routing"], content),
        **plain["flags"],
    )


def _read_routing(plain: dict[str, Any] | None, content: bytes) -> Routing | None:
    if plain is None:
        return None
    arrays: dict[str, Any] = {name: array_of(array, content) for name, array in plain.items()}
    return Routing(**arrays)


def _kernel(name: str, parameters: dict[str, Any]) -> Kernel:
    made: Kernel = _of_name(kernels.CATALOGUE, name)(**parameters)
    return made


def _read_step(plain: dict[str, Any], content: bytes) -> Step:
    """Return a step; a field that is a tuple in the class was written as an array."""
    kind = _of_name(steps.CATALOGUE, plain["step"])
    own = {
        name: array_of(value, content) if isinstance(value, dict) else value
        for name, value in plain["fields"].items()
    }
    if issubclass(kind, steps.Columns):
        own["columns"] = tuple(int(column) for column in own["columns"])
    made: Step = kind(**own)
    return made


def _of_name(catalogue: Sequence[type[Any]], name: str) -> type[Any]:
    for kind in catalogue:
        if kind.name == name:
            return kind
    raise InputError(f"{name} is no kernel or step that is known; register it first")
