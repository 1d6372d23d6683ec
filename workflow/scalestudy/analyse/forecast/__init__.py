"""Scales and batches that were not measured, with intervals, or why there is no forecast."""
