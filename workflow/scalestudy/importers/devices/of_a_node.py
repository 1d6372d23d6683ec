"""How many devices a node has, as a header or the text around a table says: `Nodes (8x A100 each)`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from scalestudy.importers.headers.meaning import meaning_of, normal
from scalestudy.importers.headers.terms import DEVICE, HARDWARE, KIND, MAKER, NODE
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.raw import RawTable

_SOME = (
    rf"(?P<each>[1-9]\d{{0,3}})[ -]?[x\u00d7]?[ -]?(?:{MAKER}*(?:{KIND}|{HARDWARE})s?[ -]?)?(?P<noun>{DEVICE})?"
)
"""A number of devices: 8x A100, 4 GPUs, 8 A100 GPUs."""
_PER_NODE = rf"(?:each\b|per (?:{NODE})|/ ?(?:{NODE}))"
_EACH = re.compile(
    rf"(?:# ?|no\.? of |num(?:ber)? ?(?:of )?)?(?:compute )?{NODE} ?[(\[,] ?(?:with |of |x ?)?{_SOME} ?"
    rf"{_PER_NODE}?[)\]]?"
)
"""Header of nodes that says how many devices each of them has."""
_SEVERAL = rf"(?<![\w.])(?P<each>[1-9]\d{{0,2}})[ -]?[x\u00d7]?[ -]?(?:{MAKER}*{KIND}s?[ -]?)?(?P<noun>{DEVICE})"
_SEVERAL_OF_A_KIND = rf"(?<![\w.])(?P<each>[1-9]\d{{0,2}})[ -]?[x\u00d7]?[ -]?{MAKER}*{KIND}s?(?P<noun>)"
_A_NODE_HAS = (
    rf"\b(?:each|every|per|one|a|1) (?:compute )?{NODE}(?: has| had| with| contains| consists of| comprises|:|,)"
)
_EACH_SAID = tuple(
    re.compile(form, re.IGNORECASE)
    for several in (_SEVERAL, _SEVERAL_OF_A_KIND)
    for form in (
        rf"{several} ?(?:per|/) ?(?:compute )?{NODE}\b",
        rf"{_A_NODE_HAS} {several}\b",
        rf"\b(?:all|the|our) (?:compute )?{NODE},? (?:have|had|with|contain|comprise) {several}\b",
        rf"(?:^|(?<=[.:;] )){NODE},? (?:have|had|with) {several} each\b",
    )
)
"""Words on a table of nodes that say how many devices each of them has."""
_PART = re.compile(r"1 ?/ ?([1-9]\d?)")
_OF_A_HOST = re.compile(r"cores?|threads?|v?cpus?|procs?|process(?:es|ors?)?")


def with_devices_of_a_node(table: RawTable) -> RawTable:
    """Return a table of nodes with the devices of each in a column of their own, if a header or the text says so.

    So do `Nodes (8x A100 each)` as a header, and `Each node has 4 GPUs` around the table.
    """
    roles = [meaning_of(name).role for name in table.header]
    own = [_EACH.fullmatch(normal(name)) for name in table.header]
    nodes = [place for place, role in enumerate(roles) if role == "nodes" or own[place]]
    if len(nodes) != 1 or {"gpus", "gpus_per_node"} & {*roles}:
        return table
    place = nodes[0]
    each = own[place] or _said(table.captions)
    if each is None:
        each = _said(table.text)
        table = table.noted(f"the text says what a node has: '{each[0].strip(' ,:')}'" if each else "")
    if each is None:
        return table
    name = table.header[place] if roles[place] == "nodes" else "nodes"
    names = (*table.header[:place], name, f"{each['noun'] or 'GPUs'} per node", *table.header[place + 1 :])
    rows = tuple((line, _with_size(cells, place, int(each["each"]))) for line, cells in table.rows)
    return replace(table, header=names, rows=rows)


def _with_size(cells: tuple[str, ...], place: int, each: int) -> tuple[str, ...]:
    """A row with the devices of a node behind its nodes. 1/4 of a node is a node with that part of them."""
    if place >= len(cells):
        return cells
    part = _PART.fullmatch(plain(cells[place]))
    nodes, devices = cells[place], each
    if part and each % int(part[1]) == 0:
        nodes, devices = "1", each // int(part[1])
    return (*cells[:place], nodes, str(devices), *cells[place + 1 :])


def _said(texts: Sequence[str]) -> re.Match[str] | None:
    """What texts say of the devices of a node, if all say the same; the cores beside GPUs are not meant."""
    found = [each for words in texts for form in _EACH_SAID for each in form.finditer(words)]
    if any(re.search(r"\bgpus?\b", words, re.IGNORECASE) for words in texts):
        found = [each for each in found if not _OF_A_HOST.fullmatch(each["noun"].lower())]
    return found[0] if len({each["each"] for each in found}) == 1 else None
