"""The output folder: its files, and how they are written all at once or not at all."""
