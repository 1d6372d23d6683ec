"""Intervals over runs: Student's t within repeats and over runs, Welch's, the bootstrap."""
