"""Lowering: a KernelMachine and a Target give the exact Program that runs on the board."""

from kmcompile.lower.program import lower

__all__ = ["lower"]
