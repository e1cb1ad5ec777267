"""How queries go through the stages of a program: early exits, the exact sum, the replay."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.batch import Batch, joined
from kmcompile.program.program import Program
from kmcompile.program.results import RESULT_DTYPE, Status
from kmcompile.program.stages import Always, EarlyExit, PairSum, Stage
from kmcompile.program.stages.labels.proved import proved


@dataclass(frozen=True, slots=True, eq=False)
class Answering:
    """What is known of each query; the arrays are written as the queries go through the stages.

    Parameters
    ----------
    program : Program
    rows : ndarray of shape (n_accepted,), int64
        The queries that are accepted.
    results : structured ndarray of shape (n_queries,), RESULT_DTYPE
    operations, kernels : ndarray of shape (n_queries, n_stages), int64
    pairs : ndarray of shape (n_queries,), int64
        As `Answers` has them.
    turns : ndarray of shape (n_queries, n_decisions), int32
        The turns of a pair sum (`PairSum.vote`); 0 of other sums.
    """

    program: Program
    rows: NDArray[np.int64]
    results: NDArray[np.void]
    operations: NDArray[np.int64]
    kernels: NDArray[np.int64]
    pairs: NDArray[np.int64]
    turns: NDArray[np.int32]

    @classmethod
    def of(
        cls,
        program: Program,
        status: NDArray[np.int32],
        batch: Batch,
        exact: Batch | None = None,
    ) -> Answering:
        """Return what the program answers.

        Parameters
        ----------
        program : Program
        status : ndarray of shape (n_queries,), int32
        batch : Batch
            The accepted queries after preprocessing.
        exact : Batch or None
            The batch after the exact sum, if it is known already.
        """
        n = len(status)
        operations = np.full((n, len(program.stages)), -1, dtype=np.int64)
        made = cls(
            program,
            np.flatnonzero(status == Status.OK),
            np.zeros(n, dtype=RESULT_DTYPE),
            operations,
            np.zeros_like(operations),
            np.zeros(n, dtype=np.int64),
            np.zeros((n, program.n_decisions), dtype=np.int32),
        )
        made.results["status"] = status
        made._run(batch, exact)
        return made

    def _run(self, batch: Batch, exact: Batch | None) -> None:
        program, replay = self.program, self.program.replay
        usual = None if program.monitor is None else program.monitor.finds_usual(batch)
        self.operations[self.rows, 0] = batch.operations + program.float_codes_operations
        at, left = self._through_exits(batch)
        at, left = self._within_budget(at, left)
        n_exits = len(program.early_exits)
        if replay is not None and replay.at_once:
            self._answer(at, replay.run(left), n_exits + 1, replay)
        else:
            labelled = self._sum(at, left, exact)
            self._answer(at, labelled, n_exits, program.ends.exact)
            if replay is not None:
                evaluations = labelled.allowed - labelled.kernel_evals
                open_ = ~labelled.settled & (evaluations >= replay.kernel_evaluations())
                answer = replay.run(labelled.chosen(open_))
                self._answer(at[open_], answer, n_exits + 1, replay)
        if usual is not None:
            self.results["in_range"][self.rows] = usual

    def _through_exits(self, batch: Batch) -> tuple[NDArray[np.intp], Batch]:
        """Return which queries of the batch no early exit decides, and the batch of these."""
        at, ends = np.arange(len(batch)), self.program.ends
        for number, stage in enumerate(self.program.exits, start=1):
            weight = ends.weight(stage)
            if isinstance(stage, EarlyExit):
                # A proof holds for inputs that are out of the calibrated range, too.
                looked_at = batch.in_range if stage.is_calibrated else batch.in_range | True
                before, asked = batch.chosen(looked_at), at[looked_at]
                part, decided = stage.decide(before, ends)
                spent = weight * (part.operations - before.operations)
                self.operations[self.rows[asked], number] = spent
                self.kernels[self.rows[asked], number] = part.kernel_evals - before.kernel_evals
                place = self.program.exit_stages.index(stage)
                self._answer(asked[decided], part.chosen(decided), place, stage)
                batch = joined(batch.chosen(~looked_at), part.chosen(~decided))
                at = np.concatenate([at[~looked_at], asked[~decided]])
            else:
                assert isinstance(stage, Always)
                spent = weight * stage.operations_of(batch)
                self.operations[self.rows[at], number] = spent
                batch = stage.run(batch)
                batch = replace(batch, operations=batch.operations + spent)
        return at, batch

    def _within_budget(self, at: NDArray[np.intp], batch: Batch) -> tuple[NDArray[np.intp], Batch]:
        """Return the queries that may evaluate the kernels of the sum; the others are answered."""
        program = self.program
        needed = program.ends.exact.kernel_evaluations() - batch.known.astype(np.int64)
        stops = batch.allowed - batch.kernel_evals < needed
        if stops.any():
            rest = proved(batch.chosen(stops), program.ends.label)
            last = [stage for stage in program.early_exits if not stage.is_calibrated][-1]
            self._answer(at[stops], rest, program.exit_stages.index(last), last)
        return at[~stops], batch.chosen(~stops)

    def _sum(self, at: NDArray[np.intp], batch: Batch, exact: Batch | None) -> Batch:
        """Return the batch after the exact sum, with its labels."""
        program, ends, rows = self.program, self.program.ends, self.rows[at]
        if exact is None:
            summed = ends.exact.run(of_received(program, batch))
        else:
            summed = exact.chosen(at)
            evaluated = summed.kernel_evals + batch.kernel_evals - batch.known
            summed = replace(summed, in_range=batch.in_range, kernel_evals=evaluated)
        self.pairs[rows] = program.n_decisions
        self.operations[rows, -1] = ends.label.operations()
        if isinstance(ends.exact, PairSum):
            labelled, spent, turns = ends.exact.vote(batch, summed)
            self.turns[rows], self.pairs[rows] = turns, np.count_nonzero(turns, axis=1)
            self.operations[rows, -1] = ends.exact.label_operations
        elif program.box is not None:
            labelled, of_box = program.box.run(batch, of_received(program, summed), ends)
            spent = ends.exact.operations_of(batch) + of_box
        else:
            labelled, spent = ends.label.run(summed), ends.exact.operations_of(batch)
        self.operations[rows, -2] = spent
        self.kernels[rows, -2] = labelled.kernel_evals - batch.kernel_evals
        return labelled

    def _answer(self, at: NDArray[np.intp], batch: Batch, number: int, stage: Stage) -> None:
        """Write the results of some queries, which a stage has answered."""
        results = np.zeros(len(batch), dtype=RESULT_DTYPE)
        results["label"], results["value"] = batch.label, batch.value
        results["lower"], results["upper"] = batch.lower, batch.upper
        results["kernel_evals"], results["stage"] = batch.kernel_evals, number
        results["certified"] = batch.settled & (not stage.is_calibrated)
        results["in_range"] = batch.in_range
        self.results[self.rows[at]] = results


def of_received(program: Program, batch: Batch) -> Batch:
    """Return the batch for a sum: of the inputs as received, without those within a tolerance."""
    return batch if program.box is None else replace(batch, deviation=batch.received)
