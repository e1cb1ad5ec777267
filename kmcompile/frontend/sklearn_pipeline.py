"""A fitted scikit-learn estimator or Pipeline as a kernel machine with its preprocessing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kmcompile.errors import InputError
from kmcompile.frontend.estimators import read_estimator
from kmcompile.frontend.fields import Fields
from kmcompile.frontend.record import Record, describe, record_of
from kmcompile.frontend.sklearn_classes import (
    ESTIMATORS,
    SUPPORTED,
    TRANSFORMERS,
    is_supported,
    refusal,
    require_supported,
    version_notes,
)
from kmcompile.frontend.sklearn_transformers import input_width, read_transformer
from kmcompile.ir.kernel_machine import KernelMachine
from kmcompile.ir.preprocessing import Step

_MAX_STEPS = 100


def read_sklearn(model: Any) -> KernelMachine:
    """Return the kernel machine of a fitted estimator, or of the record of one.

    Raises
    ------
    InputError
        The model is of an unsupported class, not fitted, or damaged.
    """
    record = record_of(model)
    if not isinstance(model, Record) and isinstance(model, type):
        raise InputError("the model is a class, must be a fitted instance; call fit first")
    require_supported(record)
    *transformers, estimator = _flattened(record)
    for step in transformers:
        _require_role(step, TRANSFORMERS, "a transformer, as it is not the last step")
    _require_role(estimator, ESTIMATORS, "one that predicts, as it is the last step")
    machine = read_estimator(estimator)
    n_features = _input_width(transformers, machine.n_features)
    steps: tuple[Step, ...] = ()
    width = n_features
    for transformer in transformers:
        steps += read_transformer(transformer, width)
        width = steps[-1].n_out if steps else width
    if width != machine.n_features:
        raise InputError(
            f"{estimator.name} is for {machine.n_features} features, the steps before it give "
            f"{width}; the model was altered or damaged, save it again"
        )
    return replace(machine, n_features=n_features, preprocessing=steps + machine.preprocessing)


def _flattened(record: Record) -> list[Record]:
    """Return the steps of a pipeline, those of nested pipelines in their place."""
    flat: list[Record] = []
    waiting = [(record, True)]
    for _ in range(_MAX_STEPS):
        if not waiting:
            break
        step, is_last = waiting.pop()
        if step.name == "Pipeline":
            waiting.extend(reversed(_steps(step, is_last)))
        else:
            flat.append(step)
    if waiting:
        raise InputError(f"the pipeline has more than {_MAX_STEPS} steps; simplify it")
    if not flat:
        raise InputError(f"the pipeline is empty, must end with an estimator;\n{SUPPORTED}")
    return flat


def _steps(pipeline: Record, is_last: bool) -> list[tuple[Record, bool]]:
    """Return the steps of one pipeline, each with whether it gives the answer."""
    version_notes(pipeline)
    fields = Fields(pipeline)
    steps = fields.get("steps")
    if not isinstance(steps, list | tuple) or not 1 <= len(steps) <= _MAX_STEPS:
        raise fields.error("steps", f"is {describe(steps)}", f"a list of 1 to {_MAX_STEPS} steps")
    result = []
    for number, step in enumerate(steps):
        if not isinstance(step, list | tuple) or len(step) != 2:
            raise fields.error(f"steps[{number}]", f"is {describe(step)}", "(name, estimator)")
        answers = is_last and number == len(steps) - 1
        name, value = step
        if not answers and (value is None or (isinstance(value, str) and value == "passthrough")):
            continue
        inner = record_of(value)
        if not is_supported(inner.module, inner.name):
            raise InputError(f"step {describe(name)}: {refusal(inner.module, inner.name)}")
        result.append((inner, answers))
    return result


def _require_role(record: Record, role: dict[str, str], allowed: str) -> None:
    if record.name not in role:
        raise InputError(f"the pipeline has {record.name}, must be {allowed};\n{SUPPORTED}")


def _input_width(transformers: list[Record], n_kernel_features: int) -> int:
    """Return the features of the raw input: what the first step was fitted for.

    Only Normalizers may not know it, and they keep the number.
    """
    for transformer in transformers:
        width = input_width(transformer)
        if width is not None:
            return width
    return n_kernel_features
