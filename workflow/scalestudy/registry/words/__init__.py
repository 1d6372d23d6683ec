"""Columns and codes in words: pure functions of a row's values, for findings and documents alike."""
