"""Says what the header of a column means, by its words."""
