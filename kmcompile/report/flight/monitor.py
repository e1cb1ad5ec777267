"""The monitor behind `in_range` in the report."""

from __future__ import annotations

from kmcompile.monitor.monitored import Shown
from kmcompile.program.stages.input.monitor import MONITOR_CONFIDENCE
from kmcompile.report.compilation import Compilation
from kmcompile.report.flight.flight_section import FlightSection
from kmcompile.report.missing import Content
from kmcompile.report.summary import Report
from kmcompile.report.told import Fact, Facts, Rows, Text, Told, notes, told
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


def _made(of: Compilation) -> Content | None:
    made = of.monitored
    if made is None:
        return None
    monitor = made.monitor
    tested = () if made.tested is None else (_found("test samples", made.tested),)
    return dict(
        share=monitor.share,
        confidence=MONITOR_CONFIDENCE,
        parts=made.parts,
        directions=monitor.n_directions,
        features_read=monitor.n_read,
        fit_samples=made.n_fit,
        limit_samples=made.n_limit,
        shown_samples=made.n_shown,
        place=made.place,
        scores_compared=made.n_compared,
        ops=float(monitor.operations()),
        ops_without=made.mean_operations,
        ops_more=made.more,
        quantiles=[dict(share=share, score=score) for share, score in made.quantiles.items()],
        usual=[_found("samples", made.usual), *tested],
        strange=[_found(kind, shown) for kind, shown in made.strange.items()],
        notes=made.notes,
    )


def _found(kind: str, shown: Shown) -> Content:
    return dict(kind=kind, queries=shown.queries, found=shown.found)


def _told(section: Report) -> Told:
    found = [
        (one["kind"], _MEANING[one["kind"]], count_text(one["queries"]), _share(one))
        for one in (*section["usual"], *section["strange"])
    ]
    quantiles = [(share_text(one["share"]), f"{one['score']:.3g}") for one in section["quantiles"]]
    caption = (
        "Found: in_range is false, or the input is refused. All are samples that fitted no "
        "score and set no limit, or are made from such samples."
    )
    return told(
        *("monitor", "Monitor"),
        Facts(_facts(section)),
        *notes(section["notes"]),
        Rows(("Inputs", "What they are", "Number", "Found"), found, "What it finds"),
        Text(caption),
        Rows(
            ("Share of the samples", "Score at most, the limit being 1"),
            quantiles,
            "The score of the samples that set the limit",
        ),
    )


def _facts(section: Report) -> tuple[Fact, ...]:
    """Return what the monitor promises, what it is and what it costs."""
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


SECTION = FlightSection("monitor", "no monitor was asked for: --monitor P makes one", _made, _told)
