"""Random small routed rbf machines in integer formats, with their decisions in real numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mpmath import mp, mpf

from kit.routed import tree
from kmcompile.kernels import Rbf
from kmcompile.lower.codes import lossless_codes, scaled_codes
from kmcompile.lower.integer_program import IntegerTableForm, lower_integers
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.likely_inputs import ordinary_inputs
from kmcompile.model.routing import Routing
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.program import Program
from kmcompile.steps import Affine
from kmcompile.target import load_target

_DIGITS = 40


@dataclass(frozen=True)
class RandomRouted:
    """What a random machine has: `extra` as in `kit.routed.Routed`, or "units" for whole vectors.

    With "scaler", features have offsets and factors, with "ties" all leaves have one centre.
    """

    extra: str
    number_format: str
    seed: int

    def machine(self) -> KernelMachine:
        """Return the machine: leaves have 0 to 9 vectors, one of them may be another leaf's."""
        rng = np.random.default_rng(self.seed)
        n_leaves, d = int(rng.integers(1, 5)), int(rng.integers(1, 6))
        n_decisions = int(rng.integers(1, 4))
        sizes = rng.integers(0, 7, size=n_leaves)
        sizes[0] += 3
        n = int(sizes.sum())
        vectors = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-1, 1)
        if "units" in self.extra:
            vectors = rng.integers(-100, 100, size=(n, d)).astype(np.float64)
        vectors[rng.integers(n)] = vectors[0]
        spread = float(np.abs(vectors).max()) or 1.0
        widths = np.ones(n)
        if "widths" in self.extra:
            few = 10.0 ** rng.uniform(-1.5, 1.5, size=3)
            widths = few[rng.integers(3, size=n)] * (1.0 if self.seed % 2 else rng.random(n) + 0.5)
        n_pairs = int((sizes * (sizes + 1) // 2).sum()) if "products" in self.extra else 0
        n_linear = n_leaves if "linear" in self.extra else 0
        size = 10.0 ** rng.uniform(-2, 2, size=4)
        centres = rng.normal(size=(n_leaves, d)) * spread
        if "ties" in self.extra:
            centres[1:] = centres[0]
        route = tree(centres, ("flat", "chain")[self.seed % 2])
        routing = Routing(
            *route,
            np.cumsum(sizes),
            rng.normal(size=(n_leaves, n_decisions)) * size[0],
            widths,
            rng.normal(size=(n_decisions, n_pairs)) * size[1],
            rng.normal(size=(n_linear, n_decisions, d)) * size[2] / spread,
        )
        steps = ()
        if "scaler" in self.extra:
            steps = (Affine(rng.normal(size=d), 2.0 ** rng.uniform(-3, 3, d), np.zeros(d), 0.0),)
        return KernelMachine(
            kind="DCPredRegressor",
            task=Task.REGRESSION if n_decisions == 1 else Task.ONE_VS_REST,
            kernel=Rbf(10.0 ** rng.uniform(-1, 1) / spread**2),
            support_vectors=vectors,
            dual_coef=rng.normal(size=(n_decisions, n)) * size[3],
            intercept=rng.normal(size=n_decisions),
            classes=tuple(range(n_decisions if n_decisions > 1 else 0)),
            n_features=d,
            preprocessing=steps,
            zero_is_positive=False,
            routing=routing,
        )

    def program(self, wide: bool = True) -> Program:
        """Return the program, with coefficients of 32 or 16 bits."""
        machine = self.machine()
        whole = lossless_codes(machine) if "units" in self.extra else None
        coded = whole or scaled_codes(machine, self.number_format)
        target, inputs = load_target("host"), ordinary_inputs(machine, 16)
        form = IntegerTableForm(False, wide)
        return lower_integers(coded, target, "cells", inputs, form, self.number_format)

    def queries(self, n: int, borders: bool = True) -> np.ndarray:
        """Return raw queries: near vectors, in the corners, and at the boundaries of leaves."""
        machine, rng = self.machine(), np.random.default_rng(self.seed + 1)
        routing = machine.routing
        low, high = machine.support_vectors.min(axis=0), machine.support_vectors.max(axis=0)
        middle, half = (low + high) / 2, float((high - low).max()) / 2 or 1.0
        box = middle + half * rng.uniform(-1.9, 1.9, size=(n, len(low)))
        some = machine.support_vectors[rng.integers(len(machine.support_vectors), size=n)]
        near = some + rng.normal(size=box.shape) * half * 10.0 ** rng.uniform(-6, 0, size=(n, 1))
        a, b = rng.integers(routing.n_choices, size=(2, n))
        w = routing.weights[a] - routing.weights[b]
        off = (box * w).sum(axis=1) - (routing.offsets[a] - routing.offsets[b])
        square = (w**2).sum(axis=1)
        share = np.divide(off, square, out=np.zeros(n), where=square > 0)
        border = box - share[:, None] * w
        corner = middle + half * rng.choice([-1.9, 1.9, 0.0], size=box.shape)
        kind = rng.integers(4 if borders else 3, size=n)
        X = np.choose(kind[:, None], [box, near, corner, border])
        for step in reversed(machine.preprocessing):
            X = step.undo(X)
        return X.astype(np.float32)


def possible_decisions(machine: KernelMachine, x: np.ndarray) -> list[list[mpf]]:
    """Return the exact decisions of the leaf of a raw query, or of all that are equally near."""
    with mp.workdps(_DIGITS):
        point = [mpf(float(v)) for v in x]
        for step in machine.preprocessing:
            parts = zip(point, step.offset, step.factor, strict=True)
            point = [(v - mpf(float(o))) * mpf(float(f)) for v, o, f in parts]
        return [_of_leaf(machine, leaf, point) for leaf in _leaves(machine.routing, point)]


def _leaves(routing: Routing, point: list[mpf]) -> list[int]:
    ahead, found = [0], []
    while ahead:
        node = ahead.pop()
        first = int(routing.node_ends[node - 1]) if node else 0
        choices = range(first, int(routing.node_ends[node]))
        scores = [
            _inner(routing.weights[c], point) - mpf(float(routing.offsets[c])) for c in choices
        ]
        for choice, score in zip(choices, scores, strict=True):
            target = int(routing.targets[choice])
            if score == max(scores):
                (ahead if target >= 0 else found).append(target if target >= 0 else -1 - target)
    return found


def _inner(w: np.ndarray, point: list[mpf]) -> mpf:
    return mp.fsum(mpf(float(a)) * b for a, b in zip(w, point, strict=True))


def _of_leaf(machine: KernelMachine, leaf: int, point: list[mpf]) -> list[mpf]:
    routing = machine.routing
    own = range(*routing.members(leaf).indices(len(machine.support_vectors)))
    kernels = []
    for i in own:
        apart = mp.fsum(
            (mpf(float(s)) - v) ** 2 for s, v in zip(machine.support_vectors[i], point, strict=True)
        )
        gamma = mpf(machine.kernel.gamma) * mpf(float(routing.relative_gamma[i]))
        kernels.append(mp.exp(-gamma * apart))
    decisions = []
    for p in range(machine.n_decisions):
        value = mpf(float(machine.intercept[p])) + mpf(float(routing.intercepts[leaf, p]))
        value += mp.fsum(
            mpf(float(machine.dual_coef[p, i])) * k for i, k in zip(own, kernels, strict=True)
        )
        if routing.has_weights:
            value += _inner(routing.leaf_weights[leaf, p], point)
        if routing.has_pairs:
            pair = int(routing.pair_starts[leaf])
            for i in range(len(kernels)):
                for j in range(i, len(kernels)):
                    value += mpf(float(routing.pair_coef[p, pair])) * kernels[i] * kernels[j]
                    pair += 1
        decisions.append(value)
    return decisions


def largest_share(
    case: RandomRouted, n: int, wide: bool, borders: bool = True
) -> tuple[float, int]:
    """Return the largest error of a decision in shares of its bound, and how many were asked."""
    return share_of(case.program(wide), case.machine(), case.queries(n, borders))


def share_of(program: Program, machine: KernelMachine, X: np.ndarray) -> tuple[float, int]:
    """Return the largest error in shares of its bound, and how many queries were accepted.

    A query may belong to several leaves, all of which the bound must cover.
    """
    answers = interpret(program, X)
    asked = np.flatnonzero(answers.results["status"] == Status.OK)
    most = 0.0
    for row in asked:
        for exact in possible_decisions(machine, X[row]):
            found = zip(exact, answers.decisions[row], answers.bounds[row], strict=True)
            most = max(most, *(float(abs(f - mpf(float(g))) / mpf(float(b))) for f, g, b in found))
    return most, len(asked)
