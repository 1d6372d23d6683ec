"""Breakdown of the time of a traced step."""
