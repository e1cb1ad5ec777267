"""The whole program that a plan asks for: of the trained machine, or of one with fewer vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from kmcompile.choice.asked_vectors import as_asked
from kmcompile.choice.chosen import ChosenProgram
from kmcompile.choice.comparison import BOTH, FEWER, TWICE, WHOLE, Comparison, comparison
from kmcompile.choice.fewer_vectors import STEPS_BEHIND_EXITS, Reduced
from kmcompile.choice.formats import estimate_of_sum
from kmcompile.choice.program import candidate, choose_program, some_of, with_tables_once
from kmcompile.choice.rows import row_of_sum, rows_of
from kmcompile.errors import BudgetError, InputError
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.program.interpreter import interpret
from kmcompile.program.wanted import wanted_of
from kmcompile.reduction.reducible import require_reducible
from kmcompile.request.flight import is_excluded
from kmcompile.request.plan import Plan

_ALL = "all vectors"

_ASKS: Mapping[str, tuple[str, ...]] = {
    WHOLE: ("--reduce off",),
    BOTH: ("--reduce auto", "--mode statistical"),
    TWICE: ("--reduce auto", "--mode statistical"),
    FEWER: ("--reduce auto", "--mode exact"),
}
"""The options that ask for each program that is compared."""

_FEW = 0.8
"""Largest share of the vectors that stand behind exits as fewer vectors."""

_MORE_DECIDED = 10.0
"""How many times less exits leave to the sum of all vectors than to that of fewer, at most: they
have the whole risk, and some of them are proved. [measured: 9 times on phoneme]"""

_MOST_VECTORS = 8000
"""Vectors of a machine that is reduced unasked: the search for fewer takes minutes beyond."""

Whole = tuple[Reduced, ChosenProgram]
"""The machine whose program is emitted, and the program."""


def choose_whole(
    machine: KernelMachine, plan: Plan, most_of_leaf: int | None, tell: Callable[[str], None]
) -> Whole:
    """Return the machine whose program is emitted, and the program.

    Where a risk may be taken, three programs are compared: fewer vectors behind early exits, or
    twice as many where these do not keep the risk or leave none to exits; fewer vectors alone; and
    all vectors behind early exits, if these can be better. The control samples are asked about
    each, with a share of the doubt (`binomial.confidence_at`). All promises then hold together, so
    that what these samples say may choose among the programs, too.

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
    search = _Search(machine, plan, compared, tell)
    search.try_fewer_vectors()
    search.try_all_vectors()
    return search.taken()


def _as_asked(
    machine: KernelMachine, plan: Plan, most_of_leaf: int | None, tell: Callable[[str], None]
) -> Whole:
    """Return the program of the machine that `--reduce` asks for, compared with no other size."""
    asked = as_asked(machine, plan, tell, most_of_leaf)
    made = choose_program(asked.machine, asked.plan, tell)
    if asked.with_exits and made.exits.calibration is None:  # no exits, and no promise of theirs
        asked = as_asked(machine, plan, tell, most_of_leaf, alone=True)
        made = choose_program(asked.machine, asked.plan, tell)
    judged = made.judged
    if judged.before_control is not made.exits.program and judged.calibrated_with is not None:
        made = made.measured_on(some_of(judged.calibrated_with))  # control had the last word
    return asked, replace(made, compared=rows_of(made, _vectors(asked, machine)))


def _vectors(reduced: Reduced, trained: KernelMachine) -> str:
    """Return in words how many vectors a machine has."""
    if reduced.reduction is None:
        return _ALL
    return f"{reduced.machine.n_support_vectors:,} of {trained.n_support_vectors:,} vectors"


