"""How often a promise is broken over random splits of a set whose other half is large.

    python examples/benchmark/splits.py skin ijcnn1 --risk 0.02 --splits 200
    python examples/benchmark/splits.py skin ijcnn1 --loss 0.01 --splits 200

Of each set a machine is trained once. Each split draws samples for `--data` from the rest, chooses
the program for a Cortex-M7 by the plain options (nothing is built), and asks it and the machine
about what was not drawn. The promise is broken where other labels, or right labels that are lost,
are more than the limit there. At most one split in a hundred may break it, beyond what chance
explains: the number that a right promise exceeds once in a million runs is printed, too.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.stats import binom
from sets_data import arrays_of
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kmcompile import readers
from kmcompile.choice.whole_program import choose_whole
from kmcompile.exits.statistical.loss import losses_of
from kmcompile.model.reference import evaluate
from kmcompile.program.interpreter import classify
from kmcompile.request.options import Options
from kmcompile.request.plan import Request

BROKEN, CHANCE = 0.01, 1e-6
MOST_ASKED = 20_000


def rates_of(name: str, arguments: argparse.Namespace) -> tuple[list[float], int]:
    """Return the rate of each split on what was not drawn, and the number of reduced programs."""
    X, y, X_test, y_test = arrays_of(name)
    X = np.concatenate([X, X_test]).astype(np.float32)
    classes, y = np.unique(np.concatenate([y, y_test]), return_inverse=True)
    order = np.random.default_rng(3).permutation(len(X))
    first, rest = order[: arguments.training], order[arguments.training :]
    estimator = make_pipeline(StandardScaler(), SVC(C=10)).fit(X[first], classes[y[first]])
    machine = readers.load_model(estimator)
    rates, reduced = [], 0
    for split in range(arguments.splits):
        drawn = np.random.default_rng(split).permutation(rest)
        given, asked = np.split(drawn[: arguments.samples + MOST_ASKED], [arguments.samples])
        with TemporaryDirectory() as folder:
            path = Path(folder) / "data.npz"
            np.savez(path, X=X[given], y=classes[y[given]])
            what = {"risk": arguments.risk} if arguments.loss is None else {"loss": arguments.loss}
            options = Options(data=path, target="cortex-m7", **what)
            plan = Request.of(estimator, options).plan(machine)
            made, chosen = choose_whole(machine, plan, None, lambda text: None)
        said = classify(chosen.program, X[asked])[0]["label"]
        truth = None if arguments.loss is None else y[asked]
        rates.append(float(np.mean(losses_of(said, evaluate(machine, X[asked]).labels, truth))))
        reduced += made.reduction is not None
    return rates, reduced


def main() -> None:
    """Print a row for each set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="+", metavar="SET")
    parser.add_argument("--risk", type=float, default=0.02)
    parser.add_argument("--loss", type=float)
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--training", type=int, default=300)
    arguments = parser.parse_args()
    limit = arguments.risk if arguments.loss is None else arguments.loss
    for name in arguments.names:
        rates, reduced = rates_of(name, arguments)
        broken = sum(rate > limit for rate in rates)
        most = int(binom.isf(CHANCE, len(rates), BROKEN))
        kept = f"{broken} of {len(rates)} splits above {limit:g} (at most {most} by chance)"
        found = f"median {np.median(rates):.4f}, largest {max(rates):.4f}"
        print(f"{name}: {kept}, {found}; {reduced} with fewer vectors", flush=True)


if __name__ == "__main__":
    main()
