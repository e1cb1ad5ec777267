"""The output folder: its files, and writing it whole or not at all."""
