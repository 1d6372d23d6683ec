"""Turns the forms of tables into one row per number of devices."""
