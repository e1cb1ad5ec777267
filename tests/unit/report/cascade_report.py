"""Reports of the digits cascades, with calibration made by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from kit.digits_cascade import digits_cascade
from kit.plans import plan_for
from kmcompile.choice.chosen import ChosenProgram
from kmcompile.exits.candidates.candidate import Candidate
from kmcompile.exits.early_exits import WithExits
from kmcompile.exits.statistical.calibration import Calibration, Promise
from kmcompile.lower.formats import Lowered, Measured
from kmcompile.model.likely_inputs import edge_inputs, generate
from kmcompile.program.interpreter import Answers, interpret
from kmcompile.program.program import Program
from kmcompile.report.assemble import assemble
from kmcompile.report.cascade import Cascade, cascade_of
from kmcompile.report.compilation import Compilation
from kmcompile.report.json_report import to_dict
from kmcompile.report.trajectories import Trajectories, trajectories_of
from kmcompile.verify.checked import ExactRun
from kmcompile.verify.checks import check_bounded
from kmcompile.verify.findings import Findings
from kmcompile.verify.queries import Queries, Source

GUARANTEED = Promise("guaranteed", 0.01, 0.0092, 0.99, 500, 0, 1.5)
EXPECTED = Promise("expected", 0.01, 0.0087, None, 500, 3, 0.75)
NO_PROMISE = Promise("none", None, None, None, 0, 0, 1.0)


def calibration(promise: Promise, thresholds: Any = "risk") -> Calibration:
    return Calibration(
        promise=promise,
        thresholds=thresholds,
        n_shape=200,
        n_choice=200,
        n_control=promise.n_samples,
        n_support_vectors_found=2,
        candidates=(
            Candidate(("linear_filter", "reduced_set 20 in 12 dimensions"), 1875.5, True, 1875.5),
            Candidate(("exact_sum",), 5478.0, False, 5478.0),
        ),
        notes=("nested_projection is left out: it costs more than the exact sum",),
    )


@dataclass(frozen=True, eq=False)
class Reported:
    """A report with what it was made from."""

    program: Program
    queries: Queries
    answers: Answers
    report: dict[str, Any]
    cascade: Cascade | None
    steps: Trajectories | None


@cache
def reported(
    kernel: str = "rbf",
    n_classes: int = 2,
    promise: Promise | None = GUARANTEED,
    thresholds: str = "risk",
    test_samples: bool = True,
    instructions: bool = False,
) -> Reported:
    """Return the report of a digits cascade; of the exact program without a promise."""
    digits = digits_cascade(kernel, n_classes)
    program = digits.exact if promise is None else digits.program
    given = digits.test if test_samples else digits.test[:0]
    made, edges = generate(digits.machine, 300), edge_inputs(digits.machine, np.float32(1e9))
    X = np.concatenate([given, made, edges])
    source: Source = "test-data" if test_samples else "generated"
    queries = Queries(X, source, len(given), len(given) + len(made))
    answers = interpret(program, X)
    accepted = answers.operations[answers.results["status"] == 0]
    findings = Findings(
        source=source,
        host=ExactRun(queries=len(X), mismatches=0),
        target=None,
        skipped={"target": "not run", "memory": "not built", "instructions": "not counted"},
        check=check_bounded(digits.machine, queries, answers),
        memory=None,
        instructions=7 * accepted if instructions else None,
    )
    plan = plan_for(digits.machine)
    made_exits = WithExits(program, None if promise is None else calibration(promise, thresholds))
    chosen = ChosenProgram(
        program,
        replace(plan, model_name="digits.pkl", command="kmcompile digits.pkl --target host"),
        Lowered(
            digits.machine, digits.exact, None, digits.test, Measured(1.0, 1.0, 1.0, "none", False)
        ),
        made_exits,
        made_exits,
    )
    report = assemble(Compilation(digits.machine, chosen, queries, answers, findings, {}))
    plain = to_dict(report)
    return Reported(
        program,
        queries,
        answers,
        plain,
        cascade_of(program, answers, queries, findings.instructions),
        trajectories_of(program, answers, queries),
    )
