"""What a machine takes on a target, as plain C and in each format, and what its labels are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from plain import write_plain

import kmcompile
from kmcompile.build import build
from kmcompile.build.recipe import Recipe
from kmcompile.compiled import Compiled
from kmcompile.emit.emitter import emit
from kmcompile.lower import lower
from kmcompile.model.likely_inputs import ordinary_inputs
from kmcompile.output import files as folder_files
from kmcompile.passes import run_passes
from kmcompile.program.interpreter import Status
from kmcompile.readers import load_model
from kmcompile.run import runner_for
from kmcompile.target import load_target
from kmcompile.verify.codes import codes_beside, query_words

# More than the parts have: what a machine takes is measured also where it would not fit.
MAX_FLASH, MAX_RAM = 16 << 20, 1 << 20


@dataclass(frozen=True, eq=False)
class Row:
    """What one format of a machine takes.

    Parameters
    ----------
    flash : int
        Bytes in the ELF: code, tables and the compiler's helpers.
    tables : int or None
        Bytes of the tables.
    instructions : ndarray of shape (n,), int64
        Of each query: of codes in an integer format, otherwise of floats.
    floats : float or None
        Mean instructions of an integer format's float entry.
    wrong : int
        Test labels that are not the float64 model's; floats are asked.
    certified : float or None
        Share of the test samples whose label is certified.
    refused : int
        Test samples beyond the input limit or the codes' scale: neither wrong nor certified.
    """

    flash: int
    tables: int | None
    instructions: np.ndarray
    floats: float | None
    wrong: int
    certified: float | None
    refused: int


@dataclass(frozen=True, eq=False)
class Bench:
    """A machine with its test samples on a target.

    Parameters
    ----------
    model : fitted estimator
    X : ndarray of shape (n, n_features), float64
        Test samples.
    target : str
    n_queries : int
        Test samples whose instructions are counted, from all over the set.
    """

    model: Any
    X: np.ndarray
    target: str
    n_queries: int

    def plain(self) -> Row:
        """Return the figures of the plain float32 C."""
        words = query_words(self.X.astype(np.float32), None)
        host = load_target("host")
        with TemporaryDirectory() as scratch:
            folder = Path(scratch)
            recipe = write_plain(self.model, load_target(self.target), folder)
            with build(recipe, folder, host) as artifact:
                labels = runner_for(host).run(artifact, words).records[:, 0]
            flash, (instructions,) = _counted(recipe, folder, words[self._rows], ("classify",))
        wrong = int((self.model.classes_[labels] != self.model.predict(self.X)).sum())
        return Row(flash, None, instructions, None, wrong, None, 0)

    def dense(self) -> Row:
        """Return the figures of kmcompile's float32 C where it skips no feature that is 0."""
        machine = run_passes(load_model(self.model))
        target = load_target(self.target)
        program = lower(machine, target, "model", ordinary_inputs(machine, 256), skip_zeros=False)
        sources = emit(program, target, "", "")
        files = folder_files.of_program(program, target, sources)
        with TemporaryDirectory() as scratch:
            folder_files.write_plain(Path(scratch), files)
            return self._row(Compiled(program, {}, files, Path(scratch)))

    def compiled(self, number_format: str) -> Row:
        """Return the figures of a format in mode exact."""
        with TemporaryDirectory() as scratch:
            return self._row(
                kmcompile.compile_model(
                    self.model,
                    target=self.target,
                    format=number_format,
                    mode="exact",
                    verify="none",
                    max_flash=MAX_FLASH,
                    max_ram=MAX_RAM,
                    name="model",
                    out=Path(scratch) / "out",
                )
            )

    def choice(self) -> list[dict[str, Any]]:
        """Return what `--format auto` compared, within the memory of the target's part."""
        compiled = kmcompile.compile_model(
            self.model, target=self.target, format="auto", mode="exact", verify="none", name="model"
        )
        compared: list[dict[str, Any]] = compiled.report["formats"]
        return compared

    @property
    def _rows(self) -> np.ndarray:
        return np.linspace(0, len(self.X) - 1, min(self.n_queries, len(self.X)), dtype=int)

    def _row(self, compiled: Compiled) -> Row:
        assert compiled.folder is not None
        program, folder = compiled.program, compiled.folder
        X = self.X[self._rows].astype(np.float32)
        codes = None if program.codes is None else codes_beside(program, X)
        recipe = Recipe.from_json((folder / "recipe.json").read_text())
        words = query_words(X, codes)
        entries = ("classify",) if codes is None else ("classify", "classify_float")
        flash, (instructions, *by_floats) = _counted(recipe, folder, words, entries)
        results = compiled.classify(self.X)
        answered = results["status"] == Status.OK
        labels = compiled.classes_[results["label"]]
        wrong = answered & (labels != self.model.predict(self.X))
        return Row(
            flash,
            program.table_bytes,
            instructions,
            float(by_floats[0].mean()) if by_floats else None,
            int(wrong.sum()),
            float(results["certified"].mean()),
            int((~answered).sum()),
        )


def _counted(
    recipe: Recipe, folder: Path, words: np.ndarray, entries: tuple[Any, ...]
) -> tuple[int, list[np.ndarray]]:
    """Return the flash, and for each entry the instructions of each query."""
    runner = runner_for(recipe.target)
    with build(recipe, folder, recipe.target) as artifact:
        runs = [
            runner.run(artifact, words, count_instructions=True, counted=entry) for entry in entries
        ]
    counts = [run.instructions for run in runs if run.instructions is not None]
    if artifact.flash_bytes is None or len(counts) < len(runs):
        raise SystemExit(f"nothing is counted: {runs[0].no_instructions_reason}")
    return artifact.flash_bytes, counts
