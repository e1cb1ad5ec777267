"""Arrays that say how they lie in the C: what is frozen, shared and made a table."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.laid import Laid, Layout

if TYPE_CHECKING:
    from fractions import Fraction


@dataclass(frozen=True, slots=True, eq=False)
class Part(Laid):
    starts: Annotated[NDArray[np.uint32], Layout("Starts: [leaf]", ("N_LEAVES",))]


@dataclass(frozen=True, slots=True, eq=False)
class Whole(Laid):
    unit: str
    weights: Annotated[Float32Array, Layout("Weights in {self.unit}: [row][]", ("N_ROWS", ""))]
    widths: Annotated[Float32Array, Layout("Widths: [row]", ("N_ROWS",), where="weights.size")]
    codes: Annotated[NDArray[np.uint32], Layout("", narrow=np.uint16)]
    bands: Annotated[Float32Array, Layout("Bands: [row]", name="half", clipped=True)]
    rare: Annotated[Float32Array | None, Layout("Rare: [row]", ("N_RARE",))]
    part: Part

    prefix: ClassVar[str] = "own"
    order_in_c: ClassVar[tuple[str, ...]] = ("bands",)


def whole(n: int = 2, largest: int = 7) -> Whole:
    weights, bands = np.ones((n, 3)), np.full(n, np.inf)
    return Whole("mm", weights, np.ones(n), np.array([largest]), bands, None, Part(np.arange(4)))


def test_arrays_are_read_only_copies_of_their_type() -> None:
    given = np.ones((2, 3))
    made = Whole("mm", given, np.ones(2), np.array([7]), np.ones(2), None, Part(np.arange(4)))
    given[0, 0] = 5
    assert made.weights.dtype == np.float32 and made.weights[0, 0] == 1
    assert not made.weights.flags.writeable and made.part.starts.dtype == np.uint32


@pytest.mark.parametrize(("largest", "dtype"), [(65535, np.uint16), (65536, np.uint32)])
def test_the_narrow_type_is_taken_where_it_holds_all_elements(largest: int, dtype: type) -> None:
    assert whole(largest=largest).codes.dtype == dtype


def test_infinite_bands_get_a_literal() -> None:
    assert whole().bands.tolist() == [2.0**120] * 2


def test_named_axes_are_shared_and_those_of_parts_too() -> None:
    assert whole().shared() == (("N_ROWS", 2), ("N_ROWS", 2), ("N_LEAVES", 4))


def test_a_wrong_number_of_axes_is_an_error() -> None:
    flat = Whole("mm", np.ones(2), np.ones(2), np.ones(1), np.ones(2), None, Part(np.ones(1)))
    with pytest.raises(ValueError, match=r"is (shorter|longer) than"):
        flat.shared()


def test_tables_stand_in_the_order_of_the_c() -> None:
    tables = whole().tables()
    assert [table.name for table in tables] == ["own_half", "own_weights", "own_widths", "starts"]
    assert tables[1].layout == "Weights in mm: [row][]"


def test_a_table_that_is_not_there_is_left_out() -> None:
    assert "own_widths" not in [table.name for table in whole(0).tables()]
    assert whole(0).shared() == (("N_ROWS", 0), ("N_LEAVES", 4))


@dataclass(frozen=True, slots=True, eq=False)
class Pairs(Laid):
    ends: Annotated[NDArray[np.uint32], Layout("Ends: [pair][2]", ("N_PAIRS", 2))]


def test_an_axis_of_a_given_length_is_stated() -> None:
    assert ("axis of 2", 2) in Pairs(np.ones((3, 2))).shared()
    assert {("axis of 2", 2), ("axis of 2", 0)} <= set(Pairs(np.ones((3, 0))).shared())


@dataclass(frozen=True, slots=True, eq=False)
class FromOutside(Laid):
    reals: NDArray[np.floating[Any]]
    anything: np.ndarray[Any, Any]
    either: NDArray[np.float32] | NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Unresolved(Laid):
    share: Fraction
    weights: Float32Array


Weights = Annotated[Float32Array, Layout("Weights: [row]", ("N_ROWS",))]


@dataclass(frozen=True, slots=True, eq=False)
class UnresolvedTable(Laid):
    share: Fraction
    weights: Weights


@dataclass(frozen=True, slots=True, eq=False)
class TableOfUnresolved(Laid):
    weights: Annotated[NDArray[Fraction], Layout("Weights: [row]")]  # type: ignore[type-var]


class WithMethodsOnly(UnresolvedTable):
    __slots__ = ()


@pytest.mark.parametrize("kind", [UnresolvedTable, TableOfUnresolved, WithMethodsOnly])
def test_a_class_whose_layouts_cannot_be_read_is_refused(kind: type[Laid]) -> None:
    given = (1, np.ones(2))[-len(fields(kind)) :]  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=f"{kind.__name__}: name 'Fraction' is not defined, so the"):
        kind(*given)


def test_arrays_of_no_single_type_stay_as_they_are() -> None:
    given = np.ones(2)
    made = FromOutside(given, given, given)
    assert made.reals is made.anything is made.either is given


def test_a_class_with_an_annotation_that_cannot_be_resolved_says_nothing_of_its_arrays() -> None:
    made = Unresolved(1, np.ones(2))  # type: ignore[arg-type]
    assert made.weights.dtype == np.float64 and made.shared() == made.tables() == ()
