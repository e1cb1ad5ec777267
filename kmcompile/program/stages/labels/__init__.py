"""What makes a label or a value of the sums."""
