"""The answer in steps in sentences, for the terminal and report.html."""

from __future__ import annotations

from kmcompile.report.summary import Fact, Report
from kmcompile.text.figures import bytes_text, count_text, counted, ratio_text

Cells = tuple[str, ...]


def stepping_facts(report: Report) -> tuple[Fact, ...]:
    """Return what a step takes, and how many there are; empty without `--step`."""
    section = report["stepping"]
    if section is None:
        return ()
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


def stepping_rows(report: Report) -> tuple[Cells, ...]:
    """Return a row for the steps that do the same: which they are, what, and the operations."""
    section = report["stepping"] or {"places": ()}
    rows, first = [], 1
    for place in section["places"]:
        last = first + place["steps"] - 1
        which = str(first) if first == last else f"{first}-{last}"
        rows.append((which, ", ".join(place["does"]), count_text(place["operations"])))
        first = last + 1
    return tuple(rows)
