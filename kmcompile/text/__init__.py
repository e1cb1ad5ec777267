"""Numbers, and texts that come from files, in the form that people read."""
