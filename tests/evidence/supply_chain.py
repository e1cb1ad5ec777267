"""The part `supply_chain` of kmcompile itself: its wheel, lock, dependencies and bills."""

from __future__ import annotations

import hashlib
import pickle
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import distributions, version
from pathlib import Path

from sklearn.datasets import load_iris
from sklearn.svm import SVC

from evidence.supply import build_twice, lock_fits
from kmcompile.errors import ToolError
from kmcompile.evidence.bills import check
from kmcompile.evidence.finding import Finding, Outcome
from kmcompile.tools.toolchain import run_process, run_tool
from kmcompile.version import VERSION

CHECKOUT = Path(__file__).resolve().parents[2]
_SOURCES = tuple(
    CHECKOUT / name
    for name in ("pyproject.toml", ".ci/requirements.txt", ".ci/requirements-build.txt")
)
LOCKS = tuple(source.name for source in _SOURCES)
_INSTALLED = "installed.txt"
_BUILD_S = 300.0
_OFFLINE_S = 1_800.0
"""Seconds to fill the folder of wheels, and to install from it: what a slow network takes."""
_NAME = "supply_chain"
_SUBJECT = "kmcompile"
_ALL = 0.5
"""From this share on the folder of wheels is filled, which is one piece of work."""


def run_supply_chain(folder: Path, share: float) -> list[Finding]:
    """Build the wheel twice, check the locks, fill the folder of wheels and check its bills."""
    return [
        *_timed(_of_wheel, folder),
        *_timed(_of_locks, folder),
        *_timed(_of_environment, folder),
        *(_timed(_of_wheelhouse, folder) if share >= _ALL else []),
    ]


def _timed(run: Callable[[Path], Sequence[Finding]], folder: Path) -> list[Finding]:
    """Run a step; its seconds are those that passed, because other programs did the work."""
    started = time.monotonic()
    found = run(folder)
    seconds = (time.monotonic() - started) / len(found)
    return [
        Finding(
            **{name: getattr(one, name) for name in Finding.__slots__ if name != "seconds"},
            seconds=seconds,
        )
        for one in found
    ]


def _finding(claim: str, shown: bool, figure: str, command: str, tool: str, **more) -> Finding:
    outcome = Outcome.SHOWN if shown else Outcome.REFUTED
    return Finding(claim, _SUBJECT, outcome, figure, command, tool, **more)


def _copy_script(name: str, folder: Path) -> str:
    """Copy a script into the folder of the part; return its path in the folder of the evidence."""
    shutil.copyfile(Path(build_twice.__file__).with_name(name), folder / name)
    return f"{_NAME}/{name}"


def _of_wheel(folder: Path) -> list[Finding]:
    """Build the wheel twice from an sdist, which stays in the folder."""
    step = "building the sdist"
    arguments = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)]
    run_tool(arguments, CHECKOUT, _BUILD_S, step)
    (sdist,) = folder.glob("kmcompile-*.tar.gz")
    script = _copy_script("build_twice.py", folder)
    first, second = build_twice.digests(sdist)
    same = first == second
    figure = f"2 builds, {'same' if same else 'different'} bytes: SHA-256 {first.split()[0]}"
    return [
        _finding(
            "reproducible-wheel",
            same,
            figure,
            f"python {script} {_NAME}/{sdist.name}",
            f"hatchling {version('hatchling')}",
            listed=() if same else (first, second),
            files=(script, f"{_NAME}/{sdist.name}"),
        )
    ]


def _of_locks(folder: Path) -> list[Finding]:
    """Compare both locks with pyproject.toml."""
    for source in _SOURCES:
        shutil.copyfile(source, folder / source.name)
    script = _copy_script("lock_fits.py", folder)
    faults = lock_fits.all_faults(*(folder / name for name in LOCKS))
    locked = [one for name in LOCKS[1:] for one in lock_fits.read_lock((folder / name).read_text())]
    hashes = sum(len(one.hashes) for one in locked)
    paths = tuple(f"{_NAME}/{name}" for name in LOCKS)
    return [
        _finding(
            "lock-fits",
            not faults,
            f"{len(locked)} versions with {hashes} SHA-256, {len(faults)} faults",
            f"python {script} {' '.join(paths)}",
            f"packaging {version('packaging')}",
            listed=tuple(faults),
            files=(script, *paths),
        )
    ]


