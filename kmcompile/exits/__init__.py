"""Stages before and after the exact sum: what there is for a machine, what pays, and the choice."""
