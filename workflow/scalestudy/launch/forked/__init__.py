"""Ranks that are forked from a process that has imported torch already. They start in a tenth of the time."""
