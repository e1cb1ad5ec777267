"""The views of the early exits, one file for each exit with more than one template."""
