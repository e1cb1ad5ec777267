"""The programs of others by which the evidence looks at emitted C, and their Debian packages.

`kmcompile doctor` lists them, and `.ci/setup evidence` installs what is missing of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kmcompile.tools.toolchain import Diagnosis, diagnosed

EVIDENCE: Final = "evidence"
"""Stands for these programs among the names of targets."""

CLANG, PROFDATA, COV = "clang-19", "llvm-profdata-19", "llvm-cov-19"
TCC, FRAMA_C, GAPPA = "tcc", "frama-c", "gappa"

PACKAGES: Final[Mapping[str, tuple[str, ...]]] = {
    CLANG: ("clang-19", "libclang-rt-19-dev"),
    PROFDATA: ("llvm-19",),
    COV: ("llvm-19",),
    TCC: ("tcc",),
    FRAMA_C: ("frama-c-base",),
    GAPPA: ("gappa",),
}
"""Program -> the packages that bring it."""

_PURPOSES: Final = {
    CLANG: "coverage",
    PROFDATA: "coverage",
    COV: "coverage",
    TCC: "compiler of mutants",
    FRAMA_C: "search for run-time errors",
    GAPPA: "proofs of rounding (make evidence)",
}

COVERAGE_PACKAGES: Final = tuple(
    dict.fromkeys(package for one in (CLANG, PROFDATA, COV) for package in PACKAGES[one])
)


def diagnose_evidence() -> Diagnosis:
    """Look for the programs of the evidence; without them a part is not run, and says so."""
    return diagnosed(EVIDENCE, [(_PURPOSES[one], one, PACKAGES[one]) for one in PACKAGES])
