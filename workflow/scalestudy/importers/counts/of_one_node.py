"""The devices of one node beside nodes: `1 node (8 GPUs)` says what `2 nodes` have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from scalestudy.importers.counts.cells import Count
from scalestudy.importers.counts.numerals import WORDS
from scalestudy.importers.headers.terms import DEVICE, KIND, MAKER, NODE
from scalestudy.importers.numbers.printed import plain

_SEVERAL = rf"(?:\d{{1,6}}|{WORDS}|single)"
_NODES_ONLY = re.compile(
    rf"(?:{_SEVERAL} [a-z]+ \()?{_SEVERAL}[ -]?{NODE}\)?"
    rf"(?:[,(: ](?!.*\b\d+ ?x? ?-?(?:{DEVICE}|{MAKER}*{KIND})).*)?",
    re.IGNORECASE,
)
"""Nodes without the number of their devices: `2 nodes, sockets`."""
_NODE_OF = re.compile(
    rf"(?:1|one|single)[ -]?{NODE} ?[(,] ?(\d{{1,4}}) ?x? ?-?(?:(?P<noun>{DEVICE})|{MAKER}*{KIND}s?)\)?"
    r"(?: ?\([^()]*\))?",
    re.IGNORECASE,
)


def noun_of_a_node(cells: Iterable[str]) -> str:
    """Return what `1 node (8 GPUs)` counts, `gpus` for a kind of device; empty if no cell is of one node."""
    found = next((found for cell in cells if (found := _NODE_OF.fullmatch(plain(cell)))), None)
    return "" if found is None else (found["noun"] or "gpus").lower()


def with_node(count: Count, text: str, cells: Iterable[str]) -> Count:
    """Return the devices of `two nodes` beside `one node (4 GPUs)`: 8."""
    sizes = {int(found[1]) for cell in cells if (found := _NODE_OF.fullmatch(plain(cell)))}
    if len(sizes) != 1 or not _NODES_ONLY.fullmatch(plain(text)):
        return count
    return replace(count, gpus=count.gpus * sizes.pop(), nodes=count.gpus)
