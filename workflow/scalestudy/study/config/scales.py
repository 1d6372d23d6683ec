"""Scales: NODESxDEVICES, such as 2x4 for two nodes with four devices each."""

import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

MOST_NODES, MOST_DEVICES = 100_000, 1000
"""Ten times the size of the largest machines. More is a mistake, and planning it would take hours."""


def _one_number(value: object) -> object:
    """Refuse a number of devices alone, which YAML reads as an integer."""
    return check_scale(str(value)) if isinstance(value, int) and not isinstance(value, bool) else value


def check_scale(text: str) -> str:
    """Return the scale. Raises ValueError if it is none."""
    match = re.fullmatch(r"([1-9]\d*)x([1-9]\d*)", text)
    if not match:
        alone = re.fullmatch(r"[1-9]\d{0,5}", text)
        instead = f"; write 1x{text} for {text} devices of one node" if alone else ""
        raise ValueError(f"a scale is NODESxDEVICES, such as 1x4: one node with four devices{instead}")
    for number, most, what in ((match[1], MOST_NODES, "nodes"), (match[2], MOST_DEVICES, "devices of a node")):
        if len(number) > 9 or int(number) > most:
            raise ValueError(f"{number} {what} are more than any machine has; at most {most}")
    return text


Scale = Annotated[str, BeforeValidator(_one_number), AfterValidator(check_scale)]


def nodes_and_devices(scale: str) -> tuple[int, int]:
    """'2x4' -> (2, 4): nodes, devices per node."""
    nodes, devices = scale.split("x")
    return int(nodes), int(devices)


def world_size(scale: str) -> int:
    """Ranks of a scale: nodes times devices per node."""
    nodes, devices = nodes_and_devices(scale)
    return nodes * devices
