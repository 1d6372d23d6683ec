"""Quantities, tables and figures: each declared once; documents, rules and documentation follow from it."""
