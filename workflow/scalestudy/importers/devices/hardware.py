"""The hardware that labels name: one name for spellings that differ in memory, size or number."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from scalestudy.importers.counts.cells import Count
from scalestudy.importers.headers.terms import GEFORCE, KIND, LINK, MAKER, NODE, STRATEGIES
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import BATCHES, PublishedRow

_PRECISION = re.compile(r"\b(?:(?:fp|float|bf|bfloat|tf)-?\d{1,2}|amp|mixed(?: precision)?)\b", re.IGNORECASE)
_MEMORY = re.compile(r"(?P<kind>.*\w)[ -]\d{1,4} ?GB", re.IGNORECASE)
_SEVERAL = re.compile(r"^\d{1,5} ?[x*\u00d7] ?")
_COMMENT = re.compile(
    rf" ?\([^()]*\b(?:{LINK}|sxm|\d{{1,4}} ?{NODE})\b[^()]*\)$",
    re.IGNORECASE,
)
"""How several devices are connected or placed. One device has no such remark."""
_NETWORK = re.compile(
    rf"[ ,;+/(]+(?:(?:over|via|with) )?(?:{LINK}|tcp|rdma|ib|efa|slingshot|\d+ ?gbe?|\d+ ?gbps)\b"
    r"[^,;()]{0,12}\)?$",
    re.IGNORECASE,
)
"""What connects nodes, behind hardware: `L20, TCP`."""
_FORM = re.compile(r"[ -](?:sxm\d?|pcie(?: gen ?\d)?|nvl|oam)$", re.IGNORECASE)
"""The form of a device behind its kind: H100 SXM5."""
_INSTANCE = re.compile(r"(?P<family>[a-z]{1,4}\d+[a-z]*)\.(?:metal|\d*x?large)(?:-\d+\w*)?", re.IGNORECASE)

_SIZE_OF_AN_INSTANCE = re.compile(r"(?<=gpu)-\d{1,2}g\b", re.IGNORECASE)
"""How many devices an instance of Google has, behind their kind: a2-highgpu-4g."""
_INSTANCES = re.compile(rf"^\d{{1,4}} ?[x*]? ?(?={_INSTANCE.pattern}$)", re.IGNORECASE)
"""The number in front of instances, whose devices a column has: 4 g4dn.12xlarge."""


_A_KIND = re.compile(rf"{MAKER}*(?:{KIND}|{GEFORCE})", re.IGNORECASE)
"""Hardware without a number."""


def one_of_its_kind(text: str, cells: Sequence[str]) -> Count | None:
    """Return one device for hardware without a number, of which other cells name several: V100 beside 2 V100."""
    kind = re.sub(r" (?:gpu|card)$", "", plain(text), flags=re.IGNORECASE)
    if not _A_KIND.fullmatch(kind):
        return None
    own = re.escape(kind)
    several = re.compile(rf"\d{{1,4}} ?x? ?{own}\b|{own} ?x ?\d{{1,4}}\b", re.IGNORECASE)
    return Count(1, hardware=kind) if any(several.match(plain(cell)) for cell in cells) else None


def hardware_of(label: str) -> str:
    """Return the hardware that a label names; '' for a strategy or a precision.

    Instances of a cloud that differ in their size have the same devices: p3.2xlarge and p3.8xlarge.
    """
    label = _NETWORK.sub("", label)
    words = _INSTANCES.sub("", STRATEGIES.sub("", _PRECISION.sub("", label)))
    words = _SIZE_OF_AN_INSTANCE.sub("", words)
    return _INSTANCE.sub(lambda found: found["family"], words) if re.search(r"\w", words) else ""


def _is_alone(kind: str, names: Collection[str]) -> bool:
    """Whether hardware is named without a comment too, and with only one."""
    return kind in names and sum(_COMMENT.sub("", name) == kind for name in names) == 2


def _names_of(kind: str, names: Collection[str]) -> int:
    """How many names are of a kind of device, in whatever form."""
    return sum(name == kind or name.startswith((f"{kind} ", f"{kind}-")) for name in names)


def of_one_hardware(rows: Sequence[PublishedRow]) -> tuple[PublishedRow, ...]:
    """Return rows in which `H100 80GB` is `H100`, if other rows name that and no other size of memory.

    So is `RTX 4090 (PCIe)` if no other link is named.
    `4x DGX H100` is `DGX H100`, whose number of devices has a column, if other rows name that.
    """
    names = {row.label("hardware") for row in rows}
    sizes: dict[str, set[str]] = {}
    for name in names:
        if found := _MEMORY.fullmatch(name):
            sizes.setdefault(found["kind"], set()).add(name)
    plainer = {named.pop(): kind for kind, named in sizes.items() if kind in names and len(named) == 1}
    plainer |= {
        name: kind for name in names if (kind := _COMMENT.sub("", name)) != name and _is_alone(kind, names)
    }
    plainer |= {name: kind for name in names if (kind := _SEVERAL.sub("", name)) != name and kind in names}
    forms = [name for name in names if _FORM.search(name)]
    plainer |= {
        name: kind for name in forms if (kind := _FORM.sub("", name)) in names and _names_of(kind, names) == 2
    }
    counted = {(row.label("hardware"), row.gpus) for row in rows}
    alike = {_SEVERAL.sub("", name) for name in names}
    own = [re.match(r"\d+", name) for name, _ in counted]
    if len(alike) == 1 and all(one and int(one[0]) == gpus for one, (_, gpus) in zip(own, counted, strict=True)):
        plainer |= dict.fromkeys(names, alike.pop())  # 1x RTX 4090 on 1, and 2x RTX 4090 on 2
    works = {name: {_without_hardware(row) for row in rows if row.label("hardware") == name} for name in names}
    plainer = {name: kind for name, kind in plainer.items() if works[name].isdisjoint(works.get(kind, ()))}
    return tuple(
        replace(row, labels={**row.labels, "hardware": plainer[name]})
        if (name := row.label("hardware")) in plainer
        else row
        for row in rows
    )


def _without_hardware(row: PublishedRow) -> tuple[object, ...]:
    """What a row is of beside its hardware: devices, batches and other labels."""
    batches = tuple(row.numbers.get(role) for role in BATCHES)
    return row.gpus, batches, *sorted((name, own) for name, own in row.labels.items() if name != "hardware")
