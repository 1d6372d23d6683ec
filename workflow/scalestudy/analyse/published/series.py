"""Which rows of a published table belong together: equal in all labels, and in one kind of batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isclose, prod

from scalestudy.importers.columns.labels import is_size_of_work
from scalestudy.importers.devices.degrees import is_degree
from scalestudy.importers.devices.serial_rows import names_serial_run
from scalestudy.importers.numbers.printed import Printed
from scalestudy.importers.published import OF_COLUMNS, STATED, PublishedRow, PublishedTable
from scalestudy.importers.shape.variants import additions, is_distributed

KINDS_OF_SETUP = ("precision", "strategy", "model", "hardware", "framework")
"""Labels that change what is measured."""
GLOBAL = "global batch"
UNITS = ("throughput_unit", "scaling", OF_COLUMNS)
"""Labels that do not tell configurations apart."""
PLAIN = (
    "",
    "single",
    "none",
    "-",
    "baseline",
    "base",
    "no",
    "serial",
    "single gpu",
    "single-gpu",
    "1 gpu",
    *("single device", "one device", "1 device", "one gpu"),
    "plain",
    "n/a",
    "\u2013",
    "\u2014",
    "no ddp",
    "without ddp",
)
"""Strategies of one process, which may be the baseline of any other."""
BASES = ("single", "baseline", "base", "serial", "single gpu", "single-gpu", "1 gpu")
"""Labels of any column for the run that the others are compared with."""


@dataclass(frozen=True)
class Series:
    """Rows that differ in their number of devices."""

    name: str
    rows: tuple[PublishedRow, ...]


def is_undistributed(strategy: str) -> bool:
    """Return whether a strategy is that of one process."""
    return strategy.lower() in PLAIN or names_serial_run(strategy)


def series_of(table: PublishedTable) -> list[Series]:
    """Return the series of a table. A column `case` alone says what belongs together, if there is one."""
    rows = list(table.rows)
    if table.by_case:
        cases = dict.fromkeys(row.label("case") for row in rows)
        parts = _with_base([(case, [row for row in rows if row.label("case") == case]) for case in cases])
        return [Series(case, tuple(_with_accumulation(_unsaid_batch(part)))) for case, part in parts]
    names = [name for row in rows for name in row.labels if name not in UNITS]
    groups: list[tuple[str, list[PublishedRow]]] = [("", rows)]
    for name in sorted(dict.fromkeys(names), key="strategy".__eq__):  # one baseline may be that of all strategies
        groups = [part for said, group in groups for part in _by_label(said, group, name)]
    groups = [part for said, group in groups for part in _by_placement(said, group)]
    settled = [(said, _with_accumulation(_unsaid_batch(group))) for said, group in groups]
    found = [part for said, group in settled for part in _by_batch(said, group, table.scaling)]
    return [Series(said, tuple(group)) for said, group in found]


def _with_base(parts: list[tuple[str, list[PublishedRow]]]) -> list[tuple[str, list[PublishedRow]]]:
    """The cases, with a case of one row that is named as the baseline in front of all others."""
    bases = [part for case, part in parts if case.lower() in BASES and len(part) == 1]
    others = [(case, part) for case, part in parts if part not in bases]
    if len(bases) != 1 or any(row.gpus <= bases[0][0].gpus for _, part in others for row in part):
        return parts
    return [(case, [*bases[0], *part]) for case, part in others]


def _unsaid_batch(rows: list[PublishedRow]) -> list[PublishedRow]:
    """Settles a column `batch size` that does not say whose: it is of all devices if it grows with them."""
    kinds = [(row.gpus, batch) for row in rows if (batch := row.number("batch")) is not None]
    if len(kinds) < 2 or len({gpus for gpus, _ in kinds}) < 2:
        return rows
    products = {round(gpus * batch, 6) for gpus, batch in kinds}
    quotients = {round(batch / gpus, 6) for gpus, batch in kinds}
    role = "global_batch" if len(quotients) == 1 else "batch_per_gpu" if len(products) == 1 else ""
    return [row.having(**{role: row.numbers.get("batch")}) for row in rows] if role else rows


def _with_accumulation(rows: list[PublishedRow]) -> list[PublishedRow]:
    """The rows with their batch per device over all micro-batches of a step.

    The printed batch is that of a micro-batch, or already that of a step: whichever agrees with the printed global
    batch, or else leaves one of the two batches constant over the rows.
    """
    known = [(row, row.batch_per_gpu, steps) for row in rows if (steps := row.number("accumulation")) is not None]
    if not known or any(stated is None for _, stated, _ in known) or len(known) < len(rows):
        return rows
    micro = [(row, (stated or 0.0) * steps) for row, stated, steps in known]
    whole = [(row, stated or 0.0) for row, stated, _ in known]
    if any(row.global_batch is not None for row in rows):
        fits = {
            index: sum(isclose(each * replicas(row), row.global_batch or 0, rel_tol=0.02) for row, each in way)
            for index, way in enumerate((micro, whole))
        }
        chosen = whole if fits[1] > fits[0] else micro
    else:
        possible = all((stated or 0.0) >= steps for _, stated, steps in known)
        chosen = whole if possible and _constant(whole) and not _constant(micro) else micro
    return [
        row.having(batch_per_gpu=Printed(each), micro_batch=row.numbers["batch_per_gpu"]) for row, each in chosen
    ]


def _constant(batches: list[tuple[PublishedRow, float]]) -> bool:
    return (
        len({each for _, each in batches}) == 1 or len({round(each * row.gpus, 6) for row, each in batches}) == 1
    )


def _is_base(value: str, name: str) -> bool:
    """Whether a value of a label is that of one process, which may be the baseline of the others."""
    if name in KINDS_OF_SETUP and name not in ("strategy", "framework"):
        return False
    if name == "strategy":
        return is_undistributed(value)
    return (name != "framework" and value in BASES) or names_serial_run(value)


def _by_label(said: str, rows: list[PublishedRow], name: str) -> list[tuple[str, list[PublishedRow]]]:
    """Splits rows by a label if two of its values were measured on the same number of devices; else keeps them."""
    values = list(dict.fromkeys(row.label(name) for row in rows))
    plain = tuple(value.lower() for value in values if _is_base(value.lower(), name))
    if not _was_scaled_too(rows, name, plain):
        values = [value for value in values if value.lower() not in plain] or values
    parts = {value: [row for row in rows if row.label(name) == value] for value in values}
    free = [row for row in rows if row.label(name).lower() in plain and row.label(name) not in values]
    sizes = {row.gpus for row in rows if not row.label(name)}
    if name == "comment" and sizes.isdisjoint(row.gpus for row in rows if row.label(name)):
        free = parts.pop("", [])  # rows without a comment are those of all
        values = list(parts)
    fewest = [row for row in rows if row.gpus == min(other.gpus for other in rows)]
    if name == "comment" and not free and len(fewest) == 1 and not fewest[0].label(name) and len(values) > 1:
        free = fewest  # so is the one on the fewest devices
        parts = _without(parts, free)
        values = list(parts)
    single = [row for row in rows if row.gpus == 1] if is_degree(name) else []
    if single and all(row.label(name) in ("1", "") for row in single):
        free = single  # on one device each degree is 1
        parts = _without(parts, free)
        values = list(parts)
    one = len(fewest) == 1 and len(parts.get(fewest[0].label(name), ())) == 1
    of_any = name not in ("hardware", "model") or {*values} <= {"", "CPU", "GPU"}  # a serial run beside both
    none = fewest[0].label(name) == "" and of_any  # as the backend of one process
    if one and (none or name not in KINDS_OF_SETUP) and not free and not is_size_of_work(name):  # that of all
        free = fewest
        values.remove(fewest[0].label(name))
    scales = {value: {row.gpus for row in parts[value]} for value in values}
    count = sum(len(found) for found in scales.values())
    one_scale_each = all(len(found | {row.gpus for row in free}) < 2 for found in scales.values())
    several = count > len(set().union(*scales.values()))
    stated = any(role in row.numbers for row in rows for role in STATED)  # which are one series
    known = name == "model" or is_size_of_work(name) or (name == "hardware" and all(values))
    several |= known and not stated and any(len(found) > 1 for found in scales.values())
    if len(values) < 2 or not several or (one_scale_each and not is_size_of_work(name)):
        return [(said, rows)]
    parts = {value: parts[value] for value in values}
    bases = {value: _bases_with_addition(value, rows) for value in values} if name == "strategy" else {}
    return [
        (
            " ".join(filter(None, (said, _named(name, value)))),
            [*(bases.get(value) or free), *part],
        )
        for value, part in parts.items()
    ]


def _was_scaled_too(rows: list[PublishedRow], name: str, plain: tuple[str, ...]) -> bool:
    """Whether the baseline was scaled like the others: each value of a label has the same numbers of devices."""
    sizes: dict[str, set[int]] = {}
    for row in rows:
        sizes.setdefault(row.label(name), set()).add(row.gpus)
    alike = len({frozenset(found) for found in sizes.values()}) == 1
    return (
        alike
        and len(sizes) > 1
        and any(value.lower() in plain and len(found) > 1 for value, found in sizes.items())
    )


def _bases_with_addition(strategy: str, rows: list[PublishedRow]) -> list[PublishedRow]:
    """The rows of one process that have the additions of a strategy: `1 GPU + AMP` for `DDP + AMP`."""
    own = additions(strategy) - {*PLAIN}
    labels = [(row, row.label("strategy")) for row in rows if row.gpus == 1]
    found = [row for row, label in labels if label != strategy and not is_distributed(label)]
    found = [row for row in found if own and additions(row.label("strategy")) - {*PLAIN} == own]
    return [replace(row, labels={**row.labels, "strategy": "single"}) for row in found]


def _without(parts: dict[str, list[PublishedRow]], free: list[PublishedRow]) -> dict[str, list[PublishedRow]]:
    """The rows of each value that are not those of all; values without such rows are left out."""
    return {value: rest for value, part in parts.items() if (rest := [row for row in part if row not in free])}


def _by_placement(said: str, rows: list[PublishedRow]) -> list[tuple[str, list[PublishedRow]]]:
    """Splits rows by the devices on each node, if as many devices were measured on other numbers of nodes."""
    each = [row.gpus / nodes if (nodes := row.number("nodes")) else None for row in rows]
    placed = {(row.gpus, share) for row, share in zip(rows, each, strict=True)}
    alike = {tuple(sorted(row.labels.items())) for row in rows}
    if None in each or len(placed) == len({row.gpus for row in rows}) or len(alike) > 1:
        return [(said, rows)]
    parts: dict[float, list[PublishedRow]] = {}
    for row, share in zip(rows, each, strict=True):
        parts.setdefault(share or 0.0, []).append(row)
    single = [row for row in rows if row.gpus == 1]
    if len(single) == 1:  # it is the baseline of all
        others = {share: [row for row in part if row not in single] for share, part in parts.items()}
        parts = {share: [*single, *part] for share, part in others.items() if part}
    return [(f"{said} {share:g} on a node".strip(), part) for share, part in parts.items()]


def _named(name: str, value: str) -> str:
    return value if name in KINDS_OF_SETUP or not value.isascii() or not _is_number(value) else f"{name} {value}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _by_batch(said: str, rows: list[PublishedRow], scaling: str) -> list[tuple[str, list[PublishedRow]]]:
    """Splits rows with several batches on one number of devices: by the batch that leaves more rows with others.

    Without such rows they are one series, whatever their batches.
    """
    ways: dict[str, Callable[[PublishedRow], float | None]] = {
        "micro-batch": lambda row: row.number("micro_batch"),
        "batch per device": batch_per_gpu,
        GLOBAL: global_batch,
        "batch": lambda row: row.number("batch"),
    }
    if scaling == "strong":
        ways = dict(sorted(ways.items(), key=lambda item: item[0] != GLOBAL))
    best: tuple[str, dict[float | None, list[PublishedRow]]] | None = None
    kept = 0
    for words, batch in ways.items():
        parts: dict[float | None, list[PublishedRow]] = {}
        for row in rows:
            parts.setdefault(batch(row), []).append(row)
        comparable = sum(len(part) for part in parts.values() if len({row.gpus for row in part}) > 1)
        sizes = {row.gpus for value, part in parts.items() if value is not None for row in part}
        needed = any(row.gpus not in sizes or row.gpus == min(sizes) for row in parts.get(None, []))
        if needed or comparable <= kept:  # rows without a batch may be those of any
            continue
        if len(parts) > 1:
            best, kept = (words, parts), comparable
        elif words == GLOBAL:
            best, kept = None, comparable
    distinct = len({(row.gpus, row.label("strategy")) for row in rows}) == len(rows)
    distinct = distinct and not _are_blocks(rows)
    if best is None or distinct or len({row.gpus for row in rows}) < 2:
        return [(said, rows)]
    words, parts = best
    names = {value: f"without a {words}" if value is None else f"{words} {value:g}" for value in parts}
    return [(" ".join(filter(None, (said, names[value]))), part) for value, part in parts.items()]


def _are_blocks(rows: list[PublishedRow]) -> bool:
    """Whether each of several global batches was measured on several numbers of devices."""
    sizes: dict[float | None, set[int]] = {}
    for row in rows:
        sizes.setdefault(global_batch(row) or row.number("batch"), set()).add(row.gpus)
    return None not in sizes and len(sizes) > 1 and all(len(found) > 1 for found in sizes.values())


def global_batch(row: PublishedRow) -> float | None:
    """Returns samples per step over all devices, as stated or from the batch per device."""
    if row.global_batch is not None:
        return row.global_batch
    return None if row.batch_per_gpu is None else row.batch_per_gpu * replicas(row)


def replicas(row: PublishedRow) -> int:
    """Return the devices, or how many groups of them there are that compute a batch together (TP, PP, CP)."""
    sizes = [row.label(name) for name in ("tp", "pp", "cp")]
    together = prod(int(size) for size in sizes if size.isdecimal() and int(size) > 0)
    return row.gpus // together if row.gpus % together == 0 else row.gpus


def batch_per_gpu(row: PublishedRow) -> float | None:
    """Returns samples per step on each device, as stated or from the global batch."""
    if row.batch_per_gpu is not None:
        return row.batch_per_gpu
    return None if row.global_batch is None else row.global_batch / replicas(row)
