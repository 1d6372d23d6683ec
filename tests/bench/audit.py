"""How many planted errors an audit finds, and how many of clean tables it accuses.

    python -m bench.audit              clean tables and planted errors, all kinds
    python -m bench.audit --show 7     the table of a case, and what the audit says of it

The tables are made by printed_tables.py in the styles of published ones. A planted error is larger than three
rounding units: the rounding of the number itself and of those that it follows from.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from scalestudy.diagnose.audit import audit_file
from scalestudy.errors import UserError
from scalestudy.importers.reading import read_published

from bench.printed_tables import Column, Made, Number, made, printed

CLEAN = 400
EACH = 4  # errors per kind


@dataclass(frozen=True)
class Planted:
    """A kind of error: what its tables need, how it is planted, and the kinds of remarks that name it."""

    need: tuple[str, ...]
    plant: Callable[[Made, random.Random], Made]
    named: frozenset[str]
    follows: frozenset[str] = frozenset()
    """Further remarks that the error leads to: a throughput that is wrong also contradicts other columns."""
    unseen: bool = False
    """Whether the kind was first run when the audit was finished."""


def number(column: Column | None, row: int) -> Number:
    """Return a number of a column."""
    assert column is not None
    cell = column.cells[row]
    assert isinstance(cell, Number)
    return cell


def _unit(table: Made, row: int, ratio: float, last: float) -> float:
    """Rounding of a ratio of two throughputs as printed: of itself and of both of them."""
    rates = table.column("throughput")
    if rates is None:
        return last
    parts = [number(rates, place) for place in (0, row)]
    return last + ratio * sum(part.last / part.printed for part in parts)


def _later(table: Made, choice: random.Random) -> int:
    return choice.randrange(1, len(table.sizes))


def _off(amount: float, choice: random.Random) -> float:
    return choice.choice((-1, 1)) * amount * choice.uniform(3.2, 9)


def speedup(table: Made, choice: random.Random) -> Made:
    column, row = table.column("speedup"), _later(table, choice)
    cell = number(column, row)
    assert column is not None
    last = max(cell.last, 0.01)
    return table.having(column.having(row, cell.plus(_off(_unit(table, row, cell.value, last), choice))))


def efficiency(table: Made, choice: random.Random) -> Made:
    column, row = table.column("efficiency"), _later(table, choice)
    cell = number(column, row)
    assert column is not None
    return table.having(column.having(row, cell.plus(_off(_unit(table, row, cell.value, cell.last), choice))))


def throughput(table: Made, choice: random.Random, *, row: int | None = None) -> Made:
    """One throughput is off by more than three units of the speedups that are printed of it."""
    column, stated = table.column("throughput"), table.column("speedup")
    row = _later(table, choice) if row is None else row
    cell, beside = number(column, row), number(stated, max(row, 1))
    assert column is not None
    share = max(beside.last, 0.01) / beside.value + cell.last / cell.printed
    return table.having(column.having(row, cell.plus(_off(share * cell.value * 1.4, choice))))


def baseline(table: Made, choice: random.Random) -> Made:
    return throughput(table, choice, row=0)


def exchanged(table: Made, choice: random.Random) -> Made:
    column, row = table.column("speedup"), _later(table, choice)
    assert column is not None
    other = row - 1 if row > 1 else row + 1
    first, second = column.cells[row], column.cells[other]
    return table.having(column.having(row, second).having(other, first))


def step_time(table: Made, choice: random.Random) -> Made:
    column, row = table.column("step_ms"), _later(table, choice)
    cell, rate = number(column, row), number(table.column("throughput"), row)
    assert column is not None
    unit = cell.last + cell.value * rate.last / rate.printed
    return table.having(column.having(row, cell.plus(abs(_off(unit, choice)))))


def global_batch(table: Made, choice: random.Random) -> Made:
    column, row = table.column("global_batch"), _later(table, choice)
    assert column is not None
    wrong = int(str(column.cells[row])) * choice.choice((2, 4)) + choice.choice((0, 8))
    return table.having(column.having(row, str(wrong)))


def nodes(table: Made, choice: random.Random) -> Made:
    column, row = table.column("nodes"), _later(table, choice)
    assert column is not None
    return table.having(column.having(row, str(int(str(column.cells[row])) + choice.choice((1, 2, 3)))))


def label(table: Made, choice: random.Random) -> Made:
    return replace(table, called="strong" if table.weak else "weak")


def accumulation(table: Made, choice: random.Random) -> Made:
    return replace(table, called="weak")


def precision_speedup(table: Made, choice: random.Random) -> Made:
    column, row = table.column("precision_speedup"), _later(table, choice)
    cell, rate = number(column, row), number(table.column("throughput"), row)
    assert column is not None
    unit = cell.last + 2 * cell.value * rate.last / rate.printed
    return table.having(column.having(row, cell.plus(_off(unit, choice))))


def precisions_exchanged(table: Made, choice: random.Random) -> Made:
    """The columns of speedups of two precisions change places."""
    first, second = table.column("speedup", "fp32"), table.column("speedup", "mixed")
    assert first is not None and second is not None
    other = tuple(cell.plus(0.31) if isinstance(cell, Number) else cell for cell in second.cells[1:])
    changed = table.having(replace(first, cells=(first.cells[0], *other)))
    return changed.having(replace(second, cells=first.cells))


def efficiency_alone(table: Made, choice: random.Random) -> Made:
    """Speedups and efficiencies without the throughputs that they are from."""
    column, row = table.column("efficiency"), _later(table, choice)
    stated, size = number(table.column("speedup"), row), table.sizes[row] / table.sizes[0]
    cell = number(column, row)
    assert column is not None
    unit = cell.last + max(stated.last, 0.01) / size
    wrong = table.having(column.having(row, cell.plus(_off(unit, choice))))
    return wrong.without("throughput", "step_ms", "precision_speedup", "per_gpu")


def decimal_slip(table: Made, choice: random.Random) -> Made:
    column, row = table.column("throughput"), _later(table, choice)
    cell = number(column, row)
    assert column is not None
    return table.having(column.having(row, replace(cell, value=cell.value * choice.choice((0.1, 10)))))


def per_device(table: Made, choice: random.Random) -> Made:
    column, row = table.column("per_gpu"), _later(table, choice)
    cell, rate = number(column, row), number(table.column("throughput"), row)
    assert column is not None
    unit = cell.last + cell.value * rate.last / rate.printed
    return table.having(column.having(row, cell.plus(_off(max(unit, 0.01 * cell.value), choice))))


RATIOS = frozenset({"speedup", "efficiency", "no base case"})
OF_A_THROUGHPUT = frozenset({"precision", "faster than its devices", "negative scaling", "turns back"})
KINDS = {
    "speedup": Planted(("speedup",), speedup, RATIOS),
    "efficiency": Planted(("efficiency",), efficiency, RATIOS),
    "throughput of one row": Planted(("speedup", "first"), throughput, RATIOS, OF_A_THROUGHPUT),
    "throughput of the baseline": Planted(("speedup", "first"), baseline, RATIOS, OF_A_THROUGHPUT),
    "speedups of two rows exchanged": Planted(("speedup",), exchanged, RATIOS),
    "step time": Planted(("step_ms", "speedup"), step_time, frozenset({"throughput against step time"})),
    "global batch": Planted(("global_batch", "batch_per_gpu"), global_batch, frozenset({"batch", "confounded"})),
    "nodes": Planted(("nodes",), nodes, frozenset({"devices"})),
    "weak called strong, strong called weak": Planted(("batch_per_gpu", "speedup"), label, frozenset({"label"})),
    "strong with accumulation called weak": Planted(
        ("accumulation", "speedup"), accumulation, frozenset({"label"})
    ),
    "speedup of a precision": Planted(
        ("precision_speedup",), precision_speedup, frozenset({"precision"}), unseen=True
    ),
    "speedups of two precisions exchanged": Planted(
        ("precision_speedup", "speedup", "first"), precisions_exchanged, RATIOS, unseen=True
    ),
    "efficiency beside a speedup, no throughput": Planted(
        ("speedup", "efficiency", "first"), efficiency_alone, RATIOS, frozenset({"no base case"}), unseen=True
    ),
    "decimal point of a throughput": Planted(
        ("speedup", "first"), decimal_slip, RATIOS, OF_A_THROUGHPUT, unseen=True
    ),
    "throughput per device": Planted(
        ("per_gpu", "speedup"), per_device, frozenset({"throughput per device"}), unseen=True
    ),
}


def said(table: Made) -> tuple[set[str], str]:
    """Return the kinds of remarks on a table, or `refused` with the reason."""
    text, suffix = printed(table)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{suffix}"
        path.write_text(text, encoding="utf-8")
        try:
            audits, asked = audit_file(read_published(path), "table")
        except UserError as error:
            return {"refused"}, str(error)
    if asked:
        return {"refused"}, str(asked[0].question)
    remarks = [remark for audit in audits for remark in audit.remarks]
    return {remark.kind for remark in remarks}, "; ".join(f"{one.kind}: {one.sentence}" for one in remarks)


def clean_tables() -> list[Made]:
    """Return tables without an error. A third has columns that the planted errors need."""
    needs = [planted.need for planted in KINDS.values()]
    return [made(seed, needs[seed % len(needs)] if seed % 3 == 0 else ()) for seed in range(CLEAN)]


def planted_tables() -> list[tuple[str, Made]]:
    """Return tables with one error each, and the kind of it."""
    found = []
    for place, (kind, planted) in enumerate(KINDS.items()):
        for count in range(EACH):
            seed = 100_000 + 100 * place + count
            found.append((kind, planted.plant(made(seed, planted.need), random.Random(seed))))
    return found


def main() -> None:
    """Prints both counts, and every case that is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", type=int, help="Number of a case: clean tables first, then those with errors.")
    number_shown = parser.parse_args().show
    cases = [("clean", table) for table in clean_tables()] + planted_tables()
    if number_shown is not None:
        kind, table = cases[number_shown]
        print(kind, printed(table)[0], *said(table), sep="\n")
        return
    wrong, found, beside = [], Counter[str](), Counter[str]()
    for place, (kind, table) in enumerate(cases):
        kinds, why = said(table)
        named = KINDS[kind].named if kind in KINDS else frozenset()
        beyond = kinds - named - (KINDS[kind].follows if kind in KINDS else frozenset())
        found[kind] += not kinds if kind == "clean" else bool(kinds & named)
        beside[kind] += bool(beyond)
        if beyond or (kind != "clean" and not kinds & named):
            wrong.append(f"  {place} {kind}: {why or 'nothing said'}")
    print(f"clean: {found['clean']} of {CLEAN} without a remark")
    for kind, planted in KINDS.items():
        unseen = " (unseen)" if planted.unseen else ""
        print(f"{kind}{unseen}: found {found[kind]} of {EACH}, {beside[kind]} with a further remark")
    total, further = (sum(counts[kind] for kind in KINDS) for counts in (found, beside))
    print(f"planted: found {total} of {EACH * len(KINDS)}, {further} with a further remark")
    print(*wrong, sep="\n")


if __name__ == "__main__":
    main()
