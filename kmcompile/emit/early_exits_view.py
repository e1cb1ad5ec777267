"""The views of the stages between `prepare` and the exact sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from kmcompile.emit.nearest_view import NearestView, nearest_view
from kmcompile.emit.prepare_view import READ_TOGETHER
from kmcompile.emit.products_view import ProductsView, products_view
from kmcompile.emit.reduced_set_view import ReducedSetView, reduced_set_views
from kmcompile.emit.subspace_view import SubspaceView, subspace_view
from kmcompile.emit.totals_view import BlockFunctions, TotalsView
from kmcompile.kernels.rbf import RbfFloat32
from kmcompile.program.program import Program
from kmcompile.program.stages import (
    BoundSequence,
    ExactSum,
    FixedSum,
    FoldedWeights,
    LinearFilter,
    NearestVectors,
    Nonzeros,
    RangeGate,
    ReducedSet,
    SignMap,
    Stage,
    SubspaceCertificate,
)

_S = TypeVar("_S", bound=Stage)


@dataclass(frozen=True, slots=True)
class InputMember:
    """What early exits and the replay add to an input on its way through the stages.

    Parameters
    ----------
    zero : str
        What it is before the first stage.
    zero_of_codes : str, optional
        The same of an input that came as codes, where that is something else.
    """

    declaration: str
    name: str
    zero: str
    meaning: str
    zero_of_codes: str | None = None

    @property
    def start_of_codes(self) -> str:
        """What it is before the first stage of an input that came as codes."""
        return self.zero if self.zero_of_codes is None else self.zero_of_codes


_RAW = InputMember("const float *raw", "raw", "x", "the input as it was received", "NULL")
_FLOATS = InputMember("const float *x", "x", "NULL", "the codes in float, for early exits")
_ALLOWED = InputMember(
    "uint32_t max_kernel_evals",
    "max_kernel_evals",
    "UINT32_MAX",
    "full kernel evaluations that may be spent",
)
_SQUARE = InputMember("float square", "square", "0.0f", "|x|^2, once it is summed")
_N_NONZEROS = InputMember(
    "uint32_t n_nonzeros", "n_nonzeros", "0U", "features in the list of nonzeros"
)


@dataclass(frozen=True, slots=True)
class Turn:
    """An early exit in its place of the cascade.

    Parameters
    ----------
    stage : Stage
    condition : str
        The C that says whether it is asked; "" where it always is.
    """

    stage: Stage
    condition: str


@dataclass(frozen=True, slots=True)
class NonzerosView:
    """What templates/stages/nonzeros.c.j2 needs: how many features whole turns read."""

    tiled_features: int
    has_tiles: bool
    has_tail: bool


@dataclass(frozen=True, slots=True)
class FloatCodes:
    """What early exits before a sum of integers need in float.

    Parameters
    ----------
    unit : float32
        What a code stands for.
    kernel : RbfFloat32 or None
        Where any of them computes its values and the exact sum does so in integers.
    has_own_term : bool
        Whether the exact sum has no kernel in float, so that any term of it is theirs.
    """

    unit: np.float32
    kernel: RbfFloat32 | None
    has_own_term: bool


@dataclass(frozen=True, slots=True)
class EarlyExitsView:
    """The early exits of a program; none in exact mode.

    Parameters
    ----------
    exits : tuple of Stage
        What may decide, in order.
    filter_products : ProductsView or None
    reduced_sets : tuple of ReducedSetView
    nearest : NearestView or None
    subspace : SubspaceView or None
    sequence : BoundSequence or None
    sequence_totals : TotalsView or None
        Of a block of the sequence.
    exact_totals : TotalsView
        Of the exact sum.
    input_members : tuple of InputMember
    float_codes : FloatCodes or None
        None where x is float anyway or no stage needs that.
    heap_depth : int
        Turns of moving a slot down a heap of all of them, at most: each doubles its place.
    per_unit : float
        Codes in one unit of x; 1 where there are none.
    """

    nonzeros: NonzerosView | None
    gate: RangeGate | None
    exits: tuple[Stage, ...]
    filter_products: ProductsView | None
    reduced_sets: tuple[ReducedSetView, ...]
    nearest: NearestView | None
    subspace: SubspaceView | None
    sequence: BoundSequence | None
    sequence_totals: TotalsView | None
    exact_totals: TotalsView
    input_members: tuple[InputMember, ...]
    float_codes: FloatCodes | None
    heap_depth: int
    per_unit: float

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The early exits, each with what an exit before it, or the gate, may have said."""
        turns = []
        watched = self.gate is not None
        for place, stage in enumerate(self.exits):
            asked = (*(("!decided",) if place else ()), *(("result->in_range",) if watched else ()))
            turns.append(Turn(stage, " && ".join(asked)))
            watched = watched or _watches_range(stage)
        return tuple(turns)

    @property
    def products(self) -> tuple[ProductsView, ...]:
        """All inner products, in the order of the stages."""
        return tuple(products for stage in self.exits for products in self._products_of(stage))

    def _products_of(self, stage: Stage) -> tuple[ProductsView, ...]:
        if isinstance(stage, LinearFilter) and self.filter_products is not None:
            return (self.filter_products,)
        if isinstance(stage, ReducedSet):
            return tuple(v.products for v in self.reduced_sets if v.number == stage.number)
        if isinstance(stage, NearestVectors) and self.nearest is not None:
            return tuple(level.products for level in self.nearest.levels)
        if isinstance(stage, SubspaceCertificate) and self.subspace is not None:
            return (self.subspace.products,)
        return ()

    @property
    def totals(self) -> tuple[TotalsView, ...]:
        """The functions of kernels' totals and of lifted ones, in the order of the stages."""
        return tuple(totals for stage in self.exits for totals in self._totals_of(stage))

    def _totals_of(self, stage: Stage) -> tuple[TotalsView, ...]:
        if isinstance(stage, ReducedSet):
            return tuple(v.lifted for v in self.reduced_sets if v.number == stage.number)
        if isinstance(stage, NearestVectors) and self.nearest is not None:
            return tuple(level.totals for level in self.nearest.levels)
        if isinstance(stage, SubspaceCertificate) and self.subspace is not None:
            return (self.subspace.totals,)
        if isinstance(stage, BoundSequence) and self.sequence_totals is not None:
            return (self.sequence_totals,)
        return ()

    @property
    def has_kernel_term(self) -> bool:
        """Whether any of these functions sums the kernel's term."""
        views = (*self.totals, *(products.block for products in self.products))
        return any(view.term == "kernel_term" for view in views)

    @property
    def sums_blocks(self) -> bool:
        """Whether the function of the exact sum's blocks is that of an exit alone.

        A sum of integers has none of its own for kernels in float.
        """
        return self.float_codes is not None and self.sequence_totals == self.exact_totals

    @property
    def has_own_sequence(self) -> bool:
        """Whether a bound sequence has blocks of another shape than the exact sum."""
        return self.sequence is not None and self.sequence_totals != self.exact_totals

    @property
    def proves(self) -> bool:
        """Whether any of the early exits is certified."""
        return any(stage.exit == "certified" for stage in self.exits)

    @property
    def calibrates(self) -> bool:
        """Whether any of the early exits is statistical."""
        return any(stage.exit == "statistical" for stage in self.exits)

    @property
    def needs_root_bound(self) -> bool:
        """Whether any of the early exits bounds a square root."""
        return any(
            isinstance(stage, SubspaceCertificate | BoundSequence | FoldedWeights)
            for stage in self.exits
        )

    @property
    def reuses_kernels(self) -> bool:
        """Whether the exact sum may find kernels that are already computed."""
        return any(
            stage.touches
            for stage in self.exits
            if isinstance(stage, NearestVectors | SubspaceCertificate)
        )

    @property
    def estimates(self) -> bool:
        """Whether any of the early exits sums approximate kernels as the exact sum does."""
        return any(
            isinstance(stage, SubspaceCertificate)
            or (isinstance(stage, NearestVectors) and stage.from_estimate)
            for stage in self.exits
        )


