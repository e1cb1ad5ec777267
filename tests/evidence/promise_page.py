"""The page of the promises: what says each, what shows it, and how it stands in one run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evidence.promises import Promise, not_promised
from evidence.sources import Named, Sources
from kmcompile.evidence.finding import WORST_FIRST, Outcome

Counts = dict[str, int]
"""How many cases of a test ended how: "passed", "failed", "skipped"."""

ENDS = ("passed", "failed", "skipped")
_HEAD = """\
# Promises, and what shows each

A promise is shown where cases of each of its tests have passed in this run, none has failed, each
finding that it names is shown, and each field of a report is there, with the value that is given.
What else there is stands beside it. A command that repeats a finding is of one subject, the one
with the worst outcome. `make test` and `make test-all` have more cases of most tests.

Commands that begin with `python -m pytest`, `make` or `PYTHONPATH=tests` are run in a checkout of
kmcompile, or in its source archive in supply_chain/, unpacked; the others in the folder of the
evidence. `-m ''` runs all cases of a test, which takes longer than this run did. WHEELHOUSE stands
for the folder that `make offline` writes in a checkout.
"""


def outcome_of(
    promise: Promise, results: Mapping[str, Counts], sources: Sources | None
) -> tuple[Outcome, list[str]]:
    """Return how a promise stands in this run, and what keeps it from being shown.

    Without sources, only its tests count.
    """
    ends = [_of_test(results.get(test)) for test in promise.tests]
    why = [
        f"{test.partition('::')[2]} {'failed' if end is Outcome.REFUTED else 'not run'}"
        for test, end in zip(promise.tests, ends, strict=True)
        if end is not Outcome.SHOWN
    ]
    for source in () if sources is None else promise.evidence:
        ends.append(sources.outcome(source))
        if ends[-1] is not Outcome.SHOWN:
            why.append(f"{Named.of(source)}: {sources.said(source) or 'not in this folder'}")
    worst = min(ends, key=WORST_FIRST.index)
    return (Outcome.OPEN if worst is Outcome.NOT_RUN else worst), why


def _of_test(counts: Counts | None) -> Outcome:
    if counts is None or not counts.get("passed"):
        return Outcome.REFUTED if counts and counts.get("failed") else Outcome.NOT_RUN
    return Outcome.REFUTED if counts.get("failed") else Outcome.SHOWN


def page(
    made: tuple[Promise, ...], results: Mapping[str, Counts], sources: Sources | None = None
) -> str:
    """Return the page: a table of all promises, then each with what says it and what shows it."""
    lines = [_HEAD, "| promise | outcome | what is left |", "| --- | --- | --- |"]
    for one in made:
        outcome, why = outcome_of(one, results, sources)
        lines.append(f"| {one.name} | {outcome.value} | {'; '.join(why).replace('|', '/')} |")
    lines.append("")
    topic = ""
    for one in made:
        if one.topic != topic:
            topic = one.topic
            lines += [f"## {topic.replace('_', ' ').capitalize()}", ""]
        lines += [*_of_promise(one, results, sources), ""]
    lines += _of_no_promise(made, sources)
    for title, part in (("What is not promised", "limits"), ("Duties of the caller", "duties")):
        lines += [f"## {title}", ""]
        for file, quotes in not_promised((part,)).items():
            lines += [f"- {file}: “{quote}”" for quote in quotes]
        lines.append("")
    return "\n".join(lines)


def _of_no_promise(made: tuple[Promise, ...], sources: Sources | None) -> Iterator[str]:
    """Yield what the findings say that no promise names."""
    claims = () if sources is None else sources.other_claims(s for o in made for s in o.evidence)
    if sources is None or not claims:
        return
    yield from ("## Findings that no promise names", "")
    for claim in claims:
        source = f"claim:{claim}"
        yield f"- {Named.of(source)}: {sources.said(source)}; again: `{sources.command(source)}`"
    yield ""


def _of_promise(
    one: Promise, results: Mapping[str, Counts], sources: Sources | None
) -> Iterator[str]:
    yield from (f"### {one.name}", "", one.promise, "")
    yield f"- outcome: {outcome_of(one, results, sources)[0].value}"
    yield f"- wanted: {one.figure}"
    yield from (f"- says {file}: “{quote}”" for file, own in one.says.items() for quote in own)
    yield from (f"- code: `{place}`" for place in one.code)
    yield from (f"- test: `{test}`{_passed(results.get(test))}" for test in one.tests)
    for source in one.evidence:
        said = "" if sources is None else f": {sources.said(source) or 'not in this folder'}"
        yield f"- evidence: {Named.of(source)}{said}"
    yield f"- again: `python -m pytest -m '' {' '.join(one.tests)}`"
    if sources is not None:
        yield from (f"- again: `{command}`" for command in _commands(one, sources))


def _commands(promise: Promise, sources: Sources) -> list[str]:
    """Return the commands that repeat the evidence, each once."""
    found = (sources.command(source) for source in promise.evidence)
    return list(dict.fromkeys(command for command in found if command))


def _passed(counts: Counts | None) -> str:
    if counts is None:
        return " (not run)"
    return " (" + ", ".join(f"{counts[key]} {key}" for key in ENDS if key in counts) + ")"
