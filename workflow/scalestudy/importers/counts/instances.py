"""Devices of cloud instances and of whole machines, by their names as the providers' documents list them.

Sources: AWS "Amazon EC2 instance types" (accelerated computing), Azure "GPU accelerated virtual machine sizes",
Google Cloud "GPU machine types", NVIDIA's data sheets of DGX systems.
"""

from __future__ import annotations

import re

from scalestudy.importers.numbers.printed import plain

_AWS = {
    "p2": {"": 1, "8": 8, "16": 16},
    "p3": {"2": 1, "8": 4, "16": 8},
    "p3dn": {"24": 8},
    "p4d": {"24": 8},
    "p4de": {"24": 8},
    **{name: {"48": 8} for name in ("p5", "p5e", "p5en")},
    "g3": {"4": 1, "8": 2, "16": 4},
    "g4dn": {"": 1, "2": 1, "4": 1, "8": 1, "12": 4, "16": 1},
    **{name: {"": 1, "2": 1, "4": 1, "8": 1, "12": 4, "16": 1, "24": 4, "48": 8} for name in ("g5", "g6", "g6e")},
    "trn1": {"2": 1, "32": 16},
    "trn1n": {"32": 16},
    "inf2": {"": 1, "8": 1, "24": 6, "48": 12},
    "dl1": {"24": 8},
}
_OTHERS = {
    "nc6s_v3": 1,
    "nc12s_v3": 2,
    "nc24s_v3": 4,
    "nc24rs_v3": 4,
    "nc24ads_a100_v4": 1,
    "nc48ads_a100_v4": 2,
    "nc96ads_a100_v4": 4,
    "nc40ads_h100_v5": 1,
    "nc80adis_h100_v5": 2,
    "nd40rs_v2": 8,
    "nd96asr_v4": 8,
    "nd96amsr_a100_v4": 8,
    "nd96isr_h100_v5": 8,
    **{f"a2-highgpu-{count}g": count for count in (1, 2, 4, 8)},
    **{f"a2-ultragpu-{count}g": count for count in (1, 2, 4, 8)},
    "a2-megagpu-16g": 16,
    **dict.fromkeys(("a3-highgpu-8g", "a3-megagpu-8g", "a3-ultragpu-8g"), 8),
    **dict.fromkeys(("g2-standard-4", "g2-standard-8", "g2-standard-12", "g2-standard-16", "g2-standard-32"), 1),
    "g2-standard-24": 2,
    "g2-standard-48": 4,
    "g2-standard-96": 8,
    **dict.fromkeys(("dgx-1", "dgx a100", "dgx h100", "dgx h200", "dgx b200"), 8),
    "dgx-2": 16,
}
_NAME = re.compile(
    r"(?:(?P<before>\d{1,4}) ?[x*] ?)?(?:ml\.|aws |standard_|azure |gcp )?"
    r"(?:(?P<family>[a-z]+\d[a-z]*)\.(?P<size>\d*)x?large|(?P<other>[a-z][\w-]*\d\w*|dgx[ -]\w+))"
    r"(?: ?[x*] ?(?P<after>\d{1,4}))?(?: ?\(.*\)| ?/ ?[a-z].*)?"
)
_COUNTED = re.compile(r"gpu_(?P<count>\d{1,2})x_(?P<kind>[a-z]+\d+(?:_[a-z0-9]+)*)")
"""Names that say how many devices: gpu_8x_a100_80gb_sxm4."""


def family_of_instance(text: str) -> str:
    """Return the name of an instance without its size, which says what devices it has."""
    if counted := _COUNTED.fullmatch(plain(text).lower()):
        return counted["kind"]
    found = _NAME.fullmatch(plain(text).lower())
    return (
        "" if found is None else found["family"] or re.sub(r"(?<=[a-z-])\d+(?=g$|[a-z]*_|$)", "", found["other"])
    )


def devices_of_instance(text: str) -> int | None:
    """Return the devices of a cell that names instances, such as 2x p3.16xlarge; None if it names no known one."""
    if counted := _COUNTED.fullmatch(plain(text).lower()):
        return int(counted["count"])
    found = _NAME.fullmatch(plain(text).lower())
    if found is None:
        return None
    each = _AWS.get(found["family"] or "", {}).get(found["size"] or "") or _OTHERS.get(found["other"] or "")
    return int(found["before"] or found["after"] or 1) * each if each else None
