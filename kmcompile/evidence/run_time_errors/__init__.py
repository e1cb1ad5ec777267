"""Run-time errors: Frama-C's Eva reads the emitted C from any input."""
