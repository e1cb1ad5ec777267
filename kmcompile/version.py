"""The version of kmcompile, which the package and the emitted C both state."""

VERSION = "0.2.0"
