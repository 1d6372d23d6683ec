"""What the factors of efficiency (analyse/point/efficiency_tree.py) are shares of."""

from __future__ import annotations

MEANINGS = {
    "efficiency": "speedup over ranks",
    "batch": "a rank's own batch alone, against the whole batch at once",
    "parallel": "one process at equal batch per rank, against all ranks together",
    "contention": "what ranks take from each other on a host; the wrapper",
    "synchronisation": "a step without synchronisation, against one with it",
    "interference": "computation slowed by communication beside it",
    "balance": "waiting for the latest rank",
    "transfer": "communication that nothing overlaps with, and the rest",
}
