"""Arithmetic of the emitted C: arrays, rounding, tables, scalar functions and their errors."""
