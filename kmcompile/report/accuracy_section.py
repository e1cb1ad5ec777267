"""The section of the report on right labels, of the trained model and of the program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kmcompile.exits.statistical import accuracy
from kmcompile.report import summary
from kmcompile.report.section import Section
from kmcompile.text.figures import count_text, share_text

_NOT_ASKED = "no right labels are read without a loss: --loss promises one"
_NO_TEST = "there are no test samples with labels: give --test-data with y"
_NO_CONTROL = "no control samples were asked"

ACCURACY = ("samples", "trained model", "program")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassAccuracy:
    """Samples of one class, and how many of them the trained model and the program label rightly.

    Attributes
    ----------
    label : str
    samples, model, program : int
    """

    label: str
    samples: int
    model: int
    program: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """Right labels by class.

    Attributes
    ----------
    control : sequence of ClassAccuracy or None
        Of the control samples, which support the loss.
    test : sequence of ClassAccuracy or None
        Of the test samples.
    """

    control: Sequence[ClassAccuracy] | None
    test: Sequence[ClassAccuracy] | None


def accuracy_section(
    of_loss: bool,
    classes: Sequence[object],
    control: accuracy.Accuracy | None,
    test: accuracy.Accuracy | None,
) -> Section[Accuracy | None]:
    """Return the section; its content is None where no loss is promised."""
    if not of_loss:
        return Section(None, {"accuracy": _NOT_ASKED})
    missing = {"control": control is None and _NO_CONTROL, "test": test is None and _NO_TEST}
    reasons = {f"accuracy.{name}": why for name, why in missing.items() if why}
    return Section(
        Accuracy(control=_by_class(classes, control), test=_by_class(classes, test)), reasons
    )


def _by_class(
    classes: Sequence[object], found: accuracy.Accuracy | None
) -> list[ClassAccuracy] | None:
    if found is None:
        return None
    counts = zip(classes, found.samples, found.model, found.program, strict=True)
    return [
        ClassAccuracy(label=str(label), samples=n, model=model, program=program)
        for label, n, model, program in counts
    ]


def accuracy_rows(report: summary.Report) -> list[tuple[str, ...]]:
    """Return rows of names, samples and shares of right labels; none where no loss is promised."""
    section = report["accuracy"] or {}
    rows = []
    for part, name in (("control", "control samples"), ("test", "test samples")):
        classes = section.get(part) or []
        if classes:
            keys = ("samples", "model", "program")
            rows.append(_row(name, {key: sum(one[key] for one in classes) for key in keys}))
        rows += [_row(f"of class {one['label']}", one) for one in classes if one["samples"]]
    return rows


def _row(name: str, counts: summary.Report) -> tuple[str, ...]:
    shares = (share_text(counts[who] / counts["samples"]) for who in ("model", "program"))
    return (name, count_text(counts["samples"]), *shares)
