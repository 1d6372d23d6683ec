"""A study as a whole: its environment, its effort, and comparisons with other studies."""
