"""The form of the repository's own files."""

from __future__ import annotations

from pathlib import Path

import kmcompile

CHECKOUT = Path(kmcompile.__file__).resolve().parents[1]
FOLDERS = ("kmcompile", "tests", "examples", "targets")
MOST_LINES = 350


def test_no_python_file_is_long() -> None:
    """A longer one has a seam: a part with a subject of its own, and a name for it."""
    files = [file for folder in FOLDERS for file in (CHECKOUT / folder).rglob("*.py")]
    assert Path(__file__) in files
    lengths = {file: len(file.read_text("utf-8").splitlines()) for file in files}
    too_long = {str(file.relative_to(CHECKOUT)): n for file, n in lengths.items() if n > MOST_LINES}
    assert too_long == {}
