"""What a compilation is asked for: read and checked once, with nothing left to resolve."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.arrays import Float32Array
from kmcompile.readers.samples.file import Part, read_samples
from kmcompile.request.budgets import Budgets, budgets
from kmcompile.request.option_values import check_options, without_default_replay, without_defaults
from kmcompile.request.options import DEFAULT_RISK, Options
from kmcompile.request.prefix import check_prefix, prefix_from
from kmcompile.request.task_options import for_task
from kmcompile.target import Target, load_target

Mode = Literal["exact", "certified", "statistical"]


@dataclass(frozen=True, slots=True)
class AskedPromise:
    """How statistical exits get their thresholds, and what is promised of them.

    Parameters
    ----------
    thresholds : {"risk", "maxsmoothed", "simple"}
        Only "risk" promises anything.
    risk : float
        The largest probability of another label, where it is not "auto".
    risk_is : {"given", "default", "auto"}
        "auto": the least that the samples support. The default gives way to it where no promise is
        possible.
    control : {"guaranteed", "expected"}
    """

    thresholds: Literal["risk", "maxsmoothed", "simple"]
    risk: float
    risk_is: Literal["given", "default", "auto"]
    control: Literal["guaranteed", "expected"]

    @classmethod
    def of(cls, options: Options) -> AskedPromise:
        """Return what options without repeated defaults ask for."""
        risk_is: Literal["given", "default", "auto"] = "given"
        if options.risk is None or options.risk == "auto":
            risk_is = "default" if options.risk is None else "auto"
        return cls(
            cast("Literal['risk', 'maxsmoothed', 'simple']", options.thresholds or "risk"),
            float(options.risk) if risk_is == "given" and options.risk else DEFAULT_RISK,
            risk_is,
            "expected" if options.risk_control == "expected" else "guaranteed",
        )


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What is asked for one model and one target.

    Parameters
    ----------
    options : Options
        As line 1 of the C and the report have them: no paths, and nothing that merely repeats a
        default.
    target : Target
    name : str
        Prefix of every C name.
    command : str
        Line 1 of the C.
    model_name : str
        Of the model's file, without folders; empty where a fitted estimator was given.
    mode : {"exact", "certified", "statistical"}
        Which early exits are allowed.
    number_format : {"float32", "int16", "int8", "auto"}
        "auto" compares all of them; not for a regression, whose format no share of certified
        labels can choose.
    replay : {"none", "where_double_is_float64", "always"}
        Where the exact sum is replayed, if it leaves a label open.
    replay_required : bool
        Whether a replay that does not fit is an error.
    promise : AskedPromise
    tolerance : float or None
        Of a regression: the width of an interval at which a stage stops; None: every value is the
        exact sum.
    budgets : Budgets
    flash_is_given : bool
        Whether the flash was asked for: then exits may fill it.
    samples, test_samples : ndarray of shape (n, n_features), float32
        The calibration and the test samples as the C receives them; none where no file was given.
    n_jobs : int or None
        joblib's number of jobs.
    """

    options: Options
    target: Target
    name: str
    command: str
    model_name: str
    mode: Mode
    number_format: str
    replay: Literal["none", "where_double_is_float64", "always"]
    replay_required: bool
    promise: AskedPromise
    tolerance: float | None
    budgets: Budgets
    flash_is_given: bool
    samples: Float32Array
    test_samples: Float32Array
    n_jobs: int | None

    @property
    def format_samples(self) -> Float32Array | None:
        """The calibration samples that a number format may be judged by, (n, n_features) float32.

        They tell what 8 bits certify, and whether it is enough: to refuse a program takes nothing
        from a promise that is calibrated on these samples. To choose one of several programs by
        them would, so in mode statistical `--format auto` does without.
        """
        measures = self.number_format == "int8" or (
            self.number_format == "auto" and self.mode != "statistical"
        )
        return self.samples if measures and len(self.samples) else None

    def in_mode_certified(self) -> Plan:
        """Return the plan with mode certified instead, and the replay that goes with it."""
        replay = _replay(self.options.replay, "certified")
        return replace(self, mode="certified", replay=replay, replay_required=False)


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What was asked before the model is read: usage is checked first.

    Parameters
    ----------
    given : Options
        As they were given.
    options : Options
        Without what merely repeats a default, the target by its file's name.
    target : Target
    name : str
        Prefix of every C name.
    model_name : str
        As in `Plan`.
    kind : str
        The model file's name, or the estimator's class: what line 1 of the C calls the model.
    folder : Path or None
        Where the output goes; None: it is not written.
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
        """Return what is asked for a model, a path or a fitted estimator.

        Raises
        ------
        UsageError
            If an option or a combination of them cannot be used.
        BudgetError
            If a budget is beyond what the emulated machine has.
        """
        options = without_defaults(given)
        check_options(options)
        target = load_target(options.target)
        stem = model.stem if isinstance(model, Path) else type(model).__name__
        name = prefix_from(stem) if options.name is None else check_prefix(options.name)
        budgets(target, options.max_flash, options.max_ram)
        options = replace(
            without_default_replay(options),
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
        """Return the plan for the machine that the model is.

        Raises
        ------
        UsageError
            If an option is for another task.
        InputError
            If the samples cannot be used.
        """
        options = for_task(self.options, machine.task, self.given)
        mode = cast(Mode, options.mode_asked)
        number_format = options.format or self.target.number_format
        if number_format == "auto" and machine.task is Task.REGRESSION:
            number_format = "float32"
        return Plan(
            options=options,
            target=self.target,
            name=self.name,
            command=options.canonical_command(self.kind),
            model_name=self.model_name,
            mode=mode,
            number_format=number_format,
            replay=_replay(options.replay, mode),
            replay_required=self.given.replay == "float64",
            promise=AskedPromise.of(options),
            tolerance=options.tolerance,
            budgets=budgets(self.target, self.given.max_flash, self.given.max_ram),
            flash_is_given=options.max_flash is not None,
            samples=_read(options.data, machine.n_features, "calibration"),
            test_samples=_read(options.test_data, machine.n_features, "test"),
            n_jobs=options.n_jobs,
        )


def _unless(value: Any, default: Any) -> Any:
    """Return a value unless it is the default."""
    return None if value == default else value


def _replay(asked: str | None, mode: Mode) -> Literal["none", "where_double_is_float64", "always"]:
    if asked is None:
        return "where_double_is_float64" if mode == "certified" else "none"
    return "always" if asked == "float64" else "none"


def _read(path: Path | None, n_features: int, part: Part) -> Float32Array:
    if path is None:
        return np.zeros((0, n_features), dtype=np.float32)
    return read_samples(path, n_features, part).X


def _printable(name: str) -> str:
    """Return a file name without the bytes that are no text."""
    return name.encode("utf-8", "replace").decode("utf-8")
