"""Reads the logs of named trainers and stores, each by its own format."""
