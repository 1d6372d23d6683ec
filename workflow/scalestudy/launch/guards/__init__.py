"""Checks of a host before a run: other load, cores, memory, CUDA devices."""
