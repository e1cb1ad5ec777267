"""Callers of `begin` and `step` that do wrong: each call has its status, and harms nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.svm import SVC

import kmcompile
from kit import catalogue, coded, pairs, replays
from kit.host_program import build_program, failures
from kit.steps import InSteps
from kmcompile.errors import BudgetError, UsageError

MAIN = """
#include <stdio.h>
#include <string.h>
#include "iris.h"
static iris_job_t job, second, copy;
static iris_workspace_t workspace;
static iris_result_t at_once, result, poisoned;
static void require(int condition, const char *what)
{
    if (!condition) {
        printf("%s\\n", what);
    }
}
static iris_status_t to_the_end(iris_job_t *one, iris_result_t *answer, uint32_t *n_steps)
{
    iris_status_t status = IRIS_BUSY;
    for (*n_steps = 0U; (status == IRIS_BUSY) && (*n_steps <= IRIS_MAX_STEPS); ++*n_steps) {
        status = iris_step(one, answer);
    }
    return status;
}
static int same(const iris_result_t *a, const iris_result_t *b)
{
    return (a->label == b->label) && (memcmp(&a->lower, &b->lower, 4U) == 0)
        && (memcmp(&a->upper, &b->upper, 4U) == 0) && (a->kernel_evals == b->kernel_evals)
        && (a->stage == b->stage) && (a->certified == b->certified)
        && (a->in_range == b->in_range);
}
static int untouched(void)
{
    return memcmp(&result, &poisoned, sizeof result) == 0;
}
int main(void)
{
    float x[IRIS_N_FEATURES], huge[IRIS_N_FEATURES], sent[IRIS_N_FEATURES];
    uint32_t n_steps, again;
    for (unsigned j = 0U; j < IRIS_N_FEATURES; ++j) {
        x[j] = 0.25f * (float)(j % 3U);
        huge[j] = 1e30f;
    }
    memset(&poisoned, 0xA5, sizeof poisoned);
    result = poisoned;
    require(iris_classify_float(&workspace, x, &at_once) == IRIS_OK, "classify");

    require(iris_step(&job, &result) == IRIS_IDLE, "a job that is all zero is idle");
    require(iris_begin_float(NULL, x) == IRIS_ERROR_NULL, "begin without a job");
    require(iris_begin_float(&job, NULL) == IRIS_ERROR_NULL, "begin without an input");
    require(iris_step(&job, &result) == IRIS_IDLE, "which begins nothing");
    require(iris_step(NULL, &result) == IRIS_ERROR_NULL, "step without a job");
    require(untouched(), "the result is untouched");

    memcpy(sent, x, sizeof x);
    require(iris_begin_float(&job, sent) == IRIS_OK, "begin");
    memset(sent, 0xFF, sizeof sent);
    require(iris_step(&job, NULL) == IRIS_ERROR_NULL, "step without a result");
    require(iris_begin_float(&job, NULL) == IRIS_ERROR_NULL, "begin anew without one");
    require(to_the_end(&job, &result, &n_steps) == IRIS_OK, "the caller's input may change");
    require(same(&result, &at_once), "the answer is that at once");
    require(n_steps <= IRIS_MAX_STEPS, "no more steps than are stated");
    result = poisoned;
    require(iris_step(&job, &result) == IRIS_IDLE, "a job that has ended is idle");
    require(iris_step(&job, &result) == IRIS_IDLE, "and stays so");
    require(untouched(), "nothing is written twice");

    for (uint32_t midst = 0U; midst < n_steps; ++midst) {
        require(iris_begin_float(&job, huge) == IRIS_OK, "begin with what is refused");
        require(iris_begin_float(&job, x) == IRIS_OK, "begin anew");
        for (uint32_t k = 0U; k < midst; ++k) {
            require(iris_step(&job, &result) == IRIS_BUSY, "busy in the midst");
        }
        require(untouched(), "busy steps write nothing");
        memcpy(&copy, &job, sizeof job);
        memset(&job, 0xA5, sizeof job);
        require(iris_begin_float(&second, x) == IRIS_OK, "begin another one");
        require(to_the_end(&copy, &result, &again) == IRIS_OK, "a job may be copied");
        require(same(&result, &at_once) && (midst + again == n_steps), "and answers as before");
        require(to_the_end(&second, &result, &again) == IRIS_OK, "the other one");
        require(same(&result, &at_once) && (again == n_steps), "answers, too");
        result = poisoned;
    }

    require(iris_begin_float(&job, huge) == IRIS_OK, "begin with what is beyond the limit");
    require(iris_step(&job, &result) == IRIS_ERROR_RANGE, "it is refused in the first step");
    require(iris_step(&job, &result) == IRIS_IDLE, "which ends the job");
    require(iris_begin_float(&job, x) == IRIS_OK, "begin once more");
    job.place = 1000U;
    require(iris_step(&job, &result) == IRIS_ERROR_CORRUPT, "a place that there is not");
    require(iris_step(&job, &result) == IRIS_IDLE, "ends the job, too");
    require(untouched(), "no error writes a result");
    require(IRIS_JOB_BYTES == sizeof(iris_job_t), "the size of a job");
    return 0;
}
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "case", [catalogue.CORE[0], pairs.CORE[0], replays.CORE[1], coded.REPLAYED[0]], ids=str
)
def test_wrong_calls_are_defined(case, tmp_path: Path):
    emitted = InSteps(case, 1.5).emit("host")
    program = build_program(emitted, tmp_path, MAIN, ["-fsanitize=address,undefined"])
    assert failures(program) == []


def cancer() -> tuple[SVC, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return SVC(gamma=0.02).fit(X[::4], y[::4]), X


def test_steps_that_are_too_small_name_the_piece_and_what_is_large_enough():
    model, _ = cancer()
    with pytest.raises(BudgetError, match=r"--step 10: block of \w+ has ([\d,]+) operations") as e:
        kmcompile.compile_model(model, mode="exact", step=10, verify="none")
    least = int(str(e.value).split("give --step ")[1].split(" ")[0].split(",")[0])
    with pytest.raises(BudgetError, match=f"give --step {least}"):
        kmcompile.compile_model(model, mode="exact", step=least - 1, verify="none")
    made = kmcompile.compile_model(model, mode="exact", step=least, verify="none")
    assert made.report["stepping"]["smallest"] == least
    assert made.report["stepping"]["operations"] <= least


@pytest.mark.parametrize("step", [0, -3, "many", 2.5, 2**32])
def test_a_step_that_is_no_number_of_operations_is_refused(step):
    model, _ = cancer()
    with pytest.raises(UsageError, match="--step"):
        kmcompile.compile_model(model, step=step, verify="none")


def test_an_early_exit_that_is_too_large_is_named():
    model, _ = cancer()
    with pytest.raises(BudgetError, match="--exclude local_expansion"):
        kmcompile.compile_model(
            model,
            mode="certified",
            optimize="mean",
            replay="none",
            require="local_expansion",
            step=150,
            verify="none",
        )


@pytest.mark.parametrize("case", [catalogue.CORE[0], pairs.CORE[0]], ids=str)
def test_without_the_option_the_c_has_no_steps(case):
    emitted = case.emit("host")
    assert not any(b"iris_step" in text or b"BUSY" in text for text in emitted.files.values())
    assert b"iris_step(" in InSteps(case).emit("host").files["iris.h"]
