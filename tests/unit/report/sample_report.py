"""A report as of a real run: an rbf SVC on breast_cancer for cortex-m7, with hostile labels."""

from __future__ import annotations

from typing import Any

from kmcompile.report.checked import Exact, Verification
from kmcompile.report.contents import (
    Cost,
    Instructions,
    Memory,
    Model,
    Report,
    Stage,
    Table,
    TargetSection,
    Tool,
)
from kmcompile.report.flight import SECTIONS
from kmcompile.verify.checked import Bounded, Certified, ExactRun

HOSTILE_LABEL = "<script>alert('benign')</script>"


def make_report(**changed: Any) -> Report:
    """Return the report, some of its fields changed."""
    fields: dict[str, Any] = {
        "tool": Tool(
            name="kmcompile",
            version="0.2.0",
            command="kmcompile breast_cancer.pkl --target cortex-m7 --mode exact",
        ),
        "options": {
            "target": "cortex-m7",
            "mode": "exact",
            "format": "float32",
            "data": None,
            "test_data": "breast_cancer.npz",
        },
        "model": Model(
            file="breast_cancer.pkl",
            kind="SVC",
            kernel="rbf",
            parameters={"gamma": 0.0333},
            preprocessing=["StandardScaler"],
            n_features=30,
            n_classes=2,
            classes=["malignant", HOSTILE_LABEL],
            n_support_vectors=113,
            threshold=0.0,
            sha256="3f" * 32,
        ),
        "stages": [
            Stage(
                name="prepare",
                exit=None,
                decided=None,
                certified=None,
                kernel_evals_mean=0.0,
                ops_mean=60.0,
                table_bytes=360,
                reached=1.0,
                ops_mean_decided=None,
                ops_worst=60.0,
            ),
            Stage(
                name="exact_sum",
                exit="exact",
                decided=1.0,
                certified=0.9991,
                kernel_evals_mean=113.0,
                ops_mean=4294.0,
                table_bytes=14464,
                reached=1.0,
                ops_mean_decided=4354.0,
                ops_worst=4294.0,
            ),
        ],
        "memory": Memory(
            flash_bytes=18_712,
            code_bytes=3_672,
            constants_bytes=15_040,
            library_bytes=0,
            flash_is_lower_limit=False,
            flash_budget_bytes=2_097_152,
            part_flash_bytes=2_097_152,
            ram_bytes=1_248,
            ram_budget_bytes=524_288,
            part_ram_bytes=524_288,
            stack_bytes=312,
            painted_stack_bytes=288,
            workspace_bytes=1_248,
            tables=[
                Table(name="support_vectors", bytes=13_560),
                Table(name="dual_coef", bytes=452),
                Table(name="vector_norms", bytes=452),
                Table(name="offset, factor", bytes=360),
            ],
        ),
        "cost": Cost(
            exact_ops=4_354.0,
            mean_ops=4_354.0,
            p99_ops=4_354.0,
            max_ops=4_354.0,
            max_ops_with_replay=None,
            speedup_ops=1.0,
            kernel_evals_mean=113.0,
            speedup_kernels=1.0,
            queries=171,
            queries_source="test-data",
            worst_ops=4_354.0,
            exact_worst_ops=4_354.0,
            replay_ops_mean=None,
            kernel_evals_min=113.0,
            kernel_evals_median=113.0,
            kernel_evals_p99=113.0,
            kernel_evals_max=113.0,
            pairs_mean=None,
            pairs_max=None,
        ),
        "verification": Verification(
            queries_source="test-data",
            exact=Exact(
                host=ExactRun(queries=1_171, mismatches=0),
                target=ExactRun(queries=1_171, mismatches=0),
            ),
            bounded=Bounded(
                queries=1_171, sign_disagreements=0, max_error=1.37e-6, max_bound=2.91e-5
            ),
            certified=Certified(queries=1_171, certified_share=0.9991, wrong=0),
            probabilities=None,
            input_tolerance=None,
            commands=[
                "kmcompile verify breast_cancer-cortex-m7",
                "kmcompile verify breast_cancer-cortex-m7 --model breast_cancer.pkl",
            ],
        ),
        "risk": None,
        "accuracy": None,
        "calibration": None,
        "choice": None,
        "choices": [],
        "modes": None,
        "formats": None,
        "reduction": None,
        "flight": {one.name: None for one in SECTIONS},
        "target": TargetSection(
            name="cortex-m7",
            description="Arm Cortex-M7 with a single- and double-precision FPU",
            stands_for="STM32H743",
            part="STM32H743ZI",
            emulator="qemu-system-arm, mps2-an500",
            instructions=Instructions(
                exact=41_873.0,
                mean=41_880.2,
                p99=41_921.0,
                max=41_934.0,
                worst=43_120,
                worst_without_replay=43_120,
                queries=1_171,
            ),
            not_shown=["time: no cycles, flash wait states or bus conflicts"],
        ),
        "files": {"breast_cancer.c": "a1" * 32, "breast_cancer.h": "b2" * 32},
        "notes": ["probability=True: the label is predict's, not the argmax of Platt's sigmoid."],
        "not_available": {
            "cost.max_ops_with_replay": "the program has no replay",
            "cost.replay_ops_mean": "the program has no replay",
            "cost.pairs_mean": "there are no pairs of classes",
            "cost.pairs_max": "there are no pairs of classes",
            "risk": "mode exact makes no statistical claim",
            "accuracy": "no loss was asked for",
            "calibration": "mode exact makes no statistical claim",
            "choice": "mode exact has no early exit",
            "formats": "the format was given: --format auto compares all of them",
            "reduction": "no machine of fewer vectors was asked for",
            **{one.name: one.absent for one in SECTIONS},
            "modes": "mode exact makes no promise that mode certified could replace",
            "stages.prepare.ops_mean_decided": "this stage never decides",
            "stages.prepare.exit": "this stage never decides",
            "stages.prepare.decided": "this stage never decides",
            "verification.probabilities": "the model has no probabilities",
            "verification.input_tolerance": "there is no input tolerance",
            "stages.prepare.certified": "this stage never decides",
        },
    }
    return Report(**{**fields, **changed})
