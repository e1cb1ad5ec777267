"""What the templates of all packages know of a model."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from kmcompile.emit.packages.bench_view import Bench
from kmcompile.emit.packages.example import Example
from kmcompile.emit.packages.stack import Stack
from kmcompile.emit.self_test_steps import n_test_steps
from kmcompile.emit.telemetry_view import telemetry_view
from kmcompile.emit.words import words_of
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.program import Program
from kmcompile.target import Target
from kmcompile.version import VERSION


@dataclass(frozen=True, slots=True)
class KnownQuery:
    """A query with its answer, for the tests that a package brings.

    Attributes
    ----------
    x : ndarray of shape (n_features,), float32
        The features, as in training, also in an integer format.
    label : int or None
        Index of the certified label; None in a regression.
    lower, upper : float
        A healthy board's value of a regression, or of the first decision, lies between these.
    """

    x: Float32Array
    label: int | None
    lower: np.float32
    upper: np.float32


@dataclass(frozen=True, slots=True)
class PackageView:
    """Values for the templates of packages; those of one framework know its `own`, too.

    Attributes
    ----------
    call, answer_type : str
        The function that takes float features, and the type of its answer.
    has_arithmetic : bool
        Whether the C comes with `<name>_arithmetic.c` (AVR).
    model : str
        The first letters of the model's SHA-256.
    n_test_steps : int
        Steps of one pass of the self-test.
    known : tuple of KnownQuery
        A few of the self-test's queries with their answers; may be empty.
    stack : Stack
        What a query and the self-test need.
    flash_bytes : int or None
        Code, tables and library of the image that was built; None if there is none.
    workspace_bytes : int
    most : str
        What a query takes at most; "" if it is not known.
    example : Example
        The query of the example.
    bench : Bench
        What `<name>_bench` asks.
    telemetry : SimpleNamespace or None
        The counters of `--telemetry`.
    """

    command: str
    version: str
    target: str
    name: str
    upper: str
    n_features: int
    is_regression: bool
    is_integer: bool
    has_arithmetic: bool
    call: str
    answer_type: str
    model: str
    n_test_steps: int
    known: tuple[KnownQuery, ...]
    stack: Stack
    flash_bytes: int | None
    workspace_bytes: int
    most: str
    example: Example
    bench: Bench
    telemetry: SimpleNamespace | None

    @property
    def memory_text(self) -> str:
        """What the model takes of flash and RAM, beside the stack."""
        ram = f"{self.workspace_bytes:,} bytes of RAM for a workspace and {4 * self.n_features:,}"
        ram += " for the features"
        return ram if self.flash_bytes is None else f"{self.flash_bytes:,} bytes of flash, {ram}"

    @property
    def suffix(self) -> str:
        """What follows the names of functions that take float features."""
        return "_float" if self.is_integer else ""

    @property
    def prints_floats(self) -> bool:
        """Whether the example prints a float."""
        return self.is_regression or self.example.has_probability


def view_of(
    program: Program,
    command: str,
    target: Target,
    *,
    has_arithmetic: bool,
    stack: Stack,
    flash_bytes: int | None,
    workspace_bytes: int,
    most: str,
    example: Example,
    bench: Bench,
) -> PackageView:
    """Return the view of a program.

    Parameters
    ----------
    command : str
        The canonical command, for line 1.
    target : Target
    has_arithmetic : bool
        Whether the emitted files hold `<name>_arithmetic.c`.
    stack, flash_bytes, workspace_bytes, most, example, bench
        As in `PackageView`.
    """
    words = words_of(program)
    name = program.name
    return PackageView(
        command=command,
        version=VERSION,
        target=target.name,
        name=name,
        upper=name.upper(),
        n_features=program.n_features,
        is_regression=program.is_regression,
        is_integer=program.codes is not None,
        has_arithmetic=has_arithmetic,
        call=f"{name}_{words.call}{'' if program.codes is None else '_float'}",
        answer_type=f"{name}_{words.answer}_t",
        model=program.model_sha256[:12],
        n_test_steps=n_test_steps(program),
        known=_known_queries(program),
        stack=stack,
        flash_bytes=flash_bytes,
        workspace_bytes=workspace_bytes,
        most=most,
        example=example,
        bench=bench,
        telemetry=telemetry_view(program),
    )


def _known_queries(program: Program) -> tuple[KnownQuery, ...]:
    known = program.known_answers
    scale = program.scale
    inputs = known.inputs if scale is None else scale.values(known.inputs)
    return tuple(
        KnownQuery(
            np.asarray(inputs[i], dtype=np.float32),
            int(known.labels[i]) if len(known.labels) else None,
            known.lower[i, 0],
            known.upper[i, 0],
        )
        for i in range(min(len(known), 4))
    )
