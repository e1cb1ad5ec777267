"""The choice of the whole program: its format, its vectors, and what stands before its sum."""
