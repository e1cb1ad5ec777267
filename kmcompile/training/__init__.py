"""Estimators whose fitted result is a routed machine: fast by construction."""
