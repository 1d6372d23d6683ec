"""What stands over a column: two lines at the most, and the unit as siunitx has it."""

from __future__ import annotations

from scalestudy.registry.points import QUANTITIES

UNITS = {
    "ms": r"\unit{\milli\second}",
    "s": r"\unit{\second}",
    "h": r"\unit{\hour}",
    "samples/s": r"\unit{\per\second}",
    "%": r"\unit{\percent}",
    "GiB": r"\unit{\gibi\byte}",
    "": "",
}


def header_lines(quantity: str) -> list[str]:
    """The header of a quantity cut into lines, the unit last."""
    printed = QUANTITIES[quantity].printed
    assert printed is not None, f"{quantity} is not printed"
    words = printed.header.split(" ", 1) if len(printed.header) > len("Step time") else [printed.header]
    return [*words, *([f"({UNITS[printed.unit]})"] if UNITS[printed.unit] else [])]
