"""The stages, one file each; the template of a stage has its name."""

from kmcompile.program.stages.additive_sum import AdditiveSum
from kmcompile.program.stages.argmax import Argmax
from kmcompile.program.stages.bound_sequence import BoundSequence
from kmcompile.program.stages.class_scores import ClassScores
from kmcompile.program.stages.code_range import CodeRange
from kmcompile.program.stages.code_table import CodeTable
from kmcompile.program.stages.coded_polynomial_sum import CodedPolynomialSum
from kmcompile.program.stages.coded_sum import CodedSum
from kmcompile.program.stages.curve_sum import CurveSum
from kmcompile.program.stages.described_sum import DescribedSum
from kmcompile.program.stages.early_exit import EarlyExit
from kmcompile.program.stages.exact_sum import ExactSum
from kmcompile.program.stages.fixed_sum import FixedSum
from kmcompile.program.stages.inner_products import InnerProducts
from kmcompile.program.stages.interval_ratio import IntervalRatio
from kmcompile.program.stages.leaf_expansion import LeafExpansion
from kmcompile.program.stages.linear_filter import LinearFilter
from kmcompile.program.stages.linear_sum import LinearSum
from kmcompile.program.stages.local_expansion import LocalExpansion
from kmcompile.program.stages.monitor import Monitor
from kmcompile.program.stages.nearest_vectors import NearestVectors
from kmcompile.program.stages.nonzeros import Nonzeros
from kmcompile.program.stages.pair_sum import PairSum
from kmcompile.program.stages.polynomial_sum import PolynomialSum
from kmcompile.program.stages.prepare import Prepare
from kmcompile.program.stages.quadratic_bounds import QuadraticBounds
from kmcompile.program.stages.range_gate import RangeGate
from kmcompile.program.stages.reduced_set import ReducedSet
from kmcompile.program.stages.replay import Replay
from kmcompile.program.stages.routed_fixed_sum import RoutedFixedSum
from kmcompile.program.stages.routed_sum import RoutedSum
from kmcompile.program.stages.sign import Sign
from kmcompile.program.stages.sign_map import SignMap
from kmcompile.program.stages.stage import Always, Stage
from kmcompile.program.stages.subspace_certificate import SubspaceCertificate
from kmcompile.program.stages.sum_of_leaves import SumOfLeaves
from kmcompile.program.stages.table_sum import TableSum
from kmcompile.program.stages.taylor_polynomial import TaylorPolynomial
from kmcompile.program.stages.value import Value
from kmcompile.program.stages.vectorless_sum import VectorlessSum
from kmcompile.program.stages.vote import Vote

CATALOGUE: tuple[type[Stage], ...] = (
    Prepare,
    Monitor,
    Nonzeros,
    RangeGate,
    ClassScores,
    LinearFilter,
    ReducedSet,
    NearestVectors,
    SignMap,
    BoundSequence,
    LocalExpansion,
    LeafExpansion,
    TaylorPolynomial,
    SubspaceCertificate,
    QuadraticBounds,
    IntervalRatio,
    ExactSum,
    FixedSum,
    LinearSum,
    PolynomialSum,
    AdditiveSum,
    CurveSum,
    TableSum,
    CodedPolynomialSum,
    PairSum,
    RoutedSum,
    RoutedFixedSum,
    Sign,
    Vote,
    Argmax,
    Value,
    Replay,
)
"""All stages. A test checks that each has a template and a bit-exact case."""

__all__ = [
    "CATALOGUE",
    "AdditiveSum",
    "Always",
    "Argmax",
    "BoundSequence",
    "ClassScores",
    "CodeRange",
    "CodeTable",
    "CodedPolynomialSum",
    "CodedSum",
    "CurveSum",
    "DescribedSum",
    "EarlyExit",
    "ExactSum",
    "FixedSum",
    "InnerProducts",
    "IntervalRatio",
    "LeafExpansion",
    "LinearFilter",
    "LinearSum",
    "LocalExpansion",
    "Monitor",
    "NearestVectors",
    "Nonzeros",
    "PairSum",
    "PolynomialSum",
    "Prepare",
    "QuadraticBounds",
    "RangeGate",
    "ReducedSet",
    "Replay",
    "RoutedFixedSum",
    "RoutedSum",
    "Sign",
    "SignMap",
    "Stage",
    "SubspaceCertificate",
    "SumOfLeaves",
    "TableSum",
    "TaylorPolynomial",
    "Value",
    "VectorlessSum",
    "Vote",
]
