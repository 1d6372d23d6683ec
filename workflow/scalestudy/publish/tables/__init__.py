"""LaTeX tables: view.py and verified.py make the content, layout.py fits it to a page."""
