"""The machines that certified mode is attacked with, and their programs."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from library import OfCodes
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import SVC
from subject_data import LOADERS, stored

from kit import certified, regressions
from kit.emitted import Emitted
from kit.every_offer import every_offer
from kit.function_kernels import kernel_function, load_machine
from kit.shared_data import DATA, data_file
from kmcompile.errors import InputError
from kmcompile.exits.candidates.room import Room
from kmcompile.kernels import Linear
from kmcompile.lower import lower
from kmcompile.lower.formats import lower_in_format
from kmcompile.lower.pair_choice import with_pair_sum
from kmcompile.lower.replay import add_replay, lower_replay
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.likely_inputs import ordinary_inputs
from kmcompile.passes import run_passes
from kmcompile.passes.expand_polynomial import can_expand, n_monomials
from kmcompile.program.interpreter import Status
from kmcompile.program.program import Program
from kmcompile.program.stages import EarlyExit, PolynomialSum
from kmcompile.steps import Affine
from kmcompile.target import load_target

NO_LIMIT = Room(operations=np.inf, flash_bytes=None, ram_bytes=None)
STEPS: dict[str, Callable[[], list[Any]]] = {
    "raw": list,
    "standard": lambda: [StandardScaler()],
    "minmax": lambda: [MinMaxScaler(clip=True)],
    "l2": lambda: [Normalizer()],
    "pca": lambda: [StandardScaler(), PCA(5)],
}


@dataclass(frozen=True)
class Subject:
    """A machine to attack.

    Parameters
    ----------
    data : str
        Of `LOADERS`, or a file in `$KMCOMPILE_DATA`.
    weight : float
        Its share of all queries, relative to others: a machine that answers fast gets more.
    lanes : int, optional
        Vectors of a block on the host, in the place of the target's own: with few, sequences of
        vectors have many blocks.
    has_exits : bool
        Whether certified exits are fitted.
    number_format : str
        With "int8" or "int16", every program in that format.
    of_codes : bool
        Whether these are asked through their code entry: an input is then codes, as float32, and
        the machine begins with what they stand for.
    case : object, optional
        Of `certified.EVERY` or `regressions.ATTACKED`: a program as it stands, in the place of
        all this.
    """

    name: str
    data: str
    svc: dict[str, Any] = field(hash=False)
    steps: str = "standard"
    n_trained: int = 150
    weight: float = 1.0
    lanes: int | None = None
    has_exits: bool = True
    number_format: str = "float32"
    of_codes: bool = False
    case: Any = field(default=None, hash=False)

    def __str__(self) -> str:
        return self.name

    @property
    def is_here(self) -> bool:
        """Whether its data are on this machine."""
        return (
            self.case is not None or self.data in LOADERS or (DATA / f"{self.data}.npz").is_file()
        )

    def need_data(self) -> None:
        """Skip the test if its data are not on this machine."""
        if not self.is_here:
            data_file(self.data)

    def samples(self) -> tuple[np.ndarray, np.ndarray]:
        """Return inputs and labels in an order drawn with a fixed seed."""
        X, y = LOADERS[self.data]() if self.data in LOADERS else stored(self.data)
        order = np.random.default_rng(0).permutation(len(X))
        return X[order], y[order]


@dataclass(frozen=True, eq=False)
class Target:
    """A machine with its programs, and inputs of its kind.

    Parameters
    ----------
    estimator : fitted scikit-learn estimator
    machine : KernelMachine
        As it was trained.
    programs : dict of str to Emitted
        Every certified exit alone before the exact sum, all of them in a row, and these with
        the replay; of many classes a sum that is evaluated pair by pair.
    samples : ndarray of shape (n, n_features), float32
        Fresh ones first.
    """

    estimator: Any
    machine: KernelMachine
    programs: dict[str, Emitted]
    samples: np.ndarray


@cache
def fitted(subject: Subject, board: str = "host") -> Target:
    """Fit a subject's machine and lower it with every certified exit that there is."""
    if subject.case is not None:
        emitted = subject.case.emit(board)
        accepted = emitted.answers.results["status"] == Status.OK
        return Target(None, emitted.machine, {"case": emitted}, emitted.queries[accepted])
    X, y = subject.samples()
    estimator = make_pipeline(*STEPS[subject.steps](), SVC(**subject.svc))
    estimator.fit(X[: subject.n_trained], y[: subject.n_trained])
    own = load_machine(estimator)
    fresh = np.concatenate([X[subject.n_trained :], X[: subject.n_trained]]).astype(np.float32)
    if subject.number_format != "float32":
        return _in_integers(subject, estimator, own, fresh, board)
    lanes = subject.lanes if board == "host" else None
    programs = programs_of(own, fresh[:400], board, lanes, subject.has_exits)
    return Target(estimator, own, programs, fresh)


