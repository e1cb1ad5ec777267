"""Which lines, branches and conditions of the emitted C the shipped vectors cover."""
