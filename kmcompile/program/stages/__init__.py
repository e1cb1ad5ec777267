"""The stages, one file each in a folder for its kind; the template of a stage has its name."""

from kmcompile.program.stages.early_exits.bound_sequence import BoundSequence
from kmcompile.program.stages.early_exits.class_scores import ClassScores
from kmcompile.program.stages.early_exits.early_exit import EarlyExit
from kmcompile.program.stages.early_exits.inner_products import InnerProducts
from kmcompile.program.stages.early_exits.interval_ratio import IntervalRatio
from kmcompile.program.stages.early_exits.leaf_expansion import LeafExpansion
from kmcompile.program.stages.early_exits.linear_filter import LinearFilter
from kmcompile.program.stages.early_exits.local_expansion import LocalExpansion
from kmcompile.program.stages.early_exits.nearest_vectors import NearestVectors
from kmcompile.program.stages.early_exits.quadratic_bounds import QuadraticBounds
from kmcompile.program.stages.early_exits.reduced_set import ReducedSet
from kmcompile.program.stages.early_exits.sign_map import SignMap
from kmcompile.program.stages.early_exits.subspace_certificate import SubspaceCertificate
from kmcompile.program.stages.early_exits.taylor_polynomial import TaylorPolynomial
from kmcompile.program.stages.input.monitor import Monitor
from kmcompile.program.stages.input.nonzeros import Nonzeros
from kmcompile.program.stages.input.prepare import Prepare
from kmcompile.program.stages.input.range_gate import RangeGate
from kmcompile.program.stages.labels.argmax import Argmax
from kmcompile.program.stages.labels.label import Label
from kmcompile.program.stages.labels.sign import Sign
from kmcompile.program.stages.labels.value import Value
from kmcompile.program.stages.labels.vote import Vote
from kmcompile.program.stages.leaves.routed_fixed_sum import RoutedFixedSum
from kmcompile.program.stages.leaves.routed_sum import RoutedSum
from kmcompile.program.stages.leaves.sum_of_leaves import SumOfLeaves
from kmcompile.program.stages.replay import Replay
from kmcompile.program.stages.stage import Always, Stage
from kmcompile.program.stages.sums.additive_sum import AdditiveSum
from kmcompile.program.stages.sums.code_range import CodeRange
from kmcompile.program.stages.sums.code_table import CodeTable
from kmcompile.program.stages.sums.coded_linear_sum import CodedLinearSum
from kmcompile.program.stages.sums.coded_polynomial_sum import CodedPolynomialSum
from kmcompile.program.stages.sums.coded_sum import CodedSum
from kmcompile.program.stages.sums.curve_sum import CurveSum
from kmcompile.program.stages.sums.described_sum import DescribedSum
from kmcompile.program.stages.sums.exact_sum import ExactSum
from kmcompile.program.stages.sums.fine_sum import FineSum
from kmcompile.program.stages.sums.fixed_sum import FixedSum
from kmcompile.program.stages.sums.linear_sum import LinearSum
from kmcompile.program.stages.sums.long_pairs import LongPairs
from kmcompile.program.stages.sums.long_sum import LongSum
from kmcompile.program.stages.sums.pair_sum import PairSum
from kmcompile.program.stages.sums.polynomial_sum import PolynomialSum
from kmcompile.program.stages.sums.sum import Sum
from kmcompile.program.stages.sums.table_sum import TableSum
from kmcompile.program.stages.sums.vectorless_sum import VectorlessSum

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
    CodedSum,
    PolynomialSum,
    AdditiveSum,
    CurveSum,
    TableSum,
    CodedPolynomialSum,
    CodedLinearSum,
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

OF_REPLAYS: tuple[type[Sum], ...] = (FineSum, LongSum, LongPairs)
"""Sums that only a replay has."""

__all__ = [
    "CATALOGUE",
    "OF_REPLAYS",
    "AdditiveSum",
    "Always",
    "Argmax",
    "BoundSequence",
    "ClassScores",
    "CodeRange",
    "CodeTable",
    "CodedLinearSum",
    "CodedPolynomialSum",
    "CodedSum",
    "CurveSum",
    "DescribedSum",
    "EarlyExit",
    "ExactSum",
    "FixedSum",
    "InnerProducts",
    "IntervalRatio",
    "Label",
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
