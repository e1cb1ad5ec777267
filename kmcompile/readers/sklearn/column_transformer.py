"""scikit-learn's ColumnTransformer of scalers: a selection and scalers over all columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcompile.errors import InputError
from kmcompile.readers.byte_budget import FLOAT_BYTES, ITEM_BYTES, current_budget
from kmcompile.readers.fields import Fields
from kmcompile.readers.record import Record, describe, record_of
from kmcompile.readers.size_limits import count_numbers, require_room
from kmcompile.readers.sklearn.classes import SCALERS, is_supported, version_notes
from kmcompile.readers.sklearn.columns import MOST_COLUMNS, Columns, feature_names
from kmcompile.readers.sklearn.pipeline_steps import flattened
from kmcompile.readers.sklearn.transformers import read_transformer
from kmcompile.steps import Affine, Clip, Selection, Step

_MAX_PARTS = 10_000
_MAX_TOLD = 10_000_000
"""Largest product of parts and columns: many parts of a file may share one list of columns."""


_PART_BYTES = 8 * ITEM_BYTES
"""Cost of a scaler of a part; each part gets as many scalers as the part with most."""
_COLUMN_BYTES = 6 * FLOAT_BYTES
"""Cost of a column of a scaler: offset, factor and error, for the part and for all parts."""


@dataclass(frozen=True, slots=True)
class _Part:
    """The columns and steps of one transformer."""

    columns: list[int]
    steps: tuple[Step, ...]


def read_column_transformer(record: Record, n_features: int) -> tuple[Step, ...]:
    """Return the steps of a fitted ColumnTransformer: sklearn/compose/_column_transformer.py.

    `transformers_` has (name, fitted transformer, columns) for every part and the remainder, and
    the outputs stand in their order. "passthrough" is kept as that, or since release 1.4 as a
    FunctionTransformer without a function. A part without columns has no output, whatever it is.

    All parts become one Selection and scalers of all columns side by side; `transformer_weights`
    are a last factor.

    Raises
    ------
    InputError
        It is not fitted or damaged, or a part does more than scale each column.
    """
    fields = Fields(record, prefix="ColumnTransformer.")
    version_notes(record)
    fields.require_fitted("transformers_")
    fields.require_fitted("n_features_in_")
    if fields.integer("n_features_in_", 1, 2**31 - 1) != n_features:
        found = f"is {describe(fields.get('n_features_in_'))}"
        raise fields.error("n_features_in_", found, f"{n_features}, as its input has")
    listed = fields.get("transformers_")
    if not isinstance(listed, list | tuple) or not 1 <= len(listed) <= _MAX_PARTS:
        allowed = f"a list of 1 to {_MAX_PARTS} transformers"
        raise fields.error("transformers_", f"is {describe(listed)}", allowed)
    if len(listed) * n_features > _MAX_TOLD:
        found = f"has {len(listed)} parts of {n_features} columns"
        raise fields.error("transformers_", found, f"at most {_MAX_TOLD} together")
    names = feature_names(fields, n_features)
    parts: list[_Part] = []
    columns: list[int] = []
    seen: set[int] = set()
    n_told = n_numbers = 0
    for entry in listed:
        name, transformer, own = _told(fields, entry, n_features, names)
        n_told += len(own)
        if n_told > MOST_COLUMNS:
            raise fields.error("transformers_", "has too many columns", f"at most {MOST_COLUMNS}")
        seen.update(own)
        if own and not (isinstance(transformer, str) and transformer == "drop"):
            parts.append(_Part(own, _scalers(fields, name, transformer, len(own))))
            columns += own
            n_numbers += count_numbers(parts[-1].steps)
            require_room(n_numbers, "a ColumnTransformer")
    if len(seen) != n_features:
        found = f"tells of {len(seen)} columns"
        raise fields.error("transformers_", found, f"{n_features}, the remaining ones included")
    if not columns:
        remedy = "keep at least one of them"
        raise fields.error("transformers_", "gives no column", "1 or more", remedy)
    steps = _side_by_side(parts)
    if columns == list(range(n_features)):
        return steps
    return (Selection(tuple(columns), n_features), *steps)


def _told(
    fields: Fields, entry: Any, n_features: int, names: list[str]
) -> tuple[str, Any, list[int]]:
    """Return name, transformer and columns of a part."""
    if not isinstance(entry, list | tuple) or len(entry) != 3 or not isinstance(entry[0], str):
        found = f"has {describe(entry)}"
        raise fields.error("transformers_", found, "(name, transformer, columns)")
    name, transformer, specified = entry
    what = f"the columns of {describe(name)} in a ColumnTransformer"
    columns = Columns(what, n_features, names).of(specified)
    _compare(fields, name, columns)
    return name, transformer, columns


def _compare(fields: Fields, name: str, columns: list[int]) -> None:
    """Check the columns of a part against those that `fit` determined."""
    worked_out = fields.get("_transformer_to_input_indices", {})
    if not isinstance(worked_out, dict):
        found = f"is {describe(worked_out)}"
        raise fields.error("_transformer_to_input_indices", found, "a dict")
    indices = worked_out.get(name, columns)
    plain = isinstance(indices, list) and all(isinstance(i, int | np.integer) for i in indices)
    if not plain or indices != columns:
        found = f"has other columns of {describe(name)} than transformers_"
        raise fields.error("_transformer_to_input_indices", found, "the same")


def _scalers(fields: Fields, name: str, transformer: Any, n: int) -> tuple[Step, ...]:
    """Return the steps of n columns: those of a transformer and of its weight."""
    steps = _unweighted(name, transformer, n)
    weight = _weight(fields, name)
    if weight is None:
        return steps
    return (*steps, Affine(np.zeros(n), np.full(n, weight), np.zeros(n), 0.0))


def _unweighted(name: str, transformer: Any, n: int) -> tuple[Step, ...]:
    """Return the steps of a transformer; none where it passes its columns through."""
    if isinstance(transformer, str):
        if transformer == "passthrough":
            return ()
        raise _refused(name, describe(transformer))
    record = record_of(transformer)
    if not is_supported(record.module, record.name):
        raise _refused(name, describe(record))
    if record.name == "FunctionTransformer" and record.attributes.get("func", 0) is None:
        return ()
    steps: tuple[Step, ...] = ()
    for inner in flattened(record, is_last=False):
        if inner.name not in SCALERS:
            raise _refused(name, inner.name)
        steps += read_transformer(inner, n)
    return steps


def _refused(name: str, found: str) -> InputError:
    scalers = ", ".join(SCALERS)
    return InputError(
        f"{describe(name)} in a ColumnTransformer is {found}, must be one of {scalers}, a "
        "Pipeline of them, 'passthrough' or 'drop':\nwhat mixes columns can stand behind it"
    )


def _weight(fields: Fields, name: str) -> float | None:
    """Return the weight of a part; None where no part has one."""
    weights = fields.get("transformer_weights")
    if weights is None:
        return None
    if not isinstance(weights, dict):
        raise fields.error("transformer_weights", f"is {describe(weights)}", "None or a dict")
    weight = fields.finite_number("transformer_weights", weights.get(name, 1.0))
    if weight == 0:
        found = f"is 0 for {describe(name)}"
        raise fields.error("transformer_weights", found, "not 0", "drop these columns instead")
    return weight


def _side_by_side(parts: Sequence[_Part]) -> tuple[Step, ...]:
    """Return the steps of all columns: the first ones of all parts side by side, the second, ..

    A part with fewer leaves its columns as they are in the others. A Clip has one pair of limits,
    so that all parts clip alike or none does.
    """
    if any(isinstance(step, Clip) for part in parts for step in part.steps):
        kinds = {tuple(_kind(step) for step in part.steps) for part in parts}
        if len(kinds) > 1:
            raise InputError(
                "a ColumnTransformer clips some columns and others not, or to other limits, must "
                "be the same for all;\nset clip=False, or clip all columns behind it"
            )
    layers = max(len(part.steps) for part in parts)
    n_columns = sum(len(part.columns) for part in parts)
    n_bytes = layers * (len(parts) * _PART_BYTES + _COLUMN_BYTES * n_columns)
    current_budget().spend(n_bytes, f"a ColumnTransformer of {layers} scalers for every column")
    return tuple(_layer(parts, number) for number in range(layers))


def _kind(step: Step) -> tuple[float, ...]:
    """Return what the steps of all parts have to share: the limits of a Clip."""
    return (step.low, step.high) if isinstance(step, Clip) else ()


def _layer(parts: Sequence[_Part], number: int) -> Step:
    scalers = []
    for part in parts:
        n = len(part.columns)
        step = part.steps[number] if number < len(part.steps) else _identity(n)
        if isinstance(step, Clip):
            return Clip(step.low, step.high, sum(len(part.columns) for part in parts))
        assert isinstance(step, Affine)  # what SCALERS give
        scalers.append(step)
    return Affine(
        np.concatenate([step.offset for step in scalers]),
        np.concatenate([step.factor for step in scalers]),
        np.concatenate([step.offset_error for step in scalers]),
        max(step.factor_error for step in scalers),
    )


def _identity(n: int) -> Affine:
    return Affine(np.zeros(n), np.ones(n), np.zeros(n), 0.0)
