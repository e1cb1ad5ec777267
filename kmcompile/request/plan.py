"""The plan of a compilation: all requests, read and checked once, with every default resolved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError, UsageError
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.numeric.width import IN_BYTES
from kmcompile.readers.reading import Reading
from kmcompile.readers.samples.file import Part, read_samples
from kmcompile.request.asked_mode import settling, with_settled_mode
from kmcompile.request.asked_promise import AskedPromise
from kmcompile.request.asked_stages import AskedStages
from kmcompile.request.budgets import Budgets, budgets
from kmcompile.request.counted import Counted
from kmcompile.request.flight import keeps_float32
from kmcompile.request.input_tolerance import input_tolerance
from kmcompile.request.option_values import (
    check_double,
    check_options,
    without_default_replay,
    without_defaults,
)
from kmcompile.request.options import Options
from kmcompile.request.prefix import check_prefix, check_telemetry_prefix, prefix_from
from kmcompile.request.task_options import for_task
from kmcompile.target import Target, load_target

Mode = Literal["exact", "certified", "statistical"]
Optimize = Literal["balanced", "mean", "worst", "flash"]


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The request for one model and one target, complete.

    Parameters
    ----------
    options : Options
        Options as in line 1 of the C and in the report, without paths and repeated defaults. Those
        for flight are asked here, where nothing is made of them.
    given : Options
        Options as the user gave them, for advice.
    target : Target
    name : str
        Prefix of every C name.
    command : str
        Line 1 of the C.
    model_name : str
        Name of the model's file, without folders; empty for a fitted estimator.
    mode : {"exact", "certified", "statistical"}
        Which early exits are allowed.
    number_format : {"float32", "int16", "int8", "auto"}
        "auto" compares all formats by their share of certified labels; a regression has no such
        share, and not all formats go with options for flight: there "auto" is float32.
    mode_is_default : bool
        Whether no option asks for the mode: it is statistical only because there are samples.
    replay : {"none", "where_double_is_float64", "always"}
        On which targets a replay follows the exact sum if this leaves a label open.
    replay_required : bool
        Whether a replay that does not fit is an error.
    optimize : {"balanced", "mean", "worst", "flash"}
        What the choice of exits and formats makes small first (`program.wanted`).
    promise : AskedPromise
    stages : AskedStages
        The early exits that the program must have, may have and must not have.
    tolerance : float or None
        For a regression, the width of an interval that settles a query; None: every value comes
        from the exact sum.
    input_tolerance : ndarray of shape (n_features,), float64, or None
        How far each raw feature may be off; None: answers are about the received input alone.
    budgets : Budgets
    flash_is_given : bool
        Whether the user gave the flash budget; exits may then fill it.
    samples, test_samples : ndarray of shape (n, n_features), float32
        The calibration and the test samples as the C receives them; empty without a file.
    truth, test_truth : ndarray of shape (n,), int64, or None
        The right labels of these samples as indices of the classes: of the calibration samples
        where a loss is promised, of the test samples where the file has labels.
    not_compared : str
        Why the labels in the file of test samples are not compared; "" if they are, or not there.
    n_jobs : int or None
        joblib's number of jobs.
    taught : ndarray of shape (n, n_features), float32, or None
        Samples on which no promise rests: they may choose among number formats.
    counted : Counted or None
        Which samples count as evidence; None: all of them do.
    """

    options: Options
    given: Options
    target: Target
    name: str
    command: str
    model_name: str
    mode: Mode
    mode_is_default: bool
    number_format: str
    replay: Literal["none", "where_double_is_float64", "always"]
    replay_required: bool
    optimize: Optimize
    promise: AskedPromise
    stages: AskedStages
    tolerance: float | None
    input_tolerance: Float64Array | None
    budgets: Budgets
    flash_is_given: bool
    samples: Float32Array
    test_samples: Float32Array
    n_jobs: int | None
    taught: Float32Array | None = None
    counted: Counted | None = None
    truth: NDArray[np.int64] | None = None
    test_truth: NDArray[np.int64] | None = None
    not_compared: str = ""

    @property
    def in_image(self) -> bool:
        """Whether the tables lie in an image instead of the code."""
        return self.options.in_image

    @property
    def step(self) -> int | None:
        """The most multiply-adds of one step, if the C is to answer in steps, too."""
        return self.options.step

    @property
    def format_samples(self) -> Float32Array | None:
        """Calibration samples that may judge a number format, shape (n, n_features), or None.

        The samples show what 8-bit codes certify, for a warning. Choosing among programs by them
        would weaken a promise that is calibrated on them. In mode statistical, `--format auto`
        therefore uses those only on which no promise rests.
        """
        if self.number_format not in (*IN_BYTES, "auto"):
            return None
        usual = self.samples
        if self.number_format == "auto" and self.mode == "statistical":
            usual = usual[:0]
        samples = usual if self.taught is None else self.taught
        return samples if len(samples) else None

    def with_samples(self, rows: NDArray[np.intp], counted: Counted | None = None) -> Plan:
        """Return the plan with some of the calibration samples, and which of them count."""
        truth = None if self.truth is None else self.truth[rows]
        samples = np.ascontiguousarray(self.samples[rows])
        return replace(self, samples=samples, truth=truth, counted=counted)

    def in_mode_certified(self) -> Plan:
        """Return the plan with mode certified instead, and with the replay of that mode.

        Exits that must be in the program are then chosen by their cost, like all others.
        """
        replay = _replay(self.options, "certified")
        stages = AskedStages(excluded=self.stages.excluded, unpaid=self.stages.unpaid)
        return replace(self, mode="certified", replay=replay, replay_required=False, stages=stages)


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """The request before the model is read, so that usage errors are found first.

    Parameters
    ----------
    given : Options
        Options as the user gave them.
    options : Options
        Options without repeated defaults, with the target named by its file.
    target : Target
    name : str
        Prefix of every C name.
    model_name : str
        Name of the model's file, as in `Plan`.
    kind : str
        Name of the model in line 1 of the C: the model's file, or the estimator's class.
    folder : Path or None
        Output folder; None: nothing is written.
    """

    given: Options
    options: Options
    target: Target
    name: str
    model_name: str
    kind: str
    folder: Path | None

    @classmethod
    def of(cls, model: Path | object, given: Options) -> Request:
        """Return the request for a model, which is a path or a fitted estimator.

        Raises
        ------
        UsageError
            If an option or a combination of them cannot be used.
        BudgetError
            If a budget is beyond what the emulated machine has.
        """
        options = without_defaults(given)
        check_options(options)
        target = _at_clock(load_target(options.target), options.clock)
        stem = model.stem if isinstance(model, Path) else type(model).__name__
        name = prefix_from(stem) if options.name is None else check_prefix(options.name)
        if options.telemetry:
            check_telemetry_prefix(name)
        if options.replay == "float64":
            check_double(target)
        budgets(target, options.max_flash, options.max_ram)
        options = replace(
            with_settled_mode(without_default_replay(options), given),
            target=Path(options.target).name,
            format=_unless(options.format, target.number_format),
            name=_unless(options.name, prefix_from(stem)),
            max_flash=_unless(options.max_flash, target.flash_bytes),
            max_ram=_unless(options.max_ram, target.ram_bytes),
        )
        folder = given.out
        if folder is None and isinstance(model, Path):
            folder = Path(f"{stem}-{target.name}")
        model_name = _printable(model.name) if isinstance(model, Path) else ""
        return cls(given, options, target, name, model_name, model_name or stem, folder)

    def plan(self, machine: KernelMachine) -> Plan:
        """Return the plan for the machine that was read from the model.

        Raises
        ------
        UsageError
            If an option is for another task.
        InputError
            If the samples cannot be used.
        """
        options = for_task(self.options, machine.task, self.given)
        samples, truth, _ = self._read(options.data, machine, "calibration")
        if options.loss is not None and truth is None:
            raise InputError(
                f"--loss {options.loss}: --data has no labels y, which say what answer is right\n"
                "give samples with labels, or --risk P, which needs none"
            )
        tests, test_truth, not_compared = self._read(options.test_data, machine, "test")
        mode = cast(Mode, options.mode_asked)
        number_format = options.format or self.target.number_format
        only_float32 = machine.task is Task.REGRESSION or keeps_float32(options)
        if number_format == "auto" and only_float32:
            number_format = "float32"
        return Plan(
            options=options,
            given=self.given,
            target=self.target,
            name=self.name,
            command=options.canonical_command(self.kind),
            model_name=self.model_name,
            mode=mode,
            mode_is_default=not settling(self.given),
            number_format=number_format,
            replay=_replay(options, mode),
            replay_required=self.given.replay == "float64",
            optimize=cast("Optimize", options.optimize or "balanced"),
            promise=AskedPromise.of(options),
            stages=AskedStages.of(options),
            tolerance=options.tolerance,
            input_tolerance=input_tolerance(options, machine.n_features),
            budgets=budgets(
                self.target, self.given.max_flash, self.given.max_ram, options.max_instructions
            ),
            flash_is_given=options.max_flash is not None,
            samples=samples,
            test_samples=tests,
            n_jobs=options.n_jobs,
            truth=truth,
            test_truth=test_truth,
            not_compared=not_compared,
        )

    def _read(
        self, path: Path | None, machine: KernelMachine, part: Part
    ) -> tuple[Float32Array, NDArray[np.int64] | None, str]:
        """Return the samples of a file, their labels, and why labels there are not compared."""
        if path is None:
            return np.zeros((0, machine.n_features), dtype=np.float32), None, ""
        samples = read_samples(path, machine.n_features, part)
        promised = self.options.loss is not None
        if not promised and (part == "calibration" or machine.task is Task.REGRESSION):
            return samples.X, None, ""
        trained = machine.trained_classes
        try:
            return samples.X, samples.class_numbers(machine.classes, path.name, trained), ""
        except InputError as error:
            if promised:
                raise
            return samples.X, None, f"labels are not compared: {error}"


