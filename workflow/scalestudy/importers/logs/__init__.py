"""Reads logs of other training tools: one small reader per format, recognised by content (`formats.py`)."""
