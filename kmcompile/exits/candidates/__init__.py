"""What certified and statistical exits both need: samples, room, budget of a search, candidates."""
