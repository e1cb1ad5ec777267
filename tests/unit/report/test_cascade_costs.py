"""Shares, costs and kernels of a program with early exits, against sums over its queries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cascade_report import GUARANTEED, Reported, reported

from kmcompile.program.interpreter import Status, interpret
from kmcompile.report.costs import sample_of, stages_section
from kmcompile.report.missing import Missing

CASES = [("rbf", 2, True), ("rbf", 10, True), ("poly", 2, False), ("poly", 10, True)]


@pytest.fixture(scope="module", params=CASES, ids=str)
def made(request) -> Reported:
    kernel, n_classes, test_samples = request.param
    return reported(kernel, n_classes, test_samples=test_samples)


def sampled(made: Reported) -> tuple[np.ndarray, np.ndarray]:
    """Return results and operations of the queries that the statistics are of."""
    n = made.queries.n_given or made.queries.n_ordinary
    accepted = made.answers.results["status"][:n] == Status.OK
    return made.answers.results[:n][accepted], made.answers.operations[:n][accepted]


def total(made: Reported, share: str, mean: str) -> int:
    """Return the sum over queries and stages of what the stages' means are of."""
    stages = [stage for stage in made.report["stages"] if stage[mean] is not None]
    n = made.report["cost"]["queries"]
    return round(sum(stage[share] * stage[mean] * n for stage in stages))


def test_every_query_leaves_somewhere(made):
    results, _ = sampled(made)
    shares = [stage["decided"] for stage in made.report["stages"] if stage["exit"] is not None]
    counts = np.bincount(results["stage"], minlength=len(shares))
    assert [round(share * len(results)) for share in shares] == counts.tolist()


def test_the_operations_of_the_stages_add_up_to_those_of_the_queries(made):
    _, operations = sampled(made)
    assert total(made, "reached", "ops_mean") == operations.sum()
    assert total(made, "decided", "ops_mean_decided") == operations.sum()


def test_the_kernels_of_the_stages_add_up_to_those_of_the_queries(made):
    results, _ = sampled(made)
    assert total(made, "reached", "kernel_evals_mean") == results["kernel_evals"].sum()


def test_no_mean_of_a_stage_exceeds_its_worst_case(made):
    for stage in made.report["stages"]:
        assert stage["ops_mean"] is None or stage["ops_mean"] <= stage["ops_worst"]


def test_cost_is_that_of_the_queries(made):
    cost, (results, operations) = made.report["cost"], sampled(made)
    assert cost["queries"] == len(results)
    assert cost["queries_source"] == ("test-data" if made.queries.n_given else "generated")
    assert cost["mean_ops"] == operations.mean() and cost["max_ops"] == operations.max()
    assert cost["max_ops"] <= cost["worst_ops"]
    assert cost["exact_ops"] <= cost["exact_worst_ops"] < cost["worst_ops"]
    assert cost["speedup_ops"] == cost["exact_ops"] / cost["mean_ops"]
    assert cost["kernel_evals_max"] == results["kernel_evals"].max()


def test_speedup_in_kernels_counts_at_least_one_kernel_a_query(made):
    results, _ = sampled(made)
    kernels = np.maximum(results["kernel_evals"].astype(float), 1)
    vectors = made.report["model"]["n_support_vectors"]
    assert made.report["cost"]["speedup_kernels"] == vectors / kernels.mean()
    assert made.report["cost"]["kernel_evals_mean"] < kernels.mean()


@pytest.mark.parametrize("n_classes", [2, 10])
def test_in_mode_exact_every_query_takes_the_same(n_classes):
    made = reported("rbf", n_classes, promise=None)
    for stage, plain in zip(made.program.stages, made.report["stages"], strict=True):
        assert plain["ops_mean"] == plain["ops_worst"] == stage.operations()
        assert plain["kernel_evals_mean"] == stage.kernel_evaluations()
        assert plain["decided"] == (None if stage.exit is None else 1.0)
    cost = made.report["cost"]
    operations = sum(stage.operations() for stage in made.program.stages)
    for name in ("exact_ops", "mean_ops", "p99_ops", "max_ops", "worst_ops", "exact_worst_ops"):
        assert cost[name] == operations, name
    assert cost["speedup_ops"] == cost["speedup_kernels"] == 1.0
    assert cost["kernel_evals_mean"] == made.report["model"]["n_support_vectors"]
    assert cost["pairs_mean"] == cost["pairs_max"] == (None if n_classes == 2 else 45)


def test_refused_samples_take_no_part():
    made = reported()
    X = np.array(made.queries.X)
    X[:80:2] = np.nan
    answers = interpret(made.program, X)
    sample = sample_of(answers, made.queries)
    assert sample.source == "test-data" and len(sample) == made.queries.n_given - 40
    assert (sample.answers.operations > 0).all()


def test_where_all_samples_are_refused_the_generated_ones_count():
    made = reported()
    X = np.array(made.queries.X)
    X[: made.queries.n_given] = np.nan
    sample = sample_of(interpret(made.program, X), made.queries)
    assert sample.source == "generated"
    assert sample.rows.min() == made.queries.n_given
    assert sample.rows.max() < made.queries.n_ordinary


def test_a_stage_that_nobody_comes_to_has_no_means():
    made = reported()
    easy = made.answers.results["stage"] == 0
    queries = replace(made.queries, X=made.queries.X[easy], n_given=20, n_ordinary=40)
    sample = sample_of(interpret(made.program, queries.X), queries)
    stages = {stage["name"]: stage for stage in stages_section(made.program, sample)}
    nearest = stages["nearest_vectors"]
    assert (nearest["decided"], nearest["reached"]) == (0.0, 0.0)
    assert nearest["ops_mean"] == Missing("no query came here")
    assert nearest["ops_mean_decided"] == Missing("no query left here")


def test_instructions_are_those_of_the_same_queries():
    made = reported(promise=GUARANTEED, instructions=True)
    counted = made.report["target"]["instructions"]
    _, operations = sampled(made)
    assert counted["queries"] == len(operations)
    assert counted["mean"] == 7 * operations.mean()
    assert counted["exact"] is None
    assert "target.instructions.exact" in made.report["not_available"]
