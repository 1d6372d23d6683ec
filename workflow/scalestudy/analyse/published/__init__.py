"""Published tables: which rows are a series, what their numbers are relative to, and their scaling recomputed."""
