"""Build the wheel from an sdist twice and compare the bytes.

Usage: python build_twice.py SDIST.tar.gz

The two builds differ in folder, umask, permissions, times of the files, time zone, language and
hash seed. Needs hatchling; no index is asked.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LONG_AGO = 981_173_106  # seconds: another time than now


def build(sdist: Path, folder: Path, umask: int, **variables: str) -> Path:
    """Unpack the sdist into a folder and build the wheel there."""
    folder.mkdir(parents=True)
    shutil.unpack_archive(sdist, folder, filter="data")
    (source,) = folder.iterdir()
    for path in source.rglob("*"):
        os.utime(path, (LONG_AGO, LONG_AGO))
        path.chmod((0o777 if path.is_dir() else 0o666) & ~umask)
    environment = {key: text for key, text in os.environ.items() if key != "SOURCE_DATE_EPOCH"}
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "built")],
        cwd=source,
        env=environment | variables,
        umask=umask,
        check=True,
        capture_output=True,
    )
    (wheel,) = (folder / "built").iterdir()
    return wheel


def digests(sdist: Path) -> list[str]:
    """Return name and SHA-256 of both wheels."""
    with tempfile.TemporaryDirectory() as made:
        here = Path(made)
        wheels = [
            build(sdist, here / "one", 0o022, TZ="UTC", PYTHONHASHSEED="1"),
            build(
                sdist, here / "an" / "other", 0o077, TZ="Asia/Tokyo", PYTHONHASHSEED="2", LC_ALL="C"
            ),
        ]
        return [f"{hashlib.sha256(one.read_bytes()).hexdigest()}  {one.name}" for one in wheels]


if __name__ == "__main__":
    first, second = digests(Path(sys.argv[1]))
    print(first, second, sep="\n")
    sys.exit(first != second)
