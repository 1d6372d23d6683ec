"""The link of two GPUs, as a text of the record and as a value: `NV18 (NVLink 4.0)`, or a class of PCIe paths."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

UNREADABLE = "could not be read"
NVLINK = re.compile(r"NV(\d+)(?: \(NVLink ([\d./]+)\))?")
SEVERAL = "/"


@dataclass(frozen=True)
class Link:
    """The link of two GPUs. nvlinks: number of NVLinks; 0 without NVLink."""

    nvlinks: int = 0
    version: str = ""
    """Version of NVLink ('4.0'); '' if it is unknown, or differs between the links."""
    ancestor: str = ""
    """Class of the common ancestor on the PCIe tree, as in `nvidia-smi topo -m`; '' with NVLink or if unknown."""

    @property
    def code(self) -> str:
        """The link as a cell of `nvidia-smi topo -m`: 'NV18', 'SYS'; '?' if it is unknown."""
        return f"NV{self.nvlinks}" if self.nvlinks else self.ancestor or "?"

    @property
    def nvlinks_named(self) -> str:
        """The NVLinks as a text: '18 NVLinks 4.0', '1 NVLink'."""
        noun = "NVLink" if self.nvlinks == 1 else "NVLinks"
        return f"{self.nvlinks} {noun} {self.version}".strip()


def write_nvlinks(count: int, versions: Iterable[str]) -> str:
    """Return the text of NVLinks in a record: 'NV18 (NVLink 4.0)'."""
    spelled = SEVERAL.join(versions)
    return f"NV{count}" + (f" (NVLink {spelled})" if spelled else "")


def read_link(text: str) -> Link:
    """Return the link that a record names; an empty link if it could not be read."""
    if found := NVLINK.fullmatch(text):
        version = found[2] or ""
        return Link(nvlinks=int(found[1]), version="" if SEVERAL in version else version)
    return Link() if text == UNREADABLE else Link(ancestor=text)


def read_links(links: Mapping[str, str]) -> dict[tuple[int, int], Link]:
    """Return the links of a record by their two devices: {'0-1': 'SYS'} -> {(0, 1): SYS}."""
    pairs = {tuple(map(int, pair.split("-"))): read_link(text) for pair, text in links.items()}
    return {(first, second): link for (first, second), link in pairs.items()}
