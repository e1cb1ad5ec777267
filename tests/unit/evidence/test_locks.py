"""The locks fit pyproject.toml, and what does not fit is told."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("packaging", reason="the test extra brings it")

from evidence.supply.lock_fits import all_faults, faults, other_versions, read_lock

CHECKOUT = Path(__file__).resolve().parents[3]
HASH = f"    --hash=sha256:{'0' * 64}"
LOCK = f"numpy==2.4.6 ; python_version < '3.12' \\\n{HASH}\n    # via kmcompile (pyproject.toml)\n"


def test_locks_fit_pyproject() -> None:
    """After a change of the dependencies: `make lock`."""
    names = ("pyproject.toml", ".ci/requirements.txt", ".ci/requirements-build.txt")
    assert all_faults(*(CHECKOUT / name for name in names)) == []


def test_locks_name_no_host() -> None:
    for name in ("requirements.txt", "requirements-build.txt"):
        text = (CHECKOUT / ".ci" / name).read_text(encoding="utf-8")
        assert "://" not in text and "index-url" not in text


@pytest.mark.parametrize(
    ("asked", "lock", "told"),
    [
        (["numpy>=1.26"], LOCK, []),
        (["numpy>=3"], LOCK, ["numpy>=3: the lock has 2.4.6"]),
        (["numpy", "scipy>=1.11"], LOCK, ["scipy>=1.11: is not in the lock"]),
        ([], LOCK, ["numpy: locked for pyproject.toml, which does not ask for it"]),
        (["numpy"], LOCK.replace(HASH, ""), ["numpy: has no hash"]),
    ],
)
def test_what_does_not_fit_is_told(asked: list[str], lock: str, told: list[str]) -> None:
    assert faults(asked, lock) == told


@pytest.mark.parametrize(
    ("installed", "told"),
    [
        ("Scipy==1.17.0\nNumPy==2.4.6\n", []),
        ("numpy==2.4.5\n", ["numpy: 2.4.5 is installed, 2.4.6 is locked"]),
        ("", ["numpy: none is installed, 2.4.6 is locked"]),
    ],
)
def test_other_versions_than_the_locked_are_told(installed: str, told: list[str]) -> None:
    lock = LOCK.replace("python_version < '3.12'", "python_version > '3.0'")
    lock += f"scipy==1.16.0 ; python_version < '3.0' \\\n{HASH}\n"
    assert other_versions(installed, lock) == told


@pytest.mark.parametrize("line", ["numpy>=2 \\", "    --hash=md5:00"])
def test_a_lock_without_one_version_or_sha256_is_refused(line: str) -> None:
    with pytest.raises(AssertionError):
        read_lock(f"{LOCK}{line}\n")
