"""Launches on several nodes: what runs on each node, who has arrived, and launches over SSH."""
