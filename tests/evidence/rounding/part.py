"""The part `rounding` of the evidence: Gappa proves the scalar functions' error bounds."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from evidence.rounding import (
    coq,
    cosine,
    exponential,
    logarithm,
    long_exponential,
    others,
    roots,
    tanh,
)
from evidence.rounding.proof import Claim, Proof
from kmcompile.errors import ToolError
from kmcompile.evidence.finding import READ, Finding, Outcome
from kmcompile.tools.evidence_tools import GAPPA, PACKAGES
from kmcompile.tools.toolchain import install_command, run_process

NAME = "rounding"
TITLE = "the claimed error bounds of the scalar functions follow from the operations in the C"
CLAIM = "rounding-of-scalar-functions"
CHECKED = "rounding-proofs-checked-by-coq"
_TIMEOUT_S = 300.0
_LEAST_SHARE = 0.5
_UNPROVED = ("assumed to be", "not trivially")
"""What Gappa says of a hint that it takes without having checked it."""


@dataclass(frozen=True)
class Run:
    """What Gappa said about one script."""

    proof: Proof
    proved: bool
    output: str


def all_claims() -> list[Claim]:
    """Return the claims of all functions of templates/scalar/, and of exp2_long."""
    modules = (exponential, logarithm, long_exponential, cosine, tanh, roots, others)
    return [claim for module in modules for claim in module.claims()]


def run_part(folder: Path, share: float) -> Sequence[Finding]:
    """Write the scripts of every function, run Gappa, and return its findings of each function.

    The second of a function is that Coq checks each proof. It takes ten minutes, so it is left out
    with less than half of the scripts.

    Parameters
    ----------
    folder : Path
        Gets a folder for each function: its C, the scripts, what they take from elsewhere, and what
        Gappa said.
    share : float
        Of each function's scripts, this share is run, at least one.
    """
    installed = shutil.which("gappa") is not None
    version = _version(folder) if installed else "Gappa"
    findings = []
    for claim in all_claims():
        own = folder / claim.function
        write(own, claim)
        if not installed:
            findings.append(_not_run(claim, CLAIM, PACKAGES[GAPPA]))
            continue
        runs, finding = _finding(own, claim, share, version)
        findings.append(finding)
        if share < _LEAST_SHARE:
            continue
        if coq.installed():
            findings.append(_checked(own, claim, [run.proof for run in runs if run.proved]))
        else:
            findings.append(_not_run(claim, CHECKED, coq.PACKAGES))
    return findings


def write(folder: Path, claim: Claim) -> None:
    """Write the C and the scripts of a claim into a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{claim.function}.c").write_text(claim.code, encoding="utf-8")
    for proof in claim.proofs:
        (folder / f"{proof.name}.g").write_text(proof.text, encoding="utf-8")
    (folder / f"{claim.function}.md").write_text(_page(claim), encoding="utf-8")


def _page(claim: Claim) -> str:
    """Return what is claimed, what scripts show and take from elsewhere, and what is left."""
    lines = [f"# {claim.function}", "", f"Claimed: {claim.bound}.", "", "## Scripts", ""]
    lines += [f"- {one.name}.g: {one.shows}" for one in claim.proofs]
    lines += ["", "## Taken from elsewhere", "", *(f"- {text}" for text in claim.taken)]
    lines += [
        "",
        "## Not shown by Gappa",
        "",
        *(f"- {text}" for text in claim.left or ("nothing",)),
    ]
    return "\n".join(lines) + "\n"


def run_gappa(folder: Path, proof: Proof) -> Run:
    """Run Gappa on a script that has been written; keep what it said beside the script."""
    try:
        code, output = run_process(
            ["gappa", f"{proof.name}.g"], folder, _TIMEOUT_S, f"gappa on {proof.name}"
        )
    except ToolError as error:
        code, output = 1, f"{error}\n"
    (folder / f"{proof.name}.txt").write_text(output, encoding="utf-8")
    return Run(proof, code == 0 and not any(text in output for text in _UNPROVED), output)


def command(claim: Claim) -> str:
    """Return the command that runs all scripts of a function from inside the evidence."""
    return f"for script in {NAME}/{claim.function}/*.g; do gappa $script || echo $script; done"


def _finding(folder: Path, claim: Claim, share: float, version: str) -> tuple[list[Run], Finding]:
    start = time.perf_counter()
    every = max(1, round(1 / share))
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        runs = list(pool.map(lambda one: run_gappa(folder, one), claim.proofs[::every]))
    failed = [run.proof for run in runs if not run.proved]
    listed = [f"{one.name}.g is not proved: {one.shows}" for one in failed]
    listed += claim.left
    if len(runs) < len(claim.proofs):
        listed.append(f"{len(claim.proofs) - len(runs)} scripts were left out: --share {share:g}")
    proved = len(runs) - len(failed)
    return runs, Finding(
        CLAIM,
        claim.function,
        Outcome.OPEN if listed else Outcome.SHOWN,
        f"claimed: {claim.bound}; {proved} of {len(runs)} scripts proved"
        + (", some of a larger bound or a smaller range" if claim.left else ""),
        command(claim),
        version,
        tuple(listed),
        (f"{NAME}/{claim.function}",),
        time.perf_counter() - start,
        READ,
        (GAPPA,),
    )


def _checked(folder: Path, claim: Claim, proofs: Sequence[Proof]) -> Finding:
    start = time.perf_counter()
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        said = list(pool.map(lambda one: coq.check(folder, one), proofs))
    faults = [f"{one.name}: {text}" for one, text in zip(proofs, said, strict=True) if text]
    return Finding(
        CHECKED,
        claim.function,
        Outcome.OPEN if faults else Outcome.SHOWN,
        f"{len(proofs) - len(faults)} of {len(proofs)} proofs checked, nothing assumed in them",
        f"for proof in {NAME}/{claim.function}/*.v; do coqc $proof || echo $proof; done",
        coq.version(folder),
        tuple(faults),
        (f"{NAME}/{claim.function}",),
        time.perf_counter() - start,
        READ,
        coq.COMMANDS,
    )


def _not_run(claim: Claim, name: str, packages: Sequence[str]) -> Finding:
    return Finding(
        name,
        claim.function,
        Outcome.NOT_RUN,
        f"{packages[0]} is not installed; {install_command(packages)}",
        command(claim),
        packages[0].capitalize(),
        files=(f"{NAME}/{claim.function}",),
        where=READ,
    )


def _version(folder: Path) -> str:
    _, output = run_process(["gappa", "--version"], folder, _TIMEOUT_S, "gappa --version")
    return output.strip()
