"""Programs with quadratic bounds before a sum over vectors or over monomials.

For tests of the stage `quadratic_bounds`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC

from kit.emitted import Emitted, named
from kit.sharing import shared
from kit.subspaces import PREPROCESSING, SubspaceCase
from kmcompile import readers
from kmcompile.exits.certified.lower_quadratic import Parts, lower_quadratic
from kmcompile.lower import lower
from kmcompile.lower.replay import add_replay
from kmcompile.model.likely_inputs import edge_inputs, generate, ordinary_inputs
from kmcompile.passes import run_passes
from kmcompile.program.program import Program
from kmcompile.program.stages import PolynomialSum
from kmcompile.program.stages.early_exits.quadratic_bounds import QuadraticBounds
from kmcompile.target import Target

SIGMOIDS = {"sigmoid": {"gamma": 0.005, "coef0": -0.5}}


@dataclass(frozen=True)
class QuadraticCase:
    """A machine with quadratic bounds of a given number of squares.

    Parameters
    ----------
    kernel, data, preprocessing : str
        As in `SubspaceCase`; the kernel may be one of `SIGMOIDS`, too.
    n_squares : int
    multiplied_out : bool
        Whether the sum is over monomials.
    replays : bool
        Whether there is a replay where double has 64 bits.
    """

    kernel: str
    data: str
    preprocessing: str
    n_squares: int
    multiplied_out: bool = False
    replays: bool = False
    n_trained: int = 160

    def __str__(self) -> str:
        words = ["quadratic_bounds", self.kernel, self.data, self.preprocessing]
        flags = ("multiplied_out", "replays")
        words += [f"{self.n_squares}_squares", *(flag for flag in flags if getattr(self, flag))]
        return "-".join(words)

    @cached_property
    def _model(self) -> SubspaceCase:
        return SubspaceCase(self.kernel, self.data, self.preprocessing, 1, 0, self.n_trained)

    @property
    def fresh(self) -> np.ndarray:
        """Inputs that the machine has not seen, float32."""
        return self._model.fresh

    def fitted(self) -> Pipeline:
        """Return the fitted pipeline."""
        if self.kernel in SIGMOIDS:
            X, y = self._model.samples
            svc = SVC(kernel="sigmoid", C=10, **SIGMOIDS[self.kernel])
            model = make_pipeline(*PREPROCESSING[self.preprocessing](), svc)
            return model.fit(X[: self.n_trained], y[: self.n_trained])
        return self._model.fitted()

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        board = named(target)
        trained = readers.load_model(self.fitted())
        machine = run_passes(trained)
        ordinary = ordinary_inputs(machine, 64)
        kind = PolynomialSum if self.multiplied_out else None
        program: Program = lower(machine, board, name, ordinary, vectorless=kind)
        stage = lower_quadratic(Parts.of(machine), self.n_squares)
        program = replace(program, mode="certified", exits=(*program.exits, stage))
        if self.replays and board.double_bits == 64:
            program, _ = add_replay(machine, board, program, ordinary, None, required=True)
        edges = edge_inputs(trained, program.prepare.limit)
        X = np.concatenate([self.fresh[:300], generate(trained, 150), edges])
        return Emitted(trained, program, board, X)


def stage_of(program: Program) -> QuadraticBounds:
    """Return the quadratic bounds of a program."""
    return next(stage for stage in program.exits if isinstance(stage, QuadraticBounds))


CORE = (
    QuadraticCase("quadratic", "breast_cancer", "standard", 3, True, True),
    QuadraticCase("indefinite", "sparse_digits", "raw", 4),
    QuadraticCase("quartic", "breast_cancer", "standard", 0, replays=True),
    QuadraticCase("sigmoid", "breast_cancer", "standard", 2),
)
"""Every degree; over monomials, over vectors and a list of nonzeros; with and without squares."""
