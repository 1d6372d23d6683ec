"""One point: the runs of a variant at a scale, compared with their baseline."""
