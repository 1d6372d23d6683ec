"""A log that is a table: its columns by name, its runs by their labels. Shared by CSV, JSON lines and the like."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, nan
from pathlib import Path
from typing import Any

import numpy as np

from scalestudy.errors import UserError
from scalestudy.importers.logs.model import Facts, Given, Log, Rows
from scalestudy.importers.logs.quantities import TIMES, Meaning, meaning_of
from scalestudy.importers.logs.tabular.values import EMPTY, has_unit_of_time, value_of
from scalestudy.importers.numbers.printed import has_decimal_commas

VALUES = ("step", "step_time_s", "work_per_s", "clock_s", "work", "loss")
OF_THE_RUN = ("devices", "nodes", "batch", "batch_per_device", "sequence_length", "accumulation")
TELL_APART = ("run", "variant", *OF_THE_RUN)
MOST_RUNS, MOST_REMARKS = 10_000, 5
SHOWN = 40
LOOKED_AT = 200
"""First rows of a table that show what its columns leave open: decimal commas, and units in cells."""
SUMMARISED = re.compile(r"(?<![a-z])(mean|average|avg|median|total)(?![a-z])")
"""Of a column that may have one value for the whole training, such as `mean_step_time_s`."""
NO_FACTS = Facts()


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
                f" {known}; not known: {_few(self.left)}"
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


def _few(names: Sequence[str]) -> str:
    shown = [name if len(name) <= SHOWN else f"{name[:SHOWN]}..." for name in names[:12]]
    return ", ".join(shown) + (f" and {len(names) - 12} more" if len(names) > 12 else "") or "none"


def logs_of(
    kind: str, columns: Columns, rows: Iterable[tuple[int, Mapping[str, Any]]], *, facts: Facts = NO_FACTS
) -> list[Log]:
    """Return the runs of a table. rows: (line, values by column name).

    A cell that is not a number is left out, with a remark. Raises UserError if no row has a time.
    """
    path = columns.path
    found: dict[tuple[str, ...], Rows] = {}
    remarks: dict[tuple[str, ...], list[str]] = {}
    bad, ranks = 0, set()
    labels = [name for quantity in TELL_APART if (name := columns.name(quantity))]
    places = [
        (name, quantity, columns.read[quantity][1].factor if name else None, name in columns.commas)
        for quantity in VALUES
        for name in [columns.name(quantity)]
    ]
    rank = columns.name("rank")
    first_rank: Any = None
    others = 0
    for number, row in rows:
        if rank:
            here = str(row.get(rank) or "0")
            first_rank = here if first_rank is None else first_rank
            ranks.add(here)
            if here != first_rank:
                others += 1
                continue
        key = tuple(str(row.get(label) or "") for label in labels)
        rows_of = found.get(key)
        if rows_of is None:
            if len(found) >= MOST_RUNS:
                raise UserError(
                    f"{path}, line {number}: more than {MOST_RUNS} runs; is one of {', '.join(labels)} a"
                    " measurement?"
                )
            rows_of, remarks[key] = found.setdefault(key, Rows(path)), []
        values = []
        for name, quantity, factor, comma in places:
            text = row.get(name) if name else None
            try:
                value = value_of(text, quantity, factor, comma=comma)
            except ValueError:
                bad += 1
                if bad <= MOST_REMARKS:
                    said = f"line {number}, {name}: {str(text)[:SHOWN]!r} is not a number; left out"
                    remarks[key].append(said)
                value = nan
            values.append(value)
        step, step_time, rate, clock, work, loss = values
        if isfinite(step_time) or isfinite(rate) or isfinite(clock):
            rows_of.add(number, step, step_time, rate, clock, work, loss)
    if others and remarks:
        next(iter(remarks.values())).append(other_ranks(others, len(ranks) - 1, first_rank))
    return logs_from(kind, columns, found, remarks=remarks, facts=facts, bad=bad)


def other_ranks(rows: int, ranks: int, first: str) -> str:
    """A remark on rows that do not count."""
    count = f"{ranks} other ranks" if ranks > 1 else "another rank"
    return f"{rows} rows of {count} are left out: those of rank {first[:SHOWN]} count"


def logs_from(
    kind: str,
    columns: Columns,
    found: Mapping[tuple[str, ...], Rows],
    *,
    remarks: Mapping[tuple[str, ...], list[str]] | None = None,
    facts: Facts = NO_FACTS,
    bad: int = 0,
) -> list[Log]:
    """Return the runs of a table from their rows by label. Raises UserError if no row has a time.

    bad: cells that are not numbers, of which the first MOST_REMARKS have a remark.
    """
    labels = [name for quantity in TELL_APART if (name := columns.name(quantity))]
    said = remarks or {}
    logs = [
        _log(kind, columns, dict(zip(labels, key, strict=True)), kept, facts, said.get(key, []))
        for key, kept in found.items()
        if len(kept)
    ]
    if not logs:
        raise UserError(f"{columns.path}: no row has a time of a step, a throughput or a time stamp")
    if bad > MOST_REMARKS:
        logs[0].remarks.append(f"{bad - MOST_REMARKS} more cells are not numbers; left out")
    if left := [name for name in columns.left if name]:
        logs[0].remarks.append(f"columns that are not read: {_few(left)}")
    return logs


def _log(kind: str, columns: Columns, labels: dict[str, str], rows: Rows, facts: Facts, remarks: list[str]) -> Log:
    def whole(quantity: str) -> int | None:
        name = columns.name(quantity)
        text = labels.get(name, "") if name else ""
        if text.strip().lower() in EMPTY:
            return None
        try:
            value = value_of(text, quantity, None, comma=False)
        except ValueError:
            value = nan
        if not (value >= 1 and value == int(value)):
            raise UserError(f"{columns.path}: {name}: {text[:SHOWN]!r} is not a whole number from 1")
        return int(value)

    devices, batch = whole("devices") or facts.devices, whole("batch") or facts.global_batch
    each = whole("batch_per_device")
    if batch is None and each is not None and (devices or columns.given.devices):
        steps = columns.given.accumulation or whole("accumulation") or 1
        batch = each * (columns.given.devices or devices or 1) * steps
    run, variant = (labels.get(name, "") if (name := columns.name(what)) else "" for what in ("run", "variant"))
    rate = columns.read.get("work_per_s")
    work = columns.read.get("work")
    unit = (rate[1].unit if rate else "") or (work[1].unit if work else "")
    shown = [value for value in labels.values() if value]
    read = rows.columns()
    if columns.by_epoch:
        read = read | {"clock_s": np.cumsum(read["clock_s"])}
        remarks = [*remarks, f"a row per epoch, whose time is `{columns.read['clock_s'][0]}`"]
    if not columns.by_epoch and not {"step_time_s", "work_per_s"} & set(columns.read):
        remarks = [*remarks, "no step time and no throughput is read: the time between time stamps counts"]
    return Log(
        path=columns.path,
        kind=kind,
        columns=read,
        label=" ".join(shown) if shown else "",
        facts=Facts(
            devices=devices,
            nodes=whole("nodes") or facts.nodes,
            global_batch=batch,
            sequence_length=whole("sequence_length") or facts.sequence_length,
            accumulation=whole("accumulation") or facts.accumulation,
            variant=variant or facts.variant,
            precision=facts.precision,
            device=facts.device,
            torch=facts.torch,
        ),
        unit=unit,
        per=rate[1].per if rate else "",
        remarks=([f"run {run}"] if run else []) + remarks,
    )


def flat(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield (name, value) of a mapping, with names of inner ones joined by a slash."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}/{inner}", one) for inner, one in flat(value))
        else:
            yield str(name), value
