"""Models of LIBLINEAR."""
