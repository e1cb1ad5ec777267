"""KernelMachine + Target -> Program: what runs on the board."""

from kmcompile.lowering.program import lower

__all__ = ["lower"]
