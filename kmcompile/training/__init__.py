"""Estimators whose fitted result is a routed machine: fast by construction."""

from kmcompile.training.falk import FaLKSVC as FaLKSVC