def early_exits_view(program: Program, functions: BlockFunctions) -> EarlyExitsView:
    """Return the view of a program's early exits."""
    linear = _only(program, LinearFilter)
    nearest = _only(program, NearestVectors)
    subspace = _only(program, SubspaceCertificate)
    sequence = _only(program, BoundSequence)
    gate = _only(program, RangeGate)
    nonzeros = _only(program, Nonzeros)
    exact, quantize = program.ends.exact, program.prepare.quantize
    filter_products = None
    if linear is not None:
        filter_products = products_view(
            linear.products, "filter_products", "filter_weights", functions
        )
    reduced_sets = reduced_set_views(program.early_exits, functions)
    proves = any(stage.exit == "certified" for stage in program.early_exits)
    members = (
        (nonzeros or gate or nearest, _SQUARE),
        (nonzeros, _N_NONZEROS),
        (proves, _ALLOWED),
        (program.replay is not None or _looks_at_raw(program), _RAW),
        (program.floats_codes, _FLOATS),
    )
    return EarlyExitsView(
        nonzeros=None if nonzeros is None else _nonzeros_view(nonzeros),
        gate=gate,
        exits=program.early_exits,
        filter_products=filter_products,
        reduced_sets=reduced_sets,
        nearest=(
            nearest_view(nearest, functions, _before(program, nearest))
            if nearest is not None and isinstance(exact, ExactSum)
            else None
        ),
        subspace=None if subspace is None else subspace_view(subspace, functions),
        sequence=sequence,
        sequence_totals=None if sequence is None else functions.of_sequence(sequence),
        exact_totals=functions.of_exact_sum,
        input_members=tuple(member for needed, member in members if needed),
        float_codes=_float_codes(program),
        heap_depth=exact.n_slots.bit_length() - 1 if isinstance(exact, ExactSum) else 0,
        per_unit=1.0 if quantize is None else float(quantize.per_unit),
    )


def _looks_at_raw(program: Program) -> bool:
    return any(isinstance(s, SignMap) and not s.in_integers for s in program.stages)


def _float_codes(program: Program) -> FloatCodes | None:
    exact, quantize = program.ends.exact, program.prepare.quantize
    if not program.floats_codes or quantize is None:
        return None
    evaluates = any(isinstance(s, BoundSequence | FoldedWeights) for s in program.stages)
    kernel = exact.kernel if evaluates and isinstance(exact, FixedSum) else None
    return FloatCodes(np.float32(quantize.unit), kernel, isinstance(exact, FixedSum))


def _before(program: Program, stage: Stage) -> tuple[Stage, ...]:
    """Return the early exits before one of them."""
    return program.early_exits[: program.early_exits.index(stage)]


def _nonzeros_view(stage: Nonzeros) -> NonzerosView:
    tiled = stage.n_features // READ_TOGETHER * READ_TOGETHER
    return NonzerosView(tiled, has_tiles=tiled > 0, has_tail=tiled < stage.n_features)


def _watches_range(stage: Stage) -> bool:
    """Return whether a stage may find that an input is unlike the samples of the calibration."""
    return isinstance(stage, NearestVectors) or (
        isinstance(stage, ReducedSet) and len(stage.triangle) > 0
    )


def _only(program: Program, kind: type[_S]) -> _S | None:
    return next((stage for stage in program.stages if isinstance(stage, kind)), None)
