"""Data that come in files: fetched once, checked, and turned into arrays that all runs share. No torch."""
