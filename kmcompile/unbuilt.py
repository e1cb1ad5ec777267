"""What a model would be compiled to: nothing is written, built or run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

from kmcompile import pipeline
from kmcompile.choice.chosen import ChosenProgram
from kmcompile.choice.whole_program import choose_whole
from kmcompile.errors import UsageError
from kmcompile.leaf_budget import most_of_leaf
from kmcompile.monitor.held_out import hold_out
from kmcompile.monitor.monitored import with_monitor
from kmcompile.program.program import Program
from kmcompile.report.choices import choices_of
from kmcompile.request.options import Options
from kmcompile.request.plan import Request
from kmcompile.request.values import flag

Progress = Callable[[str], None]


def program_of(model_or_folder: Path, options: Options, progress: Progress) -> Program:
    """Return the program in an output folder, or the program that a model is compiled to.

    Budgets influence the choice of the program, but a program that exceeds them is returned, too.

    Parameters
    ----------
    model_or_folder : Path
    options : Options
        Options as for `pipeline.compile_model`; for a folder they must be the defaults.
    progress : callable
        Called with a few words as each step begins.

    Raises
    ------
    KmcompileError
    """
    if model_or_folder.is_dir():
        _refuse_options(model_or_folder, options)
        return pipeline.load(model_or_folder).program
    return _chosen(model_or_folder, options, progress).program


def choices(model: Path | object, options: Options, progress: Progress) -> list[dict[str, Any]]:
    """Return the programs that a model can be compiled to and that no other one beats.

    Parameters
    ----------
    model : Path or fitted estimator
    options : Options
        Options as for `pipeline.compile_model`.
    progress : callable
        Called with a few words as each step begins.

    Returns
    -------
    list of dict
        The field "choices" of report.json: what each program takes is estimated.

    Raises
    ------
    KmcompileError
    """
    return choices_of(_chosen(model, options, progress).compared)


def _chosen(model: Path | object, options: Options, tell: Progress) -> ChosenProgram:
    machine, plan = pipeline.asked(model, Request.of(model, options), tell)
    held, plan = hold_out(plan, tell)
    chosen = choose_whole(machine, plan, most_of_leaf(machine, plan, tell), tell)[1]
    return with_monitor(chosen, held, plan, tell)[0]


def _refuse_options(folder: Path, options: Options) -> None:
    """Raise UsageError if options are given for a folder, whose program already exists."""
    default = Options(n_jobs=options.n_jobs)
    names = [field.name for field in fields(Options)]
    given = [flag(name) for name in names if getattr(options, name) != getattr(default, name)]
    if given:
        raise UsageError(
            f"{folder}: its program is compiled already, so it takes no {', '.join(given)}\n"
            "give the model to see what it would be compiled to"
        )
