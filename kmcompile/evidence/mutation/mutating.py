"""The part of the evidence on mutants: which small faults of the C the shipped vectors find."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kmcompile.evidence.finding import NO_ARGUMENT, Finding, Outcome
from kmcompile.evidence.mutation.mutants import sampled, sites
from kmcompile.evidence.mutation.trying import MUTANTS, Fate, Tried, Workshop
from kmcompile.evidence.part import Part
from kmcompile.evidence.subject import Subject
from kmcompile.evidence.vectors.vectors import Vectors
from kmcompile.tools.toolchain import install_command

CLAIM = "small-faults-are-found"
WANTED = 0.95
_REPEAT = Path(__file__).with_name("repeat.py")
_SEED = "20030706"
_OF_MODEL, _OF_SMALL = 200, 18
"""Number of mutants of a verified model, and of each of the many small ones of `make evidence`."""


def run(subject: Subject, folder: Path, share: float = 1.0) -> Sequence[Finding]:
    """Make mutants of a subject, and ask them its vectors.

    Parameters
    ----------
    subject : Subject
    folder : Path
        Of the part.
    share : float
        Of the mutants of a verified model; of small ones there are fewer then.
    """
    if "queries.npz" not in subject.files:
        return [_not_run(subject, "its vectors were not made")]
    if shutil.which("gcc") is None:
        return [_not_run(subject, f"gcc is not installed: {install_command(['gcc'])}")]
    began = sum(os.times()[:4])
    vectors = Vectors.of(subject)
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as made:
        workshop = Workshop(vectors, Path(made))
        found = sites(workshop.source, workshop.active_lines())
        n = max(1, round(share * _OF_MODEL)) if subject.report else _OF_SMALL
        tried = list(workshop.tried(sampled(found, n, _SEED + subject.name)))
        compiler = workshop.compiler
        workshop.keep(folder / subject.name, tried)
    shutil.copy(_REPEAT, folder / _REPEAT.name)
    told = summary(tried, workshop.source)
    path = folder / f"{subject.name}.json"
    path.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    score = told["score"]
    return [
        Finding(
            claim=CLAIM,
            subject=subject.name,
            outcome=Outcome.SHOWN if score >= WANTED else Outcome.OPEN,
            figure=(
                f"{told['killed'] + told['astray']} of {told['counted']} ({100 * score:.1f} %, "
                f"wanted {100 * WANTED:.0f} %), {told['astray']} of them by sanitizers; "
                f"{told['equivalent']} more have the same instructions"
            ),
            command=f"cd {folder.name} && python3 {_REPEAT.name} {subject.name}",
            tool=f"kmcompile's mutants, {compiler}",
            listed=tuple(
                f"{workshop.name}.c, {one.mutant.told(workshop.source)}: "
                f"{one.mutant.argument(workshop.source) or NO_ARGUMENT}"
                for one in tried
                if one.fate is Fate.SURVIVED
            ),
            programs=(compiler, "gcc"),
            files=tuple(
                f"{folder.name}/{one}"
                for one in (path.name, _REPEAT.name, f"{subject.name}/{MUTANTS}")
            ),
            seconds=sum(os.times()[:4]) - began,
        )
    ]


def summary(tried: Sequence[Tried], source: str) -> dict[str, Any]:
    """Return how many mutants there are of each fate and kind, and those that survived."""
    fates = Counter(one.fate for one in tried)
    killed, astray, survived = (fates[one] for one in (Fate.KILLED, Fate.ASTRAY, Fate.SURVIVED))
    counted = killed + astray + survived
    kinds = Counter((one.mutant.kind, one.fate.value) for one in tried)
    by = Counter(one.by.partition(",")[0] for one in tried if one.fate is Fate.KILLED)
    return {
        "made": counted + fates[Fate.EQUIVALENT],
        "counted": counted,
        "killed": killed,
        "astray": astray,
        "survived": survived,
        "equivalent": fates[Fate.EQUIVALENT],
        "not_built": fates[Fate.NOT_BUILT],
        "score": (killed + astray) / max(1, counted),
        "kinds": {f"{kind}, {fate}": n for (kind, fate), n in sorted(kinds.items())},
        "killed_by": dict(by.most_common()),
        "survivors": [one.mutant.told(source) for one in tried if one.fate is Fate.SURVIVED],
        "same_instructions": [
            one.mutant.told(source) for one in tried if one.fate is Fate.EQUIVALENT
        ],
    }


def _not_run(subject: Subject, why: str) -> Finding:
    return Finding(CLAIM, subject.name, Outcome.NOT_RUN, why, "kmcompile evidence DIR", "gcc")


PART = Part("mutation", "which small faults of the C the shipped vectors find", run)
