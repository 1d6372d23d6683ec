"""Comparisons of several studies in one document: as sentences, tables and JSON."""
