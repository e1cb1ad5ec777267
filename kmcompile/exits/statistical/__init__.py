"""Fit statistical exits and their thresholds to calibration samples, with a promised risk."""
