"""Intervals over launches: Student's t within repeats and over launches, Welch's, the bootstrap."""
