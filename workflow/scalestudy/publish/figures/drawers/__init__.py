"""Drawers: each makes the tidy frame of a figure from a study's tables and draws the figure from that frame."""
