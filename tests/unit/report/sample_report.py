"""A report as of a real run: an rbf SVC on breast_cancer for cortex-m7, with hostile labels."""

from __future__ import annotations

import json
from typing import Any

from kmcompile.report import json_report
from kmcompile.report.flight import SECTIONS
from kmcompile.report.measured import NOT_MEASURED
from kmcompile.report.missing import Content, Missing

_NEVER = Missing("this stage never decides")
_NO_REPLAY = Missing("the program has no replay")
_NO_PAIRS = Missing("there are no pairs of classes")
_NO_CLAIM = Missing("mode exact makes no statistical claim")

SCHEMA = json.loads(json_report._SCHEMA.read_text())
HOSTILE_LABEL = "<script>alert('benign')</script>"


def fields_in_order(definition: dict[str, Any], value: Any) -> None:
    """Assert that a value has the fields of its definition, in order, and all below it."""
    definition = definition.get("anyOf", [definition])[0]
    if "$ref" in definition:
        definition = SCHEMA["$defs"][definition["$ref"].rpartition("/")[2]]
    if isinstance(value, dict) and "required" in definition:
        assert list(value) == list(definition["properties"]) == definition["required"]
        for name, one in definition["properties"].items():
            fields_in_order(one, value[name])
    for one in value if isinstance(value, list) else ():
        fields_in_order(definition["items"], one)


def make_report(**changed: Any) -> Content:
    """Return the report, some of its fields changed."""
    fields: dict[str, Any] = {
        "tool": dict(
            name="kmcompile",
            version="0.2.0",
            command="kmcompile breast_cancer.pkl --target cortex-m7 --mode exact",
        ),
        "options": {
            "target": "cortex-m7",
            "mode": "exact",
            "format": "float32",
            "data": Missing("not given"),
            "test_data": "breast_cancer.npz",
        },
        "model": dict(
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
            dict(
                name="prepare",
                exit=_NEVER,
                decided=_NEVER,
                certified=_NEVER,
                kernel_evals_mean=0.0,
                ops_mean=60.0,
                table_bytes=360,
                reached=1.0,
                ops_mean_decided=_NEVER,
                ops_worst=60.0,
            ),
            dict(
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
        "memory": dict(
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
                dict(name="support_vectors", bytes=13_560),
                dict(name="dual_coef", bytes=452),
                dict(name="vector_norms", bytes=452),
                dict(name="offset, factor", bytes=360),
            ],
        ),
        "cost": dict(
            exact_ops=4_354.0,
            mean_ops=4_354.0,
            p99_ops=4_354.0,
            max_ops=4_354.0,
            max_ops_with_replay=_NO_REPLAY,
            speedup_ops=1.0,
            kernel_evals_mean=113.0,
            speedup_kernels=1.0,
            queries=171,
            queries_source="test-data",
            worst_ops=4_354.0,
            exact_worst_ops=4_354.0,
            replay_ops_mean=_NO_REPLAY,
            kernel_evals_min=113.0,
            kernel_evals_median=113.0,
            kernel_evals_p99=113.0,
            kernel_evals_max=113.0,
            pairs_mean=_NO_PAIRS,
            pairs_max=_NO_PAIRS,
        ),
        "verification": dict(
            queries_source="test-data",
            exact=dict(
                host=dict(queries=1_171, mismatches=0),
                target=dict(queries=1_171, mismatches=0),
            ),
            bounded=dict(queries=1_171, sign_disagreements=0, max_error=1.37e-6, max_bound=2.91e-5),
            certified=dict(queries=1_171, certified_share=0.9991, wrong=0),
            probabilities=Missing("the model has no probabilities"),
            input_tolerance=Missing("there is no input tolerance"),
            commands=[
                "kmcompile verify breast_cancer-cortex-m7",
                "kmcompile verify breast_cancer-cortex-m7 --model breast_cancer.pkl",
            ],
        ),
        "risk": _NO_CLAIM,
        "accuracy": Missing("no loss was asked for"),
        "calibration": _NO_CLAIM,
        "choice": Missing("mode exact has no early exit"),
        "choices": [],
        "modes": Missing("mode exact makes no promise that mode certified could replace"),
        "formats": Missing("the format was given: --format auto compares all of them"),
        "reduction": Missing("no machine of fewer vectors was asked for"),
        **{one.name: Missing(one.absent) for one in SECTIONS},
        "target": dict(
            name="cortex-m7",
            description="Arm Cortex-M7 with a single- and double-precision FPU",
            stands_for="STM32H743",
            part="STM32H743ZI",
            emulator="qemu-system-arm, mps2-an500",
            instructions=dict(
                exact=41_873.0,
                mean=41_880.2,
                p99=41_921.0,
                max=41_934.0,
                worst=43_120,
                worst_without_replay=43_120,
                queries=1_171,
            ),
            time=Missing("a Cortex-M7 has caches: its cycles are not modelled"),
            measured=Missing(NOT_MEASURED),
            not_shown=["time: no cycles, flash wait states or bus conflicts"],
        ),
        "files": {"breast_cancer.c": "a1" * 32, "breast_cancer.h": "b2" * 32},
        "notes": ["probability=True: the label is predict's, not the argmax of Platt's sigmoid."],
    }
    return {**fields, **changed}
