"""A kernel, a preprocessing step and an early exit that are defined outside the package.

Each is one Python file and one template; the exit has a second Python file for its fit. They are
written as a user would write them, who registers each with one call.
"""
