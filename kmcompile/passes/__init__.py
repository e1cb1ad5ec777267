"""KernelMachine -> KernelMachine, one pass a file."""