def _in_integers(
    subject: Subject, estimator: Any, own: KernelMachine, fresh: np.ndarray, board: str
) -> Target:
    """Return a subject in an integer format, with one of its entries."""
    target = load_target(board)
    lowered = lower_in_format(own, target, "iris", subject.number_format)
    scale, quantize = lowered.program.scale, lowered.program.prepare.quantize
    assert scale is not None and quantize is not None
    exits = _exits(lowered.machine, lowered.program, fresh[:400])
    programs = _combinations(lowered.program, exits)
    if not subject.of_codes:
        emitted = {name: Emitted(own, each, target) for name, each in programs.items()}
        return Target(estimator, own, emitted, fresh)
    # Two steps, so that offset + step code is exactly what the machine sees.
    stands_for = (
        Affine(np.zeros_like(scale.offset), scale.step, np.zeros_like(scale.offset)),
        Affine(-scale.offset, np.ones_like(scale.offset), np.zeros_like(scale.offset)),
    )
    machine = replace(own, preprocessing=(*stands_for, *own.preprocessing))
    codes = np.rint((fresh - scale.offset) / scale.step)
    inside = ((codes >= quantize.low) & (codes <= quantize.high)).all(axis=1)
    asked = {name: OfCodes(machine, each, target) for name, each in programs.items()}
    return Target(estimator, machine, asked, codes[inside].astype(np.float32))


def programs_of(
    own: KernelMachine,
    samples: np.ndarray,
    board: str = "host",
    lanes: int | None = None,
    has_exits: bool = True,
) -> dict[str, Emitted]:
    """Return the programs of a machine by name, as in `Target`."""
    machine, target = run_passes(own), load_target(board)
    if lanes is not None:
        target = replace(target, program=replace(target.program, lanes=lanes))
    ordinary = ordinary_inputs(machine, 64)
    program = lower(machine, target, "iris", ordinary)
    fits = has_exits and not isinstance(machine.kernel, Linear)
    programs = _combinations(program, _exits(machine, program, samples) if fits else [])
    if target.double_bits == 64:
        every = list(programs.values())[-1]
        for name, low in (("replay", False), ("replay with low parts", True)):
            replay = lower_replay(machine, target, program, ordinary, low)
            programs[name] = replace(every, replay=replay)
    if can_expand(machine) and n_monomials(program.sum.n_features, machine.kernel.degree) < 3000:
        # Without it where the machine's coefficients overflow: the package offers none then either.
        with suppress(InputError):
            made = lower(machine, target, "iris", ordinary, vectorless=PolynomialSum)
            if target.double_bits == 64:
                made, _ = add_replay(machine, target, made, ordinary, None, required=True)
            programs["polynomial_sum"] = made
    pairs = with_pair_sum(machine, program, ordinary, samples)
    if pairs is not None:
        programs["pair_sum"] = pairs
    return {name: Emitted(own, each, target) for name, each in programs.items()}


