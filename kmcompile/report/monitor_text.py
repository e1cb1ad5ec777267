"""The monitor in sentences and rows: for the terminal and report.html."""

from __future__ import annotations

from kmcompile.report.summary import Fact, Report
from kmcompile.text.figures import confidence_text, count_text, counted, share_text

_MEANING = {
    "samples": "samples that nothing else has seen",
    "test samples": "samples of --test-data",
    "noise": "uniform noise within the range of each feature",
    "inverted": "each feature mirrored in its range",
    "shifted": "features moved by some positions",
    "moved": "square images moved to a side",
    "mixed": "the mean of two samples",
    "joined": "the first features of one sample, the rest of another",
    "enlarged": "each feature eight times as large",
    "stuck": "one feature at another sample's value",
    "saturated": "one feature at an end of its range",
    "scaled": "one feature halved or doubled",
    "swapped": "two features exchanged",
}

Rows = tuple[tuple[str, ...], ...]


def monitor_facts(report: Report) -> tuple[Fact, ...]:
    """Return what the monitor promises, what it is and what it costs; empty without one."""
    section = report["monitor"]
    if section is None:
        return ()
    confidence = confidence_text(section["confidence"])
    limit = counted(section["limit_samples"], "sample", "samples")
    return (
        Fact(
            "in_range",
            f"false for at most {share_text(section['share'])} of inputs like the samples, at "
            f"{confidence} confidence",
        ),
        Fact("score", _score_text(section)),
        Fact("limit", f"place {count_text(section['place'])} from the top among {limit}"),
        Fact(
            "cost",
            f"{count_text(section['ops'])} operations, {share_text(section['ops_more'])} of the "
            f"mean without it ({count_text(section['ops_without'])})",
        ),
        *(
            Fact(kind.replace("_", " "), _found_text(found))
            for kind, found in (("false alarms", section["usual"]), ("finds", section["strange"]))
        ),
        *(Fact("finds less than half of", missed) for missed in [_missed_text(section)] if missed),
    )


def monitor_rows(report: Report) -> Rows:
    """Return a row for each kind of input: kind, meaning, number, share that is found."""
    section = report["monitor"] or {"usual": (), "strange": ()}
    return tuple(
        (
            found["kind"],
            _MEANING[found["kind"]],
            count_text(found["queries"]),
            _share(found),
        )
        for found in (*section["usual"], *section["strange"])
    )


def monitor_quantiles(report: Report) -> Rows:
    """Return a row for each quantile of the score."""
    section = report["monitor"] or {"quantiles": ()}
    return tuple(
        (share_text(quantile["share"]), f"{quantile['score']:.3g}")
        for quantile in section["quantiles"]
    )


def _score_text(section: Report) -> str:
    texts = []
    if section["directions"]:
        number = counted(section["directions"], "direction", "directions")
        read = counted(section["features_read"], "feature", "features")
        texts.append(f"squares along {number} of {read}")
    if "limits" in section["parts"]:
        texts.append("limits of each feature")
    return f"{' and '.join(texts)}, of {count_text(section['scores_compared'])} compared"


def _found_text(found: list[Report]) -> str:
    return ", ".join(f"{item['kind']} {_share(item)}" for item in found) or "-"


def _missed_text(section: Report) -> str:
    """Return the kinds of which less than half are found, with their meanings."""
    missed = (one["kind"] for one in section["strange"] if 2 * one["found"] < one["queries"])
    return "; ".join(f"{kind} ({_MEANING[kind]})" for kind in missed)


def _share(found: Report) -> str:
    return share_text(found["found"] / found["queries"]) if found["queries"] else "-"
