"""Estimators whose fitted result is a routed machine: fast by construction."""

from kmcompile.training.dcpred import DCPredClassifier, DCPredRegressor
from kmcompile.training.falk import FaLKSVC

__all__ = ["DCPredClassifier", "DCPredRegressor", "FaLKSVC"]
