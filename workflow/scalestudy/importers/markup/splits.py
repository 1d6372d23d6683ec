"""How a line of plain text is split into cells: by bars, tabs, semicolons, commas, wide gaps, or at each blank."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable

Split = Callable[[str], list[str]]


def barred(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")] if "|" in line else []


def separated(sign: str) -> Split:
    def split(line: str) -> list[str]:
        if sign not in line:
            return []
        return [cell.strip() for cell in next(csv.reader([line.strip()], delimiter=sign), [])]

    return split


def spaced(line: str) -> list[str]:
    return re.split(r"\s{2,}|\t+", line.strip())


def words(line: str) -> list[str]:
    return line.split()


SPLITS: tuple[Split, ...] = (barred, separated("\t"), separated(";"), separated(","), spaced, words)
