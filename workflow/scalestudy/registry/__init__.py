"""Quantities, tables, figures and codes: each declared once; documents, rules and documentation follow from it."""
