"""One module per form of tables in a text: each finds them and returns their cells as text (raw.RawTable)."""
