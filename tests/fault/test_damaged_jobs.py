"""A job whose memory has changed between two steps: each step has its status, and harms nothing."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from kit import pairs, replays
from kit.host_program import build_program, failures
from kit.stepped import EVERY, QUICK
from kit.steps import InSteps
from kit.tools import HANGS_S

# Changes words of a job in the midst, and goes on with it to the end. The sanitizers see what is
# read or written outside of an array.
MAIN = """
#include <stdio.h>
#include <string.h>
#include "iris.h"
#define N_WORDS (sizeof(iris_job_t) / 4U)
static iris_job_t job, sound;
static iris_ANSWER_t result, poisoned;
static uint32_t random = 1U;
static uint32_t drawn(void)
{
    random = (random * 1664525U) + 1013904223U;
    return random >> 7U;
}
static void require(int condition, const char *what)
{
    if (!condition) {
        printf("%s\\n", what);
    }
}
static uint32_t damage(uint32_t word)
{
    switch (drawn() % 5U) {
    case 0U: return word ^ ((uint32_t)1U << (drawn() % 32U));
    case 1U: return UINT32_MAX;
    case 2U: return drawn() % 40U;
    case 3U: return (uint32_t)0x7F800000UL | drawn();
    default: return drawn() << 7U;
    }
}
static void go_on(void)
{
    iris_status_t status = IRIS_BUSY;
    for (uint32_t n = 0U; (n < 400U) && (status == IRIS_BUSY); ++n) {
        result = poisoned;
        status = iris_step(&job, &result);
        require((status == IRIS_OK) || (memcmp(&result, &poisoned, sizeof result) == 0),
                "an answer without OK");
    }
    require(status <= IRIS_IDLE, "a status that there is not");
}
int main(void)
{
    float x[IRIS_N_FEATURES];
    memset(&poisoned, 0xA5, sizeof poisoned);
    for (unsigned j = 0U; j < IRIS_N_FEATURES; ++j) {
        x[j] = 0.25f * (float)(j % 3U);
    }
    for (uint32_t midst = 0U; midst < IRIS_MAX_STEPS; ++midst) {
        iris_status_t status = iris_begin_float(&job, x);
        for (uint32_t k = 0U; (k < midst) && (status != IRIS_IDLE); ++k) {
            status = iris_step(&job, &result);
            if (status != IRIS_BUSY) {
                return 0;
            }
        }
        sound = job;
        for (size_t i = 0U; i < (N_WORDS + 200U); ++i) {
            uint32_t word;
            const size_t where = 4U * ((i < N_WORDS) ? i : (drawn() % N_WORDS));
            job = sound;
            memcpy(&word, (char *)&job + where, 4U);
            word = damage(word);
            memcpy((char *)&job + where, &word, 4U);
            go_on();
        }
    }
    return 0;
}
"""


# A bool with another value than 0 and 1 is what the damage makes of it, and no finding.
FLAGS = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize=bool"]


def check(case, folder: Path) -> None:
    emitted = InSteps(case).emit("host")
    answer = "prediction" if emitted.program.is_regression else "result"
    assert failures(build_program(emitted, folder, MAIN.replace("ANSWER", answer), FLAGS)) == []


LEFT_OUT = {
    "the list of features": (replays.SPARSE[0], r"!iris_knows_features\(job\)"),
    "the classes": (pairs.CORE[0], r"!iris_knows_classes\(&job->workspace, &job->pairs\)"),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_check_that_is_left_out_is_found(name, tmp_path: Path):
    case, check_in_c = LEFT_OUT[name]
    emitted = InSteps(case).emit("host")
    text, n = re.subn(check_in_c, "false", emitted.files["iris.c"].decode())
    assert n == 1
    changed = emitted.with_file("iris.c", text.encode())
    program = build_program(changed, tmp_path, MAIN.replace("ANSWER", "result"), FLAGS)
    done = subprocess.run([program], capture_output=True, timeout=HANGS_S, check=False, text=True)
    assert done.returncode or "runtime error" in done.stderr


@pytest.mark.few
@pytest.mark.parametrize("case", QUICK, ids=str)
def test_a_damaged_job_has_its_status(case, tmp_path: Path):
    check(case, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", EVERY, ids=str)
def test_a_damaged_job_of_every_stage_has_its_status(case, tmp_path: Path):
    check(case, tmp_path)
