"""Texts for columns and codes that only documents use. Texts that findings use too are in registry/words."""
