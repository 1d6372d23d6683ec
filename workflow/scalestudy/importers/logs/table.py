"""A log that is a table: its columns by name, its runs by their labels. Shared by CSV, JSON lines and the like."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, nan
from pathlib import Path
from typing import Any

from scalestudy.errors import UserError
from scalestudy.importers.logs.lines import iso_seconds
from scalestudy.importers.logs.model import Facts, Given, Log, Rows
from scalestudy.importers.logs.quantities import TIMES, Meaning, meaning_of

VALUES = ("step", "step_time_s", "work_per_s", "clock_s", "work", "loss")
OF_THE_RUN = ("devices", "nodes", "batch", "batch_per_device", "sequence_length")
TELL_APART = ("run", "variant", *OF_THE_RUN)
EMPTY = ("", "-", "nan", "null", "none", "n/a", "na")
MOST_RUNS, MOST_REMARKS = 10_000, 5
SHOWN = 40
THOUSANDS = re.compile(r"[-+]?\d{1,3},\d{3}")
NO_FACTS = Facts()


@dataclass
class Columns:
    """The columns of a table that are read: quantity -> (name, meaning); and the names of the others."""

    path: Path
    given: Given
    read: dict[str, tuple[str, Meaning]] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    decimal_comma: bool = False
    """Whether a comma always precedes decimals, as where the delimiter is a semicolon."""

    @classmethod
    def of(cls, path: Path, names: Iterable[str], given: Given) -> Columns:
        """Raises UserError, naming the column and the option, if a time has no unit."""
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
            if before is None or (_more(meaning) > _more(before[1])):
                made.left += [before[0]] if before else []
                made.read[meaning.quantity] = (name, meaning)
            else:
                made.left.append(name)
        made._ask()
        return made

    def _ask(self) -> None:
        """Complete units from the options; refuse what has none."""
        for quantity in ("step_time_s",):
            if quantity in self.read and self.read[quantity][1].factor is None:
                name, _ = self.read[quantity]
                if self.given.time is None and not {"clock_s", "work_per_s"} & set(self.read):
                    raise UserError(
                        f"{self.path}: column {name}: a time without a unit; add --time s, --time ms or --time us"
                    )
                if self.given.time is None:
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

    def name(self, quantity: str) -> str | None:
        return self.read[quantity][0] if quantity in self.read else None


def _of_another_run(first: str, second: str) -> bool:
    """Whether two columns of a chart of Weights & Biases are of two runs: `RUN - METRIC`."""
    runs = [name.rpartition(" - ")[0] for name in (first, second)]
    return all(runs) and runs[0] != runs[1]


def _more(meaning: Meaning) -> int:
    """Of two columns for one quantity, the one that says more counts."""
    return (meaning.factor is not None) + bool(meaning.unit)


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
    places = [(columns.name(quantity), columns.read.get(quantity, (None, Meaning("")))[1]) for quantity in VALUES]
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
        for name, meaning in places:
            text = row.get(name) if name else None
            try:
                value = float(text) if type(text) is str else _number_or_nan(text)
            except ValueError:
                try:
                    value = number_of(
                        text, clock=meaning.quantity == "clock_s", decimal_comma=columns.decimal_comma
                    )
                except ValueError:
                    bad += 1
                    if bad <= MOST_REMARKS:
                        said = f"line {number}, {name}: {str(text)[:SHOWN]!r} is not a number; left out"
                        remarks[key].append(said)
                    value = nan
            values.append(value * meaning.factor if meaning.factor else value)
        step, step_time, rate, clock, work, loss = values
        if isfinite(step_time) or isfinite(rate) or isfinite(clock):
            rows_of.add(number, step, step_time, rate, clock, work, loss)
    if others and remarks:
        left = f"{others} rows of {len(ranks) - 1} other ranks are left out: those of rank {first_rank} count"
        next(iter(remarks.values())).append(left)
    return logs_from(kind, columns, found, remarks=remarks, facts=facts, bad=bad)


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
    if columns.left:
        logs[0].remarks.append(f"columns that are not read: {_few(columns.left)}")
    return logs


def _log(kind: str, columns: Columns, labels: dict[str, str], rows: Rows, facts: Facts, remarks: list[str]) -> Log:
    def whole(quantity: str) -> int | None:
        name = columns.name(quantity)
        text = labels.get(name, "") if name else ""
        if text.strip().lower() in EMPTY:
            return None
        try:
            value = number_of(text)
        except ValueError:
            value = nan
        if not (value >= 1 and value == int(value)):
            raise UserError(f"{columns.path}: {name}: {text[:SHOWN]!r} is not a whole number from 1")
        return int(value)

    devices, batch = whole("devices") or facts.devices, whole("batch") or facts.global_batch
    each = whole("batch_per_device")
    if batch is None and each is not None and (devices or columns.given.devices):
        batch = each * (columns.given.devices or devices or 1)
    run, variant = (labels.get(name, "") if (name := columns.name(what)) else "" for what in ("run", "variant"))
    rate = columns.read.get("work_per_s")
    work = columns.read.get("work")
    unit = (rate[1].unit if rate else "") or (work[1].unit if work else "")
    shown = [value for value in labels.values() if value]
    return Log(
        path=columns.path,
        kind=kind,
        columns=rows.columns(),
        label=" ".join(shown) if shown else "",
        facts=Facts(
            devices=devices,
            nodes=whole("nodes") or facts.nodes,
            global_batch=batch,
            sequence_length=whole("sequence_length") or facts.sequence_length,
            accumulation=facts.accumulation,
            variant=variant or facts.variant,
            precision=facts.precision,
            device=facts.device,
            torch=facts.torch,
        ),
        unit=unit,
        per=rate[1].per if rate else "",
        remarks=([f"run {run}"] if run else []) + remarks,
    )


def _number_or_nan(value: Any) -> float:
    """Return a value of JSON as a number; nan if it is none."""
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else nan


def number_of(text: Any, *, clock: bool = False, decimal_comma: bool = False) -> float:
    """Return a cell as a number; nan if it is empty. Raises ValueError if it is none.

    Reads `1.234,5` and `1,234.5`. A single comma before three digits separates thousands, unless decimal_comma.
    """
    if text is None or text is True or text is False:
        return nan
    if isinstance(text, (int, float)):
        return float(text) if isfinite(text) else nan
    word = str(text).strip()
    if word.lower() in EMPTY:
        return nan
    try:
        value = float(word)
        return value if isfinite(value) else nan
    except ValueError:
        pass
    if clock and ":" in word:
        return iso_seconds(word)
    head, comma, tail = word.rpartition(",")
    thousands = "," in head or "." in tail or (THOUSANDS.fullmatch(word) and not decimal_comma)
    if comma and not thousands:
        word = f"{head.replace('.', '')}.{tail}"
    return float(word.replace(",", ""))


def flat(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield (name, value) of a mapping, with names of inner ones joined by a slash."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}/{inner}", one) for inner, one in flat(value))
        else:
            yield str(name), value
