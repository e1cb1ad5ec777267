"""The early exits, one file each, and what several of them share."""
