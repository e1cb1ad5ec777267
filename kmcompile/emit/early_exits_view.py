"""The views of the stages between `prepare` and the exact sum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kmcompile.emit.exits.exit_view import ExitView
from kmcompile.emit.exits.views import exit_views
from kmcompile.emit.prepare_view import READ_TOGETHER
from kmcompile.emit.products_view import ProductsView
from kmcompile.emit.totals_view import BlockFunctions, TotalsView
from kmcompile.kernels.rbf import RbfFloat32
from kmcompile.program.layout import Constant, once
from kmcompile.program.program import Program
from kmcompile.program.shared import Place
from kmcompile.program.stages import ClassScores, EarlyExit, ExactSum, FixedSum, Stage


@dataclass(frozen=True, slots=True)
class InputMember:
    """A value that early exits and the replay need with an input on its way through the stages.

    Parameters
    ----------
    zero : str
        C of its value before the first stage.
    zero_of_codes : str, optional
        C of its value before the first stage if the input came as codes; default `zero`.
    """

    declaration: str
    name: str
    zero: str
    meaning: str
    zero_of_codes: str | None = None

    @property
    def start_of_codes(self) -> str:
        """C of the value before the first stage, for an input that came as codes."""
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
    """An early exit at its place in the cascade.

    Parameters
    ----------
    stage : Stage
    condition : str
        The C condition under which the exit runs; "" if it always runs.
    """

    stage: Stage
    condition: str


@dataclass(frozen=True, slots=True)
class NonzerosView:
    """Values for templates/stages/nonzeros.c.j2: how many features are read in whole loop turns."""

    tiled_features: int
    has_tiles: bool
    has_tail: bool


@dataclass(frozen=True, slots=True)
class FloatCodes:
    """Float values that early exits need before a sum in integers.

    Parameters
    ----------
    unit : float32
        The value of one code step.
    kernel : RbfFloat32 or None
        The float kernel, if an exit computes kernel values and the exact sum uses integers.
    has_own_term : bool
        Whether the exact sum has no float kernel; the exits then bring their own term function.
    """

    unit: np.float32
    kernel: RbfFloat32 | None
    has_own_term: bool


@dataclass(frozen=True, slots=True)
class EarlyExitsView:
    """The early exits of a program; none in exact mode.

    Parameters
    ----------
    nonzeros : NonzerosView or None
    gate : Stage or None
        The range gate, which every input passes before the first exit.
    exits : tuple of ExitView
        The exits, in order.
    exact_totals : TotalsView
        Totals of the exact sum.
    input_members : tuple of InputMember
    float_codes : FloatCodes or None
        None if x is float anyway, or if no stage needs float codes.
    heap_depth : int
        Most turns to move a slot down a heap of all slots; each turn doubles its index.
    reach : float32 or None
        What an input tolerance adds to the deviation that the exits get.
    """

    nonzeros: NonzerosView | None
    gate: Stage | None
    exits: tuple[ExitView, ...]
    exact_totals: TotalsView
    input_members: tuple[InputMember, ...]
    float_codes: FloatCodes | None
    heap_depth: int
    reach: np.float32 | None

    @property
    def stages(self) -> tuple[EarlyExit, ...]:
        """The stages of the exits."""
        return tuple(view.stage for view in self.exits)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The early exits, each with the condition that the gate and earlier exits set for it.

        The range of the calibration samples limits the statistical exits only: a proof holds for
        every input.
        """
        turns = []
        watched = self.gate is not None
        for place, stage in enumerate(self.stages):
            limited = watched and stage.is_calibrated
            asked = (*(("!decided",) if place else ()), *(("result->in_range",) if limited else ()))
            turns.append(Turn(stage, " && ".join(asked)))
            watched = watched or stage.watches_range
        return tuple(turns)

    @property
    def products(self) -> tuple[ProductsView, ...]:
        """All inner products, in the order of the stages."""
        return tuple(products for view in self.exits for products in view.inner_products())

    @property
    def totals(self) -> tuple[TotalsView, ...]:
        """The functions of the kernels' totals and of lifted totals, in the order of the stages."""
        return tuple(totals for view in self.exits for totals in view.block_totals())

    @property
    def defines(self) -> tuple[Constant, ...]:
        """The sizes that the exits define, in order, each once."""
        return once(constant for view in self.exits for constant in view.defines())

    @property
    def has_kernel_term(self) -> bool:
        """Whether one of the functions sums the kernel's term."""
        views = (*self.totals, *(products.block for products in self.products))
        return any(view.term == "kernel_term" for view in views)

    @property
    def sums_blocks(self) -> bool:
        """Whether only an exit uses the function of the exact sum's blocks.

        A sum in integers has no such function for float kernels.
        """
        return self.float_codes is not None and self.exact_totals in self.totals

    @property
    def proves(self) -> bool:
        """Whether any of the early exits is certified."""
        return any(stage.is_certified for stage in self.stages)

    @property
    def calibrates(self) -> bool:
        """Whether any of the early exits is statistical."""
        return any(stage.is_calibrated for stage in self.stages)

    @property
    def scores_classes(self) -> bool:
        """Whether any of the early exits answers by the lead of a class's score."""
        return any(isinstance(stage, ClassScores) for stage in self.stages)

    @property
    def keeps_middles(self) -> bool:
        """Whether decisions are the middles of proved intervals until the sums replace them."""
        return self.proves and not self.calibrates and self.reach is None

    @property
    def needs_root_bound(self) -> bool:
        """Whether any of the early exits bounds a square root."""
        return any(stage.needs_root_bound for stage in self.stages)

    @property
    def walks(self) -> bool:
        """Whether the sum of a routed machine may find that the walk to a leaf is done."""
        return any(stage.walks for stage in self.stages)

    @property
    def reuses_kernels(self) -> bool:
        """Whether the exact sum may find kernels that are already computed."""
        return any(stage.touches for stage in self.stages)

    @property
    def sums_approximations(self) -> bool:
        """Whether any of the early exits sums approximate kernels as the exact sum does."""
        return any(stage.sums_approximations for stage in self.stages)


