"""What the emitted C tells of its loops and calls, by which those of the image are known."""
