"""A chosen program as a row of the choices, with the formats and the sums that stood beside it."""

from __future__ import annotations

from dataclasses import replace

from kmcompile.choice.chosen import ChosenProgram
from kmcompile.choice.formats import estimate_of_sum
from kmcompile.choice.front import Compared
from kmcompile.lower.formats import Lowered
from kmcompile.program.estimate import Estimate
from kmcompile.request.plan import Plan


def rows_of(
    made: ChosenProgram, vectors: str, options: tuple[str, ...] = (), chosen: bool = True
) -> tuple[Compared, ...]:
    """Return a program in every format that was tried, and its sum without early exits.

    The control samples are asked about one format only. By how much they raise its mean, the means
    of the others are taken to rise.

    Parameters
    ----------
    made : ChosenProgram
    vectors : str
        The vectors of the machine in words, such as "all vectors".
    options : tuple of str
        The options that ask for this machine, beside those that were given.
    chosen : bool
        Whether it is the program that is emitted.
    """
    if made.plan.in_image:
        return ()
    own = made.lowered.program.number_format
    tried: list[tuple[Lowered, Estimate, tuple[str, ...]]] = [
        (one.lowered, one.estimate, (f"--format {one.number_format}",))
        for one in made.formats
        if one.lowered is not None and one.estimate is not None and one.speedup is not None
    ]
    found, grown = [], made.takes.mean / made.before_control.mean
    for lowered, before, in_format in tried or [(made.lowered, made.before_control, ())]:
        name = lowered.program.number_format
        alone, is_own = estimate_of_sum(lowered, made.plan.target), name == own
        is_alone = before == alone or (is_own and _is_alone(made))
        takes = made.takes if is_own else replace(before, mean=grown * before.mean)
        share = None if lowered.machine.reduced_from else lowered.measured.certified_share
        if not is_alone:
            promised = made.plan.mode == "statistical"
            what = f"{vectors} behind early exits, {name}"
            proved = None if promised else share
            found.append(Compared(what, (*options, *in_format), takes, proved, chosen and is_own))
        is_taken = chosen and is_own and is_alone
        asks = in_format
        if made.plan.mode != "exact" and not is_taken:
            asks = ("--mode exact", *in_format, *_left_out(options, made.plan))
        if is_alone and is_own:
            alone = takes
        if is_taken or share is not None or (is_alone and made.plan.mode == "exact"):
            found.append(Compared(f"{vectors}, {name}", (*options, *asks), alone, share, is_taken))
    return tuple(found)


def row_of_sum(lowered: Lowered, vectors: str, options: tuple[str, ...], plan: Plan) -> Compared:
    """Return the row of an exact sum in its format, which is not taken."""
    name, share = lowered.program.number_format, lowered.measured.certified_share
    asks = (*options, "--mode exact", f"--format {name}", *_left_out(options, plan))
    return Compared(f"{vectors}, {name}", asks, estimate_of_sum(lowered, plan.target), share)


def _left_out(options: tuple[str, ...], plan: Plan) -> tuple[str, ...]:
    """Return which given options do not go with the exact sum of the trained machine."""
    if "--reduce auto" in options or plan.options.reduce == "auto":
        return ()
    given = (name for name in ("risk", "loss") if getattr(plan.given, name) is not None)
    return tuple(f"without --{name}" for name in given)


def _is_alone(made: ChosenProgram) -> bool:
    """Return whether the program is the exact sum that it was lowered to, and nothing else."""
    return not made.program.early_exits and made.program.sum is made.lowered.program.sum
