"""Ranks that are forked from a process that has already imported torch. They start in a tenth of the time."""
