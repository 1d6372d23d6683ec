"""Forecasts for scales and batches that were not measured, with intervals, or the reason for a missing
forecast."""
