"""KernelMachine + Target -> Program: what runs on the board."""

from kmcompile.lower.program import lower

__all__ = ["lower"]
