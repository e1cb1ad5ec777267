"""Integer products and distances: exact, and within what is proved of them in 32 bits."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kmcompile.kernels import Rbf
from kmcompile.lower.code_table import code_table
from kmcompile.lower.codes import Coded
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric import width
from kmcompile.program.stages import CodeTable
from kmcompile.program.stages.sums.code_table import CHUNKS, COLUMNS, FOURS, ROWS, SPARSE

WIDTHS = {
    "uint8": (0, 255),
    "int8": (-128, 127),
    "int16": (-32767, 32767),
    "int16 narrow": (-1023, 1023),
    "int16 above 0": (0, 32767),
}
SCALES = st.sampled_from(sorted(WIDTHS))
LAYOUTS = st.sampled_from([ROWS, COLUMNS, FOURS, CHUNKS, SPARSE])


def table_of(codes: np.ndarray, scale: str, layout: str = ROWS) -> CodeTable:
    """Return the table of codes as the lowering makes it."""
    low, high = WIDTHS[scale]
    machine = KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=Rbf(1.0),
        support_vectors=codes,
        dual_coef=np.ones((1, len(codes))),
        intercept=np.zeros(1),
        classes=(0, 1),
        n_features=codes.shape[1],
    )
    coded = Coded(machine, machine, 1.0, scale.split()[0], low, high, True, 0.0)
    order = np.arange(len(codes))
    return code_table(coded, order, order < 0, layout, 4)


def random_codes(rng: np.random.Generator, scale: str, m: int, n: int) -> np.ndarray:
    """Return codes at the ends of the scale, anywhere, or 0, some columns 0 in all of them."""
    low, high = WIDTHS[scale]
    ends = rng.choice([low, high], size=(m, n))
    codes = np.where(rng.random((m, n)) < 0.6, ends, rng.integers(low, high + 1, size=(m, n)))
    return codes * (rng.random((m, n)) < rng.choice([0.2, 1.0])) * (rng.random(n) < 0.8)


@settings(max_examples=150)
@given(SCALES, LAYOUTS, st.sampled_from([1, 3, 70, 784]), st.integers(0, 10**6))
def test_products_and_distances_are_those_of_pythons_integers(scale, layout, n, seed):
    rng = np.random.default_rng(seed)
    low, high = WIDTHS[scale]
    codes = random_codes(rng, scale, 4, n)
    table = table_of(codes, scale, layout)
    x = np.concatenate(
        [
            np.where(codes > 0, low, high),  # as far away as can be
            np.where(codes > 0, high, low),
            rng.integers(low, high + 1, size=(2, n)),
            np.zeros((1, n), dtype=np.int64),
        ]
    )
    by_hand = x.astype(object) @ codes.T.astype(object)
    assert (table.products(x) == by_hand).all()
    apart = ((x[:, None, :] - codes[None]).astype(object) ** 2).sum(axis=2)
    distances = table.distances(x)
    assert (distances == apart).all()
    magnitudes = np.abs(x).astype(object) @ np.abs(codes).T.astype(object)
    assert magnitudes.max() <= table.largest_product()
    assert apart.max() <= table.largest_distance()
    assert int(table.squares.max()) <= table.largest_distance()
    if not table.wide:
        assert table.largest_product() < 1 << 31
        assert table.largest_distance() + 1 < 1 << 32
        # What the C does: all of it modulo 2^32.
        own = (x**2).sum(axis=1)[:, None] % (1 << 32)
        modulo = (table.squares + own - 2 * table.products(x)) % (1 << 32)
        assert (modulo == distances).all()


@settings(max_examples=100)
@given(st.sampled_from(["int16", "int16 narrow"]), st.integers(1, 60), st.integers(0, 10**6))
def test_the_bounds_are_met_where_the_scale_is_the_same_on_both_sides(scale, n, seed):
    rng = np.random.default_rng(seed)
    low, high = WIDTHS[scale]
    codes = random_codes(rng, scale, 4, n)
    table = table_of(codes, scale)
    far = np.where(codes > 0, low, high)
    assert np.diag(table.distances(far)).max() == table.largest_distance()
    assert np.abs(np.diag(table.products(far))).max() == table.largest_product()


def test_sums_take_64_bits_from_where_32_are_too_few_on():
    """33,025 products of 255 and 255 are less than 2^31."""
    for n, wide in ((33025, False), (33026, True)):
        assert table_of(np.full((4, n), 255), "uint8").wide == wide


def test_a_largest_distance_of_all_ones_takes_64_bits():
    """Its successor may be a cutoff, which 32 bits would not hold."""
    for codes, wide in (
        ((4349, 3467, 4642, 2702, 2206), True),
        ((3039, 4649, 2606, 4355, 2706), False),
    ):
        table = table_of(np.tile(codes, (4, 1)), "int16 above 0")
        assert table.largest_product() < 1 << 31
        assert table.largest_distance() == (1 << 32) - (1 if wide else 2)
        assert table.wide == wide


@settings(max_examples=60)
@given(SCALES, LAYOUTS, st.integers(1, 40), st.integers(0, 10**6))
def test_every_layout_stores_every_code_that_is_not_0(scale, layout, n, seed):
    rng = np.random.default_rng(seed)
    codes = random_codes(rng, scale, 8, n)
    table = table_of(codes, scale, layout)
    stored = table.tables()[0].values.reshape(-1)
    assert np.array_equal(np.sort(stored[stored != 0]), np.sort(codes[codes != 0]))
    squares = next(t.values for t in table.tables() if t.name == "squares")
    assert np.array_equal(squares, (codes.astype(object) ** 2).sum(axis=1))


@given(st.sampled_from(["uint8", "int8", "int16"]), st.integers(1, 20), st.integers(0, 10_000))
@settings(max_examples=30)
def test_lists_of_zeros_take_no_operations(scale, n, seed):
    rng = np.random.default_rng(seed)
    table = table_of(random_codes(rng, scale, 9, n), scale, SPARSE)
    assert table.operations_of(np.zeros((2, n), dtype=np.int64)).tolist() == [0, 0]
    assert table.operations_of(np.ones((1, n), dtype=np.int64)).tolist() == [table.operations()]
    assert table.operations_of(np.zeros((0, n), dtype=np.int64)).tolist() == []


def test_features_beyond_65535_are_found():
    codes = np.zeros((4, 70_000), dtype=np.int64)
    codes[:, [2, 69_999]] = 3
    table = table_of(codes, "uint8")
    x = np.zeros((1, 70_000), dtype=np.int64)
    x[0, 69_999] = 5
    assert table.columns.tolist() == [2, 69_999]
    assert (table.products(x) == 15).all()


def test_every_width_has_its_scales_here():
    assert {name.split()[0] for name in WIDTHS} == {*width.WIDTHS}
