"""From an exact program to one with certified exits: the one entry of this package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from threadpoolctl import threadpool_limits

from kmcompile.exits.candidates.candidate import Candidate, merged
from kmcompile.exits.candidates.room import Room
from kmcompile.exits.candidates.samples import accepted_rows, require_samples
from kmcompile.exits.candidates.search_budget import SearchBudget, SearchBudgets
from kmcompile.exits.certified.bound_sequence import lower_bound_sequence, supports
from kmcompile.exits.certified.choice import TriedExit, choose
from kmcompile.exits.certified.folded_weights import fit_folded_weights
from kmcompile.exits.certified.likely import likely_inputs
from kmcompile.exits.certified.limits import is_usable
from kmcompile.exits.certified.sign_map import build_sign_map, usual_bytes
from kmcompile.exits.certified.subspace import fit_subspace
from kmcompile.exits.certified.vectors.greedy import greedy_vectors
from kmcompile.exits.certified.vectors.normals import Normals
from kmcompile.exits.pairwise import PAIR_SUM, PairOffer
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.cost import weight_notes
from kmcompile.program.program import Program
from kmcompile.program.stages import EarlyExit, Vote

WORST_SHARE = 0.25
"""What certified exits may add to the exact sum, in the worst case."""

_MOST_SAMPLES = 2000
_N_GENERATED = 1500
_MOST_Z = 128
_Z_SHARE = 0.2
"""Of the support vectors: more z cost more than the worst case may."""

_SEED = 20010628

_GROWTH = 4
_FEW_OPEN = 0.01
"""Share of samples; a larger map, asked for by --max-flash, hardly decides more."""

_Fit = tuple[EarlyExit, str]


@dataclass(frozen=True, slots=True)
class Choice:
    """How the certified exits of a program were chosen, for the report.

    Parameters
    ----------
    source : {"data", "generated"}
        Whether the samples are the user's or made from the support vectors.
    n_samples : int
    candidates : tuple of Candidate
        In the order of their cost; the exact sum alone is among them.
    notes : tuple of str
    """

    source: str
    n_samples: int
    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...]


def add_certified_exits(
    machine: KernelMachine,
    program: Program,
    given: Float32Array | None,
    room: Room,
    tell: Callable[[str], None],
    map_bytes: int | None = None,
    offer: Callable[[Float32Array, Float32Array], PairOffer | None] | None = None,
) -> tuple[Program, Choice]:
    """Return the program with the certified exits that pay, and how they were chosen.

    Parameters
    ----------
    machine : KernelMachine
        After the passes, with a kernel other than linear.
    program : Program
        The exact one.
    given : ndarray of shape (n, n_features), float32, or None
        The user's samples, which choose the exits; nothing that is proved rests on them.
    room : Room
    tell : callable
        Called with a few words as each step begins.
    map_bytes : int, optional
        Flash that a sign map may take, where not the default.
    offer : callable, optional
        Of samples that teach the order of pairs, and others that judge: a program whose sum is
        evaluated pair by pair, to be compared with the exact one, both behind what exits pay.
    """
    tell("choosing certified exits")
    X, source = _samples(machine, program, given)
    batch = program.prepare.run(Batch.of(X, program.n_decisions))
    ends = program.ends
    most = WORST_SHARE * ends.exact.operations()
    room = replace(room, operations=min(room.operations, most))
    budgets = SearchBudgets(tell)
    offered = fit(machine, program, X, room, map_bytes, budgets)
    tell("choosing certified exits")
    fitted = [
        TriedExit.of(stage, text, batch, ends)
        for stage, text in offered
        if stage.weighted_operations(ends) <= room.operations
    ]
    spent = ends.exact.operations_of(batch) + ends.label.operations()
    exits, candidates = choose(fitted, spent, ends, room)
    pair_notes: tuple[str, ...] = ()
    pairs = None if offer is None else offer(X, X)
    if pairs is not None:
        tell("choosing pairs of classes")
        behind, others = choose(fitted, pairs.operations, pairs.program.ends, room, PAIR_SUM)
        is_better, candidates = merged(candidates, others)
        if is_better:
            program, exits, pair_notes = pairs.program, behind, (pairs.note,)
    by_pairs = bool(pair_notes)
    if isinstance(ends.label, Vote) and not by_pairs:
        pair_notes = (
            "all pairs of classes are summed together: pair_sum does not pay or fit here, or is "
            "not for this machine",
        )
    program = replace(program, mode="certified", exits=(*program.exits, *exits))
    notes = (
        *_notes(offered, exits, by_pairs),
        *budgets.notes,
        *pair_notes,
        *weight_notes(program),
    )
    return program, Choice(source, len(X), candidates, notes)


def fit(
    machine: KernelMachine,
    program: Program,
    X: Float32Array,
    room: Room,
    map_bytes: int | None = None,
    budgets: SearchBudgets | None = None,
) -> list[tuple[EarlyExit, str]]:
    """Return the certified exits that there are for a machine, in several sizes, with a text.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32
        Accepted samples: where to prove much.
    budgets : SearchBudgets, optional
        Their notes say which search ended early.
    """
    budgets = budgets or SearchBudgets()
    with threadpool_limits(1):  # what a matrix product rounds depends on the threads
        fitted = [
            *_tried(lambda: _sign_map(machine, program, X, room, map_bytes, budgets)),
            *_tried(
                lambda: fit_folded_weights(machine, program, X, room, budgets.of("folded_weights"))
            ),
            *_tried(lambda: _bound_sequences(machine, program, X, budgets.of("bound_sequence"))),
            *_tried(lambda: _subspaces(machine, program, X, budgets)),
        ]
    return [(stage, text) for stage, text in fitted if is_usable(stage)]


def _tried(fitting: Callable[[], Sequence[_Fit]]) -> Sequence[_Fit]:
    """Return what is fitted; nothing where the scale of the data leaves float64."""
    try:
        with np.errstate(all="ignore"):
            return fitting()
    except (np.linalg.LinAlgError, OverflowError):
        return []


def _sign_map(
    machine: KernelMachine,
    program: Program,
    X: Float32Array,
    room: Room,
    max_bytes: int | None,
    budgets: SearchBudgets,
) -> list[tuple[EarlyExit, str]]:
    """Return a map of the usual size, and larger ones while they leave many samples open."""
    batch = program.prepare.run(Batch.of(X, program.n_decisions))
    size = usual_bytes(program)
    if max_bytes is not None:
        size = min(size, max_bytes)
    fitted: list[_Fit] = []
    budget = budgets.of("sign_map")
    while (found := build_sign_map(machine, program, X, size, room.operations, budget)) is not None:
        n_bytes = sum(table.n_bytes for table in found.tables())
        fitted.append((found, f"sign_map({n_bytes / 1000:.1f} KB)"))
        is_open = 1 - found.decide(batch, program.ends)[1].mean()
        size *= _GROWTH
        if max_bytes is None or size > max_bytes or is_open < _FEW_OPEN:
            break
    return fitted


def _bound_sequences(
    machine: KernelMachine, program: Program, X: Float32Array, budget: SearchBudget
) -> list[tuple[EarlyExit, str]]:
    if not supports(program, machine):
        return []
    if not budget.allows(operations=_sequence_operations(machine)):
        budget.left_out()
        return []
    budget.tell("choosing vectors")
    n = min(_MOST_Z, int(_Z_SHARE * machine.n_support_vectors))
    vectors = greedy_vectors(Normals.of(machine), n)
    longest = lower_bound_sequence(machine, program, vectors)
    if longest is None:
        return []
    sizes = sorted({-(-longest.n_blocks * share // 8) for share in (1, 2, 3, 4, 6, 8)})
    return [
        (longest.first(size), f"bound_sequence({size * longest.lanes} vectors)") for size in sizes
    ]


def _sequence_operations(machine: KernelMachine) -> float:
    """Return the multiply-adds of all products of support vectors, as many as take the time.

    One of a kernel goes through memory; those of the decisions are in extended precision.
    """
    m, n = machine.support_vectors.shape
    return float(m * m * (10 * n + 30 * machine.n_decisions))


def _subspaces(
    machine: KernelMachine, program: Program, X: Float32Array, budgets: SearchBudgets
) -> list[_Fit]:
    budget = budgets.of("subspace_certificate")
    return [(stage, str(stage)) for stage in fit_subspace(machine, program, X, budget)]


def _samples(
    machine: KernelMachine, program: Program, given: Float32Array | None
) -> tuple[Float32Array, str]:
    """Return samples that the C accepts, and where they come from."""
    X = likely_inputs(machine, _N_GENERATED) if given is None else given
    X = X[accepted_rows(program.prepare, X)]
    if given is not None:
        require_samples(len(X), "certified")
    if len(X) > _MOST_SAMPLES:
        X = X[np.sort(np.random.default_rng(_SEED).permutation(len(X))[:_MOST_SAMPLES])]
    return np.ascontiguousarray(X), "generated" if given is None else "data"


def _notes(offered: Sequence[_Fit], exits: tuple[EarlyExit, ...], by_pairs: bool) -> list[str]:
    taken = {stage.template for stage in exits}
    kinds = dict.fromkeys(stage.template for stage, _ in offered)
    notes = [f"{kind} does not pay here and is left out" for kind in kinds if kind not in taken]
    if by_pairs:
        return notes
    if not offered:
        notes.append("no certified exit is known for this machine: every query is summed")
    elif not exits:
        notes.append("no certified exit pays and fits: every query is summed")
    return notes
