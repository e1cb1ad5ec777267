"""The bench: one model compiled for several targets, and a table that compares them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from kmcompile import pipeline
from kmcompile.errors import (
    BudgetError,
    KmcompileError,
    OutputError,
    TargetError,
    ToolError,
    VerificationError,
)
from kmcompile.report import bench_table
from kmcompile.report.bench_table import FailedTarget
from kmcompile.request.asked_mode import with_settled_mode
from kmcompile.request.option_values import without_defaults
from kmcompile.request.options import Options
from kmcompile.target import Target, chosen_targets, list_targets
from kmcompile.text.figures import counted
from kmcompile.whole_file import write_whole

TABLE = "bench.csv"
PAGE = "bench.html"
_BEFORE_OPTIONS = ("kmcompile", "MODEL", "--target", "host")

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Bench:
    """The results of a bench.

    Attributes
    ----------
    reports : dict
        Name of a target -> content of report.json, for each target that succeeded.
    failures : tuple of FailedTarget
        The targets that failed: no room, a missing tool, or a failed verification.
    refuted : bool
        Whether verification failed on a target.
    folder : Path
    """

    reports: dict[str, dict[str, Any]]
    failures: tuple[FailedTarget, ...]
    refuted: bool
    folder: Path


def bench(model: Path, options: Options, names: str, progress: Progress) -> Bench:
    """Compile a model for several targets, and write the table as CSV and as a page.

    Parameters
    ----------
    options : Options
        The options of each compilation. `out` is the folder of the bench, by default
        `<model>-bench`, which has an output folder for each target.
    names : str
        Names of targets separated by commas, or "all".

    Raises
    ------
    KmcompileError
        If the model or the options cannot be used, if no target succeeds, or if the folder cannot
        be written.
    """
    chosen = chosen_targets(names)
    own = {Path(name).stem: name for name in names.split(",") if name.endswith(".toml")}
    folder = options.out or Path(f"{model.stem}-bench")
    _check_ours(folder, chosen)
    reports: dict[str, dict[str, Any]] = {}
    failures: list[FailedTarget] = []
    error: KmcompileError | None = None
    for target in chosen:
        asked = replace(options, target=own.get(target.name, target.name), out=folder / target.name)
        try:
            told = partial(_tell, progress, target.name)
            compiled = pipeline.compile_model(model, asked, told, compares_modes=False)
        except (VerificationError, BudgetError, ToolError, TargetError) as failed:
            failures.append(FailedTarget(target.name, " ".join(str(failed).split())))
            if error is None or isinstance(failed, VerificationError):
                error = failed
            continue
        reports[target.name] = compiled.report
    if error is not None and not reports:
        raise error
    made = list(reports.values())
    page = bench_table.page_bytes(
        f"{model.name} on {counted(len(made), 'target', 'targets')}",
        _command(model, options, names),
        made,
        failures,
        [target for target in chosen if target.name in reports],
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as refused:
        raise OutputError(f"{folder}: cannot be made: {refused.strerror}") from refused
    for name, content in {TABLE: bench_table.csv_bytes(made), PAGE: page}.items():
        write_whole(folder / name, content)
    refuted = isinstance(error, VerificationError)
    return Bench(reports, tuple(failures), refuted, folder)


def _tell(progress: Progress, target: str, text: str) -> None:
    progress(f"{target}: {text}")


def _command(model: Path, options: Options, names: str) -> str:
    """Return the command line that makes this table."""
    words = ["kmcompile", "bench", model.name, "--targets", names]
    if options.test_data is not None:
        words += ["--test-data", options.test_data.name]
    asked = with_settled_mode(without_defaults(options), options)
    plain = replace(asked, target="host").canonical_command(model.name)
    others = shlex.split(plain)[len(_BEFORE_OPTIONS) :]
    return shlex.join([*words, *others])


def _check_ours(folder: Path, chosen: tuple[Target, ...]) -> None:
    """Refuse a folder that holds any file but those of an earlier bench."""
    if not folder.exists():
        return
    names = set(os.listdir(folder)) if folder.is_dir() else {folder.name}
    known = {target.name for target in list_targets()} | {TABLE, PAGE}
    known |= {target.name for target in chosen}
    known |= {f"{name}-failed{end}" for name in known for end in (".json", ".npz")}
    others = sorted(name for name in names - known if not name.startswith("."))
    if others:
        raise OutputError(
            f"{folder}: is no folder of kmcompile bench, it has {others[0]}\n"
            "give another one with --out"
        )
