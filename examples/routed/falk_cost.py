"""What a query of a trained machine costs: multiply-adds, and instructions on an emulated board."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from kmcompile.build import build
from kmcompile.build.recipe import Recipe
from kmcompile.emit.emitter import emit
from kmcompile.errors import KmcompileError
from kmcompile.lower.formats import lower_unchecked
from kmcompile.output import files
from kmcompile.program.cost import worst_operations
from kmcompile.program.interpreter import operations_alone
from kmcompile.program.program import Program
from kmcompile.readers import load_model
from kmcompile.run import runner_for
from kmcompile.target import load_target
from kmcompile.verify.codes import query_words

BOARD = "cortex-m4"
N_COUNTED = 500
N_RUN = 200


@dataclass(frozen=True)
class Cost:
    """Costs of a query, over test samples; of what was not run, None."""

    vectors: int
    mean_ops: float
    worst_ops: float
    table_bytes: int | None = None
    mean_instructions: float | None = None
    largest_instructions: float | None = None


def cost_of(model: Any, X_test: np.ndarray) -> Cost:
    """Return the costs of a model in float32 that compiles; without instructions if too large."""
    machine = load_model(model)
    program = lower_unchecked(machine, load_target(BOARD), "model", "float32").program
    spent = operations_alone(program, np.float32(X_test[:N_COUNTED]))
    try:
        counted = instructions(program, np.float32(X_test[:N_RUN]))
        mean, largest = float(counted.mean()), float(counted.max())
    except KmcompileError as error:
        print(f"not run on {BOARD}: {str(error).splitlines()[0]}", flush=True)
        mean = largest = None
    return Cost(
        vectors=n_different(model),
        mean_ops=float(spent.mean()),
        worst_ops=float(worst_operations(program)),
        table_bytes=program.table_bytes,
        mean_instructions=mean,
        largest_instructions=largest,
    )


def instructions(program: Program, X: np.ndarray) -> np.ndarray:
    """Return the instructions of each query on the emulated board, as a compile counts them."""
    target = load_target(BOARD)
    made = files.of_program(program, target, emit(program, target, "kmcompile", "a figure"))
    with TemporaryDirectory() as folder:
        for name, content in made.items():
            Path(folder, name).write_bytes(content)
        recipe = Recipe.from_json(made["recipe.json"].decode())
        with build(recipe, Path(folder), target) as artifact:
            run = runner_for(target).run(artifact, query_words(X, None), count_instructions=True)
    assert run.instructions is not None
    return np.asarray(run.instructions)


def n_different(model: Any) -> int:
    """Return the number of different vectors, as they are stored."""
    return len(np.unique(np.float32(model.support_vectors_), axis=0))
