"""LaTeX tables: rows.py says which points one has, headers.py what stands over a column, view.py joins them."""
