"""Reads how many devices a cell or a header names: 8, 8x V100, 2 nodes x 4 GPUs, 1 (baseline)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scalestudy.importers.cells import plain

MOST_GPUS = 10**8
_DEVICE = (
    r"(?:gpus?|devices?|ranks?|accelerators?|cards?|tpus?|npus?|gcds?|chips?|hpus?|workers?|process(?:es)?|cores?)"
)
_NODE = r"(?:nodes?|hosts?|machines?|servers?|instances?)"
_FORMS = tuple(
    re.compile(form, re.ASCII | re.IGNORECASE)
    for form in (
        rf"(?P<nodes>\d{{1,9}}) ?(?:{_NODE})? ?[x*] ?\(?(?P<each>\d{{1,9}}) ?-? ?(?:{_DEVICE})?(?P<rest>\W.*|)",
        rf"(?P<nodes>\d{{1,9}}) ?{_NODE} ?\(? ?(?P<gpus>\d{{1,9}}) ?[x*]? ?{_DEVICE} ?\)?(?P<rest>.*)",
        rf"(?P<gpus>\d[\d,]{{0,29}}) ?[x*]? ?-?{_DEVICE}\b(?P<rest>.*)",
        r"(?P<gpus>\d[\d,]{0,29}) ?[x*] ?(?P<rest>[a-z].*)",
        r"(?P<gpus>\d{1,9}) ?x",
        r"(?P<rest>[a-z][\w -]*?) ?[x*] ?(?P<gpus>\d{1,9})",
        r"(?P<gpus>\d[\d,]{0,29}) (?P<rest>(?:nvidia |amd |tesla )?(?:v|a|h|p|t|k|l|b|mi|rtx|gtx|gb|gh)-?\d.*)",
        r"(?P<gpus>\d[\d,]{0,29}(?:\.0+)?) ?(?P<rest>\(.*\)|)",
    )
)
_NO_HARDWARE = re.compile(
    rf"[\W\d]*(?:(?:{_DEVICE}|{_NODE}|base(?:line)?|single|multi|ref(?:erence)?|total|x|per|s)\b[\W\d]*)*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Count:
    """Number of devices, with the nodes and the hardware in the same cell."""

    gpus: int
    nodes: int | None = None
    hardware: str = ""


def read_count(text: str) -> Count:
    """Return the devices of a cell. Raises ValueError if it has no whole number from 1 to MOST_GPUS."""
    words = plain(text)
    for form in _FORMS:
        if found := form.fullmatch(words):
            break
    else:
        raise ValueError(f"{text} is not a number of devices")
    parts = found.groupdict()
    nodes = int(parts["nodes"]) if parts.get("nodes") else None
    own = parts.get("gpus")
    gpus = int(parts["each"]) * (nodes or 1) if own is None else int(float(own.replace(",", "")))
    if not 1 <= gpus <= MOST_GPUS:
        raise ValueError(f"{gpus} is not a whole number from 1 to {MOST_GPUS}")
    rest = re.sub(r"\([^)\d]*\)", "", parts.get("rest") or "").strip()
    return Count(gpus, nodes, "" if _NO_HARDWARE.fullmatch(rest) else rest.strip(" ,;"))


def count_of_header(header: str) -> tuple[Count, str] | None:
    """Return the devices that a header names, '8 GPUs' or '8 GPU training time', and its other words."""
    words = plain(header).lower()
    found = re.match(rf"(?:single|(?P<gpus>\d{{1,9}}) ?[x*]?) ?-?{_DEVICE}\b[ :,-]*(?P<rest>.*)", words)
    if found:
        return Count(int(found["gpus"] or 1)), found["rest"].strip(" ()[]")
    if found := re.fullmatch(
        rf"(?P<rest>.+?)[ (\[@,:-]+(?:on |with )?(?P<gpus>\d{{1,9}}) ?[x*]? ?{_DEVICE}[)\]]?", words
    ):
        return Count(int(found["gpus"])), found["rest"]
    if found := re.fullmatch(r"(?P<gpus>\d{1,9}) ?x ?(?P<rest>(?:nvidia )?[a-z]{1,4}-?\d.*)", words):
        return Count(int(found["gpus"]), hardware=found["rest"]), ""
    return None
