"""The flight that `flight.py` runs: frames of a camera, with what goes wrong, and telecommands.

The camera is 8 by 8 pixels from 0 to 16: the digits that ship with scikit-learn are its landmarks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_digits

NOISE = 0.25
"""The camera's noise, in units of a pixel."""

PHASE = 60
"""Cycles of a phase; that of an upload lasts until all is loaded."""

PAYLOAD_WORDS = 256
LOAD, APPLY, FLIP_TABLE, FLIP_IMAGE = 1, 2, 3, 4
"""The telecommands, as flight.c has them."""

Frames = np.ndarray


@dataclass(frozen=True)
class Landmarks:
    """Frames for training, for the choice of exits and of the monitor, and for the flight.

    Parameters
    ----------
    train, held_out, flown : tuple of ndarray
        Frames, shape (n, 64), float32, and the landmarks that they show, shape (n,).
    """

    train: tuple[Frames, np.ndarray]
    held_out: tuple[Frames, np.ndarray]
    flown: tuple[Frames, np.ndarray]


def landmarks() -> Landmarks:
    """Return the frames, shuffled with a fixed seed."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order].astype(np.float32), y[order]
    parts = [(X[a:b], y[a:b]) for a, b in ((0, 700), (700, 1400), (1400, len(X)))]
    return Landmarks(*parts)


def dimmed(X: Frames, to: float = 0.4) -> Frames:
    """Return frames of a camera whose gain has drifted."""
    return (X * np.float32(to)).astype(np.float32)


@dataclass(frozen=True)
class Phase:
    """A phase of the flight.

    Parameters
    ----------
    name : str
    frames : ndarray of shape (n, 64), float32
    shown : ndarray of shape (n,)
        The landmark of each frame; -1: none.
    commands : ndarray of shape (n, 2), uint32
        A telecommand and its argument for each cycle.
    payload : ndarray of shape (n, PAYLOAD_WORDS), uint32
    """

    name: str
    frames: Frames
    shown: np.ndarray
    commands: np.ndarray
    payload: np.ndarray

    @property
    def is_known(self) -> bool:
        """Whether the frames show landmarks."""
        return bool((self.shown >= 0).all())

    def words(self) -> np.ndarray:
        """Return what the flight software receives: a row of words for each cycle."""
        pixels = np.ascontiguousarray(self.frames, dtype=np.float32).view(np.uint32)
        return np.concatenate([self.commands, self.payload, pixels], axis=1).astype(np.uint32)


def flight(frames: tuple[Frames, np.ndarray], patch: bytes) -> list[Phase]:
    """Return the phases of the flight, with the patch that is uploaded on the way."""
    rng = np.random.default_rng(1)
    X, y = frames

    def phase(
        name: str, change: Callable[[Frames], Frames], n: int = PHASE, *, known: bool = True
    ) -> Phase:
        rows = rng.choice(len(X), n)
        shown = y[rows] if known else np.full(n, -1)
        commands = np.zeros((n, 2), dtype=np.uint32)
        payload = np.zeros((n, PAYLOAD_WORDS), dtype=np.uint32)
        return Phase(name, change(X[rows]).astype(np.float32), shown, commands, payload)

    def noisy(of: Frames) -> Frames:
        return of + rng.uniform(-NOISE, NOISE, of.shape)

    def stuck(of: Frames) -> Frames:
        of = of.copy()
        of[:, 24:32] = 16.0  # a row of the sensor
        return of

    def with_flips(of: Phase, command: int, bits: np.ndarray) -> Phase:
        at = np.linspace(5, len(of.frames) - 15, len(bits)).astype(int)
        of.commands[at] = np.stack([np.full(len(bits), command), bits], axis=1)
        return of

    return [
        phase("nominal", noisy),
        phase("other world", lambda of: rng.uniform(0, 16, of.shape), known=False),
        phase("a row of pixels stuck", stuck, known=False),
        with_flips(
            phase("bits of the tables flip", noisy), FLIP_TABLE, rng.integers(1 << 20, size=8)
        ),
        phase("gain drifts to 0.4", dimmed),
        uploaded(
            phase("new model is uploaded", dimmed, -(-len(patch) // (4 * PAYLOAD_WORDS)) + 1), patch
        ),
        phase("new model", dimmed),
        with_flips(phase("a bit of its image flips", dimmed), FLIP_IMAGE, np.array([1_000_003])),
    ]


def uploaded(phase: Phase, patch: bytes) -> Phase:
    """Return the phase with the telecommands that load a patch and apply it in the last cycle."""
    size = 4 * PAYLOAD_WORDS
    padded = patch + bytes(-len(patch) % size)
    chunks = np.frombuffer(padded, dtype=">u4").reshape(-1, PAYLOAD_WORDS)
    phase.payload[:-1] = chunks
    phase.commands[:-1, 0] = LOAD
    phase.commands[:-1, 1] = size * np.arange(len(chunks))
    phase.commands[-1] = APPLY, len(patch)
    return phase
