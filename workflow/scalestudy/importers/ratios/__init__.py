"""Finds out what printed ratios are: of what, and relative to what."""
