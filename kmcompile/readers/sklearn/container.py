"""The machine in a dict, a list or a tuple of objects, with the transformer that stands by it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.readers.byte_budget import current_budget
from kmcompile.readers.record import Record, describe, record_of, short_ascii
from kmcompile.readers.sklearn.classes import (
    ESTIMATORS,
    FEATURE_MAPS,
    INSTEAD,
    OWN_ESTIMATORS,
    TRANSFORMERS,
    is_supported,
)
from kmcompile.readers.sklearn.labels import LABEL_ENCODER, with_encoded_names
from kmcompile.readers.sklearn.pipeline import behind, read_sklearn
from kmcompile.readers.sklearn.pipeline_steps import flattened

_MOST_LISTED = 20
_MOST_ASKED = 100
_ANSWERS = (*ESTIMATORS, *OWN_ESTIMATORS)
_BEFORE = (*TRANSFORMERS, *FEATURE_MAPS)


@dataclass(frozen=True, slots=True)
class _Entry:
    """An object of the file: its name, and the record of what scikit-learn made."""

    name: str
    record: Record
    role: str

    @property
    def goes_before(self) -> bool:
        """Whether it can stand before a machine."""
        steps = flattened(self.record, is_last=False) if self.role != "labels" else []
        return bool(steps) and steps[-1].name in _BEFORE

    @property
    def is_fitted_transformer(self) -> bool:
        """Whether it is a transformer with what `fit` sets; a dict of parameters has others."""
        fitted = any(name.endswith("_") for name in self.record.attributes)
        return self.role == "transformer" and fitted

    def __str__(self) -> str:
        return f"{short_ascii(self.name)} ({short_ascii(self.record.name)})"


def read_objects(value: Any, entry: Sequence[str] = ()) -> KernelMachine:
    """Return the machine of an estimator, or of the one that a dict, list or tuple holds.

    A transformer beside the only machine goes before it, and a LabelEncoder names its classes.
    Dicts inside are looked into where there is no machine beside them. Where there is one, without
    steps before it, and such a dict has a fitted transformer, this may belong to it or not.

    Parameters
    ----------
    value : estimator, Record, dict, list or tuple
    entry : sequence of str
        Names of the entries to use: keys of a dict, or numbers from 0; of a dict inside,
        outer.inner.

    Raises
    ------
    InputError
        There is no machine, or it is not clear which one; the text lists the entries.
    """
    if not isinstance(value, Mapping | list | tuple):
        if entry:
            raise InputError(
                f"the file holds one object, {describe(value)}, so it has no entry "
                f"{short_ascii(entry[0])}; leave out --entry"
            )
        return read_sklearn(value)
    entries, inner = list(_entries(value)), list(_inner_entries(value))
    if entry or all(one.role != "machine" for one in entries):
        entries += inner
        inner = []
    chosen = _asked(entries, entry) if entry else _only(entries)
    machine = read_sklearn(chosen[-1].record)
    if machine.preprocessing and not entry and any(one.goes_before for one in chosen[:-1]):
        raise _unclear(entries)  # it may have the transformer in it already
    if not machine.preprocessing and any(one.is_fitted_transformer for one in inner):
        raise _unclear([*entries, *inner])
    for one in reversed(chosen[:-1]):
        if one.role == "labels":
            machine = with_encoded_names(machine, one.record)
        else:
            machine = behind(machine, flattened(one.record, is_last=False))
    read = " -> ".join(str(one) for one in chosen)
    note = f"the file holds {_listed(entries)}; the model is {read}"
    return replace(machine, notes=(*machine.notes, note))


def _pairs(value: Any) -> Iterable[tuple[Any, Any]]:
    return value.items() if isinstance(value, Mapping) else enumerate(value)


def _inner_entries(value: Any) -> Iterator[_Entry]:
    """Yield the objects of scikit-learn in the dicts of a dict, list or tuple."""
    for key, found in _pairs(value):
        if isinstance(found, Mapping):
            yield from _entries(found, f"{key}.")


def _entries(value: Any, prefix: str = "") -> Iterator[_Entry]:
    """Yield the objects of scikit-learn in a dict, list or tuple."""
    for key, found in _pairs(value):
        current_budget().spend_items(2, "the objects of the file")
        record = record_of(found)
        if is_supported(record.module, record.name) and record.name in INSTEAD:
            raise InputError(f"{record.name} in the file: {INSTEAD[record.name]}")
        if is_supported(record.module, record.name) or record.name == LABEL_ENCODER:
            role = _role(record)
            if role is not None:
                yield _Entry(f"{prefix}{key}", record, role)


def _role(record: Record) -> str | None:
    """Return what an object can be used for: to answer, before it, or for names."""
    if record.name == LABEL_ENCODER:
        return "labels"
    steps = flattened(record, is_last=False)
    if not steps:
        return None
    if steps[-1].name in _ANSWERS:
        return "machine"
    return "transformer" if steps[-1].name in _BEFORE else None


def _only(entries: list[_Entry]) -> list[_Entry]:
    """Return the only machine, behind the only LabelEncoder and transformer that are there."""
    machines = [one for one in entries if one.role == "machine"]
    before = [one for one in entries if one.role == "transformer"]
    names = [one for one in entries if one.role == "labels"]
    if not machines:
        raise InputError(
            f"the file holds several objects and no machine among them: {_listed(entries)}\n"
            "save the estimator alone, or a Pipeline that ends with it"
        )
    if max(len(machines), len(before), len(names)) > 1:
        raise _unclear(entries)
    return [*names, *before, *machines]


def _unclear(entries: list[_Entry]) -> InputError:
    return InputError(
        f"the file holds {_listed(entries)}, and it is not clear which are the model\n"
        "give --entry NAME, or in their order --entry TRANSFORMER,MACHINE"
    )


def _asked(entries: list[_Entry], names: Sequence[str]) -> list[_Entry]:
    """Return the entries with these names, the machine at the end."""
    if len(names) > _MOST_ASKED:
        raise InputError(f"--entry has {len(names)} names, must have at most {_MOST_ASKED}")
    named = {one.name: one for one in entries}
    for name in names:
        if sum(one.name == name for one in entries) > 1:
            raise InputError(
                f"--entry {short_ascii(name)}: two objects of the file have this name; save the "
                "estimator alone, or a Pipeline that ends with it"
            )
        if name not in named:
            raise InputError(
                f"--entry {short_ascii(name)}: the file holds {_listed(entries)}; give one of them"
            )
    chosen = [named[name] for name in names]
    fits = all(one.goes_before or one.role == "labels" for one in chosen[:-1])
    if chosen[-1].role != "machine" or not fits:
        raise InputError(
            f"--entry {short_ascii(','.join(names))}: the last one must be a machine, and the only "
            f"one; the file holds {_listed(entries)}\ngive --entry TRANSFORMER,MACHINE"
        )
    return chosen


def _listed(entries: list[_Entry]) -> str:
    shown = ", ".join(str(one) for one in entries[:_MOST_LISTED])
    return f"{shown}, ..." if len(entries) > _MOST_LISTED else shown or "none that is supported"
