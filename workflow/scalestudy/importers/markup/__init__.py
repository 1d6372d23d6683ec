"""One module per form in which a text has tables: each finds them and returns their cells as text (raw.RawTable)."""
