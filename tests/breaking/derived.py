"""Stages of every kind, each with the least values that its terms need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import derivations
from reduced_derivations import self_bound
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from subjects import SUBJECTS, fitted

from kit import additive, coded
from kit.coded import Coded
from kit.coded_polynomials import CodedPolynomial
from kit.fixed_sum_terms import needed
from kit.fixed_sums import in_format, random_machine
from kit.reduced_machines import Reduced
from kit.taylor import Taylor
from kmcompile.exits.certified.lower_quadratic import Parts, lower_quadratic
from kmcompile.lower.additive_sum import lower_additive
from kmcompile.lower.curve_sum import lower_curves
from kmcompile.lower.integer_program import IntegerTableForm
from kmcompile.lower.polynomial_sum import lower_polynomial
from kmcompile.lower.sum_constants import SumContext
from kmcompile.lower.sums import lower_sum
from kmcompile.numeric.rounding import FLOAT32, FLOAT64, Precision
from kmcompile.passes import run_passes
from kmcompile.program.program import Program
from kmcompile.readers import load_model


@dataclass(frozen=True, eq=False)
class Derived:
    """A stage and the least values of its terms."""

    stage: Any
    needed: derivations.Needed

    def notices(self, stage: Any) -> bool:
        """Return whether a weakened stage has a term that is too small."""
        return bool(derivations.holds(stage, self.needed))


def stage_of(name: str, template: str) -> tuple[Any, Program, Any]:
    """Return a stage of a subject with its program and its machine after the passes."""
    target = fitted(next(subject for subject in SUBJECTS if subject.name == name))
    names = [name for name in (template, "case", "exact") if name in target.programs]
    emitted = target.programs[names[0] if names else next(iter(target.programs))]
    program = emitted.program
    stages = {stage.template: stage for stage in program.stages}
    return stages[template], program, run_passes(target.machine)


@cache
def _sequence(name: str) -> Derived:
    stage, _, machine = stage_of(name, "bound_sequence")
    return Derived(stage, derivations.bound_sequence(stage, machine))


@cache
def _exact(name: str) -> Derived:
    stage, _, machine = stage_of(name, "exact_sum")
    return Derived(stage, derivations.exact_sum(stage, machine))


@cache
def _pairs(name: str) -> Derived:
    stage, _, machine = stage_of(name, "pair_sum")
    return Derived(stage, derivations.exact_sum(stage, machine))


@cache
def _expanded(name: str) -> Derived:
    """Return the sum that leaves out features of 0, so that distances are expanded."""
    _, _, machine = stage_of(name, "exact_sum")
    stage = lower_sum(machine, 4, SumContext(skip_zeros=True))
    return Derived(stage, derivations.exact_sum(stage, machine))


@cache
def _fourier() -> Derived:
    """Return the sum over the features of an RBFSampler, which no subject has."""
    X, y = load_wine(return_X_y=True)
    features = RBFSampler(n_components=40, random_state=0)
    model = make_pipeline(StandardScaler(), features, LinearSVC(random_state=0)).fit(X, y)
    machine = run_passes(load_model(model))
    stage = lower_sum(machine, 4, SumContext())
    return Derived(stage, derivations.exact_sum(stage, machine))


@cache
def _additive(name: str, precision: Precision = FLOAT32) -> Derived:
    """Return the sum of functions of the features, of a machine that is summed over vectors."""
    _, _, machine = stage_of(name, "exact_sum")
    stage = lower_additive(machine, 4, precision, low_parts=True)
    return Derived(stage, derivations.additive_sum(stage, machine))


@cache
def _additive_one_class() -> Derived:
    """Return that of a machine whose coefficients do not add up to 0."""
    machine = run_passes(additive.CORE[2].machine())
    stage = lower_additive(machine, 4)
    return Derived(stage, derivations.additive_sum(stage, machine))


@cache
def _table(made: Callable[[], Any]) -> Derived:
    """Return the sum of table values of a machine whose features are codes."""
    emitted = Coded(made, "int8").emit("host")
    stage = emitted.program.sum
    return Derived(stage, derivations.table_sum(stage, emitted.machine))


@cache
def _coded_linear() -> Derived:
    """Return the sum of a linear machine whose inputs are rounded to codes."""
    emitted = Coded(coded.linear_sensors, "int16").emit("avr")
    stage = emitted.program.sum
    return Derived(
        stage, derivations.coded_linear_sum(stage, emitted.program, run_passes(emitted.machine))
    )


@cache
def _coded_polynomial(case: CodedPolynomial) -> Derived:
    """Return the polynomials in integers of a machine whose features are codes."""
    emitted = case.emit("cortex-m7")
    stage = emitted.program.sum
    return Derived(stage, derivations.coded_polynomial_sum(stage, emitted.machine))


@cache
def _curved(precision: Precision) -> Derived:
    """Return that of a machine with the additive chi2 kernel and coefficients above 0 only."""
    machine = run_passes(additive.MORE[-1].machine())
    stage = lower_curves(machine, 4, precision, low_parts=True)
    return Derived(stage, derivations.curve_sum(stage, machine))


@cache
def _linear(name: str) -> Derived:
    stage, _, machine = stage_of(name, "linear_sum")
    return Derived(stage, derivations.linear_sum(stage, machine))


@cache
def _polynomial(precision: Precision, degree: int) -> Derived:
    """Return the polynomials of machines that are multiplied out, which no subject is."""
    X, y = load_wine(return_X_y=True)
    svc = SVC(kernel="poly", degree=degree, coef0=0.7)
    machine = run_passes(load_model(make_pipeline(StandardScaler(), PCA(5), svc).fit(X, y)))
    stage = lower_polynomial(machine, 4, precision)
    return Derived(stage, derivations.polynomial_sum(stage, machine))


@cache
def _replay(name: str, kind: str) -> Derived:
    target = fitted(next(subject for subject in SUBJECTS if subject.name == name))
    stage = target.programs[kind].program.replay
    return Derived(stage, derivations.replay(stage, run_passes(target.machine)))


@cache
def _subspace(name: str) -> Derived:
    stage, program, machine = stage_of(name, "subspace_certificate")
    exact = program.ends.exact
    return Derived(stage, derivations.subspace_certificate(stage, exact, machine.kernel))


@cache
def _quadratic() -> Derived:
    """Return quadratic bounds on a machine of degree 3, which no subject has."""
    X, y = load_wine(return_X_y=True)
    svc = SVC(kernel="poly", degree=3, coef0=0.7).fit(StandardScaler().fit_transform(X), y == 1)
    machine = run_passes(load_model(svc))
    stage = lower_quadratic(Parts.of(machine), 8)
    return Derived(stage, derivations.quadratic_bounds(stage, machine))


@cache
def _integers(grid: str | None, number_format: str) -> Derived:
    case = in_format(random_machine(3, grid), number_format, IntegerTableForm(False, True))
    stage = case.program.ends.exact
    return Derived(stage, needed(case, stage))


@cache
def _reduced() -> Derived:
    """Return the sum of a reduced polynomial machine, which bounds its distance, too."""
    emitted = Reduced("cubic_wine", 12).emit("host")
    stage = emitted.program.sum
    fewer = Reduced("cubic_wine", 12).machine()
    needed_too = self_bound(stage.reduced, fewer.reduced_from.machine, fewer)
    return Derived(stage, derivations.exact_sum(stage, run_passes(fewer)) | needed_too)


@cache
def _folded(name: str) -> Derived:
    stage, _, machine = stage_of(name, "local_expansion")
    return Derived(stage, derivations.local_expansion(stage, machine))


@cache
def _taylor() -> Derived:
    """Return polynomials of degree 3 of two features, whose terms all differ."""
    emitted = Taylor("moons", 2.0, (2, 2), 0, degree=3).emit("host")
    stage = next(s for s in emitted.program.stages if s.template == "taylor_polynomial")
    return Derived(stage, derivations.taylor_polynomial(stage, run_passes(emitted.machine)))


DERIVED: dict[str, Callable[[], Derived]] = {
    "sequence-rbf": lambda: _sequence("rbf-line"),
    "sequence-poly": lambda: _sequence("poly-odd-moons"),
    "sequence-laplacian": lambda: _sequence("laplacian-moons"),
    "sequence-expanded": lambda: _sequence("case-rbf-sparse_digits-raw"),
    "sum-rbf": lambda: _exact("rbf-digits"),
    "sum-poly": lambda: _exact("poly-digits"),
    "sum-poly-moons": lambda: _exact("poly-odd-moons"),
    "sum-reduced": _reduced,
    "sum-expanded": lambda: _expanded("rbf-digits"),
    "sum-sigmoid": lambda: _exact("sigmoid-wine"),
    "sum-pairs": lambda: _pairs("rbf-wine"),
    "sum-linear": lambda: _linear("linear-wine"),
    "sum-polynomial": lambda: _polynomial(FLOAT32, 3),
    "sum-quartic": lambda: _polynomial(FLOAT32, 4),
    "sum-polynomial-double": lambda: _polynomial(FLOAT64, 2),
    "sequence-matern": lambda: _sequence("matern-moons"),
    "sequence-matern-two": lambda: _sequence("matern-wine"),
    "sum-matern": lambda: _exact("matern-moons"),
    "sum-matern-two": lambda: _exact("matern-wine"),
    "sequence-rational": lambda: _sequence("rational-moons"),
    "sum-rational": lambda: _exact("rational-moons"),
    "sum-rational-wine": lambda: _exact("rational-wine"),
    "replay-rational": lambda: _replay("rational-wine", "replay"),
    "replay-matern": lambda: _replay("matern-wine", "replay"),
    "sum-laplacian": lambda: _exact("laplacian-moons"),
    "sum-chi2": lambda: _exact("chi2-ten-digits"),
    "sum-fourier": _fourier,
    "sum-intersection": lambda: _exact("intersection-wine"),
    "sum-additive-chi2": lambda: _exact("additive-chi2-wine"),
    "sum-additive": lambda: _additive("intersection-wine"),
    "sum-additive-double": lambda: _additive("intersection-wine", FLOAT64),
    "sum-additive-one-class": _additive_one_class,
    "sum-table": lambda: _table(coded.intersection_digits),
    "sum-coded-linear": _coded_linear,
    "sum-coded-polynomial": lambda: _coded_polynomial(CodedPolynomial("one_vs_one", 3)),
    "sum-coded-line": lambda: _coded_polynomial(CodedPolynomial("binary", 1, "int16")),
    "sum-curved": lambda: _curved(FLOAT32),
    "sum-curved-double": lambda: _curved(FLOAT64),
    "replay-rbf": lambda: _replay("rbf-line", "replay"),
    "replay-poly": lambda: _replay("poly-odd-moons", "replay"),
    "replay-sigmoid": lambda: _replay("sigmoid-moons", "replay with low parts"),
    "replay-laplacian": lambda: _replay("laplacian-moons", "replay"),
    "replay-chi2": lambda: _replay("chi2-wine", "replay with low parts"),
    "replay-intersection": lambda: _replay("intersection-wine", "replay"),
    "replay-additive-chi2": lambda: _replay("additive-chi2-wine", "replay with low parts"),
    "replay-linear": lambda: _replay("linear-moons", "replay with low parts"),
    "replay-low-parts": lambda: _replay("rbf-line", "replay with low parts"),
    "subspace": lambda: _subspace("poly-breast-cancer"),
    "quadratic": _quadratic,
    "folded-line": lambda: _folded("rbf-line"),
    "folded-moons": lambda: _folded("rbf-moons"),
    "taylor": _taylor,
    "sum-integers": lambda: _integers("pixels", "lossless"),
    "sum-rounded": lambda: _integers(None, "int8"),
    "folded-curved": lambda: _folded("case-breast_cancer-standard-1x4_centres-4_curved"),
}
