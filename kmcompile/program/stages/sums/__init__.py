"""The sums over vectors, over features and over monomials, one file each."""
