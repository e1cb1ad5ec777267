"""Choose the support vectors whose kernels bound the decisions best (DeCoste 2001)."""
