"""Says how many devices a text names: a cell, a header, a label."""
