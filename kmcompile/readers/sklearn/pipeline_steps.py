"""The steps of a Pipeline, nested ones included, as one list."""

from __future__ import annotations

from kmcompile.errors import InputError
from kmcompile.readers.byte_budget import current_budget
from kmcompile.readers.fields import Fields
from kmcompile.readers.record import Record, describe, record_of
from kmcompile.readers.sklearn.classes import SUPPORTED, is_supported, refusal, version_notes

_MAX_STEPS = 100


def flattened(record: Record, is_last: bool = True) -> list[Record]:
    """Return the steps of a pipeline, with nested pipelines replaced by their steps.

    Parameters
    ----------
    record : Record
        A Pipeline, or a single step.
    is_last : bool
        Whether the pipeline gives the answer. Then it must have a last step; otherwise the list may
        be empty.

    Raises
    ------
    InputError
        A step is of an unsupported class, or there are too many.
    """
    flat: list[Record] = []
    waiting = [(record, is_last)]
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
    if is_last and not flat:
        raise InputError(f"the pipeline is empty, must end with an estimator;\n{SUPPORTED}")
    return flat


def _steps(pipeline: Record, is_last: bool) -> list[tuple[Record, bool]]:
    """Return the steps of one pipeline, each with whether it gives the answer."""
    version_notes(pipeline)
    fields = Fields(pipeline)
    steps = fields.get("steps")
    if not isinstance(steps, list | tuple) or not 1 <= len(steps) <= _MAX_STEPS:
        raise fields.error("steps", f"is {describe(steps)}", f"a list of 1 to {_MAX_STEPS} steps")
    current_budget().spend_items(len(steps), "the steps of the pipeline")
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
