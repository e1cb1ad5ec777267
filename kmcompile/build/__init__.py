"""The build: a recipe and a toolchain give an artifact, and the memory that the model takes."""

from kmcompile.build.artifact import Artifact, BuiltModel, Memory
from kmcompile.build.builder import build, build_together
from kmcompile.build.recipe import Recipe

__all__ = ["Artifact", "BuiltModel", "Memory", "Recipe", "build", "build_together"]
