"""Reads the parts of a phrase of devices in their order: numbers of devices, of nodes, kinds of hardware."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from scalestudy.importers.headers.terms import DEVICE, GEFORCE, KIND, MAKER, NODE, OF_WHAT

_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d{1,6})"
_FORM = r"[ -]?(?:\d{1,3} ?gi?b(?: hbm\d?e?)?|sxm\d?|pcie|nvl\d{0,3}|oam|ada|super|max-q)"
"""What may follow a kind of hardware: its memory, its form."""
_NO_KIND = (
    r"(?!(?:gpu|cpu|tpu\d|npu|ddp|sdp|res|vgg|top|seq|len|mpi|omp|lr|run|exp|iter|step|job|gen|cat|dim)s?-?\d)"
)
_HARDWARE = rf"(?:{_NO_KIND}{MAKER}*(?:{KIND}|{GEFORCE})(?:{_FORM})*s?)(?=x\d|(?![a-z0-9]))"
KNOWN = (
    rf"(?:(?:{MAKER}+{KIND}|a(?:2|10g?|16|30|40|100x?|800|[2456]000|[45]500)|v100s?|h(?:20|100|200|800)|"
    r"b(?:100|200|300)|p(?:4|40|100)|t4g?|k(?:20|40|80)[mx]?|l(?:4|20|40s?)|gh200|gb[23]00|mi\d{3}[axc]?|"
    r"[rg]tx[ -]?\w+(?: ti)?|titan(?: \w+)?|gaudi ?\d|tpu ?v\d[ep]?|ascend ?910\w?)"
    rf"(?:{_FORM})*|{GEFORCE})s?(?!\w)"
)
"""Hardware that is known as such without a number beside it."""
_PLURAL = re.compile(r"(?<!l40)(?<=[\dA-Zabipx])s$")
_NOUN = rf"(?:(?:{OF_WHAT}|{MAKER})*{DEVICE}(?!\w))"
_PART = re.compile(
    "|".join(
        (
            r"(?P<nodes_by>\d{1,4}) ?n[ _-]?(?P<each_by>\d{1,5}) ?g(?:pus?)?(?!\w)",
            rf"(?P<kind_first>{_HARDWARE})(?: ?[x*] ?| ?\( ?x? ?)(?P<times_kind>\d{{1,5}}) ?x?(?: ?{DEVICE})?"
            r"(?!\w|\.\d)\)?",
            rf"(?P<kind_before>{_HARDWARE}) (?P<kind_times>\d{{1,5}})x(?!\w)",
            r"(?:gpus?|npus?|tpus?|cards?|devices?) ?[x*] ?(?P<times_noun>\d{1,5})(?!\w)",
            rf"(?P<of_kind>{_NUMBER})(?: ?[x*] ?| |-)(?P<kind_last>{_HARDWARE})(?:[ -]?{_NOUN})?(?!\w)",
            rf"(?P<of_all>{_NUMBER}) total {_NOUN}",
            rf"(?P<of_noun>{_NUMBER}) ?[x*]? ?-?{_NOUN}",
            rf"(?P<nodes>{_NUMBER}) ?-?{NODE}(?!\w)",
            rf"(?P<alone>{KNOWN})",
            r"(?P<bare>\d{1,6})(?![\w.%])",
            r"(?P<glued>\d{1,4})(?=x\d)",
        )
    ),
    re.IGNORECASE,
)
_OF_EACH_NODE = re.compile(
    rf" ?,? ?(?:each(?: {NODE})?(?!\w)|(?:/|per|on (?:each|every)(?: of)?|in each) ?-?{NODE}(?!\w))|"
    rf" (?:on|in) (?:each|every) of(?= \d)|[ -]{NODE}(?!\w)",
    re.IGNORECASE,
)
_IN_ALL = re.compile(r" ?\(?(?:in )?(?:total|altogether|overall)(?!\w)\)?", re.IGNORECASE)
_BETWEEN = re.compile(
    r" ?(?P<times>[x*]) ?(?=\(?\d)|(?P<equal> ?= ?)|(?P<on> (?:spread |split )?(?:on|across|over|in) )|"
    r" ?(?P<bracket>\() ?(?:on |across |over |total:? )?|"
    r" ?(?P<sign>[,;/|-]|--|\u2013|\u2014) ?(?:with |on |across |over |total:? )?|"
    r"(?P<of> of )|(?P<having> (?:with|having) )|(?P<space> )",
    re.IGNORECASE,
)
_LINKS = ("times", "equal", "on", "bracket", "sign", "of", "having", "space")


@dataclass(frozen=True)
class Fact:
    """One part of a phrase of devices."""

    kind: Literal["devices", "each", "nodes", "bare", "product", "hardware"]
    """Devices, those of each node, nodes, a number without a noun, nodes by devices, hardware without a number."""
    number: int = 0
    hardware: str = ""
    nodes: int | None = None
    """Of a product."""
    total: bool = False
    """Whether the phrase says that it is the number of all devices."""
    before: str = ""
    """What stands between it and the fact before: times, equal, on, bracket, sign, of, having, space."""
    end: int = 0
    """Place in the text behind it."""


def facts_from(text: str, start: int) -> Iterator[Fact]:
    """Yield the facts from a place in a text on, as far as nothing else stands between them."""
    at, before = start, ""
    while part := _PART.match(text, at) or (_PART.match(text, at + 1) if text[at : at + 1] == "(" else None):
        fact, end = _fact_of(part), part.end()
        if fact.kind == "devices" and (each := _OF_EACH_NODE.match(text, end)):
            fact, end = replace(fact, kind="each"), each.end()
        elif fact.kind in ("devices", "bare") and (whole := _IN_ALL.match(text, end)):
            fact, end = replace(fact, total=True), whole.end()
        yield replace(fact, before=before, end=end)
        inner = text[start:end]
        closing = len(text[end:]) - len(text[end:].lstrip(")"))
        end += min(closing, max(inner.count("(") - inner.count(")"), 0))
        between = _BETWEEN.match(text, end)
        if between is None:
            return
        before = next(name for name in _LINKS if between[name] is not None)
        at = between.end()


def _fact_of(part: re.Match[str]) -> Fact:
    named = {name: said for name, said in part.groupdict().items() if said is not None}
    if "nodes_by" in named:
        nodes = int(named["nodes_by"])
        return Fact("product", nodes * int(named["each_by"]), nodes=nodes)
    if "alone" in named:
        return Fact("hardware", hardware=named["alone"])
    name, said = next(item for item in named.items() if not item[0].startswith("kind_") or item[0] == "kind_times")
    number = int(said.replace(",", ""))
    if name in ("bare", "glued"):
        return Fact("bare", number)
    if name == "nodes":
        return Fact("nodes", number)
    kind = next((named[one] for one in ("kind_first", "kind_before", "kind_last") if one in named), "")
    return Fact("devices", number, _PLURAL.sub("", kind), total=name == "of_all")


def with_products(facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts with those that are multiplied as one: 2 x 4 GPUs, 4 GPUs x 2 nodes.

    Nothing if a product is of neither nodes nor bare numbers.
    """
    joined: list[Fact] = []
    for fact in facts:
        last = joined[-1] if joined else None
        if last is None or fact.before != "times":
            joined.append(fact)
            continue
        if last.kind in ("nodes", "bare") and fact.kind in ("devices", "each", "bare"):
            nodes = last.number
        elif last.kind in ("devices", "each", "bare") and fact.kind == "nodes":
            nodes = fact.number
        else:
            return []
        hardware = last.hardware or fact.hardware
        joined[-1] = Fact("product", last.number * fact.number, hardware, nodes, before=last.before, end=fact.end)
    return joined