def planned(n_queries: int) -> dict[Subject, int]:
    """Return how many queries each subject gets whose data are here."""
    here = [subject for subject in SUBJECTS if subject.is_here]
    total = sum(subject.weight for subject in here)
    return {subject: math.ceil(n_queries * subject.weight / total) for subject in here}


def _exits(machine: KernelMachine, program: Program, X: np.ndarray) -> list[EarlyExit]:
    """Return the certified exits that the compiler itself considers, each in its largest size."""
    found = [stage for stage, _ in every_offer(machine, program, X, NO_LIMIT)]
    last = {stage.template: stage for stage in found}
    return sorted(last.values(), key=lambda stage: stage.worst_operations(program.ends))


def _combinations(exact: Program, exits: list[EarlyExit]) -> dict[str, Program]:
    """Return programs by name: each exit alone, all of them, and all with each form of replay."""
    alone = {stage.template: certified.with_exits(exact, [stage]) for stage in exits}
    every = certified.with_exits(exact, exits) if exits else exact
    return {**alone, **({} if len(alone) == 1 else {"all": every})}


def _rbf(gamma: float, C: float = 10.0) -> dict[str, Any]:
    return {"kernel": "rbf", "gamma": gamma, "C": C}


def _function(name: str, **parameters: float) -> dict[str, Any]:
    return {"kernel": kernel_function(name, **parameters), "C": 10.0}


def _poly(degree: int, gamma: float, coef0: float, C: float = 1.0) -> dict[str, Any]:
    return {"kernel": "poly", "degree": degree, "gamma": gamma, "coef0": coef0, "C": C}


