"""Early exits and pairwise sums: which ones exist for a machine, what they save, and the choice."""
