"""A study as its documents print it: text by name, which templates arrange."""
