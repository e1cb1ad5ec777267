"""The section of the report on right labels, of the trained model and of the program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kmcompile.exits.statistical import accuracy
from kmcompile.report import summary
from kmcompile.report.section import Section
from kmcompile.text.figures import count_text, share_text

_NOT_ASKED = "no loss is promised, which control samples would support: --loss promises one"
_NO_TEST = "there are no test samples with labels: give --test-data with y"
_NO_CONTROL = "no control samples were asked"

_MOST_CONFUSIONS = 30

ACCURACY = ("samples", "trained model", "program")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassAccuracy:
    """Samples of one class, and how many of them the trained model and the program label rightly.

    Attributes
    ----------
    label : str
    samples, model, program : int
    model_instead, program_instead : mapping of str to int
        How many of the class's samples get which other label.
    """

    label: str
    samples: int
    model: int
    program: int
    model_instead: Mapping[str, int]
    program_instead: Mapping[str, int]


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
    """Return the section; its content is None where no right labels are known."""
    if not of_loss and test is None:
        return Section(None, {"accuracy": _NO_TEST})
    no_control = _NO_CONTROL if of_loss else _NOT_ASKED
    missing = {"control": control is None and no_control, "test": test is None and _NO_TEST}
    reasons = {f"accuracy.{name}": why for name, why in missing.items() if why}
    return Section(
        Accuracy(control=_by_class(classes, control), test=_by_class(classes, test)), reasons
    )


def _by_class(
    classes: Sequence[object], found: accuracy.Accuracy | None
) -> list[ClassAccuracy] | None:
    if found is None:
        return None
    names = [str(label) for label in classes]
    instead = [
        [{names[other]: n for other, n in one.items()} for one in each]
        for each in (found.model_instead, found.program_instead)
    ]
    counts = zip(names, found.samples, found.model, found.program, *instead, strict=True)
    return [
        ClassAccuracy(
            label=label,
            samples=n,
            model=model,
            program=program,
            model_instead=of_model,
            program_instead=of_program,
        )
        for label, n, model, program, of_model, of_program in counts
    ]


def confusions(report: summary.Report) -> list[tuple[str, ...]]:
    """Return the wrong labels of test samples, the most frequent first.

    A row has the right label, the other one, and how often the trained model and the program give
    it.
    """
    found: dict[tuple[str, str], list[int]] = {}
    for one in (report["accuracy"] or {}).get("test") or []:
        for place, who in enumerate(("model_instead", "program_instead")):
            for other, n in one[who].items():
                found.setdefault((one["label"], other), [0, 0])[place] = n
    most = sorted(found.items(), key=lambda item: -max(item[1]))
    return [(*labels, *map(count_text, counts)) for labels, counts in most[:_MOST_CONFUSIONS]]


def accuracy_rows(report: summary.Report) -> list[tuple[str, ...]]:
    """Return rows of names, samples and shares of right labels; none where none are known."""
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
