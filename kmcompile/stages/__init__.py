"""The stages, one file each; the template of a stage has its name."""

from kmcompile.stages.argmax import Argmax
from kmcompile.stages.exact_sum import ExactSum
from kmcompile.stages.linear_sum import LinearSum
from kmcompile.stages.prepare import Prepare
from kmcompile.stages.sign import Sign
from kmcompile.stages.stage import Stage
from kmcompile.stages.vote import Vote

CATALOGUE: tuple[type[Stage], ...] = (Prepare, ExactSum, LinearSum, Sign, Vote, Argmax)
"""Every stage there is; a test checks that each has its template and a bit-exact case."""

__all__ = [
    "CATALOGUE",
    "Argmax",
    "ExactSum",
    "LinearSum",
    "Prepare",
    "Sign",
    "Stage",
    "Vote",
]
