"""The whole program that a plan asks for: of the trained machine, or of one with fewer vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from kmcompile.choice.chosen import ChosenProgram
from kmcompile.choice.comparison import BOTH, FEWER, TWICE, WHOLE, Comparison, comparison
from kmcompile.choice.fewer_vectors import STEPS_BEHIND_EXITS, Reduced, as_asked
from kmcompile.choice.formats import estimate_of_sum
from kmcompile.choice.program import candidate, choose_program, some_of
from kmcompile.choice.rows import row_of_sum, rows_of
from kmcompile.errors import BudgetError, InputError
from kmcompile.kernels import Rbf
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.estimate import Estimate, best
from kmcompile.program.interpreter import interpret
from kmcompile.reduction.reducible import require_reducible
from kmcompile.request.budgets import Budgets
from kmcompile.request.plan import Plan

_ASKS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    WHOLE: ("all vectors", ("--reduce off",)),
    BOTH: ("fewer vectors", ("--reduce auto", "--mode statistical")),
    TWICE: ("fewer vectors", ("--reduce auto", "--mode statistical")),
    FEWER: ("fewer vectors", ("--reduce auto", "--mode exact")),
}
"""The vectors of each program that is compared, and the options that ask for it."""

_FEW = 0.8
"""Largest share of the vectors that stand behind exits as fewer vectors."""

_MORE_DECIDED = 3.0
"""How many times less exits leave to the sum of all vectors than to that of fewer, at most: they
have the whole risk, and some of them are proved."""

_MOST_VECTORS = 8000
"""Vectors of a machine that is reduced unasked: the search for fewer takes minutes beyond."""

Whole = tuple[Reduced, ChosenProgram]
"""The machine whose program is emitted, and the program."""


def choose_whole(
    machine: KernelMachine, plan: Plan, most_of_leaf: int | None, tell: Callable[[str], None]
) -> Whole:
    """Return the machine whose program is emitted, and the program.

    Where a risk may be taken, three programs are compared: fewer vectors behind early exits, or
    twice as many where the fewest do not keep the risk; fewer vectors alone; and all vectors behind
    early exits, if these can be better. The control samples are asked about each, with a share of
    the doubt (`binomial.confidence_at`). All promises then hold together, so that what these
    samples say may choose among the programs, too.

    Parameters
    ----------
    machine : KernelMachine
        The trained machine, before any pass.
    plan : Plan
    most_of_leaf : int or None
        Of a routed machine, the most vectors of a leaf.
    tell : callable
        Called with a few words as each step begins.

    Raises
    ------
    InputError, UsageError, BudgetError
        If no program satisfies the plan.
    """
    compared = None
    if most_of_leaf is None and _may_be_reduced(machine, plan):
        compared = comparison(machine, plan, tell)
    if compared is None:
        return _as_asked(machine, plan, most_of_leaf, tell)
    tried = _with_fewer_vectors(compared, tell)
    X = some_of(compared.offered.held)
    kept = _measured(tried, X)
    if WHOLE in compared.keys and _may_be_better(machine, compared, tried, kept, X):
        tell("trying all vectors")
        tried[WHOLE] = Reduced(machine, plan, None), candidate(machine, compared.plan, tell)
        kept |= _measured({WHOLE: tried[WHOLE]}, X)
    if not kept:
        for _, made in tried.values():
            made.require_kept()
    found = {key: made.takes for key, (_, made) in kept.items()}
    fitting = {key: one for key, one in found.items() if _fits(one, plan.budgets)}
    least_mean = min(made.least_mean for _, made in kept.values())
    taken = best(fitting or found, plan.optimize, least_mean)
    rows = [
        row
        for key, (_, one) in kept.items()
        for row in rows_of(one, *_ASKS[key], chosen=key == taken)
    ]
    if WHOLE in compared.keys and WHOLE not in tried:
        rows.append(row_of_sum(compared.offered.trained, *_ASKS[WHOLE], plan.target))
    reduced, made = kept[taken]
    return reduced, replace(made, compared=tuple(rows))


def _as_asked(
    machine: KernelMachine, plan: Plan, most_of_leaf: int | None, tell: Callable[[str], None]
) -> Whole:
    """Return the program of the machine that `--reduce` asks for, compared with no other size."""
    asked = as_asked(machine, plan, tell, most_of_leaf)
    made = choose_program(asked.machine, asked.plan, tell)
    few = "all vectors" if asked.reduction is None else "fewer vectors"
    return asked, replace(made, compared=rows_of(made, few))


def _with_fewer_vectors(compared: Comparison, tell: Callable[[str], None]) -> dict[str, Whole]:
    """Return the programs with fewer vectors that there are, whether or not they keep the risk.

    Raises BudgetError if there should be fewer vectors and no program has them.
    """
    keys, offered = compared.keys, compared.offered
    demanded = compared.plan.options.reduce is not None
    tried: dict[str, Whole] = {}
    for key, steps in zip((BOTH, TWICE), STEPS_BEHIND_EXITS, strict=True):
        is_few = offered.size(steps) <= _FEW * offered.trained.machine.n_support_vectors
        is_kept = any(made.keeps_promise for _, made in tried.values())
        if key not in keys or is_kept or (WHOLE in keys and not is_few):
            continue
        tell("trying early exits before fewer vectors")
        reduced = offered.behind_exits(steps)
        tried[key] = reduced, candidate(reduced.machine, reduced.plan, tell)
    if FEWER in keys:
        tell("trying fewer vectors alone")
        try:
            reduced = offered.counted("exact", compared.doubt_alone, demanded)
        except BudgetError:
            if WHOLE not in keys and not any(made.keeps_promise for _, made in tried.values()):
                raise
        else:
            tried[FEWER] = reduced, choose_program(reduced.machine, reduced.plan, tell)
    return tried


def _measured(tried: Mapping[str, Whole], X: Float32Array) -> dict[str, Whole]:
    """Return the programs that keep their promises, with what they take on samples.

    Without exits, more vectors are no program of their own beside the fewest.
    """
    return {
        key: (reduced, made.measured_on(X))
        for key, (reduced, made) in tried.items()
        if made.keeps_promise
        and (made.program.early_exits or key not in (BOTH, TWICE) or FEWER not in tried)
    }


def _may_be_better(
    machine: KernelMachine,
    compared: Comparison,
    tried: Mapping[str, Whole],
    kept: Mapping[str, Whole],
    X: Float32Array,
) -> bool:
    """Return whether all vectors behind exits may be better than programs with fewer vectors.

    Their exits take long to fit. What they leave to the sum is taken for a third of what exits
    before fewer vectors leave, and everything else for nothing.
    """
    if not isinstance(machine.kernel, Rbf):  # others have sums without vectors
        return True
    share = 0.0
    for key in (BOTH, TWICE):
        if key in tried:
            spent = interpret(tried[key][1].program, X).stage_operations
            share = float((spent[:, -2] >= 0).mean())
    alone = estimate_of_sum(compared.offered.trained, compared.plan.target)
    at_best = replace(alone, mean=share / _MORE_DECIDED * alone.mean)
    found = {WHOLE: at_best} | {key: made.takes for key, (_, made) in kept.items()}
    return best(found, compared.plan.optimize) == WHOLE


def _may_be_reduced(machine: KernelMachine, plan: Plan) -> bool:
    """Return whether a machine of fewer vectors is compared under a promise that counts it."""
    options = plan.options
    if plan.mode != "statistical" or options.reduce not in (None, "auto"):
        return False
    if plan.promise.thresholds != "risk" or plan.promise.control != "guaranteed":
        return False
    if plan.replay_required or plan.input_tolerance is not None or plan.in_image:
        return False
    if machine.task is Task.REGRESSION or (machine.routing is not None and options.reduce is None):
        return False
    if options.reduce is None and (options.mode is not None or not plan.stages.are_free):
        return False
    try:
        require_reducible(machine, plan)
    except InputError:
        return False
    most = _MOST_VECTORS if options.reduce is None else machine.n_support_vectors
    return 1 < machine.n_support_vectors <= most


def _fits(one: Estimate, budgets: Budgets) -> bool:
    """Return whether an estimate is within the budgets of flash and instructions."""
    flash, most = budgets.flash_bytes, budgets.instructions
    return (flash is None or one.flash_bytes <= flash) and (most is None or one.worst <= most)
