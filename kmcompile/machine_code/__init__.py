"""Analysis of objects and images: sections, calls, stack, loop bounds, static worst case."""
