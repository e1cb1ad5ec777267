"""Numbers as the C has them: arrays, rounding, tables, and scalar functions with their bounds."""
