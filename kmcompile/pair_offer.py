"""Sums that are evaluated pair by pair, in the place of the exact sum and its early exits."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kmcompile.analysis.memory import Budgets
from kmcompile.calibrate.calibration import Candidate
from kmcompile.emit.emitter import workspace_bytes
from kmcompile.interpret import Status, interpret
from kmcompile.ir.arrays import Float32Array
from kmcompile.ir.kernel_machine import KernelMachine
from kmcompile.ir.program import Program
from kmcompile.lowering.pair_choice import with_pair_sum
from kmcompile.target import Target

_STACK_BYTES = 4_000
_REPLAY_BYTES = 16
"""Of a kernel and its error in the replay's workspace."""

_TEXT = "pair_sum"


@dataclass(frozen=True, slots=True, eq=False)
class PairOffer:
    """A program whose sum is evaluated pair by pair, and what it costs.

    Parameters
    ----------
    program : Program
    mean_operations : float
        Of a sample, as of the candidates that it is compared with.
    note : str
        How many pairs and kernels a sample needs.
    """

    program: Program
    mean_operations: float
    note: str

    def is_better(self, candidates: tuple[Candidate, ...]) -> bool:
        """Return whether it takes less than the candidate that was chosen."""
        return all(self.mean_operations < c.mean_operations for c in candidates if c.chosen)

    def among(self, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
        """Return the candidates with this one, in the order of their cost."""
        chosen = self.is_better(candidates)
        own = Candidate((_TEXT,), self.mean_operations, chosen)
        others = tuple(replace(c, chosen=c.chosen and not chosen) for c in candidates)
        return tuple(sorted((*others, own), key=lambda c: c.mean_operations))


def offer_pairs(
    machine: KernelMachine,
    program: Program,
    target: Target,
    allowed: Budgets,
    taught: Float32Array,
    judged: Float32Array,
) -> PairOffer | None:
    """Return the program that sums pair by pair; None where there is none, or it does not fit.

    Parameters
    ----------
    machine : KernelMachine
        After the passes.
    program : Program
        The exact one.
    taught, judged : ndarray of shape (n_samples, n_features), float32
        Accepted samples that teach the order of the pairs, and that the cost is a mean of.
    """
    made = with_pair_sum(machine, program, program.known_answers.inputs, taught)
    if made is None or not _fits(made, target, allowed):
        return None
    answers = interpret(made, judged)
    accepted = answers.results["status"] == Status.OK
    spent = answers.stage_operations[accepted, -2:].sum(axis=1)
    kernels = answers.stage_kernels[accepted, -2]
    n_vectors = made.ends.exact.kernel_evaluations()
    note = (
        f"the votes of the pairs are evaluated until they settle the label: "
        f"{kernels.mean():,.0f} of {n_vectors:,} kernels in the mean of the samples"
    )
    return PairOffer(made, float(spent.mean()), note)


def _fits(program: Program, target: Target, allowed: Budgets) -> bool:
    """Return whether tables and workspace fit, that of a replay with them."""
    n_vectors = program.ends.exact.kernel_evaluations()
    # The self-test has a workspace of its own on the stack.
    ram = 2 * (workspace_bytes(program, target) + _REPLAY_BYTES * n_vectors) + _STACK_BYTES
    flash = program.table_bytes
    fits_ram = allowed.ram_bytes is None or ram <= allowed.ram_bytes
    return fits_ram and (allowed.flash_bytes is None or flash <= allowed.flash_bytes)
