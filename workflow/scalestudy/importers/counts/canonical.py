"""Devices as the readers of counts know them: nodes with the devices of each, in any words, as a product."""

from __future__ import annotations

import re

from scalestudy.importers.headers.terms import DEVICE, KIND, MAKER, NODE, OF_WHAT

_DEVICES = rf"(?P<devices>(?:{OF_WHAT}?{DEVICE}|{MAKER}*{KIND}s?(?:[ -]\d{{1,3}} ?GB)?(?: {DEVICE})?))"
_NODES = rf"(?P<nodes>\d{{1,4}}) ?-?{NODE}"
_EACH = r"(?P<each>\d{1,4}) ?x? ?-?"
_OF_A_NODE = rf"(?: each(?: {NODE})?| ?(?:/|\bper|\bon (?:each|every)|\bin each) ?-?{NODE})"
_FORMS = tuple(
    re.compile(rf"(?<![\w.]){form}(?!\w)\)?", re.IGNORECASE)
    for form in (
        rf"{_NODES}[ ,(x]*(?:of |with |having )?{_EACH}{_DEVICES}{_OF_A_NODE}",
        rf"{_NODES} ?(?:x|of) ?{_EACH}{_DEVICES}",
        rf"{_EACH}{_DEVICES}(?:{_OF_A_NODE}[ ,x(]*(?:on |across |over )?| ?x ?| (?:on|in) each of ){_NODES}",
    )
)


_TOTAL = re.compile(rf"(?<=\d) total (?={MAKER}*(?:{KIND}s?|{DEVICE})\b)", re.IGNORECASE)
_KIND_OF_MEMORY = re.compile(r"(?<=gb) hbm\d\w?\b", re.IGNORECASE)


def canonical(text: str) -> str:
    """Return a text whose first nodes with the devices of each are a product: 2 nodes (4 GPUs each) is 2x4 GPUs.

    Total numbers of devices stay as they are. The kind of a memory, 80GB HBM3, and
    `total` in front of devices are left out.
    """
    text = _TOTAL.sub(" ", _KIND_OF_MEMORY.sub("", text))
    for form in _FORMS:
        if found := form.search(text):
            whole = f"{found['nodes']}x{found['each']} {found['devices']}"
            opened = found[0].count(")") - found[0].count("(")
            return f"{text[: found.start()]}{whole}{')' * max(opened, 0)}{text[found.end() :]}"
    return text
