"""Printed ratios in a table of their own: they are those of the measurements in another table of the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isclose

from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import (
    FOOTNOTE,
    MEASURED,
    OF_COLUMNS,
    RATES,
    STATED,
    TIMES,
    PublishedRow,
    PublishedTable,
)

_CLOSE = 0.03
"""Relative difference of a ratio from what the measurements give, which rounding may explain."""
_NO_LABELS = (OF_COLUMNS, FOOTNOTE, "scaling")
_Key = tuple[int, tuple[tuple[str, str], ...]]


def with_ratios_of_own_tables(
    tables: Sequence[PublishedTable], of_one_size: Sequence[PublishedTable]
) -> tuple[list[PublishedTable], set[int]]:
    """Return tables in which those that have ratios only are joined with the ones that their ratios follow from.

    Also returns the lines of those that were joined. of_one_size: tables with one number of devices, which may
    have ratios too.

    All rows of a table of ratios have to be rows of the other one, and at least half of its ratios have to follow.
    So the rest can be checked, and ratios of other runs are not held against these measurements.
    """
    result, joined = list(tables), set[int]()
    for ratios in (*tables, *of_one_size):
        if any(_has(ratios, role) for role in MEASURED):
            continue
        found = [(share, at) for at, one in enumerate(result) if (share := _following(one, ratios)) >= 1 / 2]
        if found:
            best = max(found, key=lambda one: one[0])[1]
            result[best] = _joined(result[best], ratios)
            result = [one for one in result if one is not ratios]
            joined.add(ratios.line)
    return result, joined


def _has(table: PublishedTable, role: str) -> bool:
    return any(role in row.numbers for row in table.rows)


def _key(row: PublishedRow, names: Sequence[str]) -> _Key:
    return row.gpus, tuple((name, plain(row.label(name)).lower()) for name in names)


def _names(*tables: PublishedTable) -> list[str]:
    """The labels that the rows of all tables have."""
    sets = [{name for row in table.rows for name in row.labels} for table in tables]
    return sorted(set.intersection(*sets) - {*_NO_LABELS})


def _rows(table: PublishedTable, names: Sequence[str]) -> dict[_Key, PublishedRow]:
    """The rows by devices and labels; empty if two of them are one by these."""
    found = {_key(row, names): row for row in table.rows}
    return found if len(found) == len(table.rows) else {}


def _following(table: PublishedTable, ratios: PublishedTable) -> float:
    """The share of ratios that follow from the measurements of a table; 0 if a row of them is none of its rows."""
    role = next((role for role in MEASURED if _has(table, role)), "")
    names = _names(table, ratios)
    own, stated = _rows(table, names), _rows(ratios, names)
    if not role or not stated or not {*stated} <= {*own} or any(_has(table, ratio) for ratio in STATED):
        return 0.0
    if table.line == ratios.line:
        return 0.0  # another variant of one table
    return max(_share_of(own, stated, role, grows) for grows in ((False,) if role in RATES else (False, True)))


def _share_of(own: dict[_Key, PublishedRow], stated: dict[_Key, PublishedRow], role: str, grows: bool) -> float:
    """The share of ratios that follow. grows: the work grows with the devices, so a constant time is linear."""
    follow = known = 0
    for key, row in stated.items():
        base = min((one for one in own if one[1] == key[1]), key=lambda one: one[0])
        first, last = own[base].number(role), own[key].number(role)
        if key == base or not first or not last:
            continue
        times = key[0] / base[0]
        speedup = first / last if role in TIMES else last / first
        speedup *= times if role == "throughput_per_gpu" or grows else 1
        expected = {"printed_speedup": [speedup], "printed_efficiency": [speedup / times]}
        expected["scaling_ratio"] = [speedup, speedup / times]  # its header does not say which
        for ratio in STATED:
            if (printed := row.number(ratio)) is not None:
                known += 1
                follow += any(isclose(printed, one, rel_tol=_CLOSE) for one in expected[ratio])
    return follow / known if known else 0.0


def _joined(table: PublishedTable, ratios: PublishedTable) -> PublishedTable:
    names = _names(table, ratios)
    stated = _rows(ratios, names)
    rows = []
    for row in table.rows:
        other = stated.get(_key(row, names))
        found = {role: other.numbers[role] for role in STATED if role in other.numbers} if other else {}
        rows.append(row.having(**found))
    columns = tuple(one for one in ratios.columns if one.role in STATED)
    note = f"the ratios in the table at line {ratios.line} are those of these measurements"
    return replace(
        table, rows=tuple(rows), columns=(*table.columns, *columns), notes=(*table.notes, note, *ratios.notes)
    )
