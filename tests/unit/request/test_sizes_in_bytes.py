"""Sizes, times and clocks may have units; what goes on from there is a number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kmcompile.errors import UsageError
from kmcompile.request.option_values import check_options
from kmcompile.request.options import MEASURES, SIZES, Options
from kmcompile.request.plan import Request


@pytest.mark.parametrize(
    ("given", "n_bytes"),
    [
        (4096, 4096),
        (np.int64(4096), 4096),
        ("4096", 4096),
        ("4096 B", 4096),
        ("64KB", 64_000),
        ("64kb", 64_000),
        ("64KiB", 65_536),
        ("64 kib", 65_536),
        ("64K", 65_536),
        ("64k", 65_536),
        ("1MB", 1_000_000),
        ("2MiB", 2_097_152),
        ("2m", 2_097_152),
    ],
)
@pytest.mark.parametrize("field", SIZES)
def test_every_unit_has_one_reading(field: str, given: Any, n_bytes: int) -> None:
    options = Options(**{field: given})
    check_options(options)
    assert getattr(options, field) == n_bytes


def test_the_command_has_plain_bytes_and_the_size_of_the_part_is_its_default() -> None:
    given = Options(target="cortex-m4", max_flash="48 KiB")  # type: ignore[arg-type]
    command = Request.of(Path("m.pkl"), given).options.canonical_command("m.pkl")
    assert command == "kmcompile m.pkl --target cortex-m4 --max-flash 49152"
    whole = Request.of(Path("m.pkl"), given)
    part = f"{whole.target.flash_bytes // 1024}KiB"
    request = Request.of(Path("m.pkl"), Options(target="cortex-m4", max_flash=part))  # type: ignore[arg-type]
    assert request.options.max_flash is None


@pytest.mark.parametrize(
    "given", ["0", "0KB", "-1", "64GB", "1.5MB", "KB", "64  KB", "9" * 5000, 0, 1.5]
)
@pytest.mark.parametrize("field", SIZES)
def test_other_sizes_are_refused_with_the_units(field: str, given: Any) -> None:
    with pytest.raises(UsageError, match="must be a whole number of bytes") as caught:
        check_options(Options(**{field: given}))
    assert "K or KiB (1,024)" in str(caught.value) and caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("given", "number"),
    [
        (0.5, 0.5),
        (np.float64(2), 2.0),
        ("0.5", 0.5),
        ("2ms", 2e-3),
        ("5 us", 5e-6),
        ("1e-3 s", 1e-3),
    ],
)
def test_a_time_may_have_a_unit(given: Any, number: float) -> None:
    options = Options(max_time=given)
    check_options(options)
    assert options.max_time == number


@pytest.mark.parametrize(
    "given", ["0", "-1", "1h", "1..5", "ms", "nan", "9" * 5000, 0, True, float("inf")]
)
@pytest.mark.parametrize("field", MEASURES)
def test_other_times_and_clocks_are_refused_with_the_units(field: str, given: Any) -> None:
    with pytest.raises(UsageError, match="must be a number above 0; units are"):
        check_options(Options(**{field: given}))


def test_a_clock_is_that_of_the_target_and_no_part_of_the_c() -> None:
    request = Request.of(Path("m.pkl"), Options(target="cortex-m4", clock="64MHz"))
    timing = request.target.time
    assert timing is not None
    assert (timing.clock_hz, timing.flash_wait_states) == (64_000_000, None)
    assert request.options.canonical_command("m.pkl") == "kmcompile m.pkl --target cortex-m4"
    with pytest.raises(UsageError, match="cortex-m7 are not known: a Cortex-M7 has caches"):
        Request.of(Path("m.pkl"), Options(target="cortex-m7", clock="64MHz"))
