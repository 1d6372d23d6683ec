"""Trials of advice: which advice is tried, in which study, and with what result."""
