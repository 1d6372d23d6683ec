"""One point: the launches of a variant at a scale against their base case."""
