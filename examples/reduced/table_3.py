"""Table 3 of the RSS paper: times of the methods for ten choices of their parameter, as ratios.

    OPENBLAS_NUM_THREADS=1 python examples/reduced/table_3.py

Each method starts from the machine and ends with the weights of ten sizes; the time is the
process's, the least of --repeat runs in turn. l1 is exact, by active sets, each penalty by itself
as in the paper ("l1 alone"), or from the weights of the one before ("l1 warm"); "l1 descent" is
scikit-learn's lasso_path as it is, which does not converge for the smaller penalties. l0 is
Algorithm 3.4 with ten penalties; pursuit is one run to the most vectors that l1 has, and the
weights of its ten numbers of vectors. The last lines are pursuit to 1,000 of 10,000 vectors of 100
features, and the same among 59 a step.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
from one_norm import largest_penalty, one_norm, one_norm_path
from predictors import BINARY, load, parser, write_csv
from probabilistic import pursue_some
from problem import Problem, problem_of
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lasso_path
from zero_norm import zero_norm

from kmcompile.kernels import Rbf
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.normals import Normals
from kmcompile.passes.reduction.pools import joint_pools
from kmcompile.passes.reduction.pursuit import pursue

L1_SHARES = np.geomspace(0.5, 1e-3, 10)
"""Of the least penalty that leaves nothing."""
L0_PENALTIES = np.geomspace(1e-2, 1e-7, 10)
METHODS = ("l1 alone", "l1 warm", "l1 descent", "l0")
LEGEND = """Seconds of one core for ten penalties or sizes, and ratios.
l1 alone:   each penalty by itself, as in the paper
l1 warm:    each penalty from the weights of the one before
l1 descent: scikit-learn's lasso_path, warm too"""
HEADER = ("set", "vectors", *METHODS, "pursuit", *(f"{name} / pursuit" for name in METHODS))


def problem(machine: KernelMachine) -> Problem:
    """Return the problem of a machine of one decision."""
    return problem_of(joint_pools(machine)[0], Normals.of(machine))[0]


def warm(machine: KernelMachine) -> list[np.ndarray]:
    """Return the weights of l1 for ten penalties, each from those of the one before."""
    of = problem(machine)
    return one_norm_path(of, largest_penalty(of) * L1_SHARES)


def alone(machine: KernelMachine) -> list[np.ndarray]:
    """Return the weights of l1 for ten penalties, each by itself."""
    of = problem(machine)
    return [one_norm(share * largest_penalty(of))(of) for share in L1_SHARES]


def descent(machine: KernelMachine) -> np.ndarray:
    """Return the weights of l1 for ten penalties by scikit-learn, with its own tolerance."""
    of = problem(machine)
    root = np.linalg.cholesky(of.gram + 1e-10 * np.eye(len(of.gram))).T
    target = root @ of.start[:, 0]
    alphas = largest_penalty(of) * L1_SHARES / (2 * len(root))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found: np.ndarray = lasso_path(root, target, alphas=alphas, precompute=of.gram)[1]
    return found


def zero(machine: KernelMachine) -> list[np.ndarray]:
    """Return the weights of l0 for ten penalties."""
    of = problem(machine)
    return [zero_norm(penalty)(of) for penalty in L0_PENALTIES]


def pursuit(machine: KernelMachine, sizes: list[int]) -> list[np.ndarray]:
    """Return the weights of matching pursuit for ten sizes."""
    selection = pursue(machine, max(sizes))
    return [selection.coefficients(min(size, len(selection))) for size in sizes]


def least_times(runs: dict[str, Callable[[], object]], repeat: int) -> dict[str, float]:
    """Return the least process time in seconds of each, run in turn."""
    found = dict.fromkeys(runs, np.inf)
    for _ in range(repeat):
        for name, run in runs.items():
            start = time.process_time()
            run()
            found[name] = min(found[name], time.process_time() - start)
    return found


def row_of(name: str, repeat: int) -> tuple[object, ...]:
    """Return the row of a set."""
    machine = load(name).machine
    sizes = [int(np.count_nonzero(weights)) for weights in warm(machine)]
    runs = {
        "l1 alone": lambda: alone(machine),
        "l1 warm": lambda: warm(machine),
        "l1 descent": lambda: descent(machine),
        "l0": lambda: zero(machine),
        "pursuit": lambda: pursuit(machine, sizes),
    }
    seconds = least_times(runs, repeat)
    ratios = [seconds[method] / seconds["pursuit"] for method in METHODS]
    return name, machine.n_support_vectors, *seconds.values(), *ratios


def large() -> dict[str, float]:
    """Return the seconds of pursuit to 1,000 of 10,000 vectors of 100 features."""
    rng = np.random.default_rng(0)
    machine = KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=Rbf(0.01),
        support_vectors=rng.normal(size=(10_000, 100)),
        dual_coef=rng.normal(size=(1, 10_000)),
        intercept=np.zeros(1),
        classes=(0, 1),
        n_features=100,
    )
    runs = {
        "pursuit": lambda: pursue(machine, 1000),
        "pursuit among 59": lambda: pursue_some(machine, 1000),
    }
    return least_times(runs, 1)


def main() -> None:
    """Print the table and write it as CSV."""
    options = parser(__doc__, tuple(BINARY))
    options.add_argument("--repeat", type=int, default=3)
    asked = options.parse_args()
    print(LEGEND)
    print("  ".join(HEADER), flush=True)
    rows = []
    for name in asked.names:
        rows.append(row_of(name, asked.repeat))
        seconds = "  ".join(f"{value:.3f} s" for value in rows[-1][2:7])
        ratios = "  ".join(f"{value:.1f}" for value in rows[-1][7:])
        print(f"{name}  {rows[-1][1]}  {seconds}  {ratios}", flush=True)
    write_csv(asked.out / "table_3.csv", HEADER, rows)
    for name, value in large().items():
        print(f"{name}, 1,000 of 10,000 vectors of 100 features: {value:.1f} s of one core")


if __name__ == "__main__":
    main()
