"""Says what each column of a table is."""
