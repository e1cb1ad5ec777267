"""Bounds on a decision value from a few kernels (DeCoste 2001), in float64: reference and search.

What is emitted has bounds of its own, whose rounding is proved (`kmcompile.program.stages`); this
package chooses their vectors, and holds the formulas that they are tested against.
"""

from kmcompile.bounds.vectors import METHODS, choose_vectors

__all__ = ["METHODS", "choose_vectors"]