def reading_of(options: Options) -> Reading:
    """Return how the model's file is read, and the files that belong to it."""
    return Reading(
        trust_pickle=options.trust_pickle,
        entry=tuple(options.entry or ()),
        before=cast("tuple[Path, ...]", options.before or ()),
        labels=options.labels,
    )


def _unless(value: Any, default: Any) -> Any:
    """Return a value unless it is the default."""
    return None if value == default else value


def _replay(options: Options, mode: Mode) -> Literal["none", "where_double_is_float64", "always"]:
    if options.replay is not None:
        return "always" if options.replay == "float64" else "none"
    by_default = mode == "certified" and options.input_tolerance is None
    return "where_double_is_float64" if by_default else "none"


def _printable(name: str) -> str:
    """Return a file name without bytes that are not text."""
    return name.encode("utf-8", "replace").decode("utf-8")


def _at_clock(target: Target, clock: float | str | None) -> Target:
    """Return the target at the clock of `--clock`.

    Raises
    ------
    UsageError
        The cycles of the target are not known, so that no time follows from a clock.
    """
    if clock is None:
        return target
    if target.time is None or not target.time.core:
        why = (target.time and target.time.unknown) or "its file has no [time]"
        raise UsageError(f"--clock: the cycles of {target.name} are not known: {why}; leave it out")
    return replace(target, time=target.time.at(int(clock)))
