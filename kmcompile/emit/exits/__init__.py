"""How the early exits are written in C, one file each for those of more than one template."""