class _Search:
    """The programs that are tried, whether or not they keep the risk.

    Parameters
    ----------
    machine : KernelMachine
        The trained machine, before any pass.
    plan : Plan
    compared : Comparison
    tell : callable
    """

    def __init__(
        self,
        machine: KernelMachine,
        plan: Plan,
        compared: Comparison,
        tell: Callable[[str], None],
    ) -> None:
        self._machine, self._plan, self._compared, self._tell = machine, plan, compared, tell
        self._offered, self._keys = compared.offered, compared.keys
        self._judged = some_of(compared.offered.held)
        self._tried: dict[str, Whole] = {}

    def try_fewer_vectors(self) -> None:
        """Try fewer vectors, behind early exits and alone.

        Raises BudgetError if there should be fewer vectors and no program has them.
        """
        self._try_behind_exits(BOTH)
        pays = any(
            made.keeps_promise and made.program.early_exits for _, made in self._tried.values()
        )
        if not pays:
            self._try_behind_exits(TWICE)
        if FEWER not in self._keys and self._tried:
            return
        self._tell("trying fewer vectors alone")
        demanded = self._plan.options.reduce is not None
        try:
            reduced = self._offered.counted("exact", self._compared.doubt_alone, demanded)
        except BudgetError:
            if WHOLE not in self._keys and not self._is_any_kept():
                raise
        else:
            made = choose_program(reduced.machine, reduced.plan, self._tell)
            self._keep(FEWER, reduced, made)

    def try_all_vectors(self) -> None:
        """Try all vectors behind early exits, if these may be better than fewer.

        Where they are the best, twice the fewest vectors may be nearly as fast, and smaller.
        """
        if WHOLE not in self._keys or not self._may_be_better():
            return
        self._tell("trying all vectors")
        made = candidate(self._machine, self._compared.plan, self._tell)
        self._keep(WHOLE, Reduced(self._machine, self._plan, None), made)
        if made.keeps_promise and TWICE not in self._tried and self._best() == WHOLE:
            self._try_behind_exits(TWICE)

    def taken(self) -> Whole:
        """Return the best program that keeps the risk, with all that were compared.

        Raises InputError if no program keeps it.
        """
        kept = self._kept()
        if not kept:
            for _, made in self._tried.values():
                made.require_kept()
        taken = self._best()
        rows = [
            row
            for key, (reduced, one) in kept.items()
            for row in rows_of(
                one, _vectors(reduced, self._machine), _ASKS[key], chosen=key == taken
            )
        ]
        if WHOLE in self._keys and WHOLE not in self._tried:
            rows.append(row_of_sum(self._offered.trained, _ALL, _ASKS[WHOLE], self._plan))
        reduced, made = kept[taken]
        return reduced, replace(made, compared=tuple(rows))

    def _try_behind_exits(self, key: str) -> None:
        steps = dict(zip((BOTH, TWICE), STEPS_BEHIND_EXITS, strict=True))[key]
        most = _FEW * self._machine.n_support_vectors
        if key not in self._keys or (WHOLE in self._keys and self._offered.size(steps) > most):
            return
        self._tell("trying early exits before fewer vectors")
        reduced = self._offered.behind_exits(steps)
        made = candidate(reduced.machine, reduced.plan, self._tell)
        if made.exits.calibration is not None:  # else nothing counts what fewer vectors change
            self._keep(key, reduced, made)

    def _keep(self, key: str, reduced: Reduced, made: ChosenProgram) -> None:
        """Keep a program that was tried, with what it takes on samples."""
        measured = made.measured_on(self._judged) if made.keeps_promise else made
        self._tried[key] = reduced, measured

    def _is_any_kept(self) -> bool:
        return any(made.keeps_promise for _, made in self._tried.values())

    def _kept(self) -> dict[str, Whole]:
        """Return the programs that keep their promises.

        Without exits, more vectors are no program of their own beside the fewest.
        """
        return {
            key: (reduced, made)
            for key, (reduced, made) in self._tried.items()
            if made.keeps_promise
            and (made.program.early_exits or key not in (BOTH, TWICE) or FEWER not in self._tried)
        }

    def _best(self) -> str:
        """Return the best program of those that keep their promises."""
        found = {key: made.takes for key, (_, made) in self._kept().items()}
        return wanted_of(with_tables_once(self._plan)).best(found)

    def _may_be_better(self) -> bool:
        """Return whether all vectors behind exits may be better than programs with fewer vectors.

        Their exits take long to fit. What they leave to the sum is taken for a tenth of what exits
        before fewer vectors leave, and everything else for nothing.
        """
        if not self._machine.kernel.is_gaussian:  # others have sums without vectors
            return True
        share = 0.0
        for key in (BOTH, TWICE):
            if key in self._tried:
                spent = interpret(self._tried[key][1].program, self._judged).stage_operations
                share = float((spent[:, -2] >= 0).mean())
        alone = estimate_of_sum(self._offered.trained, self._plan.target)
        at_best = replace(alone, mean=share / _MORE_DECIDED * alone.mean)
        found = {WHOLE: at_best} | {key: made.takes for key, (_, made) in self._kept().items()}
        return wanted_of(self._plan).best(found) == WHOLE


def _may_be_reduced(machine: KernelMachine, plan: Plan) -> bool:
    """Return whether a machine of fewer vectors is compared under a promise that counts it."""
    options = plan.options
    if plan.mode != "statistical" or options.reduce not in (None, "auto"):
        return False
    if plan.promise.thresholds != "risk" or plan.promise.control != "guaranteed":
        return False
    if plan.replay_required or is_excluded("reduce", options):
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
