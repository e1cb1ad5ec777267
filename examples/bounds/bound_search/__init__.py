"""Bounds on a decision value from a few kernels (DeCoste 2001), in float64: reference and search.

What is emitted has bounds of its own, whose rounding is proved (`kmcompile.program.stages`), of
greedily chosen support vectors. Here are the paper's other ways to choose vectors, and the
formulas that all bounds are tested against.
"""
