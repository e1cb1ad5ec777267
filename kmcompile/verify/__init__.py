"""Verification: the exact check and the bounded check, kept apart, and the queries for both."""
