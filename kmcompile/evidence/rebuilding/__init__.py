"""Rebuilding a trained machine from its description alone, in 50 digits."""
