"""Where a rank runs: its device and cores, the other ranks, the limits on it, and whether it moves on."""
