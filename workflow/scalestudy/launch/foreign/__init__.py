"""Launches of somebody's own training script: how its ranks are started, when they have shown enough, and what the
files that they leave (attach/report.py) become."""
