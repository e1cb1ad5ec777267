"""The names of a model's classes: of a LabelEncoder, or of a text file with a line a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine, Label, Task
from kmcompile.readers.fields import MAX_CLASSES, MAX_LABEL_BYTES, Fields
from kmcompile.readers.record import Record, describe, record_of
from kmcompile.text.visible import printable

LABEL_ENCODER = "LabelEncoder"


def with_encoded_names(machine: KernelMachine, encoder: Record) -> KernelMachine:
    """Return the machine whose class k has the k-th name of a fitted LabelEncoder."""
    fields = Fields(encoder, prefix=f"{LABEL_ENCODER}.")
    fields.require_fitted("classes_")
    names = fields.labels("classes_")
    chosen: list[Label] = []
    for label in machine.classes:
        if isinstance(label, str) or label != int(label) or not 0 <= label < len(names):
            raise fields.error(
                "classes_",
                f"has {len(names)} names",
                f"for the model's classes, which have {describe(label)}",
                "give the LabelEncoder that made the labels of the training data",
            )
        chosen.append(names[int(label)])
    return _named(machine, chosen)


def label_binarizer(fields: Fields, name: str, kinds: Sequence[str]) -> Fields:
    """Return the LabelBinarizer in the attribute `name`, refused unless `y_type_` is of `kinds`."""
    binarizer = Fields(record_of(fields.get(name)), f"{name}.")
    kind = binarizer.get("y_type_")
    if isinstance(kind, str) and kind.startswith("multilabel"):
        raise InputError(
            f"{fields.record.name} was trained on several labels a sample, must be one; "
            "train one model a label"
        )
    binarizer.choice("y_type_", kinds)
    return binarizer


def with_listed_names(machine: KernelMachine, text: bytes) -> KernelMachine:
    """Return the machine with the names of a text file, one a line, for its sorted classes."""
    n_lines = text.count(b"\n")
    if n_lines > 2 * MAX_CLASSES or len(text) > MAX_CLASSES * (MAX_LABEL_BYTES + 2):
        raise InputError(f"it has {n_lines} lines of {len(text)} bytes; give a line a class")
    try:
        lines = text.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise InputError("it is no LabelEncoder and no text in UTF-8; give one of them") from None
    names = [line.strip() for line in lines if line.strip()]
    long = max((len(name.encode()) for name in names), default=0)
    if long > MAX_LABEL_BYTES or not all(name.isprintable() for name in names):
        raise InputError("it has names that are too long or no text; give a line a class")
    if len(names) != machine.n_classes:
        classes = ", ".join(map(str, machine.classes[:20]))
        raise InputError(
            f"it has {len(names)} lines, must have {machine.n_classes}, one for each class of the "
            f"model: {classes}"
        )
    order = sorted(range(len(names)), key=lambda k: _sorting(machine.classes[k]))
    chosen = [""] * len(names)
    for name, k in zip(names, order, strict=True):
        chosen[k] = name
    return _named(machine, chosen)


def _sorting(label: Label) -> tuple[bool, float, str]:
    return (True, 0.0, label) if isinstance(label, str) else (False, float(label), "")


def _named(machine: KernelMachine, names: Sequence[Label]) -> KernelMachine:
    if machine.task in (Task.REGRESSION, Task.ONE_CLASS):
        raise InputError(f"a {machine.task.value} machine has no classes that have names")
    if len(set(names)) < len(names):
        raise InputError("a class has the name of another; give each a name of its own")
    pairs = zip(machine.classes, names, strict=True)
    note = "names of the classes: " + ", ".join(f"{label} is {name}" for label, name in pairs)
    notes = (*machine.notes, printable(note))
    return replace(machine, classes=tuple(names), trained_classes=machine.classes, notes=notes)
