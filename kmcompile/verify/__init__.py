"""The two checks, never merged, with the queries and the float64 reference that they use."""
