"""Reads the console logs of any trainer, by the form of their lines."""
