"""Functions of one float32: reference semantics here, the same bits in templates/scalar/."""
