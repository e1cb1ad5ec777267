"""The stages, one file each; the template of a stage has its name."""

from kmcompile.stages.argmax import Argmax
from kmcompile.stages.bound_sequence import BoundSequence
from kmcompile.stages.code_table import CodeTable
from kmcompile.stages.coded_sum import CodedSum
from kmcompile.stages.exact_sum import ExactSum
from kmcompile.stages.fixed_sum import FixedSum
from kmcompile.stages.folded_weights import FoldedWeights
from kmcompile.stages.inner_products import InnerProducts
from kmcompile.stages.linear_filter import LinearFilter
from kmcompile.stages.linear_sum import LinearSum
from kmcompile.stages.nearest_vectors import NearestVectors
from kmcompile.stages.nonzeros import Nonzeros
from kmcompile.stages.pair_sum import PairSum
from kmcompile.stages.prepare import Prepare
from kmcompile.stages.range_gate import RangeGate
from kmcompile.stages.reduced_set import ReducedSet
from kmcompile.stages.replay import Replay
from kmcompile.stages.sign import Sign
from kmcompile.stages.sign_map import SignMap
from kmcompile.stages.stage import Always, EarlyExit, Stage
from kmcompile.stages.subspace_certificate import SubspaceCertificate
from kmcompile.stages.value import Value
from kmcompile.stages.vote import Vote

CATALOGUE: tuple[type[Stage], ...] = (
    Prepare,
    Nonzeros,
    RangeGate,
    LinearFilter,
    ReducedSet,
    NearestVectors,
    SignMap,
    BoundSequence,
    FoldedWeights,
    SubspaceCertificate,
    ExactSum,
    FixedSum,
    LinearSum,
    PairSum,
    Sign,
    Vote,
    Argmax,
    Value,
    Replay,
)
"""Every stage there is; a test checks that each has its template and a bit-exact case."""

__all__ = [
    "CATALOGUE",
    "Always",
    "Argmax",
    "BoundSequence",
    "CodeTable",
    "CodedSum",
    "EarlyExit",
    "ExactSum",
    "FixedSum",
    "FoldedWeights",
    "InnerProducts",
    "LinearFilter",
    "LinearSum",
    "NearestVectors",
    "Nonzeros",
    "PairSum",
    "Prepare",
    "RangeGate",
    "ReducedSet",
    "Replay",
    "Sign",
    "SignMap",
    "Stage",
    "SubspaceCertificate",
    "Value",
    "Vote",
]
