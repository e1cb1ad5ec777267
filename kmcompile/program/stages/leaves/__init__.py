"""The sums of routed machines, which have a machine in each leaf."""
