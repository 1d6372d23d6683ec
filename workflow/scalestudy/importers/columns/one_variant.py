"""Labels that differ in the number of devices only: A (4 GPUs) and A (8 GPUs) are one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from scalestudy.importers.columns.labels import is_other_work
from scalestudy.importers.counts.cells import nodes_by_each
from scalestudy.importers.counts.labels import count_of_degrees
from scalestudy.importers.counts.numerals import in_digits
from scalestudy.importers.headers.terms import DEVICE, NODE, STRATEGIES
from scalestudy.importers.published import PublishedRow

_NO_VARIANTS = ("throughput_unit", "scaling", "precision", "hardware", "model", "comment", "placement")
"""Labels in which a number of devices would be something else."""
_DISTRIBUTED = re.compile(
    rf"\b(?:distributed|parallel|(?:multi|single)-?(?:gpu|node)|\d{{1,5}} ?-?{NODE})\b", re.IGNORECASE
)
_UNDISTRIBUTED = re.compile(
    r"(?:(?:local|plain|vanilla|distribut\w*|strategy)\W*)?(?:none|no|non|not|without|w/o)"
    r"(?:\W+(?:ddp|fsdp|distribut\w*|(?:data )?parallel\w*|multi-?gpu))*|"
    r"(?:(?:single|serial|one|1)(?:[ -](?:gpu|device|process))?|gpu) (?:baseline|base|reference)|"
    r"(?:baseline|base|reference)[ ,(:]+(?:single|serial|one|1)(?:[ -](?:gpu|device|process))?\)?|"
    r"(?:undistributed|vanilla|plain|naive|standard|stock|native|pure|base(?:line)?)"
    r"(?:[ -](?:py)?torch)?(?: (?:training|baseline|loop|script))?",
    re.IGNORECASE,
)
"""Strategies of a run on one device: `No DDP`, `distribute: none`."""
_CODE = re.compile(r"(?=.*n)(?=.*g)n?(?P<nodes>\d{1,4})n?[-_x]?g?(?P<each>\d{1,4})g?", re.IGNORECASE)
"""Nodes with devices each: 2n4g."""
_DATA_PARALLEL = re.compile(r"(?<![a-z])(?:dp|f?sdp)[ _=:-]?\d{1,5}(?![\d.])", re.IGNORECASE)
_NODES_BY_EACH = re.compile(rf"(?<![\w.]){nodes_by_each()}(?![\w.])")


def of_one_variant(rows: Sequence[PublishedRow]) -> tuple[PublishedRow, ...]:
    """Return rows in which labels that differ in the number of devices only are one: A (4 GPUs), A (8 GPUs).

    So are `A` on one device and `DDP A` on several, if no other strategy is named.
    """
    degrees = [
        (own[0].gpus, row.gpus) for row in rows for said in row.labels.values() if (own := count_of_degrees(said))
    ]
    each = {devices / gpus for devices, gpus in degrees}  # devices of a node, where the scales are nodes
    times = int(each.pop()) if len(each) == 1 else 1
    scaled = {row.label("strategy") for row in rows if row.gpus > 1}
    result = [
        replace(row, labels={**row.labels, "strategy": "single"})
        if row.gpus == 1
        and row.label("strategy") not in scaled
        and _UNDISTRIBUTED.fullmatch(row.label("strategy").strip("`* "))
        else row
        for row in rows
    ]
    result = list(map(_without_hardware_of_devices, result))
    for name in dict.fromkeys(name for row in result for name in row.labels):
        if name in _NO_VARIANTS:
            continue
        sizes = [row.gpus for row in result]
        labels = [row.label(name) for row in result]
        labels = labels if is_other_work(name) else _without_remarks(labels, sizes)
        bare = [_without_devices(label, size, size * times) for label, size in zip(labels, sizes, strict=True)]
        ways = [{way.lower() for way in STRATEGIES.findall(words)} for words in bare]
        many = [way for way, row in zip(ways, rows, strict=True) if row.gpus > 1]
        if many and all(way == many[0] and len(way) == 1 for way in many) and sum(map(len, ways)) == len(many):
            bare = [" ".join(STRATEGIES.sub(" ", words).split()) or words for words in bare]
        alike = {
            words: {(row.gpus, row.label(name)) for row, own in zip(rows, bare, strict=True) if own == words}
            for words in set(bare) - {""} or {""}
        }
        joined = {
            words
            for words, found in alike.items()
            if len({size for size, _ in found}) == len(found) and len({label for _, label in found}) > 1
        }
        for at, words in enumerate(bare):
            if words in joined:
                result[at] = replace(result[at], labels={**result[at].labels, name: words})
    return tuple(result)


def _without_hardware_of_devices(row: PublishedRow) -> PublishedRow:
    """The row without a kind of hardware that says no more than its number of devices: 4 GPU Nodes."""
    words = _without_devices(row.label("hardware"), row.gpus, row.gpus)
    bare = re.sub(rf"\b(?:{DEVICE}|{NODE})\b", " ", words, flags=re.IGNORECASE).strip()
    if bare or not re.search(r"\d", row.label("hardware")):
        return row
    return replace(row, labels={name: said for name, said in row.labels.items() if name != "hardware"})


def _without_remarks(labels: list[str], sizes: list[int]) -> list[str]:
    """Labels without the remark in brackets that one on other devices does not have: `mojo DDP (per rank)`."""
    devices: dict[str, set[int]] = {}
    for label, size in zip(labels, sizes, strict=True):
        devices.setdefault(label, set()).add(size)
    bare = {label: re.sub(r" ?\([^()]*\)$", "", label) for label in devices}
    joined = {label for label, words in bare.items() if label != words and words in devices}
    return [
        bare[label] if label in joined and devices[label].isdisjoint(devices[bare[label]]) else label
        for label in labels
    ]


def _without_devices(label: str, gpus: int, whole: int) -> str:
    """A label without the number of devices of its row, and without `distributed` and the like.

    whole: the product of all degrees of parallelism, from which that of the data follows.
    """
    if (found := _CODE.fullmatch(label.strip())) and int(found["nodes"]) * int(found["each"]) == gpus:
        return ""
    label = label if label.isascii() else in_digits(label)  # 2 gpus, as Chinese prints them
    words = label
    if str(gpus) in label:
        words = re.sub(rf"\b{gpus} ?(?:x ?|-)?(?:{DEVICE}|n(?=\W))\b", " ", label, flags=re.IGNORECASE)
    words = _NODES_BY_EACH.sub(lambda found: " " if int(found[1]) * int(found[2]) == gpus else found[0], words)
    if (degrees := count_of_degrees(words)) and degrees[0].gpus == whole:  # then DP follows from the others
        words = _DATA_PARALLEL.sub(" ", words)
    words = _DISTRIBUTED.sub(" ", words)
    return " ".join(re.sub(r"[()\[\],;:/+]|(?<!\w)[-\u2013\u2014]|[-\u2013\u2014](?!\w)", " ", words).split())
