"""Clock cycles of instructions, from the manual of each core: one module a core."""
