"""Runs of a user's own training script: how its ranks are started, when enough steps are measured, and how the
files that they leave (attach/report.py) become a record."""
