"""Numbers and texts of files as people read them."""
