"""Evidence about kmcompile itself and about the C of the catalogue: `make evidence`."""
