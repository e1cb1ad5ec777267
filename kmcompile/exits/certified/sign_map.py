"""Build the stage `sign_map`: the boxes of inputs in which the sign of a decision is proved."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from kmcompile.exits.candidates.search_budget import SearchBudget
from kmcompile.exits.certified.density import Density, density, spread_points
from kmcompile.exits.certified.expansions import RbfExpansions, Sum, expand
from kmcompile.exits.certified.lattice import Keys, Lattice, interleaved, lattice
from kmcompile.exits.certified.linear_input import LinearInput, linear_input
from kmcompile.exits.certified.monomials import monomials
from kmcompile.exits.certified.offers import Asked, Offer
from kmcompile.exits.certified.pruning import Forest, Pruned, kinds
from kmcompile.exits.certified.subdivision import Subdivision, subdivide
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.program import Program
from kmcompile.program.stages.early_exits.sign_map import (
    SignMap,
    first_operations,
    map_bytes,
    step_operations,
)
from kmcompile.program.stages.labels.proved import NARROW_OPERATIONS

DEGREES = {1: 15, 2: 11, 3: 7}
"""Degree of the expansions for each number of features; odd, because the remainder of rbf is
smallest then."""

_LARGEST_BYTES = 20_000
_MOST_LEVELS = 32
_MOST_HALVED = (1 << 16) - 1
"""Largest number of halved boxes: their ranks are stored as uint16."""
_ROOT_SHARE = 0.5
"""Most roots, as a share of a map's nodes."""
_TOLERANCE = 2.0**-7
"""Largest error of an expansion relative to a typical |f|."""
_MOST_WORK = 3e9  # most multiply-adds of the expansions: seconds
_MOST_COEFFICIENTS = 20_000_000  # most numbers for the boxes on which f is expanded: 160 MB
_GROWTH = 4
_FEW_OPEN = 0.01
"""Share of undecided samples below which a larger map, as --max-flash may allow, hardly decides
more."""
_MOST_HALVINGS = 22
"""Most halvings of all features together before a grid: the search halves narrow ones, too."""
_TRIED = 32
_SEARCHED = 2
"""Boxes that the search halves for each halved box that the map has room for."""


@dataclass(frozen=True, slots=True, eq=False)
class Proof:
    """The parts that prove signs for the boxes of one machine.

    Parameters
    ----------
    machine : KernelMachine
    linear : LinearInput
    lattice : Lattice
    expansions : RbfExpansions
    rounded : float
        Further rounding errors of a distance in float64, from measuring the machine in other units.
    """

    machine: KernelMachine
    linear: LinearInput
    lattice: Lattice
    expansions: RbfExpansions
    rounded: float

    def expand(self, keys: Keys, level: int) -> Sum:
        """Return the polynomial of the decision f, with its error, on boxes of a level."""
        lattice, linear = self.lattice, self.linear
        centres = lattice.centres(keys, level) @ linear.matrix.T + linear.offset
        beyond = lattice.high + 2 * lattice.width * 2.0**-level
        reach = np.maximum(np.abs(lattice.low), np.abs(beyond))
        length = math.sqrt(float((self.machine.support_vectors**2).sum(axis=1).max()))
        made = expand(
            self.expansions,
            self.machine.dual_coef[0],
            float(self.machine.intercept[0]),
            centres,
            linear.matrix * lattice.half_widths(level),
            linear.deviation(reach, length * (1 + 1e-9)) + self.rounded,
        )
        return replace(made, error=made.error + self.machine.intercept_error)


def usual_bytes(program: Program) -> int:
    """Return the usual flash of a map: 20 KB, or the bytes of the exact sum's tables if fewer."""
    return min(_LARGEST_BYTES, sum(table.n_bytes for table in program.ends.exact.tables()))


def why_not(machine: KernelMachine, program: Program) -> str:
    """Return why a machine cannot have a sign map: kernel, classes or features; "" if it may."""
    if not machine.kernel.is_gaussian:
        return f"a map is of an rbf kernel, this machine's is {machine.kernel.name}"
    if not machine.task.has_one_sign:
        return f"a map is of one sign, and this machine is {machine.task.value}"
    if machine.n_features not in DEGREES:
        return f"a map is for at most {max(DEGREES)} features, the model has {machine.n_features}"
    return ""


