"""Gappa's proofs of the errors of the scalar functions, made from the C that is emitted."""
