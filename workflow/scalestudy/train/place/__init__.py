"""The conditions of a rank: its device and cores, the other ranks, its limits, and the check of its progress."""
