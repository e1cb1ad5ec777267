"""The first stage: check the input, apply the preprocessing, bound its rounding errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Bound
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.table import Table
from kmcompile.program.laid import Laid
from kmcompile.program.shared import LEFT_OUT, Place, Shared
from kmcompile.program.stages.stage import Always
from kmcompile.steps import Digitize, Length, Nonnegative, PrepareStep, Quantize


@dataclass(frozen=True, slots=True, eq=False)
class Prepare(Always):
    """Refuse inputs that are not finite or too large, then apply the steps in order.

    Parameters
    ----------
    n_features : int
    limit : float32
        Largest magnitude of a feature that is accepted.
    prepared_limit : float32 or None
        Largest accepted norm and deviation of the prepared input; None if `limit` alone prevents
        an overflow in the kernel.
    input_length : Length or None
        Constants of the bound on the raw input's norm; None if no step and no kernel needs it.
    steps : tuple of PrepareStep
    reach : float32, optional
        In a program with an input tolerance: at least the norm of what the tolerance adds to a
        prepared input. It is part of the deviation that early exits get.
    """

    n_features: int
    limit: Bound
    prepared_limit: Bound | None
    input_length: Length | None
    steps: tuple[PrepareStep, ...]
    reach: Bound | None = field(default=None, metadata=LEFT_OUT)

    template: ClassVar[str] = "prepare"
    place: ClassVar[Place] = Place.PREPARE

    @property
    def n_out(self) -> int:
        """Number of features that enter the kernel."""
        return self.steps[-1].n_out if self.steps else self.n_features

    def check_tables(self, known: Mapping[str, float]) -> None:
        """Check the indices, and that each step takes what the one before it gives."""
        Laid.check_tables(self, known)
        given = self.n_features
        for step in self.steps:
            if step.n_in != given:
                raise ValueError(f"{step.name} takes {step.n_in} features, of {given}")
            given = step.n_out

    @property
    def quantize(self) -> Quantize | Digitize | None:
        """The last step of an integer format, which turns the input into codes; otherwise None."""
        last = self.steps[-1] if self.steps else None
        return last if isinstance(last, Quantize | Digitize) else None

    @property
    def measures_length(self) -> bool:
        """Whether the norm of the prepared input is bounded."""
        length = self.steps[-1].length if self.steps else self.input_length
        return length is not None

    @property
    def refuses_negatives(self) -> bool:
        """Whether inputs with a negative feature after the preprocessing are refused."""
        return any(isinstance(step, Nonnegative) and step.refuses for step in self.steps)

    @property
    def refuses_unknown(self) -> bool:
        """Whether inputs are refused whose deviation behind a Normalizer is too large."""
        return any(isinstance(step, Nonnegative) and step.limits for step in self.steps)

    @property
    def limit_bits(self) -> int:
        """The bit pattern of the limit: magnitudes of floats compare like their bits."""
        return int(self.limit.view(np.uint32))

    @property
    def limits_prepared(self) -> bool:
        """Whether the prepared input is checked as well."""
        return self.prepared_limit is not None

    @property
    def limits_length(self) -> bool:
        """Whether that asks for the norm: what becomes codes by integers alone has none."""
        return self.limits_prepared and not isinstance(self.quantize, Digitize)

    def buffers(self, converts: bool = False) -> tuple[list[str], dict[str, int]]:
        """Return the array of the workspace that each step writes, and the lengths of all arrays.

        With `converts` the input is converted into an array first. An integer format has none.
        """
        written: list[str] = []
        lengths = {"prepared_0": self.n_features} if converts else {}
        if self.quantize is not None:
            return [], {}
        for step in self.steps:
            # The input belongs to the caller, so the first step never overwrites it.
            if not lengths or not step.in_place:
                lengths[f"prepared_{len(lengths)}"] = 0
            written.append(f"prepared_{len(lengths) - 1}")
            lengths[written[-1]] = max(lengths[written[-1]], step.n_out)
        return written, lengths

    def beyond(self, batch: Batch) -> NDArray[np.bool_]:
        """Return which prepared inputs are refused."""
        if self.prepared_limit is None:
            return np.zeros(len(batch.x), dtype=bool)
        return (batch.length > self.prepared_limit) | (batch.received > self.prepared_limit)

    def run(self, batch: Batch) -> Batch:
        """Return the prepared batch; the inputs have been checked by `interpret`."""
        if self.input_length is not None:
            batch = replace(batch, length=self.input_length.of(batch.x))
        for step in self.steps:
            batch = step.apply(batch)
        return self._reaching(batch)

    def run_codes(self, batch: Batch) -> Batch:
        """Return the batch of inputs that came as codes, which are the prepared inputs in units.

        The deviation is the float64 rounding error of the codes' offset and step.
        """
        quantize = cast("Quantize | Digitize", self.steps[-1])
        deviation = np.full(len(batch), quantize.code_deviation)
        return self._reaching(quantize.of_codes(replace(batch, deviation=deviation), batch.raw))

    def _reaching(self, batch: Batch) -> Batch:
        """Return the batch with the deviation of the whole box, if there is a tolerance."""
        received = batch.deviation
        deviation = received if self.reach is None else received + self.reach
        return replace(batch, deviation=deviation, received=received)

    def shared(self) -> Shared:
        """Return the numbers of features before and after the steps, and of codes in one unit."""
        quantize = self.quantize
        codes = () if quantize is None else (("codes in one unit", float(quantize.per_unit)),)
        return (("N_FEATURES", self.n_features), ("N_PREPARED", self.n_out), *codes)

    def operations(self) -> int:
        """Return the multiply-adds of check, steps and norm."""
        own = self.n_features * (2 if self.input_length is not None else 1)
        return own + sum(step.operations() for step in self.steps)

    def tables(self) -> tuple[Table, ...]:
        """Return the tables of all steps."""
        return tuple(t for n, step in enumerate(self.steps) for t in step.tables(n))
