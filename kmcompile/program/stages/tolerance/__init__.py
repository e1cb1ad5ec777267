"""How far the sums change where the input is not the one received."""
