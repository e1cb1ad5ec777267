"""The results of a compilation's steps, from which its report is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kmcompile.choice.chosen import ChosenProgram
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.monitor.monitored import Monitored
from kmcompile.program.interpreter import Answers
from kmcompile.reduction.curve import Reduction
from kmcompile.report.costs import Sample, sample_of
from kmcompile.report.missing import Missing
from kmcompile.report.modes import Modes
from kmcompile.verify.findings import Findings
from kmcompile.verify.queries import Queries

_NOT_COMPARED = Missing("the modes were not compared")


@dataclass(frozen=True, slots=True, eq=False)
class Compilation:
    """The results of a compilation's steps.

    Parameters
    ----------
    machine : KernelMachine
        The machine as it was trained, before any pass.
    chosen : ChosenProgram
    queries : Queries
    answers : Answers
        The interpreter's answers to the queries.
    findings : Findings
    digests : mapping of file name to SHA-256
        SHA-256 of each other file in the output folder.
    modes : Modes or Missing
        Comparison of the modes statistical and certified.
    reduction : Reduction, optional
        What `--reduce` did to the machine.
    image : bytes, optional
        The image of the model, where it is not in the code.
    monitored : Monitored, optional
        How the monitor was made.
    """

    machine: KernelMachine
    chosen: ChosenProgram
    queries: Queries
    answers: Answers
    findings: Findings
    digests: Mapping[str, str]
    modes: Modes | Missing = _NOT_COMPARED
    reduction: Reduction | None = None
    image: bytes | None = None
    monitored: Monitored | None = None

    @property
    def sample(self) -> Sample:
        """The queries over which means, percentiles and shares are taken."""
        return sample_of(self.answers, self.queries)