MACHINES = (
    Subject("rbf-line", "line", _rbf(2.0), "raw", weight=6, lanes=4),
    Subject("poly-line", "line", _poly(3, 1.0, 1.0), "raw", weight=6),
    Subject("rbf-moons", "moons", _rbf(1.0), weight=6),
    Subject("rbf-moons-soft", "moons", _rbf(0.5, 0.1), "raw", weight=4, lanes=4),
    Subject("rbf-moons-hard", "moons", _rbf(0.05, 1e4), "raw", weight=4),
    Subject("rbf-moons-narrow", "moons", _rbf(40.0, 1e3), weight=3, lanes=4),
    Subject("poly-even-moons", "moons", _poly(2, 1.0, 0.5), weight=5),
    Subject("poly-odd-moons", "moons", _poly(5, 0.5, 1.0), "raw", weight=4, lanes=4),
    Subject("rbf-shifted", "shifted", _rbf(0.3, 1e3), weight=4, lanes=4),
    Subject("rbf-shifted-raw", "shifted", _rbf(2000.0, 1e3), "raw", weight=3),
    Subject("rbf-skin", "skin", _rbf(0.5), n_trained=400, weight=6),
    Subject("rbf-banana", "banana", _rbf(1.0), n_trained=400, weight=4, lanes=4),
    Subject("rbf-nine", "nine", _rbf(0.02), weight=4, lanes=4),
    Subject("rbf-breast-cancer", "breast_cancer", _rbf(0.002), weight=3),
    Subject("poly-breast-cancer", "breast_cancer", _poly(3, 0.05, 1.0), weight=3, lanes=4),
    Subject("rbf-pca", "breast_cancer", _rbf(0.05), "pca", weight=3),
    Subject("rbf-clipped", "wine", _rbf(0.5), "minmax", weight=1),
    Subject("rbf-wine", "wine", _rbf(0.02), weight=2, lanes=4),
    Subject("rbf-digits", "digits", _rbf(0.5), "l2", weight=1),
    Subject("poly-digits", "digits", _poly(9, 1.0, 0.0, 10.0), "l2", weight=1, lanes=4),
    Subject("poly-even-digits", "digits", _poly(4, 1.0, 0.2, 10.0), "l2", weight=1),
    Subject("rbf-ten-digits", "ten_digits", _rbf(0.001), "raw", 120, weight=0.3),
    Subject("poly-mnist", "mnist", _poly(9, 1.0, 0.0), "l2", weight=0.3, has_exits=False),
    Subject("sigmoid-wine", "wine", {"kernel": "sigmoid", "gamma": 0.02, "coef0": -0.1}, weight=2),
    Subject("sigmoid-moons", "moons", {"kernel": "sigmoid", "gamma": 0.5, "coef0": 0.1}, weight=2),
    Subject("laplacian-moons", "moons", _function("laplacian", gamma=1.0), weight=2, lanes=4),
    Subject("laplacian-wine", "wine", _function("laplacian", gamma=0.05), weight=1),
    Subject("matern-moons", "moons", _function("matern", gamma=2.0, degree=1), weight=2, lanes=4),
    Subject("matern-wine", "wine", _function("matern", gamma=0.3, degree=2), weight=1),
    Subject(
        "rational-moons", "moons", _function("rational_quadratic", gamma=2.0, alpha=0.7), lanes=4
    ),
    Subject("rational-wine", "wine", _function("rational_quadratic", gamma=0.01, alpha=8.0)),
    Subject("chi2-wine", "wine", _function("chi2", gamma=0.5), "minmax", weight=1),
    Subject("chi2-ten-digits", "ten_digits", _function("chi2", gamma=0.02), "raw", 120, weight=0.3),
    Subject("intersection-wine", "wine", _function("intersection"), "minmax", weight=1),
    Subject("intersection-digits", "digits", _function("intersection"), "raw", weight=1, lanes=4),
    Subject("additive-chi2-wine", "wine", _function("additive_chi2"), "minmax", weight=1),
    Subject("linear-moons", "moons", {"kernel": "linear"}, weight=2),
    Subject("linear-wine", "wine", {"kernel": "linear"}, weight=1),
)
INTEGERS = tuple(
    Subject(
        f"integers-{name}{'-codes' if of_codes else ''}",
        data,
        parameters,
        steps,
        n_trained,
        weight=2,
        number_format=number_format,
        of_codes=of_codes,
    )
    for name, data, parameters, steps, n_trained, number_format in (
        ("line", "line", _rbf(2.0), "raw", 150, "int16"),
        ("moons", "moons", _rbf(1.0), "standard", 150, "int16"),
        ("moons-hard", "moons", _rbf(0.05, 1e4), "raw", 150, "int16"),
        ("shifted", "shifted", _rbf(0.3, 1e3), "standard", 150, "int16"),
        ("banana", "banana", _rbf(1.0), "standard", 400, "int16"),
        ("nine", "nine", _rbf(0.02), "standard", 150, "int16"),
        ("wine", "wine", _rbf(0.02), "standard", 150, "int16"),
        ("digits", "sixteenths", _rbf(0.001), "raw", 150, "int8"),
        ("intersection", "sixteenths", _function("intersection"), "raw", 150, "int8"),
    )
    for of_codes in (False, True)
)
"""Machines in integer formats, each through both of its entries."""

QUICK = (
    "rbf-line",
    "rbf-clipped",
    "poly-breast-cancer",
    "poly-digits",
    "sigmoid-wine",
    "laplacian-moons",
    "matern-moons",
    "matern-wine",
    "rational-moons",
    "chi2-wine",
    "intersection-wine",
    "linear-wine",
    "integers-line",
    "integers-digits-codes",
    "integers-intersection-codes",
    "case-one-raw-C_10-gamma_1.0",
    "case-cosine9-digits-l2-12_dimensions-30_touched",
    "case-regression-poly-float32-replay-0.001",
)
"""Names of those that `make test` attacks: each stage, kernel and format."""

SUBJECTS = (
    *MACHINES,
    *INTEGERS,
    *(Subject(f"case-{case}", "", {}, weight=1, case=case) for case in certified.EVERY),
    *(Subject(f"case-{case}", "", {}, weight=0.5, case=case) for case in regressions.ATTACKED),
)
