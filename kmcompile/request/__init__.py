"""What was asked for: options, their values and defaults, the prefix of the C's names, budgets."""
