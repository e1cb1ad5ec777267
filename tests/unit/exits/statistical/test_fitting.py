"""The early exits that the chooser compares: the same for any number of processes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from calibration_cases import Case, digits, mnist_pair
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.svm import SVC

from kit.covering import some
from kmcompile.exits.statistical import class_scores_fit
from kmcompile.exits.statistical.fits import estimates_of
from kmcompile.exits.statistical.fitting import fit_stages
from kmcompile.exits.statistical.statistical_fit import FitSamples
from kmcompile.program.interpreter import classify
from kmcompile.program.stages import (
    ClassScores,
    EarlyExit,
    IntervalRatio,
    LinearFilter,
    NearestVectors,
    ReducedSet,
)
from kmcompile.program.storage import save
from kmcompile.request.asked_stages import AskedStages


def stages_of(case: Case, n_jobs: int | None = None, fits=lambda stage: True):  # type: ignore[no-untyped-def]
    samples = FitSamples(
        case.program.ends,
        case.x,
        case.samples.decisions,
        case.relevant,
        case.skip_zeros,
        n_jobs,
    )
    return fit_stages(samples, AskedStages(), fits)


def content(case: Case, stages: list[tuple[EarlyExit, str]]) -> bytes:
    """Return the bytes of a program with each of the stages, and of the stages that need others."""
    others = repr([stage for stage, _ in stages if isinstance(stage, IntervalRatio)]).encode()
    return b"".join([*(save(case.with_stages(stage)) for stage in alone(stages)), others])


def alone(stages: list[tuple[EarlyExit, str]]) -> list[EarlyExit]:
    """Return the stages but the test of intervals, which certified exits before it prove."""
    return [stage for stage, _ in stages if not isinstance(stage, IntervalRatio)]


@cache
def fitted(n_classes: int) -> list[tuple[EarlyExit, str]]:
    return stages_of(digits("rbf", n_classes))


@pytest.mark.exhaustive
@pytest.mark.parametrize("n_classes", some([2, 10], ("2",)))
def test_stages_are_of_every_kind_and_told_apart(n_classes: int) -> None:
    stages = fitted(n_classes)
    kinds = {type(stage) for stage, _ in stages}
    of_pairs = {ClassScores} if n_classes > 2 else set()
    assert kinds == {LinearFilter, ReducedSet, NearestVectors, IntervalRatio} | of_pairs
    texts = [text for _, text in stages]
    assert len(set(texts)) == len(texts)


@pytest.mark.exhaustive
@pytest.mark.parametrize("n_classes", some([2, 10], ("2",)))
def test_no_stage_decides_anything_yet(n_classes: int) -> None:
    case = digits("rbf", n_classes)
    for stage in alone(fitted(n_classes)):
        with np.errstate(over="ignore"):  # the widest band times the spread
            results, _ = classify(case.with_stages(stage), case.X)
        assert (results["stage"] == 1).all()


@pytest.mark.exhaustive
@pytest.mark.parametrize("n_classes", some([2, 10], ("2",)))
def test_stages_are_the_same_bytes_for_any_number_of_processes(n_classes: int) -> None:
    case = digits("rbf", n_classes)
    once = content(case, fitted(n_classes))
    assert content(case, stages_of(case)) == once
    assert content(case, stages_of(case, n_jobs=2)) == once


@pytest.mark.exhaustive
def test_what_does_not_fit_is_left_out() -> None:
    case = digits("rbf", 2)
    kept = stages_of(case, fits=lambda stage: not isinstance(stage, NearestVectors))
    texts = [text for _, text in fitted(2) if not text.startswith("nearest")]
    assert [text for _, text in kept] == texts


def test_reduced_sets_look_at_some_of_many_features() -> None:
    case = mnist_pair(n=300, n_trained=200)
    used = [stage.products.n_used for stage, _ in stages_of(case) if isinstance(stage, ReducedSet)]
    assert min(used) < case.exact.n_features / 10
    assert max(used) == case.exact.n_features


@cache
def of_low_rank() -> Case:
    """Return digits in 12 dimensions, each three times: projections hold them whole."""
    X, y = load_digits(return_X_y=True)
    X = np.tile(PCA(12).fit_transform(X / 16), 3).astype(np.float32)
    estimator = SVC(gamma=0.2, C=10).fit(X[:600], y[:600] > 4)
    return Case(estimator, X[600:1500], X[1500:])


@pytest.mark.exhaustive
def test_vectors_inside_the_projection_are_not_touched() -> None:
    case = of_low_rank()
    for stage in alone(stages_of(case)):
        if isinstance(stage, NearestVectors):
            assert stage.max_touched <= (stage.weights > 0).sum()
        with np.errstate(over="ignore"):
            answers, _ = classify(case.with_stages(stage), case.X)
        assert (answers["stage"] == 1).all()
        estimates = estimates_of(stage, case.program.ends, case.x)
        assert np.isfinite(estimates.values).all()


@pytest.mark.exhaustive
def test_classes_without_a_sample_are_no_obstacle() -> None:
    case = digits("rbf", 10)
    kept = case.samples.labels < 8
    samples = replace(
        case.samples,
        X=case.samples.X[kept],
        decisions=case.samples.decisions[kept],
        labels=case.samples.labels[kept],
        is_vector=case.samples.is_vector[kept],
    )
    given = FitSamples(
        case.program.ends,
        case.x[kept],
        samples.decisions,
        case.relevant[kept],
        case.skip_zeros,
        None,
    )
    stages = fit_stages(given, AskedStages(), lambda stage: True)
    assert not case.relevant[kept].any(axis=0).all()
    for stage, _ in stages:
        for table in stage.tables():
            assert np.isfinite(table.values).all()


@pytest.mark.exhaustive
def test_an_exit_that_the_samples_do_not_determine_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def undetermined(*_: object) -> None:
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr(class_scores_fit, "_lessons", undetermined)
    found = {type(stage) for stage, _ in stages_of(digits("rbf", 10))}
    assert found and ClassScores not in found
