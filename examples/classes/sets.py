"""Many classes on real data: what a query asks of a one-vs-one machine, and that it is right.

    python examples/classes/sets.py
    python examples/classes/sets.py --target host letter satimage

trains a machine for each data set, compiles it in mode certified with held-out samples, verifies
the C bit for bit and holds every test sample against scikit-learn's `predict`. A row has

- classes, support vectors and pairs of classes, and how many of these a test sample evaluates;
- multiply-adds and instructions of a query, and those of mode exact, the sum of all pairs;
- flash in bytes, with exits and replay, and that of mode exact;
- test samples, the share of them that is certified, the labels that are not `predict`'s, and how
  many of those are certified: 0, or the compiler is wrong.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from pathlib import Path

import numpy as np
from machines import PARAMETERS, load

import kmcompile

HEADINGS = (
    *("set", "classes", "vectors", "evaluated", "pairs", "evaluated"),
    *("multiply-adds", "all pairs", "instructions", "all pairs", "flash", "all pairs"),
    *("samples", "certified", "other labels", "of these certified"),
)


def row(name: str, target: str) -> tuple[object, ...]:
    """Return the row of a data set."""
    machine = load(name)
    with tempfile.TemporaryDirectory() as scratch:
        files = {}
        for key, X in (("data", machine.calibration), ("test_data", machine.test)):
            files[key] = Path(scratch, f"{key}.npz")
            np.savez(files[key], X=X)
        options = {"target": target, "name": "machine", "test_data": files["test_data"]}
        plain = kmcompile.compile_model(machine.model, mode="exact", **options)
        compiled = kmcompile.compile_model(
            machine.model, mode="certified", data=files["data"], **options
        )
    results = compiled.classify(machine.test)
    differs = compiled.classes_[results["label"]] != machine.model.predict(machine.test)
    report = compiled.report
    n_classes = report["model"]["n_classes"]
    cost, alone = report["cost"], plain.report
    instructions = [(r["target"]["instructions"] or {}).get("mean") for r in (report, alone)]
    flash = [r["memory"]["flash_bytes"] for r in (report, alone)]
    return (
        name,
        n_classes,
        report["model"]["n_support_vectors"],
        f"{cost['kernel_evals_mean']:,.1f}",
        n_classes * (n_classes - 1) // 2,
        f"{cost['pairs_mean']:.1f}",
        f"{cost['mean_ops']:,.0f}",
        f"{alone['cost']['mean_ops']:,.0f}",
        *("-" if count is None else f"{count:,.0f}" for count in instructions),
        *(f"{n_bytes:,}" for n_bytes in flash),
        len(results),
        f"{results['certified'].mean():.4f}",
        int(differs.sum()),
        int((differs & results["certified"]).sum()),
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="SET", help=", ".join(PARAMETERS))
    parser.add_argument("--target", default="cortex-m7")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| " + " | ".join(HEADINGS) + " |")
    print("| --- " * len(HEADINGS) + "|")
    for name in arguments.names or PARAMETERS:
        print("| " + " | ".join(map(str, row(name, arguments.target))) + " |", flush=True)


if __name__ == "__main__":
    main()
