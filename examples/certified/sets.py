"""Certified exits on real data: what they prove, and what a query takes.

    python examples/certified/sets.py
    python examples/certified/sets.py banana german shuttle

trains an rbf machine for each data set, tuned by cross-validation (mnist: the 9th power of the
cosine), and compiles it for a Cortex-M7 in mode certified: once with samples to choose the exits
by (held out of the training where there are enough) and once without any. Then the test samples
are asked. No C is built here: the interpreter is the meaning of the C bit for bit. Speed-ups are
of operations, multiply-adds with all overhead, against the dense exact sum.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from machines import CACHE, load

from kmcompile.exits.candidates.room import Room
from kmcompile.exits.certified.certify import WORST_SHARE, add_certified_exits
from kmcompile.lower import lower
from kmcompile.model.likely_inputs import ordinary_inputs
from kmcompile.model.reference import evaluate
from kmcompile.passes import run_passes
from kmcompile.program.interpreter import Status, interpret
from kmcompile.readers import load_model
from kmcompile.target import load_target

NAMES = (
    "banana",
    "fourclass",
    "checkerboard",
    "spirals2",
    "moons",
    "skin",
    "mnist-0-1",
    "mnist-3-8",
    "breast_cancer",
    "german",
    "satimage-1-3",
    "satimage-3-4",
    "satimage-4-5",
    "satimage-3-5",
    "satimage-0-rest",
    "shuttle",
    "optdigits-3-8",
    "optdigits-1-7",
    "optdigits-4-9",
)


@dataclass(frozen=True, eq=False)
class Measured:
    """What a program says to the test samples, and what that takes.

    Parameters
    ----------
    mean, worst : float
        Operations of a query, as shares of the exact sum's.
    early : float
        Share of samples that is decided before the exact sum.
    certified : float
        Share that is certified, the exact sum included.
    wrong : int
        Certified labels that are not the model's.
    shares : dict of str to float
        What each stage decides.
    """

    n_vectors: int
    flash: int
    mean: float
    worst: float
    early: float
    certified: float
    wrong: int
    shares: dict[str, float]


def measure(name: str, chosen_by: str, folder: Path) -> Measured:
    """Return the figures of a data set.

    Parameters
    ----------
    chosen_by : {"samples", "generated"}
        Samples that the exits are chosen by.
    """
    found = load(name, folder)
    machine = run_passes(load_model(found.model))
    target = load_target("cortex-m7")
    exact = lower(machine, target, "model", ordinary_inputs(machine, 256), skip_zeros=False)
    everything = sum(stage.operations() for stage in exact.stages)
    program, _ = add_certified_exits(
        machine,
        exact,
        found.samples if chosen_by == "samples" else None,
        Room(WORST_SHARE * everything, None, None),
        lambda text: None,
    )
    answers = interpret(program, found.test)
    kept = answers.results["status"] == Status.OK
    labels = evaluate(machine, found.test[kept]).labels
    results = answers.results[kept]
    stages = [stage.name for stage in program.exit_stages]
    counts = np.bincount(results["stage"], minlength=len(stages)) / len(results)
    spent = answers.operations[kept]
    alone = float(answers.exact_operations[kept].mean())
    return Measured(
        n_vectors=machine.n_support_vectors,
        flash=program.table_bytes - exact.table_bytes,
        mean=float(spent.mean()) / alone,
        worst=float(spent.max()) / alone,
        early=float(counts[: stages.index(program.ends.exact.name)].sum()),
        certified=float(results["certified"].mean()),
        wrong=int((results["certified"] & (results["label"] != labels)).sum()),
        shares=dict(zip(stages, counts.tolist(), strict=True)),
    )


def main() -> None:
    """Print a line for each data set and each source of samples."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", default=NAMES, metavar="SET", help="data sets")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where machines are kept")
    options = parser.parse_args()
    print(
        f"{'set':16s}{'chosen by':>10s}{'m':>6s}{'speed-up':>9s}{'worst':>7s}{'early':>8s}"
        f"{'certified':>10s}{'wrong':>6s}{'tables':>8s}  decided"
    )
    for name in options.names:
        for chosen_by in ("samples", "generated"):
            found = measure(name, chosen_by, options.cache)
            shares = " ".join(f"{stage} {share:.3f}" for stage, share in found.shares.items())
            print(
                f"{name:16s}{chosen_by:>10s}{found.n_vectors:6d}{1 / found.mean:9.1f}"
                f"{found.worst:7.2f}{found.early:8.4f}{found.certified:10.4f}{found.wrong:6d}"
                f"{found.flash / 1000:8.1f}  {shares}",
                flush=True,
            )


if __name__ == "__main__":
    main()
