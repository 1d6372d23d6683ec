"""Intervals over launches: Student's t and Welch's on logarithms, and the bootstrap."""
