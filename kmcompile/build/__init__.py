"""Recipe + toolchain -> Artifact: compilers, images, the memory a model takes."""

from kmcompile.build.artifact import Artifact, Memory
from kmcompile.build.builder import build
from kmcompile.build.recipe import Recipe

__all__ = ["Artifact", "Memory", "Recipe", "build"]
