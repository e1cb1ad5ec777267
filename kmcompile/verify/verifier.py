"""The verifier: runs a program on host and target, and checks the answers in both ways."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from kmcompile.build import build
from kmcompile.build.artifact import Artifact
from kmcompile.build.recipe import Recipe
from kmcompile.exits.candidates.samples import accepted_rows, none_accepted
from kmcompile.exits.statistical.calibration import Promise
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.likely_inputs import edge_inputs, generate
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.interpreter import Answers, Status, interpret
from kmcompile.program.program import Program
from kmcompile.request.plan import Plan
from kmcompile.run import RunResult, runner_for
from kmcompile.run.runner import Counted
from kmcompile.target import Target, load_target
from kmcompile.verify.box import check_box
from kmcompile.verify.checked import ExactRun
from kmcompile.verify.checks import ModelCheck, check_bounded, check_codes, check_exact
from kmcompile.verify.codes import codes_beside, inputs_beside_codes, query_words, within_scale
from kmcompile.verify.failed_check import FailedCheckError
from kmcompile.verify.failure import failure_of
from kmcompile.verify.finding import Broken, Finding
from kmcompile.verify.findings import Findings
from kmcompile.verify.levels import why_no_host, why_no_target
from kmcompile.verify.monitor_inputs import monitor_inputs
from kmcompile.verify.paths import path_inputs
from kmcompile.verify.queries import Queries, Source
from kmcompile.verify.seen import seen_note
from kmcompile.verify.stepping import Stepping, chosen_rows, measure_steps
from kmcompile.verify.worst_case import check_cycles, check_worst_case, static_worst_case

_LEAST_QUERIES = 1000
_FEWEST_BESIDE_TEST_DATA = 200
_GENERATED_WORK = 500_000_000
"""Largest number of multiply-adds of the exact sums of queries generated beside test data."""

_MOST_HELD_OUT = 1000
_EXACT_QUERIES = 32
"""Number of queries for which instructions of the exact sum are counted."""

_SEED = 20030703


def collect_queries(
    machine: KernelMachine,
    program: Program,
    plan: Plan,
    held_out: Float32Array | None = None,
    calibrated_with: Float32Array | None = None,
) -> Queries:
    """Return the user's samples, generated inputs, inputs at the edges and of every path.

    Parameters
    ----------
    machine : KernelMachine
    program : Program
    plan : Plan
    held_out : ndarray of shape (n, n_features), float32, optional
        The calibration samples to which no threshold was fitted. They serve as queries without test
        data; mode certified, which fits no threshold, uses all samples. Of many, some are taken.
    calibrated_with : ndarray of shape (n, n_features), float32, optional
        All calibration samples. Test data among them measure no risk.

    Raises
    ------
    InputError
        If the program accepts none of the queries.
    """
    given = np.zeros((0, machine.n_features), dtype=np.float32)
    source: Source = "generated"
    seen = None
    if len(plan.test_samples):
        given = plan.test_samples
        source = "test-data"
        if calibrated_with is not None:
            seen = seen_note(given, calibrated_with)
    elif len(plan.samples):
        given = _some(plan.samples if held_out is None else held_out)
        source = "calibration" if program.mode == "certified" else "held-out"
    made = within_scale(program, generate(machine, _n_generated(machine, source)))
    edges = edge_inputs(machine, program.prepare.limit)
    edges = np.concatenate([edges, inputs_beside_codes(program, np.concatenate([given, made]))])
    note = f"queries: {len(given)} from files, {len(made)} generated, {len(edges)} at the edges"
    n_given, n_ordinary = len(given), len(given) + len(made)
    if not accepted_rows(program.prepare, np.concatenate([given, made])).any():
        n_ordinary += len(edges)  # of a machine that is constant but for inputs beyond the limit
        if not accepted_rows(program.prepare, edges).any():
            raise none_accepted(float(program.prepare.limit))
    X, notes = [given, made, edges], [note]
    if seen is not None:
        source = "calibration"
        notes.append(seen)
    pool = np.concatenate([given, made])
    if program.early_exits:
        paths, told = path_inputs(program.without_monitor(), pool)
        X.append(paths)
        notes += told
    if program.monitor is not None:
        parted, told = monitor_inputs(program, pool)
        X.append(parted)
        notes += told
    truth = plan.test_truth if len(plan.test_samples) else None
    of_loss = plan.promise.what == "loss"
    return Queries(np.concatenate(X), source, n_given, n_ordinary, tuple(notes), truth, of_loss)


def _n_generated(machine: KernelMachine, source: Source) -> int:
    """Return the number of queries to generate, fewer for a large machine with test data."""
    if source != "test-data":
        return _LEAST_QUERIES
    work = machine.n_support_vectors * machine.support_vectors.shape[1]
    return int(np.clip(_GENERATED_WORK // work, _FEWEST_BESIDE_TEST_DATA, _LEAST_QUERIES))


def _some(samples: Float32Array) -> Float32Array:
    """Return samples evenly spread over the file, which may be sorted by class."""
    if len(samples) <= _MOST_HELD_OUT:
        return samples
    chosen = np.random.default_rng(_SEED).permutation(len(samples))[:_MOST_HELD_OUT]
    return samples[np.sort(chosen)]


class Verifier:
    """The checks of one program, on the host and on its target: there `on` another emulator."""

    def __init__(
        self,
        machine: KernelMachine | None,
        program: Program,
        target: Target,
        queries: Queries,
        answers: Answers,
        tell: Callable[[str], None],
        promise: Promise | None = None,
        on: str = "",
    ) -> None:
        self._machine = machine
        self._program = program
        self._target = target
        self._queries = queries
        self._answers = answers
        self._tell = tell
        self._promise = promise
        self._on = on
        self._codes = None if program.codes is None else codes_beside(program, queries.X)
        self._of_codes = None if self._codes is None else interpret(program, self._codes)
        self._inputs = query_words(queries.X, self._codes)

    def verify(self, folder: Path, level: str | None) -> Findings:
        """Build, run and check the program on the machines that `level` and the tools allow.

        Parameters
        ----------
        folder : Path
            The folder of the emitted files.
        level : {"none", "host", "target"} or None
            None: the target if its tools are installed, otherwise the host with a note.

        Raises
        ------
        FailedCheckError
            If a check fails; its `failure` has the queries that show it.
        ToolError
            If a required tool is missing or fails.
        """
        try:
            return self._verify(folder, level)
        except FailedCheckError as error:
            error.failure = failure_of(
                error.finding,
                self._machine,
                self._program,
                self._queries,
                self._answers,
                self._codes,
                self._of_codes,
            )
            raise

    def _verify(self, folder: Path, level: str | None) -> Findings:
        """Return the findings as `verify` does, without the queries of a failed check."""
        recipe = Recipe.from_json((folder / "recipe.json").read_text(encoding="ascii"))
        no_target, warnings = why_no_target(self._target, level)
        no_host = why_no_host(level, bool(no_target))
        no_count = "" if self._target.emulator else "instructions are counted on emulators only"
        found = Findings(
            source=self._queries.source,
            skipped={"host": no_host, "target": no_target, "memory": no_target},
            no_cycles=no_target or no_count,
            warnings=warnings,
        )
        if not no_host:
            self._tell("building and running on the host")
            with build(recipe, folder, load_target("host")) as artifact:
                found = replace(found, host=self._check_exact(self._run(artifact, False), "host"))
                if self._target == artifact.toolchain:
                    found = replace(found, memory=artifact.memory)
        if not no_target:
            self._tell(f"building and running on {self._target.name}")
            with build(recipe, folder, self._target) as artifact:
                run = self._run(artifact, True)
                found = self._on_target(artifact, folder, run, found)
                no_count = run.no_instructions_reason or "not counted"
        elif found.memory is None and shutil.which(self._target.compiler.command) is not None:
            # The memory of an image can be measured without a run.
            self._tell(f"building for {self._target.name}")
            with build(recipe, folder, self._target) as artifact:
                found = replace(found, memory=artifact.memory)
        uncounted = "" if found.instructions is not None else no_count or no_target
        skipped = {**found.skipped, "instructions": uncounted}
        return replace(
            found,
            skipped={name: reason for name, reason in skipped.items() if reason},
            check=self._bounded_check() if found.host or found.target else None,
        )

    def _on_target(
        self, artifact: Artifact, folder: Path, run: RunResult, found: Findings
    ) -> Findings:
        """Return the findings with those of a run on the target."""
        found = replace(
            found,
            target=self._check_exact(run, self._target.name),
            memory=artifact.memory,
            painted_stack_bytes=self._painted(artifact, run),
            instructions=self._accepted(run.instructions),
            cycles=self._accepted(run.cycles),
            no_cycles=run.no_cycles_reason or "",
            worst_case=(worst := static_worst_case(artifact, folder)),
        )
        if run.instructions is not None:
            check_worst_case(worst, run.instructions, self._target.name)
        if run.cycles is not None:
            check_cycles(worst, run.cycles, self._target.name)
        does_more = len(self._program.exit_stages) > 1 or self._program.box is not None
        if does_more and found.instructions is not None:
            found = replace(found, exact_instructions=self._of_exact_sum(artifact))
        if self._program.step is not None:
            found = replace(found, stepping=self._in_steps(artifact, folder, run))
        return found

    def _run(self, artifact: Artifact, count: bool) -> RunResult:
        counted: Counted = "predict" if self._program.is_regression else "classify"
        on = self._on if artifact.toolchain.emulator is not None else ""
        runner = runner_for(artifact.toolchain, on)
        return runner.run(artifact, self._inputs, count_instructions=count, counted=counted)

    def _check_exact(self, run: RunResult, machine_name: str) -> ExactRun:
        return check_exact(self._answers, run, machine_name, self._of_codes)

    @property
    def _counted(self) -> np.ndarray:
        """Which queries the C accepts; their instructions are counted."""
        answers = self._answers if self._of_codes is None else self._of_codes
        answered: np.ndarray = answers.results["status"] == Status.OK
        return answered

    def _of_exact_sum(self, artifact: Artifact) -> float:
        """Return the mean instructions of the decision function over the first ordinary queries."""
        ordinary = self._counted[: self._queries.n_ordinary]
        rows = np.flatnonzero(ordinary)[:_EXACT_QUERIES]
        runner = runner_for(artifact.toolchain)
        run = runner.run(artifact, self._inputs[rows], count_instructions=True, counted="decision")
        assert run.instructions is not None
        return float(run.instructions.mean())

    def _in_steps(self, artifact: Artifact, folder: Path, run: RunResult) -> Stepping | None:
        """Return the instructions of the steps of some queries; None if none can be counted."""
        if run.instructions is None:
            return None
        forms = [one for one in (self._answers, self._of_codes) if one is not None]
        rows = chosen_rows(forms[-1], self._queries.n_ordinary)
        steps = [one.steps[rows] for one in forms if one.steps is not None]
        return measure_steps(artifact, folder, self._inputs[rows], steps, run.instructions[rows])

    def _accepted(self, counts: np.ndarray | None) -> np.ndarray | None:
        """Return the counts of the accepted queries."""
        return None if counts is None else counts[self._counted]

    def _painted(self, artifact: Artifact, run: RunResult) -> int | None:
        """Return the measured stack, after a check that the static figure covers it."""
        painted, static = run.painted_stack_bytes, artifact.stack_bytes
        if painted is not None and static is not None and painted > static:
            raise FailedCheckError(
                f"{self._target.name}: {painted} bytes of stack were used, more than the "
                f"{static} that the compiler's figures allow",
                Finding(Broken.STACK, machine=self._target.name),
            )
        return painted

    def _bounded_check(self) -> ModelCheck | None:
        """Return the bounded check, or None without the model."""
        if self._machine is None:
            return None
        self._tell("checking against the float64 model")
        check = check_bounded(
            self._machine,
            self._queries,
            self._answers,
            self._program.early_exits,
            self._promise,
        )
        if self._codes is not None and self._of_codes is not None:
            check_codes(self._machine, self._program, self._codes, self._of_codes)
        if self._program.box is not None:
            self._tell("checking points within the input tolerance")
            within = check_box(self._machine, self._program, self._queries, self._answers)
            check = replace(check, within_tolerance=within)
        return check
