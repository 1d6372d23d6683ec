"""A study for others: descriptions of its files, tables with types, one archive, and what is read back from it."""
