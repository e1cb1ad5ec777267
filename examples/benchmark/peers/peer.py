"""What a peer gives: C files that define `peer_classify`, and how they are built.

A peer is a module with a function `write(svc, folder, place)`. It writes the peer's own C into the
folder, and `answer.c` or `answer.cpp` with

    uint32_t peer_classify(const float x[N_FEATURES]);

which returns the index of the class. What a user would write around the peer's C is in there, too:
conversions of the input, and the votes where the peer gives only scores. `write` raises if the
peer cannot generate the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kmcompile.emit.literals import float32_literal


class NotGeneratedError(Exception):
    """The peer has no C for this model; the text says why."""


@dataclass(frozen=True)
class Place:
    """Where the C is to run, and where the sources of peers are.

    Parameters
    ----------
    target : str
        "host", or a board.
    sources : Path
        Folder of the sources that `setup.sh` unpacked.
    """

    target: str
    sources: Path


@dataclass(frozen=True)
class Written:
    """The files to compile, with C++ where the name says so, and the compiler's own flags.

    Parameters
    ----------
    files : tuple of Path
        Of the folder, or of the peer's sources.
    flags : tuple of str
        Besides -O2; include folders among them.
    """

    files: tuple[Path, ...]
    flags: tuple[str, ...] = ()


def answer(folder: Path, text: str, suffix: str = "c") -> Path:
    """Write `answer.c` with the includes that every one needs."""
    path = folder / f"answer.{suffix}"
    path.write_text('#include <stdint.h>\n#include "peer.h"\n' + text)
    return path


def floats(declaration: str, values: np.ndarray) -> str:
    """Return a constant table of float32."""
    return _table("float", declaration, values, lambda v: float32_literal(np.float32(v)))


def doubles(declaration: str, values: np.ndarray) -> str:
    """Return a constant table of float64."""
    return _table("double", declaration, values, lambda v: repr(float(v)))


def integers(declaration: str, values: np.ndarray) -> str:
    """Return a constant table of int."""
    return _table("int", declaration, values, lambda v: str(int(v)))


def _table(kind: str, declaration: str, values, literal) -> str:
    rows = np.atleast_2d(np.asarray(values))
    texts = [", ".join(literal(value) for value in row) for row in rows]
    content = texts[0] if np.ndim(values) == 1 else ",\n".join(f"{{{text}}}" for text in texts)
    return f"static const {kind} {declaration} = {{{content}}};\n"


VOTES = """
static uint32_t most_votes(const uint32_t votes[N_CLASSES])
{
    uint32_t best = 0U;

    for (uint32_t a = 1U; a < N_CLASSES; a++) {
        best = (votes[a] > votes[best]) ? a : best;
    }
    return best;
}
"""
"""C: the class with most votes, the first of equals."""
