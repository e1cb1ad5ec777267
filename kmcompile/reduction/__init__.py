"""`--reduce`: how many vectors a machine keeps, which, and what that costs."""
