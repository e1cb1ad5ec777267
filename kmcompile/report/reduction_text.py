"""The reduced machine in sentences: for the terminal, report.html and the header of the C."""

from __future__ import annotations

from kmcompile.exits.statistical.binomial import CONFIDENCE
from kmcompile.reduction.curve import Reduction
from kmcompile.report.summary import Report, is_reduced, is_regression
from kmcompile.report.told import Fact
from kmcompile.text.figures import confidence_text, count_text, counted, share_text

_LABELS = (
    Fact(
        "certified",
        "proved to be the trained model's label: the bound has |W - W^| sqrt(K(x, x)), by which "
        "the decisions differ at most",
    ),
    Fact("not certified", "the reduced machine's label, which may differ from the trained model's"),
)
_VALUES = (
    Fact(
        "lower, upper",
        "enclose the trained model's value: the bound has |W - W^| sqrt(K(x, x)), by which the "
        "values differ at most",
    ),
    Fact("value", "the reduced machine's, which may differ from the trained model's"),
)


def reduction_text(reduction: Reduction, of_regression: bool = False) -> str:
    """Return sentences for the header: the vectors, and how often samples disagree.

    They are empty if the machine had no more vectors than were asked for.
    """
    chosen = reduction.chosen
    if chosen is reduction.points[0]:
        return ""
    samples = _samples_text(
        chosen.disagreements, chosen.n_samples, chosen.limit, of_regression, chosen.gained
    )
    return (
        f"Reduced: the program has {counted(chosen.n_vectors, 'vector', 'vectors')} "
        f"({method_text(chosen.method)}), which stand for the {count_text(reduction.n_before)} of "
        f"the trained model: {samples}."
    )


def reduction_facts(report: Report) -> tuple[Fact, ...]:
    """Return what the reduced machine is and what is proved of it; empty without `--reduce`."""
    section = report["reduction"]
    if section is None:
        return ()
    if not is_reduced(report):
        return (Fact("vectors", f"all {count_text(section['vectors_before'])}"),)
    of_regression = is_regression(report)
    of_loss = section["of"] == "loss"
    samples = _samples_text(
        section["disagreements"],
        section["samples"],
        section["limit"],
        of_regression,
        section["gained"] if of_loss else None,
    )
    vectors = f"{count_text(section['vectors_after'])} of {count_text(section['vectors_before'])}"
    return (
        Fact("vectors", f"{vectors} ({method_text(section['method'])})"),
        Fact("right labels" if of_loss else "disagreements", samples, section["limit"] is None),
        *(_VALUES if of_regression else _LABELS),
    )


def method_text(method: str) -> str:
    """Return the name of a method in words.

    Examples
    --------
    >>> method_text("matching_pursuit")
    'matching pursuit'
    """
    return method.replace("_", " ")


def _samples_text(
    disagreements: int | None,
    samples: int,
    limit: float | None,
    of_regression: bool,
    gained: int | None = None,
) -> str:
    """Return a phrase on the disagreements with the trained machine."""
    if disagreements is None or limit is None:
        if samples:
            return "their disagreements are counted in the promise of the whole program"
        also = " and a tolerance (--tolerance)" if of_regression else ""
        return f"not counted: that takes samples (--data){also}"
    of = counted(samples, "sample", "samples")
    at_most = f"at most {share_text(limit)} at {confidence_text(CONFIDENCE)} confidence"
    if gained is not None:
        return (
            f"a right label lost for {count_text(disagreements)} and gained for "
            f"{count_text(gained)} of {of}, {at_most} fewer are right"
        )
    other = "another label than the trained model's"
    if of_regression:
        other = "a value further than the tolerance from the trained model's"
    return f"{other} for {count_text(disagreements)} of {of}, {at_most}"
