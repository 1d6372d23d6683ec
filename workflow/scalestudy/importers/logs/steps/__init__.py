"""Makes step times of the rows of a log."""
