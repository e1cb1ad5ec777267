"""The trained machine in float64: what it is, what it answers, and inputs that are likely."""
