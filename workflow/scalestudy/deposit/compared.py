"""Whether rebuilt documents equal those of a deposit, and whether their numbers do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scalestudy.publish.numbers.model import NumbersFile


@dataclass(frozen=True)
class Documents:
    """The documents of a deposit by whether they were rebuilt equal."""

    equal: tuple[str, ...]
    other: tuple[str, ...]
    missing: tuple[str, ...]
    """Not made here."""
    new: tuple[str, ...]
    """Made here only."""

    @property
    def all_equal(self) -> bool:
        return not (self.other or self.missing or self.new)


def compare(of_deposit: Mapping[str, str], here: Mapping[str, str]) -> Documents:
    """Compare documents by their checksums: name -> SHA-256."""
    both = of_deposit.keys() & here.keys()
    same = {name for name in both if of_deposit[name] == here[name]}
    return Documents(
        equal=tuple(sorted(same)),
        other=tuple(sorted(both - same)),
        missing=tuple(sorted(of_deposit.keys() - here.keys())),
        new=tuple(sorted(here.keys() - of_deposit.keys())),
    )


def other_numbers(before: NumbersFile, after: NumbersFile) -> list[str]:
    """Return a line for each number of a deposit that differs or is not there; a renamed key is found."""
    lines = []
    for key, number in before.numbers.items():
        found = after.find(after.renamed.get(key, key)) or after.find(key)
        if found is None:
            lines.append(f"{key}: was {number.with_unit()}, is not there")
            continue
        now = found[1]
        if (str(now.shown), now.unit) != (str(number.shown), number.unit) or not _alike(number.value, now.value):
            lines.append(f"{key}: was {number.with_unit()}, is {now.with_unit()}")
    return lines


def _alike(one: float, other: float) -> bool:
    """Whether two values are the same number, apart from the last digits of a sum in another order."""
    return one == other or (one != one and other != other) or abs(one - other) <= 1e-9 * max(abs(one), abs(other))
