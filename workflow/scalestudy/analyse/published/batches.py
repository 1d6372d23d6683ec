"""The batches of published rows: of each device and of all, with accumulation, and series by their batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isclose, prod

from scalestudy.importers.numbers.printed import Printed
from scalestudy.importers.published import STATED, PublishedRow

GLOBAL, EACH = "global batch", "batch per device"


def unsaid_batch(rows: list[PublishedRow]) -> list[PublishedRow]:
    """Settles a column `batch size` that does not say whose: it is of all devices if it grows with them."""
    kinds = [(row.gpus, batch) for row in rows if (batch := row.number("batch")) is not None]
    if len(kinds) < 2 or len({gpus for gpus, _ in kinds}) < 2:
        return rows
    products = {round(gpus * batch, 6) for gpus, batch in kinds}
    quotients = {round(batch / gpus, 6) for gpus, batch in kinds}
    role = "global_batch" if len(quotients) == 1 else "batch_per_gpu" if len(products) == 1 else ""
    role = role or ("global_batch" if _grows_for_some(kinds) else "")
    return [row.having(**{role: row.numbers.get("batch")}) for row in rows] if role else rows


def _grows_for_some(kinds: list[tuple[int, float]]) -> bool:
    """Whether a batch grows with the devices for some rows, and is the same on two numbers of devices for none."""
    shares = _devices_by([(round(batch / gpus, 6), gpus) for gpus, batch in kinds])
    wholes = _devices_by([(batch, gpus) for gpus, batch in kinds])
    distinct = len({gpus for gpus, _ in kinds}) < len(kinds)
    return (
        distinct
        and any(len(found) > 1 for found in shares.values())
        and all(len(found) == 1 for found in wholes.values())
    )


def with_accumulation(rows: list[PublishedRow]) -> list[PublishedRow]:
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


def bare_accumulation(row: PublishedRow) -> float | None:
    """Return the micro-batches per step of a row whose batch is not known; None if it is, or without them."""
    known = any(row.number(role) is not None for role in ("batch", "batch_per_gpu", "global_batch"))
    return None if known else row.number("accumulation")


def by_batch(said: str, rows: list[PublishedRow], scaling: str) -> list[tuple[str, list[PublishedRow]]]:
    """Splits rows with several batches on one number of devices: by the batch that leaves more rows with others.

    Without such rows they are one series, whatever their batches.
    """
    ways: dict[str, Callable[[PublishedRow], float | None]] = {
        "micro-batch": lambda row: row.number("micro_batch"),
        EACH: batch_per_gpu,
        GLOBAL: global_batch,
        "batch": lambda row: row.number("batch"),
        "accumulation of": bare_accumulation,
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
    stated = any(role in row.numbers for row in rows for role in STATED)
    distinct = distinct and not _are_blocks(rows) and (stated or not _are_both(rows))
    if best is None or distinct or len({row.gpus for row in rows}) < 2:
        return [(said, rows)]
    words, parts = best
    other = EACH if words == GLOBAL else GLOBAL
    alone = [part[0] for part in parts.values() if len(part) == 1]
    crossing = _by_other_batch(alone, rows, ways[other])
    taken = {row.line for part in crossing.values() for row in part}
    parts = {value: part for value, part in parts.items() if len(part) > 1 or part[0].line not in taken}
    names = {value: f"without a {words}" if value is None else f"{words} {value:g}" for value in parts}
    found = [(names[value], part) for value, part in parts.items()]
    found += [(f"{other} {value:g}", part) for value, part in crossing.items()]
    return [(" ".join(filter(None, (said, name))), part) for name, part in found]


def _by_other_batch(
    alone: list[PublishedRow], rows: list[PublishedRow], batch: Callable[[PublishedRow], float | None]
) -> dict[float, list[PublishedRow]]:
    """Batches of rows that are alone in their series -> the rows with this batch on any number of devices."""
    found: dict[float, list[PublishedRow]] = {}
    for value in {number for row in alone if (number := batch(row)) is not None}:
        part = [row for row in rows if batch(row) == value]
        if len({row.gpus for row in part}) == len(part) > 1:
            found[value] = part
    return found


def _are_both(rows: list[PublishedRow]) -> bool:
    """Whether some rows have one batch per device, and others one global batch: r50(512*8), (512*16), (128*32)."""
    ways = [_devices_by([(batch(row), row.gpus) for row in rows]) for batch in (batch_per_gpu, global_batch)]
    return all(None not in way and len(way) > 1 and any(len(gpus) > 1 for gpus in way.values()) for way in ways)


def _are_blocks(rows: list[PublishedRow]) -> bool:
    """Whether each of several global batches was measured on several numbers of devices."""
    sizes = _devices_by([(global_batch(row) or row.number("batch"), row.gpus) for row in rows])
    return None not in sizes and len(sizes) > 1 and all(len(found) > 1 for found in sizes.values())


def _devices_by(kinds: Iterable[tuple[float | None, int]]) -> dict[float | None, set[int]]:
    """Return each batch with the numbers of devices it was measured on, from pairs of batch and devices."""
    found: dict[float | None, set[int]] = {}
    for batch, gpus in kinds:
        found.setdefault(batch, set()).add(gpus)
    return found


def global_batch(row: PublishedRow) -> float | None:
    """Returns samples per step over all devices, as stated or from the batch per device."""
    if row.global_batch is not None:
        return row.global_batch
    return None if row.batch_per_gpu is None else row.batch_per_gpu * replicas(row)


def replicas(row: PublishedRow) -> int:
    """Return the devices, or how many groups of them there are that compute a batch together (TP, PP, CP).

    Nodes with an unknown number of devices are not divided: a group may be within one node.
    """
    if row.number("nodes") == row.gpus and row.gpus_per_node is None:
        return row.gpus
    sizes = [row.label(name) for name in ("tp", "pp", "cp")]
    together = prod(int(size) for size in sizes if size.isdecimal() and int(size) > 0)
    return row.gpus // together if row.gpus % together == 0 else row.gpus


def batch_per_gpu(row: PublishedRow) -> float | None:
    """Returns samples per step on each device, as stated or from the global batch."""
    if row.batch_per_gpu is not None:
        return row.batch_per_gpu
    return None if row.global_batch is None else row.global_batch / replicas(row)
