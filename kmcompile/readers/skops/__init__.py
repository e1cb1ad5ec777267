"""skops files, rebuilt as data without skops."""
