"""The stack that a package asks its framework for."""

from __future__ import annotations

from dataclasses import dataclass

_FRAMES_BYTES = 1024
_STEP_BYTES = 256


@dataclass(frozen=True, slots=True)
class Stack:
    """Bytes of stack that a query and the self-test need, the larger of the two.

    Attributes
    ----------
    bytes : int
    source : str
        Where the figure is from.
    """

    bytes: int
    source: str

    @classmethod
    def of(cls, workspace_bytes: int, n_features: int, built_bytes: int | None) -> Stack:
        """Return the stack of the built image; before the build, or without one, an estimate.

        The self-test has a workspace and an input of its own on the stack. The frames of all its
        calls took 300 to 600 bytes on every target; the estimate allows for 1,024.
        """
        if built_bytes is not None:
            return cls(built_bytes, "of the image that kmcompile built")
        estimate = workspace_bytes + 4 * n_features + _FRAMES_BYTES
        return cls(estimate, "an estimate, as kmcompile built no image")

    def beside(self, others_bytes: int) -> int:
        """Return the size of a stack on which other calls need `others_bytes`, too.

        Examples
        --------
        >>> Stack.of(160, 4, 544).beside(1024)
        1792
        """
        return -(-(self.bytes + others_bytes) // _STEP_BYTES) * _STEP_BYTES
