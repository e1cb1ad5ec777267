"""What runs on the board: stages with their meaning, cost and tables; storage and interpreter."""
