"""Facts computed about the IR: ranges, rounding, memory."""
