"""Where kmcompile itself comes from: its wheel, its lock, its bills; scripts that stand alone."""
