"""The two representations: KernelMachine (what was trained) and Program (what runs)."""
