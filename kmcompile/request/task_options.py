"""The options that fit the task of a model, checked once the model is read."""

from __future__ import annotations

import dataclasses

from kmcompile.errors import UsageError
from kmcompile.model.kernel_machine import Task
from kmcompile.request.option_values import DEFAULT_PROMISE
from kmcompile.request.options import Options
from kmcompile.request.values import named


def for_task(options: Options, task: Task, asked: Options) -> Options:
    """Return the options for the task: a regression has mode certified even with samples.

    Parameters
    ----------
    options : Options
        The options without those that repeat a default.
    task : Task
    asked : Options
        The options as the user gave them.

    Raises
    ------
    UsageError
        If an option is for another task, or has no effect on a regression.

    Examples
    --------
    >>> for_task(Options(tolerance=0.1), Task.BINARY, Options(tolerance=0.1))
    Traceback (most recent call last):
    kmcompile.errors.UsageError: --tolerance 0.1: this model gives labels, not values
    leave it out
    """
    _check_loss(options, task)
    if task is not Task.REGRESSION:
        if asked.tolerance is not None:
            given = named(asked, ("tolerance",))
            raise UsageError(f"{given}: this model gives labels, not values\nleave it out")
        return options
    _check_regression(asked)
    if options.data is not None and options.mode is None:
        return dataclasses.replace(options, mode="certified")
    return options


def _check_loss(options: Options, task: Task) -> None:
    """Refuse a loss where no label of the samples says which answer is right."""
    why = {
        Task.REGRESSION: "a regression, whose values are not right or wrong",
        Task.ONE_CLASS: "a one-class model, which was trained without labels",
    }
    if options.loss is not None and task in why:
        raise UsageError(
            f"{named(options, ('loss',))}: a loss is of right labels, and this model is "
            f"{why[task]}\nleave it out"
        )


def _check_regression(asked: Options) -> None:
    """Refuse options that have no effect on a regression."""
    mode = ("mode",) if asked.mode == "statistical" else ()
    fields = [field for field in DEFAULT_PROMISE if (field, asked.reduce) != ("risk", "auto")]
    promise = named(asked, (*mode, *fields))
    if promise:
        raise UsageError(
            f"{promise}: this model is a regression, whose exits are all proved\n"
            "leave it out, and give --tolerance T for early answers"
        )
    if asked.tolerance is None and asked.replay == "float64":
        raise UsageError(
            "--replay float64: without --tolerance no value of a regression is summed again\n"
            "leave it out or give --tolerance T"
        )
    if asked.tolerance is not None and asked.mode == "exact" and asked.replay != "float64":
        raise UsageError(
            f"{named(asked, ('tolerance',))}: with --mode exact no stage stops at it\n"
            "leave one of them out or use --replay float64"
        )
