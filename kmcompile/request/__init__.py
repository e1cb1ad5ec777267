"""The request: options with their values and defaults, the prefix of C names, the budgets."""
