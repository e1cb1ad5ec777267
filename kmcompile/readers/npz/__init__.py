"""kmcompile's own layout of arrays."""
