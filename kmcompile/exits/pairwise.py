"""Pair sums: the sum of each one-vs-one pair on its own, instead of exact sum and early exits."""

from __future__ import annotations

from kmcompile.exits.sum_offer import SumOffer
from kmcompile.lower.pair_choice import with_pair_sum
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.program import Program
from kmcompile.program.workspace import workspace_bytes
from kmcompile.request.budgets import Budgets
from kmcompile.target import Target

_STACK_BYTES = 8_000
"""Most bytes of everything else on the stack."""
_REPLAY_BYTES = 16
"""Bytes of a kernel and its error in the replay's workspace."""

PAIR_SUM = "pair_sum"


def offer_pairs(
    machine: KernelMachine,
    program: Program,
    target: Target,
    allowed: Budgets,
    taught: Float32Array,
    judged: Float32Array,
) -> SumOffer | None:
    """Return the program with a pair sum; None if the machine has none or it does not fit.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes of `kmcompile.passes`.
    program : Program
        The exact program, without early exits.
    taught, judged : ndarray of shape (n_samples, n_features), float32
        Samples that the C accepts: `taught` choose the order of the pairs, `judged` measure the
        mean cost.
    """
    made = with_pair_sum(machine, program, program.known_answers.inputs, taught)
    if made is None or not _fits(made, target, allowed):
        return None
    answers = interpret(made, judged)
    if (answers.results["status"] != Status.OK).any():
        return None
    spent = answers.stage_operations[:, -2:].sum(axis=1)
    kernels = answers.stage_kernels[:, -2]
    n_vectors = made.ends.exact.kernel_evaluations()
    note = (
        f"the votes of the pairs are evaluated until they settle the label: "
        f"{kernels.mean():,.0f} of {n_vectors:,} kernels in the mean of the samples"
    )
    return SumOffer(PAIR_SUM, made, spent, (note,))


def _fits(program: Program, target: Target, allowed: Budgets) -> bool:
    """Return whether the tables and the workspace fit the budgets, those of a replay included.

    The self-test and the harness each hold one more workspace on the stack.
    """
    n_vectors = program.ends.exact.kernel_evaluations()
    workspace = workspace_bytes(program) + _REPLAY_BYTES * n_vectors
    needed = 2 * workspace + _STACK_BYTES
    flash = program.table_bytes
    limits = [
        (needed, allowed.ram_bytes),
        (needed, target.boot.stack_bytes if target.boot else None),
        (flash, allowed.flash_bytes),
    ]
    return all(limit is None or size <= limit for size, limit in limits)
