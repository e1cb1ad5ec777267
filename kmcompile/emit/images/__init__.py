"""Models in images: code that is compiled once, and the bytes of a model that it reads."""
