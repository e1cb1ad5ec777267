"""Class scores as a kind of exit: the sizes to try, the scores on samples and the half-width."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kmcompile.exits.statistical.class_scores import (
    Lessons,
    fit_class_scores,
    fit_linear_scores,
)
from kmcompile.exits.statistical.fit_points import of_samples, with_made, with_vectors
from kmcompile.exits.statistical.free_vectors_fit import FreeVectorsFit
from kmcompile.exits.statistical.reduced_set_fit import sizes
from kmcompile.exits.statistical.statistical_fit import Calibrated, FitSamples, Job
from kmcompile.exits.statistical.trial import Estimates, said
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.threads import one_thread
from kmcompile.program.stages import ClassScores, Vote
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.sums.grouped_sum import GroupedSum

_SIZES = ((5, 32, 5), (8, 60, 1), (12, 100, 1), (12, 200, 1), (16, 400, 1))
"""Sizes of scores by free vectors that are tried: those of reduced sets, and a larger one."""

_POINTS, _POINTS_PER_CLASS = 5000, 350
"""Points to which scores are fitted, if there is memory: the machine tells what is right for a
mixture of samples and vectors, too. From 2,000 to 7,000 points of digits and of satellite images
made little difference."""


class ClassScoresFit(FreeVectorsFit[ClassScores]):
    """The kind `class_scores`: linear scores and several sizes of scores by free vectors."""

    kind = ClassScores
    most = 2
    tests_leads = True

    def why_not(self, ends: Ends) -> str:
        """Return why a program with this label cannot have class scores; "" if it can."""
        if not ends.label.by_votes:
            return "it has no more decisions than classes, for which the other exits do as well"
        return ""

    def jobs(self, samples: FitSamples, required: bool = False) -> Iterator[Job]:
        """Yield the job of the linear scores, and one for each size if a sum makes mixtures."""
        exact = samples.ends.exact
        with one_thread():
            lessons = _lessons(samples)
        yield fit_linear_scores, (lessons, samples.skip_zeros), "class_scores(linear)"
        if not isinstance(exact, GroupedSum):
            return
        for size in sizes(samples.ends, lessons.n_classes, required, _SIZES):
            given = (lessons, size, exact.lanes, samples.skip_zeros)
            yield fit_class_scores, given, f"class_scores({size})"

    def estimates(self, stage: ClassScores, ends: Ends, x: Float32Array) -> Estimates:
        """Return the scores, for the stage's single test."""
        scores = stage.scores(stage.products.of(x))
        none = np.zeros(1, dtype=np.int64)
        return Estimates(scores[None], ends.weight(stage) * stage.operations_of(x)[None], none)

    def finished(self, stage: ClassScores, calibrated: Calibrated) -> ClassScores:
        """Return the scores with their half-width and number."""
        return replace(stage, number=calibrated.number, half_width=calibrated.half_width[0])


def _lessons(samples: FitSamples) -> Lessons:
    """Return samples, vectors and mixtures of both with the decisions of their classes' pairs."""
    exact, label = samples.ends.exact, samples.ends.label
    assert isinstance(label, Vote)
    x, decisions = samples.x.astype(np.float64), samples.decisions
    if not isinstance(exact, GroupedSum):
        return Lessons.of(x, said(label, decisions), decisions, samples.relevant, label.n_classes)
    least = max(_POINTS, _POINTS_PER_CLASS * label.n_classes)
    points = of_samples(exact, samples.x, decisions, samples.relevant, least=0)
    points = with_made(exact, with_vectors(exact, points), least)
    labels = said(label, points.decisions)
    return Lessons.of(points.x, labels, points.decisions, points.relevant, label.n_classes)
