"""Checks whether scalestudy measures correctly on this machine: its runs, its checks and its document."""
