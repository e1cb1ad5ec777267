"""Reduced sets: machines of fewer vectors that stay near a trained one (RSS 2004)."""
