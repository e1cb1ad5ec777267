"""A kernel and a step that the package does not have: one Python file and one template each.

They are written as a user would write them, who registers them with one call.
"""
