"""Several studies in one document: what of a comparison is said, in sentences, tables and JSON."""
