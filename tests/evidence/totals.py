"""What the shipped vectors cover and find over all subjects together."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from kmcompile.evidence.coverage.count import KINDS
from kmcompile.evidence.coverage.covering import COUNTS
from kmcompile.evidence.finding import Finding, Outcome
from kmcompile.evidence.mutation.mutating import WANTED

TOTALS = "totals.json"
_COMMAND = "make evidence"


def sum_coverage(folder: Path, share: float) -> Sequence[Finding]:
    """Sum up what was covered, and what no subject covers of a function of the templates."""
    told = {path.parent.name: json.loads(path.read_text()) for path in folder.glob(f"*/{COUNTS}")}
    if not told:
        return []
    table = {name: one["covered"] for name, one in sorted(told.items())}
    anywhere: dict[tuple[str, ...], bool] = {}
    for one in told.values():
        for *key, covered in one["outcomes"]:
            place = tuple(key)
            anywhere[place] = anywhere.get(place, False) or covered
    nowhere = sorted(key for key, covered in anywhere.items() if not covered)
    reasons = {
        (left["kind"], left["function"], left["text"], left["value"]): left["reason"]
        for one in told.values()
        for left in one["left"]
    }
    total = {kind: [sum(own[kind][n] for own in table.values()) for n in (0, 1)] for kind in KINDS}
    open_ = Counter(
        left["kind"] for one in told.values() for left in one["left"] if left["reason"] is None
    )
    (folder / TOTALS).write_text(
        json.dumps(
            {
                "total": total,
                "open": open_,
                "subjects": table,
                "nowhere": [[*key, reasons.get(key)] for key in nowhere],
            },
            indent=1,
        )
    )
    text = "; ".join(
        f"{KINDS[kind]} {covered} of {all_} ({100 * covered / max(1, all_):.2f} %)"
        for kind, (covered, all_) in total.items()
    )
    unexplained = [" ".join(key) for key in nowhere if reasons.get(key) is None]
    return [
        Finding(
            claim="vectors-cover-the-templates",
            subject=f"{len(told)} subjects",
            outcome=Outcome.OPEN if open_ or unexplained else Outcome.SHOWN,
            figure=(
                f"{text}; distinct branches and conditions that some subject covers: "
                f"{len(anywhere) - len(nowhere)} of {len(anywhere)}; without a reason: "
                f"{sum(open_.values())}"
            ),
            command=_COMMAND,
            tool="clang 19",
            listed=tuple(unexplained),
            files=(f"{folder.name}/{TOTALS}",),
        )
    ]


def sum_mutation(folder: Path, share: float) -> Sequence[Finding]:
    """Sum up how many mutants there were, and what became of them."""
    told = {
        path.stem: json.loads(path.read_text())
        for path in sorted(folder.glob("*.json"))
        if path.name != TOTALS
    }
    if not told:
        return []
    fates = ("made", "counted", "killed", "astray", "survived", "equivalent", "not_built")
    total = {fate: sum(one[fate] for one in told.values()) for fate in fates}
    kinds: Counter[str] = Counter()
    for one in told.values():
        kinds.update(one["kinds"])
    score = (total["killed"] + total["astray"]) / max(1, total["counted"])
    survivors = {name: one["survivors"] for name, one in told.items() if one["survivors"]}
    content = {"total": total, "score": score, "kinds": kinds, "survivors": survivors}
    (folder / TOTALS).write_text(json.dumps(content, indent=1) + "\n")
    return [
        Finding(
            claim="small-faults-are-found-in-all",
            subject=f"{len(told)} subjects",
            outcome=Outcome.SHOWN if score >= WANTED else Outcome.OPEN,
            figure=(
                f"{total['made']} mutants; {total['killed']} found by a word, "
                f"{total['astray']} by sanitizers, {total['survived']} survived "
                f"({100 * score:.1f} % found, wanted {100 * WANTED:.0f} %); "
                f"{total['equivalent']} have the same instructions"
            ),
            command=_COMMAND,
            tool="kmcompile's mutants",
            listed=()
            if score >= WANTED
            else tuple(f"{name}: {line}" for name, own in survivors.items() for line in own),
            files=(f"{folder.name}/{TOTALS}",),
        )
    ]
