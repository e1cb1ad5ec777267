"""The section of the report on right labels, of the trained model and of the program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kmcompile.exits.statistical import accuracy
from kmcompile.report import summary
from kmcompile.report.missing import Content, Missing
from kmcompile.report.told import Rows
from kmcompile.text.figures import count_text, share_text

_NOT_ASKED = "no loss is promised, which control samples would support: --loss promises one"
_NO_TEST = "there are no test samples with labels: give --test-data with y"
_NO_CONTROL = "no control samples were asked"

_MOST_CONFUSIONS = 30

_HEADS = ("Of", "Samples", "Trained model", "Program")
_CONFUSED = ("Right label", "Other label", "Trained model", "Program")


def accuracy_section(
    of_loss: bool,
    classes: Sequence[object],
    control: accuracy.Accuracy | None,
    test: accuracy.Accuracy | None,
) -> Content | Missing:
    """Return right labels by class, of the control samples, which support the loss, and of test
    samples.
    """
    if not of_loss and test is None:
        return Missing(_NO_TEST)
    return dict(
        control=_by_class(classes, control, _NO_CONTROL if of_loss else _NOT_ASKED),
        test=_by_class(classes, test, _NO_TEST),
    )


def _by_class(
    classes: Sequence[object], found: accuracy.Accuracy | None, why: str
) -> list[Content] | Missing:
    """Return how many samples of a class are labelled rightly, or get which other label."""
    if found is None:
        return Missing(why)
    names = [str(label) for label in classes]

    def others(counts: Mapping[int, int]) -> dict[str, int]:
        return {names[other]: n for other, n in counts.items()}

    return [
        dict(
            label=label,
            samples=found.samples[number],
            model=found.model[number],
            program=found.program[number],
            model_instead=others(found.model_instead[number]),
            program_instead=others(found.program_instead[number]),
        )
        for number, label in enumerate(names)
    ]


def confusions(report: summary.Report) -> Rows:
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
    rows = [(*labels, *map(count_text, counts)) for labels, counts in most[:_MOST_CONFUSIONS]]
    return Rows(_CONFUSED, rows, "Wrong labels of the test samples")


def accuracy_table(report: summary.Report) -> Rows:
    """Return rows of names, samples and shares of right labels; none where none are known."""
    section = report["accuracy"] or {}
    rows = []
    for part, name in (("control", "control samples"), ("test", "test samples")):
        classes = section.get(part) or []
        if classes:
            keys = ("samples", "model", "program")
            rows.append(_row(name, {key: sum(one[key] for one in classes) for key in keys}))
        rows += [_row(f"of class {one['label']}", one) for one in classes if one["samples"]]
    return Rows(_HEADS, rows, "Right labels")


def _row(name: str, counts: summary.Report) -> tuple[str, ...]:
    shares = (share_text(counts[who] / counts["samples"]) for who in ("model", "program"))
    return (name, count_text(counts["samples"]), *shares)
