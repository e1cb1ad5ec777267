"""Program: the stages that run on the board, with every constant exactly as in the C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from kmcompile.model.kernel_machine import Label as ClassLabel
from kmcompile.numeric.arrays import Float64Array, Positive, frozen
from kmcompile.numeric.table import Table
from kmcompile.numeric.width import FORMATS
from kmcompile.program.agreement import check_agreement
from kmcompile.program.capacity import Capacity
from kmcompile.program.field_types import check_fields
from kmcompile.program.known_answers import KnownAnswers
from kmcompile.program.printer import section, stage_facts
from kmcompile.program.shared import LEFT_OUT, Shared
from kmcompile.program.stages import CATALOGUE, OF_REPLAYS, Label
from kmcompile.program.stages.early_exits.early_exit import EarlyExit
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.input.monitor import Monitor
from kmcompile.program.stages.input.prepare import Prepare
from kmcompile.program.stages.labels.probability import Probability
from kmcompile.program.stages.replay import Replay
from kmcompile.program.stages.stage import Stage
from kmcompile.program.stages.sums.code_range import CodeRange
from kmcompile.program.stages.sums.code_table import CodeTable
from kmcompile.program.stages.sums.sum import Sum
from kmcompile.program.stages.tolerance.input_tolerance import InputTolerance


@dataclass(frozen=True, slots=True, eq=False)
class CodeScale:
    """The meaning of codes: x_j = offset_j + step_j * code_j in real numbers.

    Parameters
    ----------
    offset, step : ndarray of shape (n_features,), float64
    """

    offset: Float64Array
    step: Float64Array

    def __post_init__(self) -> None:
        for name in ("offset", "step"):
            object.__setattr__(self, name, frozen(getattr(self, name)))
        if len(self.offset) != len(self.step):
            raise ValueError("a code has an offset and a step")

    def values(self, codes: NDArray[np.integer[Any]]) -> Float64Array:
        """Return the raw features of codes, shape (n, n_features), in float64."""
        return self.offset + self.step * codes


@dataclass(frozen=True, slots=True)
class Step:
    """The work of one step.

    Parameters
    ----------
    operations : int
        The most multiply-adds of one step, in operations of the exact sum.
    replay_weight : int
        The cost of an operation of the replay, which is in float64, in operations of the exact sum.
    integers_weight : int or None
        That of an operation of the replay's sums if these are in integers.
    """

    operations: int
    replay_weight: int = 1
    integers_weight: int | None = field(default=None, metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """An ordered list of stages with their tables in the target's number format.

    Parameters
    ----------
    name : str
        Prefix of every C name.
    target : str
        Name of the target for which the program was lowered.
    number_format : str
        "float32", "int16" or "int8".
    mode : str
        "exact", "certified" or "statistical".
    n_features, n_decisions : int
    classes : tuple of labels
    prepare : Prepare
        The first stage: checks and preprocessing of the input.
    exits : tuple of Stage
        The early exits in order, and before them the stages that serve them or the sum: the list of
        nonzeros, the range gate. The constructor refuses stages that do not fit each other
        (`kmcompile.program.agreement`), and a sum or a label of another kind than the package's.
    sum : Sum
        The sum over all vectors, for queries that no early exit has decided.
    label : Label
        The stage that turns decisions and bounds into a label or a value.
    known_answers : KnownAnswers
    decision_function_shape : str
        "ovr" or "ovo": the shape of the trained model's `decision_function`.
    model_sha256 : str
        SHA-256 of the KernelMachine's canonical bytes.
    replay : Replay, optional
        The second sum, in float64, for queries whose label the exact sum leaves open.
    scale : CodeScale, optional
        The meaning of the codes of an integer format.
    probability : Probability, optional
        The probabilities of a calibrated machine.
    step : Step, optional
        The work of one step, if the C also answers in steps (`--step`).
    threshold : float
        The trained model's decision minus this program's decision.
    telemetry : bool
        Whether the C has the counters of `kmcompile.program.telemetry`.
    redundancy : {1, 2}
        The copies of every table in the C (`kmcompile.program.redundancy`).
    float_weight : int
        The cost of a float32 operation in operations of the exact sum (`Ends.float_weight`).
    capacity : Capacity, optional
        The largest models that the code takes from an image; None where tables are in the code.
    box : InputTolerance, optional
        What follows the sum so that answers hold for all inputs within a tolerance.
    """

    name: str
    target: str
    number_format: str
    mode: str
    n_features: int
    n_decisions: int
    classes: tuple[ClassLabel, ...]
    prepare: Prepare
    exits: tuple[Stage, ...]
    sum: Sum
    label: Label
    known_answers: KnownAnswers
    decision_function_shape: str
    model_sha256: str
    replay: Replay | None = None
    scale: CodeScale | None = None
    float_weight: Positive = 1
    probability: Probability | None = None
    threshold: float = 0.0
    telemetry: bool = False
    redundancy: int = 1
    step: Step | None = None
    capacity: Capacity | None = None
    box: InputTolerance | None = None

    version: ClassVar[int] = 4
    """Version of the layout of program.npz."""
    switches: ClassVar[Mapping[str, object]] = MappingProxyType(
        {"telemetry": False, "redundancy": 1, "step": None, "capacity": None, "box": None}
    )
    """Fields that neither program.npz nor the text of a program has while they are off, as here."""
    values: ClassVar[Mapping[str, tuple[object, ...]]] = MappingProxyType(
        {
            "number_format": FORMATS,
            "mode": ("exact", "certified", "statistical"),
            "decision_function_shape": ("ovr", "ovo"),
            "redundancy": (1, 2),
        }
    )
    """What the fields that have one of a few values may be."""

    def __post_init__(self) -> None:
        for name, allowed in self.values.items():
            if (value := getattr(self, name)) not in allowed:
                raise ValueError(f"{name} is {value!r}, none of {allowed}")
        others = (self.known_answers, *(() if self.box is None else (self.box,)))
        check_agreement(self.stages, self.shared(), self.is_regression, self.replay, others)
        if self.scale is not None and len(self.scale.offset) != self.n_features:
            raise ValueError(f"the scale is of {len(self.scale.offset)} features")
        if self.probability is not None and self.probability.n_decisions != self.n_decisions:
            raise ValueError(f"the probabilities are of {self.probability.n_decisions} decisions")
        if len(set(self.classes)) < len(self.classes):
            raise ValueError("two classes have one label")
        if self.box is not None:
            self.box.check_reads(self.sum)
        if self.sums_at_once and self.step is not None:
            raise ValueError("steps do not leave out the exact sum, the replay at once does")
        replayed = () if self.replay is None else (self.replay.sum, self.replay.label)
        for place, stage in enumerate((self.sum, self.label, *replayed)):
            # A class made from one of these would be mistaken for it.
            kinds = CATALOGUE if place < 2 else (*CATALOGUE, *OF_REPLAYS)
            if type(stage) not in kinds or not isinstance(stage, (Sum, Label)[place % 2]):
                raise ValueError(f"{stage.name} is none of the sums and labels that have C")
        if (self.number_format == "float32") != (self.codes is None):
            raise ValueError(f"the number format is {self.number_format}, not {self.sum.name}'s")
        check_fields(self)

    def __str__(self) -> str:
        """Return the whole program as text; equal programs give equal texts.

        Stages are printed in their order, tables in the order of the C.
        """
        apart = ("prepare", "exits", "sum", "label", "replay", "known_answers", "box")
        off = tuple(name for name, value in self.switches.items() if getattr(self, name) == value)
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in apart + off}
        stages = self.stages if self.replay is None else (*self.stages, self.replay)
        sections = (
            section("program", own, {"table_bytes": self.table_bytes}),
            *(section(stage.name, stage, stage_facts(stage), stage.tables()) for stage in stages),
            *(
                ()
                if self.box is None
                else (section(self.box.name, self.box, {}, self.box.tables()),)
            ),
            section("known_answers", self.known_answers, {}, self.known_answers.tables()),
        )
        return "\n\n".join(sections)

    def shared(self) -> Shared:
        """Return the numbers of features, decisions and classes, which every stage shares."""
        return (
            ("N_FEATURES", self.n_features),
            ("N_DECISIONS", self.n_decisions),
            ("N_CLASSES", len(self.classes)),
            *self.known_answers.shared(),
            *(() if self.box is None else self.box.shared()),
        )

    @classmethod
    def of_stages(cls, stages: tuple[Stage, ...], **others: Any) -> Program:
        """Return the program with these stages, given in order and without the replay.

        Raises
        ------
        ValueError
            If there are fewer than three stages, or if they do not fit each other.
        """
        prepare, *exits, exact, label = stages
        ends: dict[str, Any] = {"sum": exact, "label": label}  # `Program` checks their kinds
        return cls(prepare=cast(Prepare, prepare), exits=tuple(exits), **ends, **others)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """All stages in order, without the replay."""
        return (self.prepare, *self.exits, self.sum, self.label)

    @property
    def is_regression(self) -> bool:
        """Whether the program answers with a value instead of a label."""
        return not self.classes

    @property
    def sums_at_once(self) -> bool:
        """Whether the replay takes the place of the exact sum, which only `decision` computes."""
        return self.replay is not None and self.replay.at_once

    @property
    def codes(self) -> CodeTable | CodeRange | None:
        """The codes of an integer format, with those of the vectors if the sum has them, or None.

        None stands for float32.
        """
        return self.sum.codes

    @property
    def ends(self) -> Ends:
        """The exact sum and the label stage, which come last."""
        return Ends(self.sum, self.label, self.float_weight)

    @property
    def early_exits(self) -> tuple[EarlyExit, ...]:
        """The stages that may decide a query before the exact sum."""
        return tuple(stage for stage in self.exits if isinstance(stage, EarlyExit))

    @property
    def monitor(self) -> Monitor | None:
        """The monitor that `in_range` of a result is from, or None."""
        return next((stage for stage in self.exits if isinstance(stage, Monitor)), None)

    def without_monitor(self) -> Program:
        """Return the program without its monitor: only `in_range` of results may differ."""
        if self.monitor is None:
            return self
        return replace(self, exits=tuple(s for s in self.exits if s is not self.monitor))

    @property
    def takes_risk(self) -> bool:
        """Whether any early exit is statistical: its label may be another than the model's."""
        return any(stage.is_calibrated for stage in self.early_exits)

    @property
    def floats_codes(self) -> bool:
        """Whether a stage before the exact sum needs the input's codes in float32 too."""
        return self.codes is not None and not all(stage.in_integers for stage in self.exits)

    @property
    def float_codes_operations(self) -> int:
        """Multiply-adds of converting the input's codes to float32; 0 if no stage needs that."""
        return self.n_features * self.float_weight if self.floats_codes else 0

    @property
    def exit_stages(self) -> tuple[Stage, ...]:
        """The stages that can decide a query, in the order that `stage` of a result counts.

        The early exits come first, then the exact sum, then the replay.
        """
        own = tuple(stage for stage in self.stages if stage.exit is not None)
        return own if self.replay is None else (*own, self.replay)

    def tables(self) -> tuple[Table, ...]:
        """Return all constant tables in the order of the C and of their checksums."""
        own = tuple(table for stage in self.stages for table in stage.tables())
        replayed = () if self.replay is None else self.replay.tables()
        boxed = () if self.box is None else self.box.tables()
        return own + boxed + replayed + self.known_answers.tables()

    @property
    def table_bytes(self) -> int:
        """The bytes of all constant tables, a lower limit of the program's flash."""
        return sum(table.n_bytes for table in self.tables())
