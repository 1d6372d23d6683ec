"""Reads published measurements of others into our own terms. Only units are converted here."""
