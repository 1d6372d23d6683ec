"""What a published table counts its devices in, by its header: GPUs, cores, nodes."""

import re
from collections.abc import Iterable

from scalestudy.importers.headers.meaning import normal
from scalestudy.importers.headers.terms import DEVICE, PER_NODE
from scalestudy.importers.published import PublishedTable

DEVICES = "devices"
_NOUNS = (
    (r"gpu", "GPUs"),
    (r"tpu", "TPUs"),
    (r"npu", "NPUs"),
    (r"gcd", "GCDs"),
    (r"chip", "chips"),
    (r"worker", "workers"),
    (r"trainer", "trainers"),
    (r"thread", "threads"),
    (r"core", "cores"),
    (r"rank|\brpn\b", "ranks"),
    (r"processing unit", DEVICES),
    (r"proc|\bppn\b|\bp x q\b", "processes"),
    (r"cpu", "CPUs"),
    (r"\btasks?\b|\btpn\b", "tasks"),
    (r"node|machine|host|server|instance", "nodes"),
)
"""Words of a header, and the plural noun; the first that fits counts."""
ON_ONE = re.compile(rf"\b(?:on|per|of|in) (?:one|a single|a|1) {DEVICE}\b")
"""What processes share that are counted: Client processes on one GPU."""
_COUNTING = ("gpus", "gpus_per_node", "nodes")
"""Roles of columns that devices are counted in, the nearest first."""


def noun_in(labels: Iterable[str]) -> str:
    """Return the plural noun that all labels of devices have, `GPUs` for `1 GPU` and `DDP (2 GPUs)`; else ''."""
    named = [
        {noun for form, noun in _NOUNS if re.search(rf"\d[^\d]*(?:{form})", label.lower())} for label in labels
    ]
    nouns = set.intersection(*named) if named else set()
    return nouns.pop() if len(nouns) == 1 and all(len(one) == 1 for one in named) else ""


def counted_in(table: PublishedTable) -> str:
    """Return the plural noun for the devices of a table; `devices` if its header says no more than a number."""
    column = next((found for role in _COUNTING if (found := table.column(role)) is not None), None)
    if column is not None and column.role == "gpus" and column.unit:
        return column.unit  # the noun of its labels
    words = ON_ONE.sub("", normal(column.header)) if column is not None else ""
    if column is not None and column.role == "gpus_per_node":
        words = PER_NODE.sub("", words)
    noun = next((noun for form, noun in _NOUNS if re.search(form, words)), DEVICES)
    # the cells may be products of nodes and devices
    return DEVICES if noun == "nodes" and column is not None and column.role == "gpus" else noun


def number_of(count: int, nouns: str) -> str:
    """Return a number with its noun: `1 process`, `8 nodes`."""
    one = nouns.removesuffix("es") if nouns == "processes" else nouns.removesuffix("s")
    return f"{count} {one if count == 1 else nouns}"
