"""Finds the devices of the rows of a table."""
