"""Tells numbers with a unit from texts that begin with a number."""

from __future__ import annotations

from scalestudy.importers.numbers.printed import Printed, read_cell


def read_number(text: str) -> Printed:
    """Return the number of a cell; ValueError also for a text that begins with one: `3,009 lines, cold`."""
    cell = read_cell(text)
    if len(cell.unit.split()) > 1:
        raise ValueError(f"{text} is a text")
    return cell.printed
