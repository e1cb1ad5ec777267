"""Read samples from data files."""
