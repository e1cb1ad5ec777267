"""Emitted C of small models, with the queries and the answers it must give.

For tests that compile C or compare it; models of this package return it from `emit`.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Self

import numpy as np

from kit.function_kernels import load_machine
from kmcompile.build.recipe import Recipe
from kmcompile.description import describe
from kmcompile.emit.emitter import emit
from kmcompile.lower import lower
from kmcompile.lower.formats import lower_in_format
from kmcompile.lower.replay import lower_replay
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.likely_inputs import edge_inputs, generate, ordinary_inputs
from kmcompile.output import files as folder_files
from kmcompile.passes import run_passes
from kmcompile.program.interpreter import Answers, interpret
from kmcompile.program.program import Program
from kmcompile.program.stages import Prepare, VectorlessSum
from kmcompile.target import Target, load_target
from kmcompile.verify.codes import codes_beside, query_words
from kmcompile.verify.records import records_of


@dataclass(frozen=True, eq=False)
class Emitted:
    """A compiled model as `pipeline.compile_model` makes it, before anything is built.

    Attributes
    ----------
    machine : KernelMachine
        As it was trained.
    own_queries : ndarray or None
        Queries of shape (n, n_features), float32, in the place of generated ones.
    """

    machine: KernelMachine
    program: Program
    target: Target
    own_queries: np.ndarray | None = None

    @property
    def name(self) -> str:
        """The prefix of the C names."""
        return self.program.name

    @cached_property
    def files(self) -> Mapping[str, bytes]:
        """The files that the program determines."""
        command = f"kmcompile {self.name}.pkl --target {self.target.name}"
        sources = emit(self.program, self.target, command, "a model of the tests")
        described = describe(self.machine, self.program, self.target, sources, command)
        files = folder_files.of_program(self.program, self.target, sources, description=described)
        return MappingProxyType(files)

    def with_file(self, name: str, content: bytes) -> Self:
        """Return the same with another content of a file, and the answers of its program."""
        return self.with_files({**self.files, name: content})

    def with_files(self, files: Mapping[str, bytes]) -> Self:
        """Return the same with other files, and the answers of its program."""
        changed = copy(self)
        vars(changed)["files"] = MappingProxyType(files)
        return changed

    @cached_property
    def recipe(self) -> Recipe:
        """The recipe of the C."""
        return Recipe.from_json(self.files["recipe.json"].decode())

    @cached_property
    def queries(self) -> np.ndarray:
        """Generated inputs and those at the edges, shape (n, n_features), float32."""
        if self.own_queries is not None:
            return self.own_queries
        prepare = self.program.prepare
        assert isinstance(prepare, Prepare)
        edges = edge_inputs(self.machine, prepare.limit)
        return np.concatenate([generate(self.machine, 150), edges])

    @cached_property
    def codes(self) -> np.ndarray | None:
        """What the code entry is asked beside them, in an integer format."""
        return None if self.program.codes is None else codes_beside(self.program, self.queries)

    @property
    def inputs(self) -> np.ndarray:
        """The words of the queries."""
        return query_words(self.queries, self.codes)

    @cached_property
    def answers(self) -> Answers:
        """What the interpreter says to the queries."""
        return interpret(self.program, self.queries)

    @cached_property
    def answers_of_codes(self) -> Answers:
        """What it says to the codes."""
        return interpret(self.program, self.codes)

    @cached_property
    def records(self) -> np.ndarray:
        """What the harness must give for the queries."""
        if self.codes is None:
            return records_of(self.answers)
        return np.hstack([records_of(self.answers), records_of(self.answers_of_codes)])

    def write(self, folder: Path) -> Path:
        """Write the files into a folder, which is made; return it."""
        folder.mkdir(parents=True, exist_ok=True)
        folder_files.write_plain(folder, self.files)
        return folder


def named(target: str | Target) -> Target:
    """Return a target, which may be given by its name."""
    return load_target(target) if isinstance(target, str) else target


def emit_model(estimator: object, target: str | Target = "host", name: str = "iris") -> Emitted:
    """Return the emitted C of a fitted estimator."""
    return emit_machine(load_machine(estimator), target, name)


def emit_machine(
    machine: KernelMachine,
    target: str | Target = "host",
    name: str = "iris",
    vectorless: type[VectorlessSum] | None = None,
) -> Emitted:
    """Return the emitted C of a machine, with another sum than that over vectors if it is given."""
    loaded = named(target)
    reduced = run_passes(machine, centers=False)
    ordinary = ordinary_inputs(reduced, 64)
    program = lower(reduced, loaded, name, ordinary, vectorless=vectorless)
    return Emitted(machine, program, loaded)


def emit_in_format(
    estimator: object,
    number_format: str,
    target: str | Target,
    name: str = "iris",
    low_parts: bool | None = None,
) -> Emitted:
    """Return the emitted C of a fitted estimator in an integer format.

    Parameters
    ----------
    low_parts : bool or None
        Whether the replay has tables of low parts; None is no replay.
    """
    loaded = named(target)
    machine = load_machine(estimator)
    lowered = lower_in_format(machine, loaded, name, number_format)
    program = lowered.program
    if low_parts is not None:
        replay = lower_replay(
            lowered.machine, loaded, program, lowered.ordinary, low_parts, coded=lowered.coded
        )
        program = replace(program, replay=replay)
    return Emitted(machine, program, loaded)
