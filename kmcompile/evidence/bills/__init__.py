"""Bills of materials, in SPDX and CycloneDX, of output folders and of kmcompile's own wheels."""