def early_exits_view(program: Program, functions: BlockFunctions) -> EarlyExitsView:
    """Return the view of a program's early exits."""
    gate = _only(program, Place.GATE)
    nonzeros = _only(program, Place.LIST)
    exact = program.ends.exact
    proves = any(stage.is_certified for stage in program.early_exits)
    reads_raw = any(stage.reads_raw for stage in program.early_exits)
    made = frozenset[str]().union(*(stage.makes() for stage in program.exits))
    members = (
        ("square" in made, _SQUARE),
        (nonzeros is not None, _N_NONZEROS),
        (proves, _ALLOWED),
        (program.replay is not None or reads_raw, _RAW),
        (program.floats_codes, _FLOATS),
    )
    return EarlyExitsView(
        nonzeros=None if nonzeros is None else _nonzeros_view(program.prepare.n_out),
        gate=gate,
        exits=exit_views(program, functions),
        exact_totals=functions.of_exact_sum,
        input_members=(
            *(member for needed, member in members if needed),
            *_walk_members(program),
        ),
        float_codes=_float_codes(program),
        heap_depth=exact.n_slots.bit_length() - 1 if isinstance(exact, ExactSum) else 0,
        reach=program.prepare.reach,
    )


def _walk_members(program: Program) -> tuple[InputMember, ...]:
    """Return where the walk of an early exit ended; no leaf is N_LEAVES."""
    if not any(stage.walks for stage in program.early_exits):
        return ()
    none = f"{program.name.upper()}_N_LEAVES"
    return (
        InputMember("uint32_t leaf", "leaf", none, "where an early exit has walked to"),
        InputMember("uint32_t rival", "rival", "0U", "where the other leaf lies, if one is open"),
        InputMember("uint32_t n_open", "n_open", "0U", "choices that are open on the walk"),
    )


def _float_codes(program: Program) -> FloatCodes | None:
    exact, quantize = program.ends.exact, program.prepare.quantize
    if not program.floats_codes or quantize is None:
        return None
    calls_kernel = any(stage.calls_kernel for stage in program.early_exits)
    kernel = exact.kernel if calls_kernel and isinstance(exact, FixedSum) else None
    return FloatCodes(np.float32(quantize.unit), kernel, isinstance(exact, FixedSum))


def _nonzeros_view(n_features: int) -> NonzerosView:
    tiled = n_features // READ_TOGETHER * READ_TOGETHER
    return NonzerosView(tiled, has_tiles=tiled > 0, has_tail=tiled < n_features)


def _only(program: Program, place: Place) -> Stage | None:
    return next((stage for stage in program.exits if stage.place is place), None)
