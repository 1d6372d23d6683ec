"""Words that documents alone have for columns and codes; those that findings quote too are in registry/words."""