def build_sign_map(
    machine: KernelMachine,
    program: Program,
    samples: Float32Array,
    max_bytes: int,
    max_operations: float = math.inf,
    budget: SearchBudget | None = None,
) -> SignMap | None:
    """Return the map that decides most queries within its flash and its operations.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes: binary, at most 3 raw features, linear preprocessing.
    program : Program
        The exact program of the machine.
    samples : ndarray of shape (n, n_features), float32
        Raw inputs like those to come: the map spends its bytes where they lie.
    max_bytes : int
    max_operations : float
        Most multiply-adds of a query that the map does not decide, with the label.
    budget : SearchBudget, optional

    Returns
    -------
    SignMap or None
        None if the machine is of another kind, or if no map decides anything.
    """
    if why_not(machine, program):
        return None
    seen = _seen(machine, program, samples)
    points = spread_points(seen.x) if len(samples) else np.zeros((0, machine.n_features))
    proof = proof_of(seen.machine, points, seen.unit, seen.largest_deviation)
    n_nodes = _nodes_within(max_bytes)
    if proof is None or n_nodes < 1:
        return None
    likely = density(proof.lattice, points)
    first_level, keys = _first_boxes(proof, likely)
    most_halved = min(_MOST_HALVED, n_nodes >> machine.n_features)
    found = subdivide(
        proof.expansions.basis,
        likely,
        first_level,
        keys,
        proof.expand(keys, first_level),
        _SEARCHED * most_halved,
        budget,
    )
    cost = step_operations(machine.n_features) / program.ends.exact.operations()
    grids = _grids(proof.lattice, n_nodes)
    steps = _steps_within(max_operations, machine.n_features, program)
    forest = Forest(found, likely, len(grids) - 1, cost, steps)
    best = _best(forest, grids, proof.lattice, n_nodes)
    return None if best is None else _encoded(best, found, proof.lattice, seen.deviation)


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """The inputs that a map looks up: raw samples, or in an integer format the prepared ones.

    Parameters
    ----------
    machine : KernelMachine
        The machine as a function of the inputs that the map looks up.
    x : ndarray of shape (n, n_features), float32
        The samples, as the map sees them.
    unit : float
        A power of two of which all samples are multiples; 0: there is none.
    deviation : float32 or None
        `SignMap.deviation`.
    """

    machine: KernelMachine
    x: Float32Array
    unit: float
    deviation: np.float32 | None

    @property
    def largest_deviation(self) -> float:
        """Largest distance of the exact input from the input that the map looks up."""
        return 0.0 if self.deviation is None else float(self.deviation)


def _seen(machine: KernelMachine, program: Program, samples: Float32Array) -> _Seen:
    """Return the inputs that a map looks up: raw samples, or in an integer format prepared ones.

    The largest deviation is the deviation of a sample or of codes. It is small for samples on a
    grid that the codes represent exactly.
    """
    quantize = program.prepare.quantize
    if quantize is None:
        return _Seen(machine, samples, 0.0, None)
    batch = program.prepare.run(Batch.of(samples, program.n_decisions))
    prepared = replace(machine, preprocessing=())
    largest = batch.deviation.max(initial=quantize.code_deviation)
    return _Seen(prepared, batch.x, float(quantize.unit), largest)


def proof_of(
    machine: KernelMachine, points: np.ndarray, unit: float = 0.0, deviation: float = 0.0
) -> Proof | None:
    """Return what is needed to prove signs for a machine; None if no sign can be proved.

    Parameters
    ----------
    machine : KernelMachine
    points : ndarray of shape (n, n_features), float64
    unit : float
        The unit of codes, of which the inputs are multiples; 0: the inputs are no codes. Measuring
        the machine in these units rounds every vector by at most 3 u, and gamma by 2 u, which is
        u of a distance.
    deviation : float
        Largest distance of the exact input from the input that the map looks up.
    """
    linear = linear_input(machine)
    if linear is None or not len(points) or not machine.kernel.is_gaussian:
        return None
    basis = monomials(machine.n_features, DEGREES[machine.n_features])
    expansions = RbfExpansions(machine.kernel, machine.support_vectors, basis)
    boxes = lattice(points, np.sqrt((linear.matrix**2).sum(axis=0)), unit, deviation)
    if boxes is None:
        return None
    size = max(float(np.abs(rows).max()) for rows in (machine.support_vectors, points))
    rounded = 2.0**-48 * math.sqrt(machine.n_features) * size if unit else 0.0
    return Proof(machine, linear, boxes, expansions, rounded)


