"""Statistics and scaling: arrays and frames in, arrays and frames out. No files, no torch."""
