"""Program -> C."""
