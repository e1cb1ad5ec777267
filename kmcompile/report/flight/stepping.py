"""The answer in steps in the report."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmcompile.program.program import Program
from kmcompile.program.schedule import Part, schedule, smallest_step
from kmcompile.report.compilation import Compilation
from kmcompile.report.flight.flight_section import FlightSection
from kmcompile.report.missing import Content, Missing, known
from kmcompile.report.summary import Cells, Report
from kmcompile.report.told import Fact, Facts, Rows, Text, Told
from kmcompile.text.figures import bytes_text, count_text, counted, ratio_text
from kmcompile.verify.findings import Findings

_NO_REPLAY = Missing("the program has no replay")


def _made(made: Compilation) -> Content | None:
    program, steps = made.chosen.program, made.sample.answers.steps
    if program.step is None or steps is None:
        return None
    planned, largest = schedule(program), smallest_step(program)
    return dict(
        asked=program.step.operations,
        replay_weight=program.step.replay_weight if program.replay else _NO_REPLAY,
        operations=planned.operations,
        smallest=largest.operations,
        largest_piece=largest.name,
        steps_mean=float(steps.mean()),
        steps_p99=float(np.percentile(steps, 99)),
        steps_max=float(steps.max()),
        steps_worst=planned.most_steps,
        job_bytes=made.chosen.caller_bytes,
        places=[
            dict(
                does=[_text_of(part) for part in place.parts],
                steps=place.repeats,
                operations=place.operations,
            )
            for place in planned.places
        ],
        not_in_steps=_at_once(program),
        instructions=_instructions(made.findings),
    )


def _text_of(part: Part) -> str:
    """Return what a part of a step does."""
    if part.piece.per_kernel:
        return f"up to {part.count} x kernel of a pair, and the pair"
    if part.piece.count == 1:
        return part.piece.name
    return f"{part.count} x {part.piece.name}"


def _at_once(program: Program) -> list[str]:
    """Return the functions of the header that have no form in steps."""
    others = ["decision"]
    if any(stage.is_certified for stage in program.early_exits):
        others.append("predict_within" if program.is_regression else "classify_within")
    if program.probability is not None:
        others.append("probability")
    if program.takes_risk:
        others.append("audit")
    return others


def _instructions(findings: Findings) -> Content | Missing:
    """Return the instructions of a step."""
    found = findings.stepping
    if found is None or found.most is None or found.of_all_steps is None or found.at_once is None:
        return Missing(findings.skipped.get("instructions", "no step was counted"))
    worst, begin = found.worst, found.worst_of_begin
    return dict(
        worst=known(worst.instructions, worst.reason or "not known"),
        worst_of_begin=known(begin.instructions, begin.reason or "not known"),
        max=found.most,
        all_steps_mean=found.of_all_steps,
        at_once_mean=found.at_once,
        queries=found.queries,
    )


def _told(section: Report) -> Told:
    heads = ("Step", "Does", "Operations, worst case")
    caption = (
        "Operations are multiply-adds of the cost model; one in float64 counts as many as it takes "
        "instructions. The steps are those of the longest path: a query ends with the piece that "
        "answers it."
    )
    parts = (Facts(_facts(section)), Rows(heads, _rows(section["places"])), Text(caption))
    return Told("stepping", "The answer in steps", parts)


def _facts(section: Report) -> tuple[Fact, ...]:
    """Return what a step takes, and how many there are."""
    smallest = count_text(section["smallest"])
    operations = f"{count_text(section['operations'])} of {count_text(section['asked'])} at most"
    steps = (
        f"mean {count_text(section['steps_mean'])}, 99 % {count_text(section['steps_p99'])}, "
        f"largest {count_text(section['steps_max'])}; of any input "
        f"{count_text(section['steps_worst'])} at most"
    )
    facts = [
        Fact("operations of a step", operations),
        Fact("smallest --step", f"{smallest}, the operations of {section['largest_piece']}"),
        Fact("steps of a query", steps),
        Fact("job, with its workspace", bytes_text(section["job_bytes"])),
        Fact("only at once", ", ".join(section["not_in_steps"])),
    ]
    found = section["instructions"]
    if found is not None:
        worst, seen = found["worst"], count_text(found["max"])
        bound = "not known" if worst is None else count_text(worst)
        all_steps = count_text(found["all_steps_mean"])
        ratio = ratio_text(found["all_steps_mean"] / found["at_once_mean"])
        queries = counted(found["queries"], "query", "queries")
        facts += [
            Fact("instructions of a step", f"static worst case {bound}; largest counted {seen}"),
            Fact("of all steps", f"{all_steps} in the mean of {queries}, {ratio} those at once"),
        ]
    return tuple(facts)


def _rows(places: Sequence[Report]) -> list[Cells]:
    """Return a row for the steps that do the same: which they are, what, and the operations."""
    rows: list[Cells] = []
    first = 1
    for place in places:
        last = first + place["steps"] - 1
        which = str(first) if first == last else f"{first}-{last}"
        rows.append((which, ", ".join(place["does"]), count_text(place["operations"])))
        first = last + 1
    return rows


SECTION = FlightSection(
    "stepping", "the C answers at once: --step N makes it answer in steps, too", _made, _told
)
