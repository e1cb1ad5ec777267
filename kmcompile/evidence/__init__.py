"""Evidence: what tools of others found about the C of a compiled model, in one folder."""
