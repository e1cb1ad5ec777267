"""The paper's own bounds from pairs of vectors P^ and N^ (DeCoste 2001), in float64.

What is emitted bounds the decisions in the full span of its vectors, with proved rounding, and
chooses the vectors in `kmcompile.exits.certified.vectors`. Here are the paper's pairs, its ways to
choose them, pre-images of kernel PCA among these, and the formulas that all bounds are tested
against.
"""
