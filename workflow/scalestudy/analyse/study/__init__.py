"""A study as a whole: its environment, its effort, and other studies beside it."""
