"""Reads the cells of a column by what the column is, and splits cells with two things in them."""
