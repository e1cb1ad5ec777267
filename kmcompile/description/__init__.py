"""The model description: what was trained, complete in itself, and what was made of it."""

from kmcompile.description.document import FORMAT_VERSION, describe, names_of

__all__ = ["FORMAT_VERSION", "describe", "names_of"]
