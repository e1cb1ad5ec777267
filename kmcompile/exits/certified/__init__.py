"""Certified exits: fitted, proved, and chosen by counted operations."""
