"""Ranks whose cores lie on several memory nodes of a host."""

from __future__ import annotations

import json

from scalestudy.registry.column import Row


def numa_ranks(row: Row) -> str:
    """'rank 0, 3'."""
    return f"rank {', '.join(map(str, json.loads(row['numa_ranks'])))}"
