"""Texts for columns and codes: pure functions of a row's values, used by findings and documents."""
