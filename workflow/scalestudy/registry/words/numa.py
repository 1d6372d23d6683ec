"""Ranks whose cores lie on several memory nodes of a host."""

from __future__ import annotations

import json
from typing import Any


def numa_ranks(row: Any) -> str:
    """'rank 0, 3'."""
    return f"rank {', '.join(map(str, json.loads(row['numa_ranks'])))}"
