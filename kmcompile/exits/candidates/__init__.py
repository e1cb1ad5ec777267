"""What certified and statistical exits share: samples, room, search budgets and candidates."""
