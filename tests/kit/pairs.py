"""Small one-vs-one machines whose sums are evaluated pair by pair.

For tests of the stages `pair_sum` and `vote`, alone and with exits and replay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kit.certified import with_exits
from kit.emitted import Emitted, emit_model
from kit.sharing import shared
from kmcompile.exits.candidates.room import Room
from kmcompile.exits.certified.likely import likely_inputs
from kmcompile.exits.certified.local_expansion import fit_local_expansion
from kmcompile.lower.pair_choice import with_pair_sum
from kmcompile.lower.replay import lower_replay
from kmcompile.model.likely_inputs import ordinary_inputs
from kmcompile.passes import run_passes
from kmcompile.target import Target


@dataclass(frozen=True)
class Pairs:
    """A machine of `n_classes` classes that lie side by side, with or without a replay."""

    kernel: str = "rbf"
    n_classes: int = 4
    replays: bool = True
    n_samples: int = 200
    n_features: int = 17  # groups of four features, and a rest
    sparse: bool = False
    has_exit: bool = False

    def __str__(self) -> str:
        words = ["pairs", self.kernel, f"{self.n_classes}_classes", f"{self.n_features}_features"]
        words += ["sparse"] if self.sparse else []
        words += ["exit"] if self.has_exit else []
        return "-".join([*words, *(["replay"] if self.replays else [])])

    def exact(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the C of this machine with an exact sum."""
        return emit_model(self.fitted(), target, name)

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        emitted = self.exact(target, name)
        machine = run_passes(emitted.machine, centers=False)
        ordinary = ordinary_inputs(machine, 64)
        program = with_pair_sum(machine, emitted.program, ordinary, likely_inputs(machine, 200))
        assert program is not None
        if self.has_exit:
            samples = likely_inputs(machine, 200)
            room = Room(np.inf, None, None)
            exits = [
                stage for stage, _ in fit_local_expansion(machine, emitted.program, samples, room)
            ]
            program = with_exits(program, exits[:1])
        if self.replays:
            replay = lower_replay(machine, emitted.target, program, ordinary, low_parts=True)
            program = replace(program, replay=replay)
        return replace(emitted, program=program)

    def fitted(self) -> object:
        """Return the fitted estimator."""
        rng = np.random.default_rng(5)
        X = rng.normal(size=(self.n_samples, self.n_features))
        y = np.argmax(X @ rng.normal(size=(self.n_features, self.n_classes)), axis=1)
        y[: self.n_classes] = np.arange(self.n_classes)
        if self.sparse:
            X *= rng.random(X.shape) < 0.2
            return SVC(kernel=self.kernel, C=10.0, gamma=0.05).fit(X, y)
        machine = SVC(kernel=self.kernel, C=10.0, gamma=0.05, coef0=0.2)
        return make_pipeline(StandardScaler(), machine).fit(X, y)


CORE = [Pairs()]
MORE = [
    Pairs("poly", 4, replays=False),
    Pairs("sigmoid", 3),
    Pairs(has_exit=True),
    Pairs(n_classes=7, n_features=70, sparse=True),
]
FEW_VECTORS = [Pairs("rbf", 3, replays=False, n_samples=8, n_features=2)]
"""Small tables, of which every bit can be tried."""
