"""Program: what runs on the board, every constant exactly as it appears in the C."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from kmcompile.model.kernel_machine import Label
from kmcompile.numeric.arrays import Float32Array, Float64Array, frozen
from kmcompile.numeric.table import Table
from kmcompile.program.agreement import check_agreement
from kmcompile.program.printer import section, stage_facts
from kmcompile.program.shared import Shared
from kmcompile.program.stages.code_table import CodeTable
from kmcompile.program.stages.early_exit import EarlyExit
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.exact_sum import ExactSum
from kmcompile.program.stages.fixed_sum import FixedSum
from kmcompile.program.stages.linear_sum import LinearSum
from kmcompile.program.stages.pair_sum import PairSum
from kmcompile.program.stages.prepare import Prepare
from kmcompile.program.stages.probability import Probability
from kmcompile.program.stages.replay import Replay
from kmcompile.program.stages.stage import Always, Stage


@dataclass(frozen=True, slots=True, eq=False)
class KnownAnswers:
    """Inputs with the answers that a healthy board gives, for the self-test.

    The interval of a decision holds the true value and what any rounding of the same program can
    give, so that a compiler that contracts to FMA is not called corrupt.

    Parameters
    ----------
    inputs : ndarray of shape (n_answers, n_features), float32
        In an integer format codes, uint8, int8 or int16.
    labels : ndarray of shape (n_answers,), uint16
        Only inputs whose label is certified are used. None of a regression.
    lower, upper : ndarray of shape (n_answers, n_decisions), float32
    """

    inputs: np.ndarray
    labels: np.ndarray
    lower: Float32Array
    upper: Float32Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", frozen(self.inputs, self.inputs.dtype))
        for name in ("lower", "upper"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float32))
        object.__setattr__(self, "labels", frozen(self.labels, np.uint16))

    def __len__(self) -> int:
        return len(self.inputs)

    def tables(self) -> tuple[Table, ...]:
        """Return the constant tables."""
        if not len(self):
            return ()
        labels = (Table("known_labels", self.labels, "Labels of these inputs: [answer]"),)
        return (
            Table(
                "known_inputs",
                self.inputs,
                "Inputs of the self-test, as they are received: [answer][feature]",
            ),
            *(labels if len(self.labels) else ()),
            Table(
                "known_lower",
                self.lower,
                "Least decisions that the self-test accepts: [answer][decision]",
            ),
            Table(
                "known_upper",
                self.upper,
                "Largest decisions that the self-test accepts: [answer][decision]",
            ),
        )


@dataclass(frozen=True, slots=True, eq=False)
class CodeScale:
    """What a code stands for: x_j = offset_j + step_j * code_j in real numbers.

    Parameters
    ----------
    offset, step : ndarray of shape (n_features,), float64
    """

    offset: Float64Array
    step: Float64Array

    def __post_init__(self) -> None:
        for name in ("offset", "step"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def values(self, codes: NDArray[np.integer[Any]]) -> Float64Array:
        """Return the raw features of codes, shape (n, n_features), in float64."""
        return self.offset + self.step * codes


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """An ordered list of stages with their tables in the target's number format.

    Parameters
    ----------
    name : str
        Prefix of every C name.
    target : str
        The target that it was lowered for.
    number_format : str
        "float32", "int16" or "int8".
    mode : str
        "exact", "certified" or "statistical".
    n_features, n_decisions : int
    classes : tuple of labels
    prepare : Prepare
        Runs first.
    exits : tuple of Stage
        The early exits in order, before them what they or the sum need: a list of nonzeros, a
        range gate. Stages that disagree about a constant that they share, or cannot stand
        together, make no program (`kmcompile.program.agreement`).
    sum : ExactSum, PairSum, FixedSum or LinearSum
        The sum over all vectors, for queries that no exit has decided.
    label : Always
        Makes a label or a value of decisions and bounds.
    known_answers : KnownAnswers
    decision_function_shape : str
        "ovr" or "ovo": the shape of the trained model's `decision_function`.
    model_sha256 : str
        SHA-256 of the KernelMachine's canonical bytes.
    replay : Replay, optional
        What answers where the exact sum leaves the label open.
    scale : CodeScale, optional
        Of an integer format.
    probability : Probability, optional
        Of a calibrated machine.
    threshold : float
        What the trained model's decision is more than this program's.
    float_weight : int
        What `Ends` has of that name: of an integer format, as the target says.
    """

    name: str
    target: str
    number_format: str
    mode: str
    n_features: int
    n_decisions: int
    classes: tuple[Label, ...]
    prepare: Prepare
    exits: tuple[Stage, ...]
    sum: ExactSum | PairSum | FixedSum | LinearSum
    label: Always
    known_answers: KnownAnswers
    decision_function_shape: str
    model_sha256: str
    replay: Replay | None = None
    scale: CodeScale | None = None
    float_weight: int = 1
    probability: Probability | None = None
    threshold: float = 0.0

    version: ClassVar[int] = 4
    """Of the layout of program.npz."""

    def __post_init__(self) -> None:
        check_agreement(self.stages, self.shared(), self.is_regression, self.replay)

    def __str__(self) -> str:
        """Return the whole program as text, one line a thing; the same program, the same text.

        The stages come in their order, the tables in that of the C.
        """
        apart = ("prepare", "exits", "sum", "label", "replay", "known_answers")
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in apart}
        stages = self.stages if self.replay is None else (*self.stages, self.replay)
        sections = (
            section("program", own, {"table_bytes": self.table_bytes}),
            *(section(stage.name, stage, stage_facts(stage), stage.tables()) for stage in stages),
            section("known_answers", self.known_answers, {}, self.known_answers.tables()),
        )
        return "\n\n".join(sections)

    def shared(self) -> Shared:
        """Return the numbers of features, decisions and classes, as every stage has them."""
        known = self.known_answers
        return (
            ("N_FEATURES", self.n_features),
            ("N_DECISIONS", self.n_decisions),
            ("N_CLASSES", len(self.classes)),
            ("N_FEATURES", known.inputs.shape[1]),
            ("N_DECISIONS", known.lower.shape[1]),
            ("N_DECISIONS", known.upper.shape[1]),
        )

    @classmethod
    def of_stages(cls, stages: tuple[Stage, ...], **others: Any) -> Program:
        """Return the program of all stages in order, but for the replay.

        Raises
        ------
        ValueError
            If they are fewer than three, or of kinds that make no program.
        """
        prepare, *exits, exact, label = stages
        ends: dict[str, Any] = {"sum": exact, "label": label}  # checked by what they say they are
        return cls(prepare=cast(Prepare, prepare), exits=tuple(exits), **ends, **others)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """All stages in order, but for the replay."""
        return (self.prepare, *self.exits, self.sum, self.label)

    @property
    def is_regression(self) -> bool:
        """Whether it answers a value, not a label."""
        return not self.classes

    @property
    def codes(self) -> CodeTable | None:
        """The integer support vectors of an integer format, whose inputs are such codes."""
        return getattr(self.sum, "codes", None)

    @property
    def ends(self) -> Ends:
        """The exact sum and the label stage, which come last."""
        return Ends(self.sum, self.label, self.float_weight)

    @property
    def early_exits(self) -> tuple[EarlyExit, ...]:
        """The stages that may decide a query before the exact sum."""
        return tuple(stage for stage in self.exits if isinstance(stage, EarlyExit))

    @property
    def floats_codes(self) -> bool:
        """Whether codes are also needed in float32: by any stage before the exact sum."""
        return self.codes is not None and not all(stage.in_integers for stage in self.exits)

    @property
    def float_codes_operations(self) -> int:
        """What it takes to have the codes also in float32, where any stage needs that."""
        return self.n_features * self.float_weight if self.floats_codes else 0

    @property
    def exit_stages(self) -> tuple[Stage, ...]:
        """The stages that can decide a query, in order: what `stage` in a result counts.

        The exact sum stands behind the early exits, and the replay is the last one.
        """
        own = tuple(stage for stage in self.stages if stage.exit is not None)
        return own if self.replay is None else (*own, self.replay)

    def tables(self) -> tuple[Table, ...]:
        """Return all constant tables in the order of the C and of their checksums."""
        own = tuple(table for stage in self.stages for table in stage.tables())
        replayed = () if self.replay is None else self.replay.tables()
        return own + replayed + self.known_answers.tables()

    @property
    def table_bytes(self) -> int:
        """The bytes of all constant tables: a lower limit of the flash needed."""
        return sum(table.n_bytes for table in self.tables())
