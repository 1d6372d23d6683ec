"""The rows of a published table as runs, for an import: each is one number, of a run of unknown length."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from pathlib import Path

import numpy as np

from scalestudy.analyse.published.series import Series, is_undistributed, series_of
from scalestudy.analyse.published.settle import (
    PER_DEVICE,
    STRONG,
    TOGETHER,
    TOTAL,
    WEAK,
    Question,
    Settled,
    settle,
)
from scalestudy.analyse.published.work_of_rows import contradiction, work_of_step
from scalestudy.errors import UserError
from scalestudy.importers.logs.model import COLUMNS, Facts, Given, Log
from scalestudy.importers.logs.quantities import TIMES, is_of_flops, work_of
from scalestudy.importers.logs.steps.throughputs import SAME
from scalestudy.importers.published import MEASURED, RATES, PublishedFile, PublishedRow, PublishedTable

KIND = "scaling table"
MOST_ROWS = 1000
WITHOUT_WORK = "the work that this time is for is not in it; add --samples N"
ANSWERS = {"device": PER_DEVICE, "all": TOGETHER, "weak": WEAK, "strong": STRONG}


def logs_of_tables(file: PublishedFile, path: Path, given: Given, *, scaling: str | None) -> list[Log]:
    """Return a log for each row with a measurement.

    Raises UserError that says what a table does not, with the option that answers it.
    """
    found: list[Log] = []
    tables = [kept for table in file.tables if (kept := _without_flops(table)).rows]
    if not tables:
        raise UserError(f"{path}: its throughputs are FLOP/s only, of which no step time follows")
    if (rows := sum(len(table.rows) for table in tables)) > MOST_ROWS:
        raise UserError(
            f"{path}: {rows} rows in {len(tables)} tables, too many to import; add --line N for one table"
        )
    for table in tables:
        said = replace(table, scaling=table.scaling or scaling or "")
        series = series_of(said)
        for group in [[one] for one in series] if table.by_case else [series]:
            answer = ANSWERS.get(given.per or scaling or "", TOTAL if given.samples is not None else "")
            settled = settle(said, group, answer=answer)
            if isinstance(settled, Question):
                raise UserError(f"{path}, line {table.line}, {settled.header}: {_question(settled, said)}")
            _check_scope(said, settled, path, given)
            found += _logs(said, settled, path, given)
    if not found:
        raise UserError(f"{path}: no row has a measurement above 0")
    found[0].remarks += [f"left out: {text}" for text in file.others]
    return found


def _without_flops(table: PublishedTable) -> PublishedTable:
    """The table without throughputs in FLOP/s, and without the rows that have nothing else."""
    flops = [column.role for column in table.columns if column.role in RATES and is_of_flops(column.unit)]
    if not flops:
        return table
    rows = (row.having(**dict.fromkeys(flops)) for row in table.rows)
    return replace(table, rows=tuple(row for row in rows if set(row.numbers) & set(MEASURED)))


def _question(question: Question, table: PublishedTable) -> str:
    ends = f"({question.first:g} to {question.last:g})"
    if question.kind == "throughput":
        changes = f"{question.course} from {question.fewest} to {question.most} devices {ends}"
        return f"{changes}. Is this per device? Add --per device or --per all"
    if question.kind == "time_s":
        either = " or ".join(f"--column '{question.header}={kind}'" for kind in ("step_time_s", "total_time_s"))
        return f"is this the time of a step or of a whole training? Add {either}"
    if question.kind == "total_time_s":
        return WITHOUT_WORK
    if table.column("batch") is not None:
        return _whose_batch(table)
    return "is the batch per device constant, or the global batch? Add --batch-per-gpu N or --batch N"


def _check_scope(table: PublishedTable, settled: Settled, path: Path, given: Given) -> None:
    """Raises UserError if --per is not what a header, or a throughput per device beside it, says."""
    if given.per == "device" and settled.rate == "throughput":
        _check_beside(table, settled, path)
    if settled.rate not in RATES or ANSWERS.get(given.per or "", settled.whose) == settled.whose:
        return
    column = table.column(settled.rate) or table.columns[0]
    whose, other = (
        ("all devices", "throughput_per_gpu") if given.per == "device" else ("each device", "throughput")
    )
    raise UserError(
        f"{path}, line {table.line}, {column.header}: is read as the throughput of {whose}, not as --per"
        f" {given.per} says; leave --per out, or add --column '{column.header}={other}'"
    )


def _check_beside(table: PublishedTable, settled: Settled, path: Path) -> None:
    """Raises UserError if a throughput per device shows that the one beside it is of all devices."""
    for row in (row for one in settled.series for row in one.rows if row.gpus > 1):
        each, whole = row.number("throughput_per_gpu"), row.number("throughput")
        if each and whole and abs(whole / (each * row.gpus) - 1) > SAME:
            named = [column.header for role in RATES if (column := table.column(role))]
            raise UserError(
                f"{path}, line {row.line}: {' and '.join(named)} are not both per device, as --per device says;"
                " leave --per out"
            )


def _whose_batch(table: PublishedTable) -> str:
    """What to add where a table has a batch and does not say whether it is of a device or of all."""
    batch = table.column("batch")
    if batch is None:
        return "the table has no batch; add --batch-per-gpu N for weak scaling, or --batch N for strong scaling"
    either = " or ".join(f"--column '{batch.header}={kind}'" for kind in ("batch_per_gpu", "global_batch"))
    return f"is {batch.header} per device or of all devices? Add {either}"


def _logs(table: PublishedTable, settled: Settled, path: Path, given: Given) -> list[Log]:
    if not settled.rate:
        raise UserError(
            f"{path}: table at line {table.line}: has speedups only, and no throughput or time to import;"
            " `scalestudy audit` checks it"
        )
    left: list[str] = []
    logs: list[Log] = []
    for one in settled.series:
        for row in one.rows:
            log = _log(table, settled, one, row, path, given)
            if log is None:
                left.append(f"line {row.line}: no {settled.rate}, so the row is left out")
            else:
                logs.append(log)
    if logs:
        logs[0].remarks += [*_read(table, settled, given), *left]
    return logs


def _read(table: PublishedTable, settled: Settled, given: Given) -> list[str]:
    """How the table was read, for its first row."""
    columns = ", ".join(f"{column.header} as {column.role}" for column in table.columns)
    remarks = [f"the table at line {table.line} was read with {columns}"]
    if table.unread:
        remarks.append(f"columns that are not read: {', '.join(table.unread)}")
    if settled.whose == PER_DEVICE and settled.by_numbers:
        remarks.append("its throughput is per device: only then its printed speedups follow")
    column = table.column("throughput")
    asked = given.per is None and column is not None and column.per != "all"
    if settled.rate == "throughput" and settled.whose == TOGETHER and asked:
        remarks.append(
            "its throughput is taken as that of all devices, since it grows with them; else --per device"
        )
    return [*remarks, *table.notes]


def _log(
    table: PublishedTable, settled: Settled, series: Series, row: PublishedRow, path: Path, given: Given
) -> Log | None:
    """The log of a row; None if it has no measurement of the kind that the series has."""
    where = f"{path}, line {row.line}"
    number = row.number("throughput" if settled.rate == "throughput_per_gpu" else settled.rate)
    if settled.rate in ("total_time_s", "time_s"):
        number = row.number("whole_time_s")
    if number is None or not number > 0:
        return None
    accumulation = given.accumulation or int(row.number("accumulation") or 0) or None
    unit, missing = _unit(table, settled, given)
    work = work_of_step(table, row, unit, given, rated=settled.rate in RATES)
    batch = work.batch
    missing += work.missing
    factor, unknown = _seconds(table, given, settled.rate)
    missing += unknown
    header = (table.column(settled.rate) or table.columns[0]).header
    whole = settled.rate in ("total_time_s", "time_s")
    if whole and given.samples is None:
        missing.append(f"{header}: {WITHOUT_WORK}")
    if batch is None and not work.missing:
        missing.append(_whose_batch(table))
    if missing or batch is None:
        raise UserError(f"{where}: {'; '.join(missing)}")
    if settled.rate in RATES and (why := contradiction(table, row, settled.rate, number, work, given)):
        raise UserError(f"{where}: {why}")
    time_s, rate, steps = nan, nan, 1.0
    if settled.rate in RATES:
        rate = number
    elif settled.rate == "steps_per_s":
        time_s = 1 / number
    elif whole and given.samples is not None:
        time_s = number * factor * batch / given.samples
        steps = max(1.0, round(given.samples / batch))
    else:
        time_s = number * factor
    values = {"line": row.line, "step": steps, "step_time_s": time_s, "work_per_s": rate}
    named = " ".join(filter(None, (table.name, series.name)))
    nodes = int(row.number("nodes") or 1)
    strategy = row.label("strategy")
    return Log(
        path=path,
        kind=KIND,
        columns={name: np.array([values.get(name, nan)], dtype=float) for name in COLUMNS},
        facts=Facts(
            devices=row.gpus,
            nodes=nodes if row.gpus % nodes == 0 else 1,
            global_batch=None if work.in_tokens else batch,
            step_tokens=batch if work.in_tokens else None,
            sequence_length=given.sequence_length,
            accumulation=accumulation,
            variant=named or ("" if is_undistributed(strategy) else strategy),
            device=row.label("hardware") or None,
        ),
        label=", ".join(filter(None, (f"line {row.line}", named, f"{row.gpus} device{'s' * (row.gpus != 1)}"))),
        unit=work.unit,
        per="all",
        whole_run=True,
        printed=not whole,
        remarks=list(work.remarks),
    )


def _unit(table: PublishedTable, settled: Settled, given: Given) -> tuple[str, list[str]]:
    """(what the throughput counts, '' without one; the question if neither the table nor the user says it)."""
    if settled.rate not in RATES:
        return "", []
    column = table.column(settled.rate)
    said = given.rate or (work_of(column.unit) if column else "")
    name = f"{column.header}: " if column else ""
    return said, [] if said else [f"{name}what does it count? Add --rate samples, --rate tokens or --rate steps"]


def _seconds(table: PublishedTable, given: Given, role: str) -> tuple[float, list[str]]:
    """(seconds of one unit of the times of a column, the question if its unit is unknown)."""
    if role not in table.unknown_units:
        return 1.0, []
    if given.time is not None:
        return TIMES[given.time], []
    header = (table.column(role) or table.columns[0]).header
    return nan, [f"{header}: a time without a unit; add --time s, --time ms or --time us"]
