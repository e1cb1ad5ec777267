"""A chosen program, with the record of how it was chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kmcompile.choice.formats import FormatCandidate
from kmcompile.choice.front import Compared
from kmcompile.emit.layout import Layout
from kmcompile.emit.step_view import job_bytes
from kmcompile.exits.early_exits import WithExits
from kmcompile.exits.statistical.control import is_kept, require_kept
from kmcompile.lower.formats import Lowered, lacking_certificates
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.cost import exact_operations
from kmcompile.program.estimate import Estimate, estimate, with_mean
from kmcompile.program.interpreter import interpret
from kmcompile.program.memory import check_fits
from kmcompile.program.prices import instructions_of
from kmcompile.program.program import Program
from kmcompile.program.workspace import workspace_bytes
from kmcompile.request.plan import Plan


@dataclass(frozen=True, slots=True, eq=False)
class ChosenProgram:
    """The program that will be emitted, with the record of how it was chosen.

    Parameters
    ----------
    program : Program
    plan : Plan
    lowered : Lowered
        The machine after the passes and the exact program that it was lowered to.
    exits : WithExits
        The early exits and how they were fitted.
    judged : WithExits
        The exits by which the program is compared with others: `exits`, but where control samples
        have the last word.
    formats : tuple of FormatCandidate
        The number formats that `--format auto` compared.
    replay_note : str
        Why the program has no replay although one was asked for; otherwise empty.
    compared : tuple of Compared
        The programs that were compared, this one among them.
    measured : Estimate or None
        What the program takes by control samples; None if no other program is compared on them.
    """

    program: Program
    plan: Plan
    lowered: Lowered
    exits: WithExits
    judged: WithExits
    formats: tuple[FormatCandidate, ...] = ()
    replay_note: str = ""
    compared: tuple[Compared, ...] = ()
    measured: Estimate | None = None

    def measured_on(self, X: Float32Array) -> ChosenProgram:
        """Return the program with what it takes on samples of shape (n, n_features)."""
        if self.program.replay is not None:  # it takes no risk, and nothing changes by control
            return self
        cost = self.plan.target.cost
        spent = interpret(self.program, X).stage_operations
        mean = float(instructions_of(self.program, spent, cost).mean())
        return replace(self, measured=with_mean(self.program, mean, 0.0, cost))

    @property
    def takes(self) -> Estimate:
        """What the program takes, as far as it is known."""
        return self.measured or self.before_control

    @property
    def before_control(self) -> Estimate:
        """What the program takes, as far as it is known before control samples are asked.

        A program that is chosen by it keeps its promise: the samples that support the promise have
        no part in the choice.
        """
        exits = self.judged
        program = exits.before_control if exits.calibration is not None else self.program
        measured, cost = self.lowered.measured, self.plan.target.cost
        exact, operations = self.lowered.program, measured.operations
        if exits.calibration is None and exits.choice is None and program.sum is not exact.sum:
            exact, operations = program, float(exact_operations(program))
        open_share = 1.0 - measured.certified_share
        return estimate(program, exact, operations, exits.gain, open_share, cost)

    @property
    def keeps_promise(self) -> bool:
        """Whether the control samples support what is promised of the program."""
        calibration = self.exits.calibration
        return calibration is None or is_kept(calibration.promise, self.exits.wish)

    def require_kept(self) -> None:
        """Raise InputError if the control samples do not support what is promised."""
        if self.exits.calibration is not None:
            require_kept(self.exits.calibration.promise, self.exits.wish)

    @property
    def workspace_bytes(self) -> int:
        """Bytes of RAM that the caller must provide as the workspace of the emitted functions."""
        return workspace_bytes(self.program)

    @property
    def caller_bytes(self) -> int:
        """Bytes of RAM of a job, which has a workspace; without `--step` those of the workspace."""
        return job_bytes(Layout.of(self.program, self.plan.target)) or self.workspace_bytes

    @property
    def warnings(self) -> tuple[str, ...]:
        """What its number format costs, where the flash budget or the user chose it."""
        if self.formats:
            return tuple(one.warning for one in self.formats if one.warning)
        too_little = lacking_certificates(self.lowered)
        if not too_little:
            return ()
        rest = "another label may not be the model's"
        if self.program.replay is not None:
            rest = "the replay sums the others again"
        return (f"--format {self.lowered.program.number_format}: {too_little}; {rest}",)

    def check_fits(self) -> None:
        """Raise an error if the tables or the workspace alone exceed the plan's budgets.

        Raises
        ------
        BudgetError
            If the flash of the tables or the RAM of the workspace exceeds its budget, or if a piece
            of the program does not fit a step.
        """
        check_fits(self.program, self.caller_bytes, self.plan)
