"""Which options go with the task of a model, known once it is read."""

from __future__ import annotations

import dataclasses

from kmcompile.errors import UsageError
from kmcompile.ir.kernel_machine import Task
from kmcompile.option_values import DEFAULT_PROMISE, named
from kmcompile.options import Options


def for_task(options: Options, task: Task) -> Options:
    """Return the options of a machine's task: mode certified is a regression's with samples, too.

    Raises
    ------
    UsageError
        If an option is for another task, or has no effect on a regression.

    Examples
    --------
    >>> for_task(Options(tolerance=0.1), Task.BINARY)
    Traceback (most recent call last):
    kmcompile.errors.UsageError: --tolerance 0.1: this model gives labels, not values
    leave it out
    """
    if task is not Task.REGRESSION:
        if options.tolerance is not None:
            asked = named(options, ("tolerance",))
            raise UsageError(f"{asked}: this model gives labels, not values\nleave it out")
        return options
    statistical = options.mode == "statistical"
    asked = named(options, (*(("mode",) if statistical else ()), *DEFAULT_PROMISE))
    if asked:
        raise UsageError(
            f"{asked}: this model is a regression, whose exits are all proved\n"
            "leave it out; use --tolerance T for early answers"
        )
    if options.data is not None and options.mode is None:
        options = dataclasses.replace(options, mode="certified")
    if options.tolerance is None and options.replay == "float64":
        raise UsageError(
            "--replay float64: without --tolerance no value of a regression is summed again\n"
            "leave it out or give --tolerance T"
        )
    if options.tolerance is not None and options.mode == "exact" and options.replay != "float64":
        raise UsageError(
            f"--tolerance {options.tolerance}: with --mode exact no stage stops at it\n"
            "leave one of them out or use --replay float64"
        )
    return options
