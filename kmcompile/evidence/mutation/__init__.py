"""Small faults in the emitted C, each of which the shipped vectors must find."""
