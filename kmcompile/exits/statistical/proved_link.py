"""A certified exit at its place in a cascade: it decides at every scale what it decides alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.certified.choice import TriedExit
from kmcompile.exits.statistical.cascade_exit import CascadeExit, Seen, State
from kmcompile.exits.statistical.trial import Trial
from kmcompile.program.stages import Always, EarlyExit
from kmcompile.program.stages.ends import Ends


@dataclass(frozen=True, slots=True, eq=False)
class Proved:
    """The results of a certified exit on samples, wherever it stands.

    Parameters
    ----------
    tried : TriedExit
    labels : ndarray of shape (n_samples,), int32
        The model's labels, which the exit gives where it decides.
    """

    tried: TriedExit
    labels: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class ProvedLink(CascadeExit[Proved]):
    """A certified exit: it decides at every scale what it decides alone, and never wrongly."""

    tried: TriedExit

    @property
    def stage(self) -> EarlyExit:
        """The stage as it will stand in the program."""
        return self.tried.stage

    @property
    def text(self) -> str:
        """Description of the exit with its sizes."""
        return self.tried.text

    def results_on(self, seen: Seen, ends: Ends) -> Proved:
        """Return the costs and decisions of the exit on samples."""
        return Proved(TriedExit.of(self.stage, self.text, seen.batch, ends), seen.labels)

    def trial(
        self, results: Proved, before: State, label: Always, scales: NDArray[np.float64]
    ) -> tuple[Trial, State]:
        """Return the trial of the exit on samples, and the state with narrower intervals."""
        tried = results.tried
        known = tried.known if tried.stage.touches else None
        if tried.stage.walks:
            known = tried.saved  # each counts as one multiply-add: see `Case.choice_samples`
        scale = np.where(tried.decided, np.inf, 0.0)
        trial = Trial(scale[None], results.labels[None], tried.operations[None], known)
        return trial, before.narrowed(tried)

    def finished(self, number: int, scale: float) -> EarlyExit:
        """Return the stage; it has no bands."""
        return self.stage
