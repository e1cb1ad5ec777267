"""The programs of which a reviewer would read the C, and their files."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kit import (
    additive,
    calibrated,
    cascades,
    catalogue,
    certified,
    coded,
    coded_polynomials,
    expansions,
    images,
    input_tolerances,
    long_replays,
    pairs,
    polynomials,
    ratios,
    regressions,
    replays,
    watched,
)
from kit.steps import InSteps

LONG_NAME = "a_name_of_20_letters"
IN_STEPS = [
    InSteps(case, 1.5)
    for case in (replays.CORE[0], pairs.CORE[0], coded.REPLAYED[0], cascades.CORE[1])
]
PROGRAMS = [
    *catalogue.CORE,
    *cascades.CORE,
    *replays.CORE,
    *coded.CORE,
    *coded.REPLAYED,
    *calibrated.CORE,
    *watched.CORE,
    *watched.DOUBLED,
    *certified.EVERY,
    *ratios.CORE,
    *pairs.CORE,
    *polynomials.CORE,
    *coded_polynomials.CORE,
    *images.CORE,
    *additive.CORE,
    *regressions.SIGNED,
    *long_replays.QUICK,
    *IN_STEPS,
    *input_tolerances.CORE,
]
TARGETS = ("host", "cortex-m7")
CASES = [(case, target) for case in PROGRAMS for target in TARGETS]
SOME = [
    (catalogue.CORE[1], "host"),
    (cascades.CORE[0], "cortex-m7"),
    (replays.CORE[0], "host"),
    (coded.CORE[0], "cortex-m7"),
    *((coded.CORE[number], "host") for number in (15, 16)),
    (calibrated.CORE[0], "host"),
    (certified.EVERY[0], "cortex-m7"),
    (certified.EVERY[-1], "host"),
    (certified.SPARSE[0], "cortex-m7"),
    (expansions.CORE[-1], "host"),
    (ratios.CORE[2], "host"),
    (pairs.CORE[0], "cortex-m7"),
    (polynomials.CORE[0], "cortex-m7"),
    (coded_polynomials.CORE[0], "cortex-m7"),
    (regressions.SIGNED[0], "cortex-m7"),
    (watched.CORE[0], "cortex-m7"),
    (watched.CORE[4], "host"),
    (watched.DOUBLED[1], "cortex-m7"),
    (IN_STEPS[1], "cortex-m7"),
    (images.CORE[0], "cortex-m7"),
    (images.CORE[4], "cortex-m7"),
    (images.CORE[5], "cortex-m7"),
    (input_tolerances.CORE[1], "cortex-m7"),
    *((long_replays.QUICK[number], "cortex-m7") for number in (0, 5, 7)),
]
"""One program of each list."""
every_list = pytest.mark.parametrize(
    "programs", [SOME, pytest.param(CASES, marks=pytest.mark.exhaustive)], ids=["some", "every"]
)


def written(case, target, folder):
    """Return model and harness of a case, and what is there for its image."""
    catalogue.emitted(case, target).write(folder)
    own = [folder / name for name in ("iris_image.c", "iris_patch.c")]
    sources = [folder / "iris.c", folder / "iris_harness.c"]
    return [*sources, *(path for path in own if path.exists())]


def parameters(cases):
    """Return programs as parameters of a test, of which `make test` takes some."""
    exhaustive = pytest.mark.exhaustive
    return [pytest.param(*one, marks=() if one in SOME else exhaustive) for one in cases]


def texts_of(case, target, name="iris"):
    emitted = catalogue.emitted(case, target)
    if name != emitted.name:
        emitted = replace(emitted, program=replace(emitted.program, name=name))
    for file, content in emitted.files.items():
        if file.endswith((".c", ".h")):
            yield file, content.decode("ascii")


def texts(programs, name="iris"):
    for case, target in programs:
        for file, text in texts_of(case, target, name):
            yield f"{case} {target} {file}", text
