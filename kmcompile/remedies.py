"""What the user can do where a program exceeds a budget: only what is left and can help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kmcompile.choice.chosen import ChosenProgram
from kmcompile.choice.formats import choose_format, estimate_of_sum
from kmcompile.choice.front import Compared
from kmcompile.errors import InputError, KmcompileError, OverBudgetError
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.program.redundancy import stored_bytes
from kmcompile.reduction.reducible import require_reducible
from kmcompile.request.asked_mode import instead
from kmcompile.request.flight import FLIGHT, is_excluded, keeps_float32
from kmcompile.text.figures import listed


@contextmanager
def remedied(machine: KernelMachine, chosen: ChosenProgram) -> Iterator[None]:
    """Add to the error of an exceeded budget what the user can do.

    Parameters
    ----------
    machine : KernelMachine
        The machine as it was trained, or the reduced machine.
    chosen : ChosenProgram
        The program that exceeds the budget.
    """
    try:
        yield
    except OverBudgetError as error:
        ways = {one.over: _Remedies(machine, chosen, one).text() for one in error.every}
        remedy, lines = ways[error.over], str(error).split("\n")
        if len(ways) > 1:
            remedy = "; ".join(f"{over}: {way}" for over, way in ways.items())
        elif error.over == "step":
            lines.pop()  # its remedy
        remedy += _nearest(chosen, error.every)
        told = OverBudgetError(
            "\n".join([*lines, remedy]),
            *(error.over, error.needed, error.allowed, error.every, error.instructions),
        )
        raise told from error


def _nearest(chosen: ChosenProgram, exceeded: Sequence[OverBudgetError]) -> str:
    """Return which of the compared programs is nearest to the budgets, with its options; or ""."""
    fields = {"flash": "flash_bytes", "instructions": "worst"}
    limits = {fields[one.over]: one.allowed for one in exceeded if one.over in fields}

    def beyond(one: Compared) -> float:
        return max(float(getattr(one.takes, field)) / most for field, most in limits.items())

    taken = [one for one in chosen.compared if one.chosen]
    others = [one for one in chosen.compared if one.options and not one.chosen]
    if len(limits) < len(exceeded) or not taken or not others:
        return ""
    near = min(others, key=beyond)
    if beyond(near) >= beyond(taken[0]):
        return ""
    return (
        f"; nearest of the choices is {' '.join(near.options)}, estimated at "
        f"{round(near.takes.worst):,} instructions and {round(near.takes.flash_bytes):,} bytes"
    )


class _Remedies:
    """The remedies against one exceeded budget."""

    def __init__(
        self, machine: KernelMachine, chosen: ChosenProgram, error: OverBudgetError
    ) -> None:
        self._machine, self._chosen, self._plan = machine, chosen, chosen.plan
        self._over, self._needed, self._allowed = error.over, error.needed, error.allowed
        self._own = str(error).rpartition("\n")[2]

    def text(self) -> str:
        """Return the last line of the error, or what is about this budget in it."""
        if self._over == "step":
            return self._without_the_exit()
        options = list(self._options())
        ways = [f"use {' or '.join(options)}"] if options else []
        ways += [f"leave out {one}" for one in self._left_out()]
        trained = "classes or features" if self._over == "RAM" else "support vectors"
        ways = ways or [f"train with fewer {trained}"]
        ways += [f"give a larger {one} if the board has more" for one in self._larger_budget()]
        return listed(ways)

    def _options(self) -> Iterator[str]:
        if self._chosen.program.early_exits and self._over != "array":
            yield instead("exact", self._plan.given)
        if self._over == "RAM":
            return
        if self._over == "instructions" and self._chosen.program.replay is not None:
            yield "--replay none"
        if self._has_better_format():
            yield "--format auto"
        if self._can_reduce():
            share = min(1.0, self._allowed / self._needed)
            yield f"--reduce N with N below {max(2, int(share * self._machine.n_support_vectors))}"

    def _left_out(self) -> Iterator[str]:
        for option in FLIGHT:
            if self._over in option.takes and option.is_asked(self._plan.options):
                yield option.asked

    def _larger_budget(self) -> Iterator[str]:
        target = self._plan.target
        most = {
            "flash": ("--max-flash", target.emulated_flash_bytes),
            "RAM": ("--max-ram", target.emulated_ram_bytes),
        }
        if self._over in most:
            option, emulated = most[self._over]
            if emulated is None or emulated > self._needed:
                yield option

    def _without_the_exit(self) -> str:
        """Return what the step's error says, but no `--exclude` of an exit that is asked for."""
        before, exclude, name = self._own.partition("leave it out with --exclude ")
        if self._plan.stages.listed is not None and exclude:
            return f"{before}leave it out of --stages"
        if name in (self._plan.given.require or ()):
            return f"{before}use --exclude {name} without --require"
        return self._own

    def _has_better_format(self) -> bool:
        """Return whether `--format auto` would take a format that may meet the budget."""
        plan, lowered = self._plan, self._chosen.lowered
        fixed = keeps_float32(plan.options)
        if plan.number_format == "auto" or fixed or self._machine.task is Task.REGRESSION:
            return False
        flash = plan.budgets.flash_bytes
        try:
            other, _ = choose_format(self._machine, plan.target, plan.name, flash)
        except InputError:
            return False
        if self._over == "instructions":
            worst = [estimate_of_sum(one, plan.target).worst for one in (other, lowered)]
            return worst[0] < worst[1]
        tables = other.program.tables()
        if self._over == "array":
            return max(table.n_bytes for table in tables) <= self._allowed
        return stored_bytes(other.program) * plan.options.copies <= self._allowed

    def _can_reduce(self) -> bool:
        options = self._plan.options
        if is_excluded("reduce", options):
            return False
        if options.replay == "float64" or options.reduce == "auto":
            return False
        try:
            require_reducible(self._machine, self._plan)
        except KmcompileError:
            return False
        return self._machine.n_support_vectors > 1