def _first_boxes(proof: Proof, likely: Density) -> tuple[int, Keys]:
    """Return the first level on which the expansions of f have small errors, and its boxes.

    Boxes of later levels inherit the polynomials of these boxes. If there are too many boxes, those
    with the fewest points are left out.
    """
    rng = np.random.default_rng(1)
    each = len(proof.machine.support_vectors) * len(proof.expansions.basis.total)
    most = max(
        1, min(int(_MOST_WORK / each), _MOST_COEFFICIENTS // len(proof.expansions.basis.total))
    )
    for level in range(proof.lattice.last_expanded + 1):
        keys = likely.occupied(level)
        some = proof.expand(rng.permutation(keys)[:_TRIED], level)
        typical = np.median(np.abs(some.coefficients[:, 0]))
        if (
            np.sort(some.error)[int(0.9 * (len(some.error) - 1))] <= _TOLERANCE * typical
            or len(keys) > most
        ):
            break
    by_share = np.argsort(-likely.of(keys, level), kind="stable")
    return level, np.sort(keys[by_share[:most]])


def _nodes_within(max_bytes: int) -> int:
    """Return the largest number of nodes of a map that takes at most `max_bytes`.

    Whole blocks of 64 nodes come first, then as many nodes as the remaining bytes hold.
    """
    n = max_bytes * 32 // 9
    while n > 0 and map_bytes(n) > max_bytes:
        n -= 1
    return n


def _steps_within(max_operations: float, n_features: int, program: Program) -> int:
    """Return how often a box may be halved, limited by the operations and the lattice's levels."""
    around = first_operations(n_features) + NARROW_OPERATIONS + program.ends.label.operations()
    steps = (max_operations - around) / step_operations(n_features)
    return int(np.clip(steps, 0, _MOST_LEVELS))


def _grids(lattice: Lattice, n_nodes: int) -> list[int]:
    """Return the number of boxes of each level that may be a map's grid, from level 0 on."""
    levels = min(lattice.last_level, _MOST_HALVINGS // lattice.n_features + 1)
    sizes = [math.prod(lattice.across(level).tolist()) for level in range(levels)]
    return [n for level, n in enumerate(sizes) if level == 0 or n <= _ROOT_SHARE * n_nodes]


def _best(forest: Forest, grids: list[int], lattice: Lattice, n_nodes: int) -> Pruned | None:
    """Return the forest with the largest gain over all grids.

    A finer grid takes more bytes, a coarser grid more steps.
    """
    found = [
        forest.fitted(level, min(_MOST_HALVED, (n_nodes - n_roots) >> lattice.n_features))
        for level, n_roots in enumerate(grids)
        if n_roots <= n_nodes and level < len(forest.boxes)
    ]
    best = max(found, key=lambda pruned: pruned.gain, default=None)
    return best if best is not None and best.gain > 0 else None


def _encoded(
    pruned: Pruned, found: Subdivision, lattice: Lattice, deviation: np.float32 | None
) -> SignMap:
    across = lattice.across(pruned.root_level)
    places = np.stack(np.meshgrid(*(np.arange(n) for n in across), indexing="ij"), axis=-1)
    roots = interleaved(places.reshape(-1, lattice.n_features), pruned.root_level + 2)
    by_level = kinds(pruned, roots, lattice.n_features)
    size = lattice.width * 2.0**-pruned.root_level
    largest = np.nextafter(np.float32(found.largest), np.float32(np.inf))
    least = np.nextafter(np.float32(found.least), np.float32(0))
    return SignMap.of(
        np.concatenate(by_level),
        lattice.low,
        size,
        across,
        len(by_level) - 1,
        (least, largest),
        deviation,
    )


def offer_sign_maps(asked: Asked) -> list[Offer]:
    """Return a map of the usual size, and larger maps as long as many samples stay undecided."""
    machine, program, room = asked.machine, asked.program, asked.room
    batch = program.prepare.run(Batch.of(asked.X, program.n_decisions))
    size, most = usual_bytes(program), room.map_bytes
    if most is not None:
        size = min(size, most)
    found: list[Offer] = []
    budget = asked.budgets.of("sign_map")
    while True:
        made = build_sign_map(machine, program, asked.X, size, room.operations, budget)
        if made is None:
            return found
        n_bytes = sum(table.n_bytes for table in made.tables())
        found.append((made, f"sign_map({n_bytes / 1000:.1f} KB)"))
        is_open = 1 - made.decide(batch, program.ends)[1].mean()
        size *= _GROWTH
        if most is None or size > most or is_open < _FEW_OPEN:
            return found
