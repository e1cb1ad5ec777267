"""A fitted scikit-learn estimator or Pipeline as a kernel machine with its preprocessing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.readers.fields import Fields
from kmcompile.readers.record import Record, record_of
from kmcompile.readers.size_limits import count_numbers, require_room, spend_steps
from kmcompile.readers.sklearn.classes import (
    ESTIMATORS,
    FEATURE_MAPS,
    INSTEAD,
    OWN_ESTIMATORS,
    SUPPORTED,
    TRANSFORMERS,
    require_supported,
)
from kmcompile.readers.sklearn.column_transformer import read_column_transformer
from kmcompile.readers.sklearn.columns import told_names
from kmcompile.readers.sklearn.estimators import read_estimator
from kmcompile.readers.sklearn.feature_maps import behind_map, read_feature_map
from kmcompile.readers.sklearn.pipeline_steps import flattened
from kmcompile.readers.sklearn.transformers import input_width, read_transformer
from kmcompile.steps import Step

_MAX_DEPTH = 10
"""Largest nesting of estimators; a threshold of a calibrated search of a pipeline has 4."""
CONTAINER_READERS = MappingProxyType({"ColumnTransformer": read_column_transformer})
"""Readers of transformers that contain transformers."""
_BEFORE = {**TRANSFORMERS, **FEATURE_MAPS}


def read_sklearn(model: Any, depth: int = 0) -> KernelMachine:
    """Return the kernel machine of a fitted estimator, or of the record of one.

    Parameters
    ----------
    model : estimator or Record
    depth : int
        Number of estimators around it.

    Raises
    ------
    InputError
        The model is of an unsupported class, not fitted, or damaged.
    """
    if depth > _MAX_DEPTH:
        raise InputError(f"estimators are nested more than {_MAX_DEPTH} deep; simplify the model")
    record = record_of(model)
    if not isinstance(model, Record) and isinstance(model, type):
        raise InputError("the model is a class, must be a fitted instance; call fit first")
    require_supported(record)
    *transformers, estimator = flattened(record)
    _require_transformers(transformers)
    answering = (*ESTIMATORS, *OWN_ESTIMATORS)
    _require_role(estimator, answering, "one that predicts, as it is the last step")
    machine = read_estimator(estimator, partial(read_sklearn, depth=depth + 1))
    return behind(_with_names(machine, estimator), transformers)


def behind(machine: KernelMachine, transformers: list[Record]) -> KernelMachine:
    """Return the machine of inputs that go through the transformers first.

    Raises
    ------
    InputError
        One is no transformer, not fitted or damaged, or does not fit what is behind it.
    """
    if not transformers:
        return machine
    _require_transformers(transformers)
    before, map_record, after = _around_map(transformers)
    if map_record is not None:
        feature_map = read_feature_map(map_record)
        machine = behind_map(_behind(machine, after, feature_map.n_out), feature_map)
    machine = _behind(machine, before, _input_width(before, machine.n_features))
    return _with_names(replace(machine, feature_names=()), transformers[0])


def _with_names(machine: KernelMachine, first: Record) -> KernelMachine:
    """Return the machine with the names of the raw features that its first step was trained on."""
    names = told_names(Fields(first), machine.n_features)
    return replace(machine, feature_names=tuple(names)) if names else machine


def _around_map(transformers: list[Record]) -> tuple[list[Record], Record | None, list[Record]]:
    """Return the transformers before a feature map, the map, and the transformers behind it."""
    places = [n for n, step in enumerate(transformers) if step.name in FEATURE_MAPS]
    if not places:
        return transformers, None, []
    if len(places) > 1:
        names = " and ".join(transformers[place].name for place in places[:2])
        raise InputError(f"the pipeline has {names}, must have one of them; retrain with one")
    return transformers[: places[0]], transformers[places[0]], transformers[places[0] + 1 :]


def _behind(machine: KernelMachine, transformers: list[Record], n_features: int) -> KernelMachine:
    """Return the machine of inputs of `n_features` that go through the transformers first."""
    steps: tuple[Step, ...] = ()
    width = n_features
    for transformer in transformers:
        own = CONTAINER_READERS.get(transformer.name, read_transformer)(transformer, width)
        spend_steps(own, "the steps of the pipeline")
        steps += own
        require_room(count_numbers(steps), "the steps of the pipeline")
        width = steps[-1].n_out if steps else width
    if width != machine.n_features:
        raise InputError(
            f"{machine.kind} is for {machine.n_features} features, the steps before it give "
            f"{width}; the model was altered or damaged, save it again"
        )
    return replace(machine, n_features=n_features, preprocessing=steps + machine.preprocessing)


def _require_transformers(records: list[Record]) -> None:
    for record in records:
        _require_role(record, _BEFORE, "a transformer, as it is not the last step")


def _require_role(record: Record, role: Collection[str], allowed: str) -> None:
    if record.name not in role:
        remedy = INSTEAD.get(record.name, SUPPORTED)
        raise InputError(f"the pipeline has {record.name}, must be {allowed};\n{remedy}")


def _input_width(transformers: list[Record], n_kernel_features: int) -> int:
    """Return the number of features of the raw input, for which the first step was fitted.

    A Normalizer may not know the number, but does not change it either.
    """
    for transformer in transformers:
        width = input_width(transformer)
        if width is not None:
            return width
    return n_kernel_features
