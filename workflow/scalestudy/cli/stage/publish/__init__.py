"""Stages that write what a reader opens: figures, numbers, tables and documents."""
