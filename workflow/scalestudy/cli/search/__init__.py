"""Searches of a batch and of settings."""
