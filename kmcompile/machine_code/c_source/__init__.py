"""Loops, loop bounds and calls of emitted C, read from its text."""
