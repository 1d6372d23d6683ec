"""One point: the runs of a variant at a scale against their baseline."""
