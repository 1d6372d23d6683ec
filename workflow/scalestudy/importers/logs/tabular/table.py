"""A log that is a table: its runs by their labels. Shared by CSV, JSON lines and the like."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import isfinite, isnan, nan
from typing import Any

import numpy as np

from scalestudy.errors import UserError
from scalestudy.importers.headers.batches import tokens_of_one
from scalestudy.importers.logs.model import Facts, Log, Rows
from scalestudy.importers.logs.tabular.columns import SHOWN, TELL_APART, VALUES, Columns, few
from scalestudy.importers.logs.tabular.values import EMPTY, is_dash, label_of, value_of

MEASURED = ("step", "step_time_s", "work_per_s", "clock_s")
"""Columns of which a number that is said to be missing has a remark."""
MOST_RUNS, MOST_REMARKS = 10_000, 5
NO_FACTS = Facts()


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
        key = tuple(label_of(row.get(label)) for label in labels)
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
                said_to_miss = is_dash(text) and quantity in MEASURED
            except ValueError:
                value, said_to_miss = nan, True
            if said_to_miss:
                bad += 1
                if bad <= MOST_REMARKS:
                    said = f"line {number}, {name}: {str(text)[:SHOWN]!r} is not a number; left out"
                    remarks[key].append(said)
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
    one_each = len(found) > 1 and all(len(rows) == 1 for rows in found.values())
    logs = [
        _log(kind, columns, dict(zip(labels, key, strict=True)), kept, facts, said.get(key, []), one_each=one_each)
        for key, kept in found.items()
        if len(kept)
    ]
    if not logs:
        raise UserError(f"{columns.path}: no row has a time of a step, a throughput or a time stamp")
    if bad > MOST_REMARKS:
        logs[0].remarks.append(f"{bad - MOST_REMARKS} more cells are not numbers; left out")
    if left := [name for name in columns.left if name]:
        logs[0].remarks.append(f"columns that are not read: {few(left)}")
    return logs


def _log(
    kind: str,
    columns: Columns,
    labels: dict[str, str],
    rows: Rows,
    facts: Facts,
    remarks: list[str],
    *,
    one_each: bool,
) -> Log:
    """The log of a run. one_each: whether each run of the table has one row, as in a list of finished runs."""

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
    counted = columns.name("batch") or columns.name("batch_per_device") or ""
    tokens = tokens_of_one(counted) if batch is not None and facts.global_batch is None else None
    run, variant = (labels.get(name, "") if (name := columns.name(what)) else "" for what in ("run", "variant"))
    rate = columns.read.get("work_per_s")
    work = columns.read.get("work")
    unit = (rate[1].unit if rate else "") or (work[1].unit if work else "")
    shown = [value for value in labels.values() if value]
    read = rows.columns()
    if columns.by_epoch:
        read = read | {"clock_s": np.cumsum(read["clock_s"])}
        remarks = [*remarks, f"a row per epoch, whose time is `{columns.read['clock_s'][0]}`"]
    done = float(read["step"][0])
    timed = bool(np.isfinite([read["step_time_s"][0], read["work_per_s"][0]]).any())
    is_mean = one_each and timed and not done <= 1
    if is_mean:
        length = "how many steps it has is not known" if isnan(done) else f"it has {done:.0f} steps"
        remarks = [*remarks, f"the only row of the run counts as the mean of all its steps; {length}"]
        read = read | {"step": np.array([1.0 if isnan(done) else done])}
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
            global_batch=batch if tokens is None else None,
            step_tokens=facts.step_tokens if tokens is None or batch is None else round(batch * tokens),
            sequence_length=whole("sequence_length") or facts.sequence_length,
            accumulation=whole("accumulation") or facts.accumulation,
            variant=variant or facts.variant,
            precision=facts.precision,
            device=facts.device,
            torch=facts.torch,
        ),
        unit=unit,
        per=rate[1].per if rate else "",
        whole_run=is_mean,
        printed=is_mean and isnan(done),
        remarks=([f"run {run}"] if run else []) + remarks,
    )


def flat(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield (name, value) of a mapping, with names of inner ones joined by a slash."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}/{inner}", one) for inner, one in flat(value))
        else:
            yield str(name), value
