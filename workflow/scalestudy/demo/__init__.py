"""Studies with a known fault, and what is done to their ranks."""
