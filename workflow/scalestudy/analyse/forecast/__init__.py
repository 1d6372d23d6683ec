"""Forecasts for unmeasured scales and batches, with intervals, or the reason for a missing forecast."""
