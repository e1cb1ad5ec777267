"""The choice of the whole program: which machine is summed, and what stands before its sum."""
