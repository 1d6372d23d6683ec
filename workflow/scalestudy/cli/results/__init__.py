"""Reads and writes results folders and archives."""
