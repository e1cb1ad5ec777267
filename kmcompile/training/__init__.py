"""Estimators whose fitted result is a routed machine: fast by construction."""

from kmcompile.training.dcpred import DCPredClassifier, DCPredRegressor

__all__ = ["DCPredClassifier", "DCPredRegressor"]
