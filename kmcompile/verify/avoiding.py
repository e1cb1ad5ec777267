"""The command-line options that leave out the failed part of a program."""

from __future__ import annotations

from collections.abc import Sequence

from kmcompile.program.program import Program
from kmcompile.verify.finding import Broken

_NOT_BY_STAGE = {
    Broken.RISK: ("--mode certified",),
    Broken.WORST_CASE: ("--verify host",),
    # No option leaves out the static figure, which needs no run.
    Broken.STACK: (),
}


def options_that_avoid(
    broken: Broken, program: Program, deciding: Sequence[str], sum_differs: bool
) -> tuple[str, ...]:
    """Return the fewest options of the command line that leave out the failed part.

    Parameters
    ----------
    broken : Broken
    program : Program
    deciding : sequence of str
        The stages that decide the failing queries.
    sum_differs : bool
        Whether the sum over all vectors is wrong, and not only a stage before it.

    Returns
    -------
    tuple of str
        The options with their values; empty if no option leaves out the failed part.
    """
    if broken in _NOT_BY_STAGE:
        return _NOT_BY_STAGE[broken]
    options = _instead_of_stages(program, set(deciding), sum_differs)
    if sum_differs:
        options |= _instead_of_the_sum(program)
    return tuple(sorted(options))


def _instead_of_the_sum(program: Program) -> set[str]:
    """Return the options that select another sum over all vectors."""
    if program.codes is not None:
        return {"--format float32"}
    return {"--mode exact"} if program.ends.exact.sums_pairs else set()


def _instead_of_stages(program: Program, deciding: set[str], sum_differs: bool) -> set[str]:
    """Return the options that leave out the deciding stages, but for the sum."""
    replay = set() if program.replay is None else {program.replay.name}
    statistical = {s.name for s in program.early_exits if s.is_calibrated}
    certified = {s.name for s in program.early_exits} - statistical
    at_the_sum = deciding - replay - statistical - certified
    if deciding and deciding <= replay:
        return {"--replay none"}
    if deciding and deciding <= statistical:
        return {"--mode certified"}
    # If the sum is right, a wrong answer of it comes from an early exit's partial results.
    handed_on = at_the_sum and not sum_differs and program.mode != "exact"
    if deciding & certified or deciding & statistical or handed_on:
        return {"--mode exact"}
    return {"--replay none"} if deciding & replay else set()
