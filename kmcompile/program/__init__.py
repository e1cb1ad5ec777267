"""The Program that runs on the board: stages with their meaning, cost and tables; storage; the
interpreter."""
