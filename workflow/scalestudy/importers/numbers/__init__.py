"""Reads the text of a cell as a number, with its printed digits."""
