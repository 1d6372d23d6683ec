"""The factors of a row's efficiency as a reader sees them."""

from __future__ import annotations

from typing import Any

import pandas as pd

from scalestudy.publish.numbers.book import Book
from scalestudy.publish.numbers.keys import factor_key
from scalestudy.publish.words.points import FACTORS

KEYS = {
    "workload": "workload",
    "variant": "variant",
    "scaling": "scaling",
    "nodes": "nodes",
    "ranks": "world_size",
}


def add_factors(rows: list[dict[str, Any]], factors: pd.DataFrame, book: Book) -> None:
    """`factors` of every row of rows_view, from the root down; empty for single processes.

    factors: efficiency_factors.csv. A tree without a second level says nothing that the row does not.
    """
    keys = [*KEYS.values(), "batch_per_rank"]
    trees = dict(iter(factors.groupby(keys, sort=False))) if len(factors) else {}
    for row in rows:
        tree = trees.get((*(row[name] for name in KEYS), row["batch_per_rank"]))
        row["factors"] = (
            [] if tree is None or len(tree) < 2 else [_factor(factor, book) for _, factor in tree.iterrows()]
        )


def _factor(factor: pd.Series, book: Book) -> dict[str, Any]:
    key = factor_key(factor)
    shown = book.shown(key)
    return {
        "key": key,
        "name": factor["factor"],
        "level": int(factor["level"]),
        "share_percent": shown,
        "meaning": FACTORS[factor["factor"]],
    }
