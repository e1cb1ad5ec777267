"""The estimators that answer, one file a family."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from kmcompile.frontend import libsvm_estimators, linear_estimators
from kmcompile.frontend.fields import Fields
from kmcompile.frontend.record import Record
from kmcompile.frontend.sklearn_classes import version_notes
from kmcompile.ir.kernel_machine import KernelMachine

READERS: Mapping[str, Callable[[Fields, tuple[str, ...]], KernelMachine]] = MappingProxyType(
    {**libsvm_estimators.READERS, **linear_estimators.READERS}
)


def read_estimator(record: Record) -> KernelMachine:
    """Return the machine of a fitted classifier or regressor, without preprocessing.

    Raises
    ------
    InputError
        It is not fitted, damaged, or has a kernel that cannot be compiled.
    """
    return READERS[record.name](Fields(record), version_notes(record))