def _of_environment(folder: Path) -> list[Finding]:
    """Tell which versions of the lock are those that all other parts were run with."""
    lock = _SOURCES[1].read_text(encoding="utf-8")
    here = {f"{one.name}=={one.version}" for one in distributions()}
    installed = "\n".join(sorted(here, key=str.lower)) + "\n"
    (folder / _INSTALLED).write_text(installed, encoding="utf-8")
    script = _copy_script("lock_fits.py", folder)
    other = lock_fits.other_versions(installed, lock)
    n = len(lock_fits.wanted_here(lock))
    paths = (f"{_NAME}/{_INSTALLED}", f"{_NAME}/{LOCKS[1]}")
    return [
        Finding(
            "tested-is-locked",
            _SUBJECT,
            Outcome.OPEN if other else Outcome.SHOWN,
            f"{n - len(other)} of {n} versions installed here are the locked ones",
            f"python {script} --installed {' '.join(paths)}",
            f"Python {sys.version.split()[0]}",
            listed=tuple(other),
            files=paths,
        )
    ]


def _of_wheelhouse(folder: Path) -> list[Finding]:
    """Fill the folder of wheels, install from it without a network and check its bills."""
    house = folder / "wheelhouse"
    claims = ("installs-offline", "wheels-are-locked", "bills-of-kmcompile")
    try:
        run_tool([str(CHECKOUT / ".ci/offline"), str(house)], CHECKOUT, _OFFLINE_S, "make offline")
    except ToolError as error:
        reason = str(error).replace("\n", ": ")
        return [
            Finding(one, _SUBJECT, Outcome.NOT_RUN, reason, "make offline", "pip") for one in claims
        ]
    try:
        return [_of_installation(folder, house), _of_hashes(house), _of_bills(folder, house)]
    finally:
        shutil.rmtree(house)  # 90 MB, which `make offline` makes again


def _of_installation(folder: Path, house: Path) -> Finding:
    model = folder / "iris.pkl"
    model.write_bytes(pickle.dumps(SVC().fit(*load_iris(return_X_y=True))))
    script = _copy_script("install_offline.sh", folder)
    arguments = ["sh", str(folder / "install_offline.sh"), str(house), str(model)]
    code, output = run_process(arguments, folder, _OFFLINE_S, "installing without a network")
    lines = output.splitlines()
    return _finding(
        "installs-offline",
        code == 0,
        "; ".join(lines[-2:]),
        f"sh {script} WHEELHOUSE {_NAME}/iris.pkl  # WHEELHOUSE as `make offline` writes it",
        f"pip, {lines[0] if lines else 'nothing'}",
        files=(script, f"{_NAME}/iris.pkl"),
    )


def _of_hashes(house: Path) -> Finding:
    """Compare the wheels with the lock once more, without pip."""
    known = {
        digest
        for one in lock_fits.read_lock(_SOURCES[1].read_text(encoding="utf-8"))
        for digest in one.hashes
    }
    wheels = [path for path in sorted(house.glob("*.whl")) if not path.name.startswith(_SUBJECT)]
    unknown = [
        path.name for path in wheels if hashlib.sha256(path.read_bytes()).hexdigest() not in known
    ]
    return _finding(
        "wheels-are-locked",
        not unknown,
        f"{len(wheels) - len(unknown)} of {len(wheels)} wheels have a SHA-256 of requirements.txt",
        f"pip download --require-hashes --only-binary :all: -r {_NAME}/requirements.txt -d wheels",
        f"kmcompile {VERSION}",
        listed=tuple(f"{name}: not in the lock" for name in unknown),
    )


def _of_bills(folder: Path, house: Path) -> Finding:
    """Check both bills of the folder of wheels, and keep them."""
    shutil.copyfile(check.__file__, folder / "check.py")
    stem = f"{_SUBJECT}-{VERSION}"
    paths = [house / f"{stem}.{kind}.json" for kind in ("spdx", "cdx")]
    for path in paths:
        shutil.copyfile(path, folder / path.name)
    spdx, cyclonedx = (path.read_bytes() for path in paths)
    n_files, faults = check.faults_of_digests(spdx, cyclonedx, house)
    faults += [*check.faults_of_spdx(spdx), *check.faults_of_cyclonedx(cyclonedx)]
    return _finding(
        "bills-of-kmcompile",
        not faults,
        f"SPDX 2.3 and CycloneDX 1.6 are valid, with the SHA-256 of {n_files} wheels",
        f"python {_NAME}/check.py {_NAME}/{stem} WHEELHOUSE",
        check.tools() or check.INSTALL,
        listed=tuple(faults),
        files=tuple(f"{_NAME}/{path.name}" for path in paths),
    )
