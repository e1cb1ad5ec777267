"""What the package does not have: a kernel, a step and an early exit.

Each is one Python file and one template; the exit has a second file, for its fit.

They are written as a user would write them, who registers them with one call.
"""
