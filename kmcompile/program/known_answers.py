"""What a healthy board answers: the inputs of the self-test and the answers that it accepts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array, frozen
from kmcompile.numeric.table import Below
from kmcompile.program.laid import Laid, Layout


@dataclass(frozen=True, slots=True, eq=False)
class KnownAnswers(Laid):
    """Inputs with the answers that a healthy board gives, for the self-test.

    The interval of a decision contains the true value and the result of any other rounding of the
    operations, so that the self-test accepts a compiler that contracts to fused multiply-adds.

    Parameters
    ----------
    inputs : ndarray of shape (n_answers, n_features), float32
        The inputs. In an integer format codes: uint8, int8 or int16.
    labels : ndarray of shape (n_answers,), uint16
        The certified labels of the inputs; empty in a regression.
    lower, upper : ndarray of shape (n_answers, n_decisions), float32
    """

    inputs: Annotated[
        np.ndarray,
        Layout(
            "Inputs of the self-test, as they are received: [answer][feature]",
            ("N_ANSWERS", "N_FEATURES"),
            where="inputs.size",
        ),
    ]
    labels: Annotated[
        NDArray[np.uint16],
        Layout(
            "Labels of these inputs: [answer]",
            ("N_ANSWERS",),
            where="labels.size",
            below=Below("N_CLASSES"),
        ),
    ]
    lower: Annotated[
        Float32Array,
        Layout(
            "Least decisions that the self-test accepts: [answer][decision]",
            ("N_ANSWERS", "N_DECISIONS"),
            where="inputs.size",
        ),
    ]
    upper: Annotated[
        Float32Array,
        Layout(
            "Largest decisions that the self-test accepts: [answer][decision]",
            ("N_ANSWERS", "N_DECISIONS"),
            where="inputs.size",
        ),
    ]

    prefix: ClassVar[str] = "known"

    def __post_init__(self) -> None:
        Laid.__post_init__(self)
        object.__setattr__(self, "inputs", frozen(self.inputs, self.inputs.dtype))

    def __len__(self) -> int:
        return len(self.inputs)
