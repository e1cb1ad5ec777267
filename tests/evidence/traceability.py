"""The part `traceability`: each promise with its code, its tests, its evidence and its figure.

Usage: PYTHONPATH=tests python -m evidence.traceability FOLDER [SHARE]

It checks that nothing is missing, runs quick cases of the tests that the promises name (of a share
of the promises), of a test that has none its first case, and writes a page.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree

from evidence.promise_page import ENDS, Counts, outcome_of, page
from evidence.promises import ROOT, Promise, problems, promises
from evidence.sources import Named, Sources
from evidence.subjects import TARGET
from kmcompile.evidence.finding import Finding, Outcome
from kmcompile.target import load_target
from kmcompile.tools.toolchain import run_process
from kmcompile.version import VERSION

_PAGE, _DATA, _RESULTS = "promises.md", "promises.json", "tests.xml"
_COMMAND = "PYTHONPATH=tests python -m evidence.traceability traceability"
_TIMEOUT_S = 3600.0


def run_traceability(folder: Path, share: float) -> list[Finding]:
    """Check the promises, run their tests and write the page."""
    made = promises()
    wrong = problems(made)
    some = made[:: max(1, round(1 / share))]
    start = sum(os.times()[:4])
    results = run_tests(sorted({test for one in some for test in one.tests}), folder)
    seconds = sum(os.times()[:4]) - start
    _write(folder, made, results)
    return [
        _traced(made, wrong),
        _tested(some, results, _skipped(folder / _RESULTS), seconds),
    ]


def kept_promises(folder: Path, sources: Sources) -> list[Finding]:
    """Write the page again with what the named evidence says in this run, and sum it up."""
    made = promises()
    results = {
        test: counts
        for one in json.loads((folder / _DATA).read_text("utf-8"))
        for test, counts in one["results"].items()
    }
    _write(folder, made, results, sources)
    named = [(one.name, source) for one in made for source in one.evidence]
    missing = [f"{name}: {Named.of(source)}" for name, source in named if not sources.said(source)]
    figure = f"{len(named) - len(missing)} of {len(named)} named findings and fields are here"
    ends = {one.name: outcome_of(one, results, sources) for one in made}
    left = [f"{name}: {', '.join(why)}" for name, (_, why) in ends.items() if why]
    shown = sum(outcome is Outcome.SHOWN for outcome, _ in ends.values())
    return [
        _of_page("evidence-that-promises-name", figure, missing),
        _of_page("every-promise-is-shown", f"{shown} of {len(made)} promises are shown", left),
    ]


def _of_page(claim: str, figure: str, left: list[str]) -> Finding:
    outcome = Outcome.OPEN if left else Outcome.SHOWN
    read, files = f"less traceability/{_PAGE}", (f"traceability/{_PAGE}",)
    return Finding(
        claim, "promises", outcome, figure, read, f"kmcompile {VERSION}", tuple(left), files
    )


def _write(
    folder: Path,
    made: tuple[Promise, ...],
    results: Mapping[str, Counts],
    sources: Sources | None = None,
) -> None:
    data = [
        {
            **asdict(one),
            "outcome": outcome_of(one, results, sources)[0].value,
            "results": {test: results[test] for test in one.tests if test in results},
        }
        for one in made
    ]
    (folder / _DATA).write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", "utf-8")
    (folder / _PAGE).write_text(page(made, results, sources), "utf-8")


def _traced(made: tuple[Promise, ...], wrong: list[str]) -> Finding:
    n_tests = len({test for one in made for test in one.tests})
    n_quotes = sum(len(quotes) for one in made for quotes in one.says.values())
    figure = (
        f"{len(made)} promises in {n_quotes} quotes, each with code, tests ({n_tests}), evidence "
        f"and figure; {len(wrong)} gaps"
    )
    outcome = Outcome.REFUTED if wrong else Outcome.SHOWN
    files = tuple(f"traceability/{name}" for name in (_PAGE, _DATA))
    return Finding(
        "traceability", "promises", outcome, figure, _COMMAND, _tool(), tuple(wrong), files
    )


def _tested(
    some: tuple[Promise, ...], results: Mapping[str, Counts], skipped: list[str], seconds: float
) -> Finding:
    """Return what the tests of promises found."""
    names = {test for one in some for test in one.tests}
    total = {key: sum(own.get(key, 0) for own in results.values()) for key in ENDS}
    left = sorted(name for name in names if not results.get(name, {}).get("passed"))
    failed = sorted(name for name, own in results.items() if own.get("failed"))
    outcome = Outcome.OPEN if left else Outcome.SHOWN
    if failed or not results:
        outcome = Outcome.REFUTED
    figure = (
        f"{total['passed']} cases of {len(names) - len(left)} of {len(names)} tests passed, "
        f"{total['failed']} failed, {total['skipped']} skipped"
    )
    listed = [f"{name}: failed" for name in failed]
    listed += [f"{name}: {_why(results.get(name))}" for name in left if name not in failed]
    listed += skipped
    return Finding(
        "promise-tests",
        f"{len(some)} promises",
        outcome,
        figure,
        _COMMAND,
        _tool(),
        tuple(listed),
        (f"traceability/{_RESULTS}",),
        seconds,
        where="host and targets",
        programs=_programs(),
    )


def _programs() -> tuple[str, ...]:
    """Return the compiler and the emulator of the target that real models are verified on."""
    target = load_target(TARGET)
    assert target.emulator is not None
    return (target.compiler.command, target.emulator.command)


def _why(counts: Counts | None) -> str:
    """Return why no case of a test has passed."""
    if counts is None:
        return "was not run"
    return f"{counts['skipped']} cases skipped, for reasons that are listed below"


def _skipped(path: Path) -> list[str]:
    """Return each reason for which cases were skipped, with how many, the most frequent first."""
    if not path.is_file():
        return []
    skips = ElementTree.parse(path).iter("skipped")
    reasons = Counter(skip.get("message", "") for skip in skips)
    return [f"{n} skipped: {reason}" for reason, n in reasons.most_common()]


def _tool() -> str:
    return f"kmcompile {VERSION}, pytest {version('pytest')}"


def run_tests(names: list[str], folder: Path) -> dict[str, Counts]:
    """Run the quick cases of tests, or their first; return how many cases of each ended how."""
    results = folder.resolve() / _RESULTS
    arguments = [sys.executable, "-m", "pytest", "-q", "--every-test", "-n", "2"]
    arguments += ["--dist", "worksteal", "-p", "no:cacheprovider", "-o", "junit_family=xunit1"]
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    run_process([*arguments, f"--junitxml={results}", *names], ROOT, _TIMEOUT_S, "running tests")
    return read_results(results) if results.is_file() else {}


def read_results(path: Path) -> dict[str, Counts]:
    """Return how many cases of each test ended how, from pytest's report of the family xunit1."""
    found: dict[str, Counts] = {}
    for case in ElementTree.parse(path).iter("testcase"):
        name = f"{case.get('file')}::{(case.get('name') or '').partition('[')[0]}"
        end = "passed"
        for tag, meant in (("skipped", "skipped"), ("failure", "failed"), ("error", "failed")):
            if case.find(tag) is not None:
                end = meant
        own = found.setdefault(name, {})
        own[end] = own.get(end, 0) + 1
    return found


def main() -> None:
    """Write the part into a folder, and print its findings; exit 1 if one is refuted."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    findings = run_traceability(folder, float(sys.argv[2]) if len(sys.argv) > 2 else 1.0)
    for one in findings:
        print(f"{one.outcome.value:8} {one.claim}: {one.figure}")
        for text in one.listed:
            print(f"         {text}")
    sys.exit(any(one.outcome is Outcome.REFUTED for one in findings))


if __name__ == "__main__":
    main()
