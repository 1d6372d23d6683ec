"""Reads logs that are tables: CSV, TSV, JSON."""
