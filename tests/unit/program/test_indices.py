"""reliability 44: a table at whose elements other tables are read says what these are below."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from kit.additive import Additive
from kit.cascades import Cascade
from kit.catalogue import Case
from kit.coded import Coded, few_pixels, few_poly_digits, intersection_digits
from kit.expansions import Expanded
from kit.input_tolerances import Tolerant
from kit.leaf_expansions import LeavesExpanded
from kit.package_classes import concrete
from kit.pairs import Pairs
from kit.routed import Routed
from kit.taylor import Taylor
from kmcompile.numeric.table import Below
from kmcompile.program.laid import Laid, laid_fields
from kmcompile.program.program import Program

SMALL = {"n_samples": 24}
FEW = {"n_trained": 40}
CASES = (
    Case("SVC", "rbf", "one_vs_one", "raw", **SMALL),
    Coded(few_pixels, "int8"),
    Coded(few_poly_digits, "int8"),
    Coded(intersection_digits, "int8"),
    Pairs(n_samples=60, n_features=5),
    Additive(Case("SVC", "intersection", "one_vs_one", "minmax", **SMALL)),
    Additive(Case("SVC", "additive_chi2", "binary", "clip", n_features=3, **SMALL)),
    Cascade("rbf", "binary", n_levels=2, pooled=True, **FEW),
    Expanded("wine", 0.02, (3,), 3, **FEW),
    Taylor("wine", 0.02, (2,), 0, degree=3, **FEW),
    Tolerant("framed_digits", "raw", "rbf", 0.02, **FEW),
    Tolerant("framed_digits", "raw", "square", 0.02, **FEW),
    Routed("iris", 5, extra="products linear"),
    Routed("wine", 5, extra="votes"),
    LeavesExpanded(Routed("iris", 6, "chain"), 2),
    Routed("iris", 5, extra="widths products linear", number_format="int8"),
)
"""Programs that have every table of indices."""

NO_INDEX = {
    ("CodedLinearSum", "weights"): "a number",
    ("CodedLinearSum", "start"): "a number",
    ("CodedLinearSum", "base"): "a number",
    ("CodedLinearSum", "per_part"): "a number",
    ("CodedPolynomialSum", "shifts"): "a number of bits, which is in the C as a number",
    ("CodedPolynomialSum", "start"): "a number",
    ("FixedSum", "coefficients"): "a number",
    ("FixedPairs", "starts"): "follows from the sizes of the leaves, with which it is compared",
    ("FixedSum", "start"): "a number",
    ("GammaScales", "distance_shifts"): "a number of bits",
    ("GammaScales", "multipliers"): "a number",
    ("GammaScales", "product_shifts"): "a number of bits",
    ("GammaScales", "cutoffs"): "a number",
    ("KernelProducts", "starts"): "follows from the sizes of the leaves, with which it is compared",
    ("LongPairs", "entry_vectors"): "an index into tables of the exact sum, which has it, too",
    ("LongPairs", "pair_ends"): "an index into tables of the exact sum, which has it, too",
    ("OwnPairs", "classes"): "bits",
    ("OwnPairs", "terms"): "an own pair of its leaf, as which each is checked",
    ("RoutedFixedSum", "start"): "a number",
    ("SignMap", "outer"): "bits",
    ("SignMap", "inner"): "bits",
    ("SignMap", "ranks"): "a number that follows from the bits, and is compared with them",
    ("TableSum", "values"): "a number",
    ("TableSum", "start"): "a number",
}
"""Tables of unsigned integers at whose elements nothing is read, or that are compared."""


@cache
def program(case: Any) -> Program:
    return case.emit("host").program


def laid_parts(of: Any) -> Iterator[Laid]:
    """Yield an object that has arrays, and the parts of it that have some."""
    if isinstance(of, tuple):
        for one in of:
            yield from laid_parts(one)
    elif isinstance(of, (Laid, Program)):
        if isinstance(of, Laid):
            yield of
        for field in fields(of):
            yield from laid_parts(getattr(of, field.name))


def indexed(of: Laid) -> Iterator[tuple[str, Below]]:
    """Yield the fields of an object that are tables of indices, by name, and what these are below.

    Without parts that are not there.
    """
    for field in laid_fields(type(of)):
        if field.layout.below is not None and np.size(getattr(of, field.name)):
            yield field.name, of._below(field.layout)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_index_that_is_too_large_is_refused(case):
    made = program(case)
    replayed = () if made.replay is None else made.replay.shared()
    known = dict([*made.shared(), *(one for s in made.stages for one in s.shared()), *replayed])
    for part in laid_parts(made):
        part.check_tables(known)
        for name, below in indexed(part):
            values = getattr(part, name).copy()
            values.flat[-1] = below.end(name, known) + below.rises
            with pytest.raises(ValueError, match=f"^{name} (has an element|does not rise)"):
                replace(part, **{name: values}).check_tables(known)


def with_route(made, **changed):
    return replace(made, sum=replace(made.sum, route=replace(made.sum.route, **changed)))


def test_a_route_to_more_leaves_than_there_are_is_refused():
    made, other = (program(Routed("iris", n)) for n in (5, 6))
    assert len(made.sum.leaf_ends) < len(other.sum.leaf_ends)
    with pytest.raises(ValueError, match="targets has an element that is not from 0"):
        replace(made, sum=replace(made.sum, route=other.sum.route))


@pytest.mark.parametrize("number_format", ["float32", "int16"])
def test_a_leaf_may_have_no_way_to_it_or_several(number_format):
    made = program(Routed("iris", 5, number_format=number_format))
    route = made.sum.route
    targets = route.targets.copy()
    leaves = np.flatnonzero(targets >= route.n_nodes)
    targets[leaves[0]] = targets[leaves[1]]
    assert with_route(made, targets=targets).sum.n_leaves == made.sum.n_leaves


@pytest.mark.parametrize("number_format", ["float32", "int16"])
def test_a_node_without_a_choice_is_refused(number_format):
    made = program(Routed("iris", 6, "chain", number_format=number_format))
    ends = made.sum.route.node_ends.copy()
    ends[-2] = ends[-1]
    with pytest.raises(ValueError, match="a node has no choice"):
        with_route(made, node_ends=ends)


def test_own_pairs_are_of_classes_of_their_leaf_each_once():
    made = program(Routed("wine", 5, extra="votes"))
    own = made.sum.own_pairs
    leaf = int(np.flatnonzero(own.counts > 1)[0])
    pairs = own.pairs.copy()
    pairs[own.own(leaf)] = pairs[own.own(leaf)][0]
    for changed in ({"pairs": pairs}, {"classes": 0 * own.classes}):
        with pytest.raises(ValueError, match="are not those of its classes"):
            replace(made, sum=replace(made.sum, own_pairs=replace(own, **changed)))


def test_a_choice_that_leads_back_is_refused():
    made = program(Routed("iris", 6, "chain"))
    targets = made.sum.route.targets.copy()
    targets[-1] = 0
    with pytest.raises(ValueError, match="leads back"):
        with_route(made, targets=targets)


@pytest.mark.parametrize(
    ("extra", "number_format", "part"),
    [("products", "float32", "products"), ("products", "int16", "pairs")],
)
def test_pairs_of_kernels_begin_where_the_leaves_sizes_say(extra, number_format, part):
    made = program(Routed("iris", 5, extra=extra, number_format=number_format))
    pairs = getattr(made.sum, part)
    for starts in (pairs.starts[::-1], np.full_like(pairs.starts, len(pairs.coefficients))):
        with pytest.raises(ValueError, match="not those of the leaves' sizes"):
            replace(made, sum=replace(made.sum, **{part: replace(pairs, starts=starts)}))


def test_a_term_is_of_an_own_pair_of_its_leaf():
    made = program(Routed("wine", 5, extra="votes"))
    own = made.sum.own_pairs
    least = int(own.counts.argmin())
    assert own.counts[least] < own.counts.max()
    terms = own.terms.copy()
    terms[int(np.append(0, own.term_ends)[made.sum.leaf_ends[least]]) - 1] = own.counts[least]
    with pytest.raises(ValueError, match="no own pair of its leaf"):
        replace(made, sum=replace(made.sum, own_pairs=replace(own, terms=terms)))


def test_the_programs_above_have_every_table_of_indices():
    tried = {
        (type(part).__name__, name)
        for case in CASES
        for part in laid_parts(program(case))
        for name, _ in indexed(part)
    }
    stated = {
        (kind.__name__, field.name)
        for kind in concrete(Laid)
        for field in laid_fields(kind)
        if field.layout.below is not None
    }
    assert tried == stated


def test_every_table_of_unsigned_integers_says_what_is_read_at_it():
    silent = {
        (kind.__name__, field.name)
        for kind in concrete(Laid)
        for field in laid_fields(kind)
        if field.is_laid
        and field.layout.below is None
        and field.dtype not in (None, Any)
        and np.issubdtype(field.dtype, np.unsignedinteger)
    }
    assert silent == set(NO_INDEX)
