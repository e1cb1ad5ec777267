"""The part `attacks`: a campaign against certified labels, the readers and the self-test."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

from evidence.attack_kinds import KINDS
from evidence.campaign import STATE, attack, read_state, write_state
from kmcompile.evidence.finding import Finding, Outcome
from kmcompile.version import VERSION

_MINUTES = 50
"""At most, of the whole campaign; what is left then is told."""


def run_attacks(folder: Path, share: float) -> list[Finding]:
    """Go on with the campaign until a share of what is wanted is asked."""
    state = read_state(STATE)
    attack(state, STATE, max(1.0, share * _MINUTES), [*KINDS], share)
    write_state(STATE, state)
    shutil.copyfile(STATE, folder / "campaign.json")
    findings = []
    for name, kind in KINDS.items():
        done, wanted = state[name], math.ceil(share * kind.wanted())
        outcome = Outcome.SHOWN if done.asked >= wanted else Outcome.OPEN
        listed = tuple(done.listed)
        if done.wrong:
            outcome = Outcome.REFUTED
        elif outcome is Outcome.OPEN:
            listed = (f"{wanted - done.asked:,} {kind.unit} are still to be asked",)
        findings.append(
            Finding(
                claim=kind.claim,
                subject=name,
                outcome=outcome,
                figure=f"{done.asked:,} {kind.unit}, {done.wrong} {kind.defect}",
                command=f"PYTHONPATH=tests python -m evidence.campaign --only {name} --minutes 60",
                tool=f"kmcompile {VERSION}, evidence.campaign",
                listed=listed,
                files=("attacks/campaign.json",),
                seconds=done.seconds,
                programs=("gcc",) if name == "bits" else (),
            )
        )
    return findings
