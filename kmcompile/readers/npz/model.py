"""Machines in kmcompile's own `.npz` layout (npz_layout has it), read strictly."""

from __future__ import annotations

import io
import re
from typing import Any

from kmcompile.errors import InputError
from kmcompile.kernels import Fourier
from kmcompile.model.kernel_machine import KernelMachine, Label, Task
from kmcompile.model.routing import Routing
from kmcompile.readers.fields import Fields
from kmcompile.readers.npz.layout import (
    FLAGS,
    FORMAT_VERSION,
    ONE_CLASS_LABELS,
    OPTIONAL,
    PARAMETERS,
    REQUIRED,
    ROUTING,
)
from kmcompile.readers.npz.steps import read_steps
from kmcompile.readers.record import Record, describe, short_ascii
from kmcompile.readers.samples.arrays import read_npy
from kmcompile.readers.sklearn.kernels import Expressed, pairwise_kernel, through
from kmcompile.readers.zip_members import read_members

_MEMBER = re.compile(r"[a-z0-9_]{1,100}\.npy")
_KIND = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_MAX_FEATURES = 1_000_000
"""A Selection may take few of them: nothing in the file pays for the others."""

_REMEDY = "write it as kmcompile.save_model does"


def read_npz_model(content: bytes) -> KernelMachine:
    """Return the machine of an archive in this layout.

    Raises
    ------
    InputError
        A name is missing or unknown, an array has another type or shape, a number is not finite, or
        the archive is damaged.
    """
    members = read_members(content, _MEMBER)
    values = {name.removesuffix(".npy"): _value(name, raw) for name, raw in members.items()}
    fields = Fields(Record("", "npz", values))
    _check_names(fields, values)
    fields.integer("format_version", FORMAT_VERSION, FORMAT_VERSION)
    width = n_features = fields.integer("n_features", 1, _MAX_FEATURES)
    steps = read_steps(fields, width)
    width = steps[-1].n_out if steps else width
    kernel_steps, kernel = _kernel(fields, width)
    support_vectors = fields.array("support_vectors", (None, width))
    task = Task(fields.choice("task", tuple(Task)))
    classes, class_counts = _classes(fields, task)
    return KernelMachine(
        kind=_kind(fields),
        task=task,
        kernel=kernel,
        support_vectors=through(kernel_steps, support_vectors),
        rounded_vectors=bool(kernel_steps) or fields.flag("rounded_vectors", False),
        intercept_error=_intercept_error(fields),
        dual_coef=fields.array("dual_coef", (None, len(support_vectors))),
        intercept=fields.array("intercept", (None,)),
        classes=classes,
        n_features=n_features,
        class_counts=class_counts,
        preprocessing=steps + kernel_steps,
        zero_is_positive=fields.flag("zero_is_positive"),
        last_of_equal=_flag(fields, "last_of_equal", task),
        log_odds=_flag(fields, "log_odds", task),
        threshold=fields.number("threshold") if fields.has("threshold") else 0.0,
        platt=_platt(fields),
        break_ties=_flag(fields, "break_ties", task),
        decision_function_shape=_shape(fields),
        routing=_routing(fields, width),
    )


def _platt(fields: Fields) -> tuple[float, float] | None:
    if not fields.has("platt"):
        return None
    slope, offset = fields.array("platt", (2,)).tolist()
    return slope, offset


def _routing(fields: Fields, width: int) -> Routing | None:
    """Return the tree of a routed machine; None if the archive has none of its arrays."""
    missing = [name for name in ROUTING if not fields.has(name)]
    if len(missing) == len(ROUTING):
        return None
    if missing:
        raise InputError(f"{missing[0]} is missing in a routed machine; {_REMEDY}")
    return Routing(
        weights=fields.array("routing_weights", (None, width)),
        offsets=fields.array("routing_offsets", (None,)),
        node_ends=fields.whole_numbers("routing_node_ends"),
        targets=fields.whole_numbers("routing_targets"),
        leaf_ends=fields.whole_numbers("routing_leaf_ends"),
        intercepts=fields.array("routing_intercepts", (None, None)),
        relative_gamma=fields.array("routing_relative_gamma", (None,)),
        pair_coef=fields.array("routing_pair_coef", (None, None)),
        leaf_weights=fields.array("routing_leaf_weights", (None, None, width)),
    )


def _value(name: str, raw: bytes) -> Any:
    """Return an array, or a scalar as a Python value."""
    array = read_npy(io.BytesIO(raw), name)
    return array if array.shape else array.item()


def _check_names(fields: Fields, values: dict[str, Any]) -> None:
    for name in REQUIRED:
        if name not in values:
            raise InputError(f"{name} is missing; {_REMEDY}")
    kernel = fields.choice("kernel", tuple(PARAMETERS))
    known = {*REQUIRED, *OPTIONAL, *PARAMETERS[kernel]}
    unknown = [n for n in values if n not in known and not n.startswith("step_")]
    if unknown:
        allowed = ", ".join((*REQUIRED, *PARAMETERS[kernel], *OPTIONAL))
        raise InputError(
            f"{short_ascii(unknown[0])} is there, with the {kernel} kernel must be {allowed} or "
            f"a step; {_REMEDY}"
        )


def _kernel(fields: Fields, n_features: int) -> Expressed:
    name = fields.get("kernel")
    given = {parameter: fields.get(parameter) for parameter in PARAMETERS[name]}
    return ((), Fourier()) if name == "fourier" else pairwise_kernel(name, n_features, **given)


def _kind(fields: Fields) -> str:
    kind = fields.get("kind")
    if not isinstance(kind, str) or not _KIND.fullmatch(kind):
        raise fields.error("kind", f"is {describe(kind)}", "a name like SVC", _REMEDY)
    return kind


def _flag(fields: Fields, name: str, task: Task) -> bool:
    """Return a flag, which only some tasks may set."""
    value = fields.flag(name, False)
    if value and task not in FLAGS[name]:
        raise fields.error(name, f"is True in a {task.value} machine", "False", _REMEDY)
    return value


def _intercept_error(fields: Fields) -> float:
    error = fields.number("intercept_error") if fields.has("intercept_error") else 0.0
    if error < 0:
        raise fields.error("intercept_error", f"is {error}", "0 or more", _REMEDY)
    return error


def _shape(fields: Fields) -> str:
    if not fields.has("decision_function_shape"):
        return "ovr"
    return fields.choice("decision_function_shape", ("ovr", "ovo"))


def _classes(fields: Fields, task: Task) -> tuple[tuple[Label, ...], tuple[int, ...]]:
    """Return the labels, and the number of vectors of each class if the task needs it."""
    wanted = {"classes"} if task not in (Task.ONE_CLASS, Task.REGRESSION) else set()
    counted = task is Task.ONE_VS_ONE and not fields.has(ROUTING[0])
    if counted:
        wanted.add("class_counts")
    if task is Task.ONE_CLASS and fields.has("classes"):
        wanted.add("classes")
    for name in ("classes", "class_counts"):
        if fields.has(name) != (name in wanted):
            found = "is there" if fields.has(name) else "is missing"
            raise InputError(f"{name} {found} in a {task.value} machine; {_REMEDY}")
    if task is Task.ONE_CLASS and not wanted:
        return ONE_CLASS_LABELS, ()
    if task is Task.REGRESSION:
        return (), ()
    classes = fields.labels("classes")
    counts = fields.counts("class_counts", len(classes)) if counted else ()
    return classes, counts
