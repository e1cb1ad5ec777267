"""The estimators that answer, one file a family."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.readers.fields import Fields
from kmcompile.readers.record import Record
from kmcompile.readers.sklearn import (
    kernel_regressors,
    libsvm_estimators,
    linear_estimators,
    routed_estimators,
)
from kmcompile.readers.sklearn.classes import OWN_ESTIMATORS, version_notes
from kmcompile.readers.sklearn.meta_estimators import META_READERS, ReadInner

READERS: Mapping[str, Callable[[Fields, tuple[str, ...]], KernelMachine]] = MappingProxyType(
    {
        **libsvm_estimators.READERS,
        **kernel_regressors.READERS,
        **linear_estimators.READERS,
        **routed_estimators.READERS,
    }
)


def read_estimator(record: Record, read_inner: ReadInner) -> KernelMachine:
    """Return the machine of a fitted classifier or regressor.

    The machine has preprocessing if the kernel or an estimator inside has some.

    Parameters
    ----------
    record : Record
        The record of an estimator of a class in `classes.ESTIMATORS`.
    read_inner : callable
        Reads the estimators or pipelines inside a meta-estimator.

    Raises
    ------
    InputError
        The estimator is not fitted, damaged, or has a kernel that cannot be compiled.
    """
    notes = () if record.name in OWN_ESTIMATORS else version_notes(record)
    if record.name in READERS:
        return READERS[record.name](Fields(record), notes)
    machine = META_READERS[record.name](Fields(record), read_inner)
    return replace(machine, notes=tuple(dict.fromkeys(notes + machine.notes)))
