"""Decides whether a change of the code or its environment is within a limit, from runs before and after it."""
