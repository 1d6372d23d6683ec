"""The trials of a study's advice."""
