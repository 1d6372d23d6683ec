"""Which columns of a log that is a table are read, and what the columns leave open: units, commas, runs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.importers.logs.model import Given
from scalestudy.importers.logs.quantities import TIMES, Meaning, meaning_of
from scalestudy.importers.logs.tabular.values import has_unit_of_time
from scalestudy.importers.numbers.printed import has_decimal_commas

VALUES = ("step", "step_time_s", "work_per_s", "clock_s", "work", "loss")
OF_THE_RUN = ("devices", "nodes", "batch", "batch_per_device", "sequence_length", "accumulation")
TELL_APART = ("run", "variant", *OF_THE_RUN)
SHOWN = 40
LOOKED_AT = 200
"""First rows of a table that show what its columns leave open: decimal commas, units in cells, names of runs."""
SUMMARISED = re.compile(r"(?<![a-z])(mean|average|avg|median|total)(?![a-z])")
"""Of a column that may have one value for the whole training, such as `mean_step_time_s`."""
_NAMES = ("name", "id")
"""Columns that name runs, or anything else that a row may be of."""
_OF_RANKS = re.compile(r"(?:rank|node|host|gpu|cuda|device|worker|proc(?:ess)?)\W?\d.*", re.IGNORECASE)


@dataclass
class Columns:
    """The columns of a table that are read: quantity -> (name, meaning); and the names of the others."""

    path: Path
    given: Given
    read: dict[str, tuple[str, Meaning]] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    commas: frozenset[str] = frozenset()
    """Names of columns whose decimals follow a comma."""
    by_epoch: bool = False
    """Whether the column of time stamps has the times of epochs, which are added up."""

    @classmethod
    def of(
        cls,
        path: Path,
        names: Iterable[str],
        given: Given,
        first: Sequence[Mapping[str, str]] = (),
        *,
        semicolons: bool = False,
    ) -> Columns:
        """Return what is read of these columns.

        first: the first rows as text. semicolons: they separate cells, so a comma precedes decimals. Raises
        UserError, naming the column and the option, if a time has no unit.
        """
        made = cls(path, given)
        for name in names:
            meaning = meaning_of(name)
            if meaning is None:
                made.left.append(name)
                continue
            before = made.read.get(meaning.quantity)
            if before and meaning.quantity in VALUES and _of_another_run(before[0], name):
                raise UserError(
                    f"{path}: columns {before[0][:SHOWN]} and {name[:SHOWN]} are of two runs; export each run to a"
                    " file of its own"
                )
            if before is None or _more(name, meaning) > _more(*before):
                made.left += [before[0]] if before else []
                made.read[meaning.quantity] = (name, meaning)
            else:
                made.left.append(name)
        made._name_runs(first)
        made._ask(first)
        made.commas = made._commas(first, semicolons=semicolons)
        return made

    def _commas(self, first: Sequence[Mapping[str, str]], *, semicolons: bool) -> frozenset[str]:
        """The columns with decimal commas: by their own cells, else by those of all columns.

        Where no cell shows it, points precede decimals: programs write no thousands.
        """
        names = [name for quantity in VALUES if (name := self.name(quantity))]
        cells = {name: [row.get(name) or "" for row in first] for name in names}
        whole = has_decimal_commas(cell for column in cells.values() for cell in column)
        found = set()
        for name, column in cells.items():
            own = has_decimal_commas(column)
            said = whole if own is None else own
            if said or (said is None and semicolons and any("," in cell for cell in column)):
                found.add(name)
        return frozenset(found)

    def _name_runs(self, first: Sequence[Mapping[str, str]]) -> None:
        """Read a column such as `Name` as that of the runs if it tells apart rows that are else of one run."""
        for name in self.left:
            if "run" not in self.read and name.strip().lower() in _NAMES and self._names_runs(name, first):
                self.left.remove(name)
                self.read["run"] = (name, Meaning("run"))
                return

    def _names_runs(self, column: str, first: Sequence[Mapping[str, str]]) -> bool:
        names = [str(row.get(column) or "").strip() for row in first]
        if not all(names) or any(map(_OF_RANKS.fullmatch, names)):
            return False
        if len(set(names)) == 1:
            return len(first) >= LOOKED_AT  # the next name may follow
        if len(list(groupby(names))) > len(set(names)):
            return False  # parts of a step, or ranks, whose rows alternate
        if "step" not in self.read:
            return not any(name.isdecimal() for name in names)
        others = [found for what in ("step", *TELL_APART) if (found := self.name(what))]
        rows = [tuple(str(row.get(other) or "") for other in others) for row in first]
        return len(Counter(zip(names, rows, strict=True))) > len(Counter(rows))

    def _ask(self, first: Sequence[Mapping[str, str]]) -> None:
        """Complete units from the cells and the options; refuse what has none."""
        self._of_epochs()
        for quantity in ("step_time_s", *(["clock_s"] if self.by_epoch else [])):
            if quantity in self.read and self.read[quantity][1].factor is None:
                name, _ = self.read[quantity]
                if any(has_unit_of_time(row.get(name) or "") for row in first):
                    self.read[quantity] = (name, Meaning(quantity))
                elif self.given.time is None and not {"clock_s", "work_per_s"} & (set(self.read) - {quantity}):
                    raise UserError(
                        f"{self.path}: column {name}: a time without a unit; add --time s, --time ms or --time us"
                    )
                elif self.given.time is None:
                    del self.read[quantity]
                    self.left.append(name)
                else:
                    self.read[quantity] = (name, Meaning(quantity, TIMES[self.given.time]))
        if not {"step_time_s", "work_per_s", "clock_s"} & set(self.read):
            known = ", ".join(sorted(name for name, _ in self.read.values())) or "none"
            raise UserError(
                f"{self.path}: no column with the time of a step, a throughput or a time stamp; known columns:"
                f" {known}; not known: {few(self.left)}"
            )

    def _of_epochs(self) -> None:
        """Take the times of epochs as the time between rows, where no other column has a time."""
        of_epochs = self.read.pop("epoch_time_s", None)
        if of_epochs and "step" in self.read and not {"step_time_s", "work_per_s", "clock_s"} & set(self.read):
            self.read["clock_s"] = (of_epochs[0], Meaning("clock_s", of_epochs[1].factor))
            self.by_epoch = True
        elif of_epochs:
            self.left.append(of_epochs[0])

    def name(self, quantity: str) -> str | None:
        return self.read[quantity][0] if quantity in self.read else None


def _of_another_run(first: str, second: str) -> bool:
    """Whether two columns of a chart of Weights & Biases are of two runs: `RUN - METRIC`."""
    runs = [name.rpartition(" - ")[0] for name in (first, second)]
    return all(runs) and runs[0] != runs[1]


def _more(name: str, meaning: Meaning) -> tuple[int, bool]:
    """Of two columns for one quantity, the one that says more counts; then one that is no mean of many steps."""
    return (meaning.factor is not None) + bool(meaning.unit), not SUMMARISED.search(name.lower())


def few(names: Sequence[str]) -> str:
    """Return names as a message has them."""
    shown = [name if len(name) <= SHOWN else f"{name[:SHOWN]}..." for name in names[:12]]
    return ", ".join(shown) + (f" and {len(names) - 12} more" if len(names) > 12 else "") or "none"
