"""What code for images checks of a sum in integers when a model is opened."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.emit.images.model_text import MODEL
from kmcompile.program.program import Program
from kmcompile.program.stages import FixedSum


@dataclass(frozen=True, slots=True)
class CodesPart:
    """What templates/image/fixed_sum.c.j2 needs of the codes of the vectors and of their kernels.

    Parameters
    ----------
    vectors : str
        C expression of the codes.
    sum_type : str
    run, n_runs, block_codes : int
        Codes of a vector side by side, how many times, and codes of a block.
    """

    vectors: str
    sum_type: str
    run: int
    n_runs: int
    block_codes: int
    last: str = "block_kernels_last"
    multiplier: str = "block_kernels_multiplier"
    up: str = "block_kernels_up"


def codes_part(program: Program) -> CodesPart | None:
    """Return what is checked of a sum in integers; None of any other sum."""
    if not isinstance(program.ends.exact, FixedSum):
        return None
    codes = program.ends.exact.codes
    return CodesPart(
        vectors=f"{MODEL}->vectors.code" if codes.in_fours else f"{MODEL}->vectors",
        sum_type="uint64_t" if codes.wide else "uint32_t",
        run=codes.run,
        n_runs=codes.n_padded // codes.run,
        block_codes=codes.n_padded * codes.lanes,
    )
