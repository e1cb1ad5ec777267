"""What objects and images tell: sections, calls, stack, loop bounds, the static worst case."""
