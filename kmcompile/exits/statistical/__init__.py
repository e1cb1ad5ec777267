"""Fits early exits and their thresholds to calibration samples, with a promised risk."""
