"""Compile one machine in a process of its own, and print what came of it as a line of JSON.

python examples/benchmark/sets_compile.py MODEL.joblib SAMPLES.npz OPTIONS

OPTIONS is JSON: the options of `kmcompile.compile_model`; `data` is true where the samples that
were held out are to be used, with their labels where `loss` is there; `test_data` are the queries.
CPU seconds and memory are those of this process; those of the compilers and emulators that it
starts are given apart.
"""

from __future__ import annotations

import json
import re
import resource
import sys
import traceback
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import joblib
import numpy as np

import kmcompile
from kmcompile.compiled import Compiled
from kmcompile.errors import KmcompileError

COST = ("exact_ops", "mean_ops", "p99_ops", "max_ops", "worst_ops", "speedup_ops")


def compile_one(model_path: Path, samples_path: Path, options: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a compilation; where it fails, its error and exit code."""
    with np.load(samples_path, allow_pickle=False) as samples:
        parts = {name: samples[name] for name in samples.files}
    queries = parts["queries"]
    try:
        with warnings.catch_warnings(), TemporaryDirectory() as folder:
            warnings.simplefilter("ignore")
            if options.pop("data", False):
                options["data"] = Path(folder) / "data.npz"
                labels = {"y": parts["y_held_out"]} if "loss" in options else {}
                np.savez(options["data"], X=parts["held_out"], **labels)
            compiled = kmcompile.compile_model(
                model_path,
                trust_pickle=True,
                test_data=queries,
                name="model",
                out=Path(folder) / "out",
                **options,
            )
            spent = _spent()
            answers = _answers(compiled, model_path, queries)
    except KmcompileError as error:
        return {"error": str(error), "exit_code": error.exit_code, **_spent()}
    except Exception as error:  # a defect: the line says where
        where = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
        return {"error": text, "exit_code": 70, **_spent()}
    return {**facts_of(compiled.report), **answers, **spent}


def facts_of(report: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of report.json that the table is made of."""
    cost, verification, risk = report["cost"], report["verification"], report["risk"]
    certified = verification["certified"] or {}
    instructions, reduction = report["target"]["instructions"] or {}, report["reduction"]
    return {
        **{name: cost[name] for name in COST},
        "instructions": {
            name: instructions.get(name) for name in ("exact", "mean", "p99", "max", "worst")
        },
        "flash_bytes": report["memory"]["flash_bytes"],
        "stack_bytes": report["memory"]["stack_bytes"],
        "mode": report["options"]["mode"],
        "format": report["options"]["format"],
        "certified_share": certified.get("certified_share"),
        "certified_wrong": certified.get("wrong"),
        "mismatches": sum(run["mismatches"] for run in verification["exact"].values() if run),
        "risk": None if risk is None else risk["requested"],
        "vectors_after": None if reduction is None else reduction["vectors_after"],
        "choices": report["choices"],
        "stages": [
            {name: stage[name] for name in ("name", "reached", "decided", "certified")}
            for stage in report["stages"]
        ],
    }


def _answers(compiled: Compiled, model_path: Path, queries: np.ndarray) -> dict[str, Any]:
    """Return on how many queries the C says something else than scikit-learn's `predict`.

    Of a regression these are the values outside of the interval that is given with them.
    """
    expected = joblib.load(model_path).predict(queries.astype(np.float64))
    if compiled.program.is_regression:
        answers = compiled.predict_interval(queries)
        differs = (expected < answers["lower"]) | (expected > answers["upper"])
        error = float(np.abs(answers["value"] - expected).max())
        return {"disagreements": int(differs.sum()), "largest_error": error}
    results = compiled.classify(queries)
    labels = np.asarray(compiled.classes_)[results["label"]]
    differs = (labels != expected) | (results["status"] != 0)
    return {
        "disagreements": int(differs.sum()),
        "disagreements_certified": int((differs & results["certified"].astype(bool)).sum()),
    }


def _spent() -> dict[str, Any]:
    """Return CPU seconds and peak memory in MB, of this process and of those that it started."""
    own, others = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    peak = own.ru_maxrss
    status = Path("/proc/self/status")
    if status.is_file():  # maxrss also counts what the process was before its exec
        peak = int(re.search(r"VmHWM:\s*(\d+)", status.read_text())[1])
    return {
        "cpu_s": round(own.ru_utime + own.ru_stime, 2),
        "peak_mb": round(peak * 1024 / 1e6, 1),
        "tools_cpu_s": round(others.ru_utime + others.ru_stime, 2),
    }


def main() -> None:
    """Compile, and print one line of JSON."""
    line = compile_one(Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3]))
    print(json.dumps(line))


if __name__ == "__main__":
    main()
