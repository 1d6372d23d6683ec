"""Runs on several nodes: what runs on each node, which nodes have come up, and runs over SSH."""
