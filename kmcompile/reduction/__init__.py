"""Machines of fewer vectors, of several sizes, and how often they disagree with the trained one."""
