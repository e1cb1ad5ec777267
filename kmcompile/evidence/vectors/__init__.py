"""The shipped vectors of a compiled model as a program in C that asks and compares."""
